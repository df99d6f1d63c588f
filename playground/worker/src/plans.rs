//! A conversation with the page of plans.

mod call;
mod difference;
mod grounding;
mod steps;

use crate::convert;
use crate::inputs::Read;
use agent_api::decide::PlanPolicy;
use agent_api::diagnostic;
use agent_api::explain::{CheckRecord, CheckState};
use agent_api::lower::{self, Validated};
use agent_api::model::{CallPlan, Index, Lock, Payload, Plan, Request, Summary, ToolsSnapshot};
use agent_protocol::DocumentKind;
use agent_protocol::plans::{
    self as page, About, Answer, Check, Fact, Outcome, RequestKind, Response,
};
use std::sync::Arc;

/// How many characters of a text are shown where it may be as long as a whole input.
const SHOWN: usize = 400;

/// Keeps the inputs from one question to the next.
#[derive(Default)]
pub struct Session {
    plan: Option<Arc<Validated<Plan>>>,
    tool_pool: String,
    profile: String,
    /// Both of them, read again when one changes.
    rules: Option<Arc<PlanPolicy>>,
    request: Option<Validated<Request>>,
    call: Read<CallPlan>,
    lock: Read<Lock>,
    index: Read<Index>,
    catalogue: Read<ToolsSnapshot>,
    summary: Read<Summary>,
    payload: Read<Payload>,
}

impl Session {
    /// What is known before any question.
    pub fn about() -> About {
        About {
            version: agent_api::VERSION.to_owned(),
        }
    }

    /// Answers a question.
    pub fn answer(&mut self, ask: page::Request) -> Answer {
        let (pool, profile) = (DocumentKind::ToolPool, DocumentKind::Profile);
        let rules_changed = ask
            .texts
            .0
            .iter()
            .any(|(it, _)| [pool, profile].contains(it));
        for (source, text) in ask.texts.0 {
            self.read(source, text);
        }
        if rules_changed {
            let [pool, profile] = [&self.tool_pool, &self.profile];
            let [pool, profile] = [pool, profile].map(|text| text.clone().into_bytes());
            self.rules = Some(Arc::new(PlanPolicy::new(pool, profile, None)));
        }
        Answer {
            revision: ask.revision,
            milliseconds: 0.0,
            response: match ask.kind {
                RequestKind::Plan => Response::Plan(steps::decision(self)),
                RequestKind::Call => Response::Call(call::decision(self)),
                RequestKind::Grounding => Response::Grounding(grounding::grounding(self)),
            },
        }
    }

    /// Reads a text, each when it changes.
    fn read(&mut self, source: DocumentKind, text: String) {
        match source {
            DocumentKind::Plan => self.plan = Some(Arc::new(lower::plan(text.into_bytes()))),
            DocumentKind::ToolPool => self.tool_pool = text,
            DocumentKind::Profile => self.profile = text,
            DocumentKind::Request => {
                let given = !text.trim().is_empty();
                self.request = given.then(|| lower::request(text.into_bytes()));
            }
            DocumentKind::Call => self.call = lower::call_plan(text.into_bytes()).into(),
            DocumentKind::Lock => self.lock = Read::optional(text, lower::lock),
            DocumentKind::Index => {
                // The index of before makes room: two large ones may be too many.
                self.index = Read::default();
                self.index = Read::optional(text, lower::index);
            }
            DocumentKind::Catalogue => self.catalogue = Read::optional(text, lower::tools_snapshot),
            DocumentKind::Summary => self.summary = lower::summary(text.into_bytes()).into(),
            DocumentKind::Payload => self.payload = lower::payload(text.into_bytes()).into(),
            _ => {}
        }
    }
}

/// As much of a text as is shown.
fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// What was checked, and what came of it.
fn check(checked: CheckRecord) -> Check {
    let facts = checked.facts.into_iter();
    Check {
        name: checked.name.to_owned(),
        outcome: match checked.outcome {
            CheckState::Passed => Outcome::Passed,
            CheckState::Failed => Outcome::Failed,
            CheckState::Deferred => Outcome::Deferred,
            CheckState::Skipped => Outcome::Skipped,
        },
        facts: facts
            .map(|fact| Fact {
                text: shown(&fact.text),
                place: fact.place.map(|place| convert::place(&place)),
            })
            .collect(),
    }
}

/// A fix that was verified and can be applied.
fn fix(fix: diagnostic::Fix) -> agent_protocol::Fix {
    agent_protocol::Fix {
        text: fix.title,
        widening: fix.applicability == diagnostic::Applicability::Unsafe,
        edits: Some(fix.edits.into_iter().map(convert::edit).collect()),
    }
}

/// The fixes that can be applied, and what else helps: titles of the others, and notes.
fn split_fixes(found: &mut diagnostic::Diagnostic) -> (Vec<agent_protocol::Fix>, Vec<String>) {
    let (edited, others): (Vec<_>, Vec<_>) = std::mem::take(&mut found.fixes)
        .into_iter()
        .partition(|fix| !fix.edits.is_empty());
    let notes = std::mem::take(&mut found.notes).into_iter();
    let help = others.into_iter().map(|fix| fix.title).chain(notes);
    (edited.into_iter().map(fix).collect(), help.collect())
}

/// What has to happen before a call is made.
fn obligations(needs_approval: bool) -> Vec<String> {
    let approval = needs_approval.then(|| "approval".to_owned());
    approval.into_iter().collect()
}
