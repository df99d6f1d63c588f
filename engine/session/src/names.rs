//! The names by which clients call tools \[4, 6\].
//!
//! A tool keeps its name. Where several tools share one, each is called `<server>__<tool>`, the server's
//! name cleaned as in the name of a stub; so is a tool whose own name is then that of another.

use agent_api::served::plain_name;
use std::collections::BTreeMap;

/// A tool to name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Named<'a> {
    /// The name of its server within the session.
    pub(crate) server: &'a str,
    /// Its own name.
    pub(crate) tool: &'a str,
}

impl Named<'_> {
    /// Returns the name with that of the server.
    pub(crate) fn with_server(&self) -> String {
        format!("{}__{}", plain_name(self.server), self.tool)
    }
}

/// Returns the name of each tool. The result does not depend on the order of the tools. Names are still
/// equal where servers differ only in characters that the cleaning replaces or cuts.
pub(crate) fn served_names(tools: &[Named<'_>]) -> Vec<String> {
    let mut names: Vec<_> = tools.iter().map(|it| it.tool.to_owned()).collect();
    let mut is_bare = vec![true; tools.len()];
    let mut holders: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (number, name) in names.iter().enumerate() {
        holders.entry(name.clone()).or_default().push(number);
    }
    let shared = holders.iter().filter(|(_, it)| it.len() > 1);
    let mut shared: Vec<String> = shared.map(|(name, _)| name.clone()).collect();
    // Each tool moves at most once.
    while let Some(name) = shared.pop() {
        let Some(here) = holders.get_mut(&name).filter(|it| it.len() > 1) else {
            continue;
        };
        let (moved, left): (Vec<_>, Vec<_>) = here.iter().partition(|it| is_bare[**it]);
        *here = left;
        for number in moved {
            is_bare[number] = false;
            names[number] = tools[number].with_server();
            let there = holders.entry(names[number].clone()).or_default();
            there.push(number);
            if there.len() > 1 {
                shared.push(names[number].clone());
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::{Named, served_names};

    fn names(tools: &[(&str, &str)]) -> Vec<String> {
        let tools: Vec<_> = tools
            .iter()
            .map(|(server, tool)| Named { server, tool })
            .collect();
        let names = served_names(&tools);
        let backwards: Vec<_> = tools.iter().rev().copied().collect();
        let mut again = served_names(&backwards);
        again.reverse();
        assert_eq!(names, again, "the order decides");
        names
    }

    #[test]
    fn a_tool_keeps_a_name_that_no_other_has() {
        assert_eq!(names(&[("a", "x"), ("b", "y")]), ["x", "y"]);
    }

    #[test]
    fn tools_that_share_a_name_are_called_by_their_server() {
        assert_eq!(
            names(&[("a", "x"), ("b.c", "x"), ("a", "y"), ("d@1.0", "x")]),
            ["a__x", "b_c__x", "y", "d_1_0__x"]
        );
    }

    #[test]
    fn a_name_that_another_tool_moves_to_is_shared_too() {
        assert_eq!(
            names(&[("a", "x"), ("b", "x"), ("c", "a__x"), ("d", "c__a__x")]),
            ["a__x", "b__x", "c__a__x", "d__c__a__x"]
        );
        // The one that makes room is not moved on.
        assert_eq!(
            names(&[("a", "x"), ("b", "x"), ("a", "a__x")]),
            ["a__x", "b__x", "a__a__x"]
        );
    }

    #[test]
    fn servers_that_only_cleaning_makes_equal_share_a_name() {
        assert_eq!(names(&[("a.b", "x"), ("a/b", "x")]), ["a_b__x", "a_b__x"]);
    }
}
