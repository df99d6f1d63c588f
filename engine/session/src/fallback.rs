//! When locked tools are served: a fallback only instead of a tool whose server health vetoes \[4\].

use agent_api::model::{Name, Selection, with_fallbacks};
use agent_api::text::sort::sort_by;
use std::collections::BTreeMap;

/// On what it depends whether a locked tool is served.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Terms {
    /// Whether a selection without a fallback has it.
    is_always: bool,
    /// The tools that take its place, by number.
    pub(crate) fallbacks: Vec<usize>,
    /// The tools whose place it takes, by number.
    pub(crate) firsts: Vec<usize>,
}

impl Terms {
    /// Returns whether the tool is served, by what is known of the servers of tools.
    pub(crate) fn hold(&self, tool: usize, is_vetoed: impl Fn(usize) -> bool) -> bool {
        let is_first = !self.fallbacks.is_empty();
        self.is_always
            || is_first && !is_vetoed(tool)
            || self.firsts.iter().any(|first| is_vetoed(*first))
    }
}

/// Returns the terms of the tools of a lock, which are given by server, version and name.
pub(crate) fn terms(selections: &[Selection], tools: &[(&str, &str, &str)]) -> Vec<Terms> {
    let mut terms = vec![Terms::default(); tools.len()];
    let mut of_servers: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
    for (number, (id, version, _)) in tools.iter().enumerate() {
        of_servers.entry((id, version)).or_default().push(number);
    }
    let covered = |selection: &Selection| {
        let server = (selection.id.as_str(), selection.version.as_str());
        let own = of_servers.get(&server).into_iter().flatten().copied();
        let own = own.filter(|tool| selection.grant.covers(tools[*tool].2));
        own.collect::<Vec<_>>()
    };
    for group in with_fallbacks(selections) {
        let [first, fallbacks @ ..] = group else {
            continue;
        };
        let firsts = covered(first);
        let fallbacks: Vec<_> = fallbacks.iter().flat_map(covered).collect();
        for first in firsts {
            let own = &mut terms[first];
            own.is_always |= fallbacks.is_empty();
            own.fallbacks.extend(&fallbacks);
            for fallback in &fallbacks {
                terms[*fallback].firsts.push(first);
            }
        }
    }
    for own in &mut terms {
        for list in [&mut own.fallbacks, &mut own.firsts] {
            sort_by(list, Ord::cmp);
            list.dedup();
        }
    }
    terms
}
