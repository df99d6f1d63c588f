//! The comparison of two locks for a human who accepts or refuses the later one.

use super::verdict::drift;
use crate::{LockText, compare};
use agent_answer::{Code, Review, ReviewedTool};
use agent_decide::{self as decide, PolicyEngine, locked_loads};
use agent_explain::{Former, detailed, drift as words, drift_subject};
use agent_model::{Index, Lock, ToolView};
use agent_render::{definition_lines, drifts_markdown};
use agent_text::sort::sort_by_key;
use std::collections::BTreeMap;

/// Maximum number of tools whose definitions are listed.
const TOOLS: usize = 100;

/// One of two locks.
#[derive(Clone, Copy)]
pub struct ReviewSide<'s> {
    /// The lock.
    pub lock: &'s LockText,
    /// The index that it was made from, for the definitions of its tools.
    pub index: Option<&'s Index>,
}

/// Compares two locks. `policy` is that of the later one. Without an earlier lock, all that the later one grants is new.
pub fn review(
    before: Option<ReviewSide<'_>>,
    after: ReviewSide<'_>,
    policy: Option<&dyn PolicyEngine>,
) -> Review {
    let nothing = LockText {
        lock: Lock {
            agent: after.lock.lock.agent.clone(),
            forbid: Vec::new(),
            policy: after.lock.lock.policy.clone(),
            selections: Vec::new(),
        },
        text: None,
    };
    let before = before.unwrap_or(ReviewSide {
        lock: &nothing,
        // It is asked for no tool.
        index: after.index,
    });
    let mut drifts = compare(Some(before.lock), &after.lock.lock, policy);
    let mut tools = None;
    if let Some((older, newer)) = before.index.zip(after.index) {
        let former = Former::Index(&before.lock.lock, older);
        drifts = detailed(&drifts, former, (&after.lock.lock, newer));
        tools = Some(changed_tools([
            tools_by_name(before.lock, older),
            tools_by_name(after.lock, newer),
        ]));
    }
    sort_by_key(&mut drifts, rank);
    let listed = tools.as_mut().map_or(0, |tools| {
        let all = tools.len();
        tools.truncate(TOOLS);
        all - tools.len()
    });
    let mut review = Review {
        sentence: drifts.first().map(sentence),
        tools,
        more_tools: u32::try_from(listed).unwrap_or(u32::MAX),
        markdown: drifts_markdown(&drifts),
        ..Review::default()
    };
    for found in drifts {
        let list = match found.widening() {
            true => &mut review.more,
            false if found.narrowing() => &mut review.less,
            false => &mut review.other,
        };
        list.push(drift(found));
    }
    review
}

/// Returns the place of a difference among all: what the agent may newly do first, by how directly it says so.
fn rank(drift: &decide::Drift) -> u8 {
    match drift.code {
        Code::ScopeWidened => 0,
        Code::ToolsWidened => 1,
        Code::RequirementAdded => 2,
        Code::ForbidRemoved => 3,
        _ if drift.widening() => 4,
        _ if drift.narrowing() => 6,
        _ => 5,
    }
}

/// Returns a difference with its subject, as `agent diff` prints it.
fn sentence(drift: &decide::Drift) -> String {
    match drift_subject(drift) {
        Some(subject) => format!("{subject}: {}", words(drift)),
        None => words(drift),
    }
}

/// The tools of a lock by their servers and names.
type Tools<'i> = BTreeMap<(&'i str, &'i str), ToolView<'i>>;

fn tools_by_name<'i>(lock: &LockText, index: &'i Index) -> Tools<'i> {
    let tools = locked_loads(&lock.lock, index).into_iter();
    tools
        .map(|(tool, _)| ((tool.server().id(), tool.name()), tool))
        .collect()
}

fn changed_tools([before, after]: [Tools<'_>; 2]) -> Vec<ReviewedTool> {
    let mut pairs: BTreeMap<_, [Option<String>; 2]> = BTreeMap::new();
    for (at, side) in [&before, &after].into_iter().enumerate() {
        for (name, tool) in side {
            pairs.entry(*name).or_default()[at] = Some(definition_lines(*tool));
        }
    }
    let changed = pairs
        .into_iter()
        .filter(|(_, [before, after])| before != after);
    changed
        .map(|((server, name), [before, after])| ReviewedTool {
            server: server.to_owned(),
            name: name.to_owned(),
            before,
            after,
        })
        .collect()
}
