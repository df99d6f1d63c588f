//! A first policy, from answers about tools, with its tests.

use agent_model::{Index, ToolView};
use agent_syntax::json::Writer;
use agent_text::visible;
use std::collections::{BTreeMap, BTreeSet};

/// The id of a server, and the name that it has for a tool.
pub type ToolName = (String, String);

/// A policy and its tests, in Rego.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenPolicy {
    /// The policy.
    pub policy: String,
    /// The tests, of a package beside that of the policy.
    pub tests: String,
}

/// A tool that a policy can be written for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedTool {
    /// The id of the server.
    pub server: String,
    /// The name.
    pub tool: String,
    /// What its definition says about it, in the version that is first in the index; empty if it says nothing.
    pub about: String,
}

/// Tools by server, as they are written.
type Tools<'n> = BTreeMap<&'n str, BTreeSet<&'n str>>;

/// Returns the tools of an index by server and name: each once, whatever versions of its server have it.
pub fn asked_tools(index: &Index) -> Vec<AskedTool> {
    let mut tools: BTreeMap<(&str, &str), ToolView<'_>> = BTreeMap::new();
    for tool in index.tools() {
        tools
            .entry((tool.server().id(), tool.name()))
            .or_insert(tool);
    }
    let asked = tools.into_iter().map(|((server, name), tool)| AskedTool {
        server: server.to_owned(),
        tool: name.to_owned(),
        about: tool.description().unwrap_or_default().to_owned(),
    });
    asked.collect()
}

/// Writes a policy that allows these tools in every version of their servers, and no other one. Its tests name the other
/// tools of the index. `source` says where the answers come from.
pub fn written_policy(index: &Index, allowed: &BTreeSet<ToolName>, source: &str) -> WrittenPolicy {
    let mut may_use = Tools::new();
    for (server, tool) in allowed {
        may_use.entry(server).or_default().insert(tool);
    }
    let mut others = Tools::new();
    for tool in index.tools() {
        let (server, name) = (tool.server().id(), tool.name());
        if !may_use.get(server).is_some_and(|it| it.contains(name)) {
            others.entry(server).or_default().insert(name);
        }
    }
    let source = visible(source);
    WrittenPolicy {
        policy: format!(
            "\
# The tools that an agent may use: {source}.
package switchboard

allowed_tools contains tool.id if {{
	some tool in input.candidate_tools
	is_allowed(tool)
}}

deny_reasons[tool.id] := \"it is none of the tools that an agent may use\" if {{
	some tool in input.candidate_tools
	not is_allowed(tool)
}}

is_allowed(tool) if tool.tool in may_use[tool.server]

may_use := {}
",
            table(&may_use)
        ),
        tests: tests(&may_use, &others),
    }
}

fn tests(may_use: &Tools<'_>, others: &Tools<'_>) -> String {
    let mut tests = "\
package switchboard_test

import data.switchboard
"
    .to_owned();
    for (name, holds, tools) in [
        ("test_allows_each_tool", "", may_use),
        ("test_denies_each_other_tool", "not ", others),
    ] {
        if !tools.is_empty() {
            tests.push_str(&format!(
                "
{name} if {{
	every server, names in {} {{
		every name in names {{
			{holds}allows(server, name)
		}}
	}}
}}
",
                indented(&table(tools))
            ));
        }
    }
    let (server, tools) = match may_use.first_key_value() {
        Some((server, tools)) => (*server, tools.clone()),
        None => ("server", BTreeSet::new()),
    };
    let mut new = "a_new_tool".to_owned();
    while tools.contains(&*new) {
        new.push('_');
    }
    tests.push_str(&format!(
        "
test_denies_a_new_tool_and_says_why if {{
	not allows({server}, {new})
	switchboard.deny_reasons[\"asked\"] with input as asked({server}, {new})
}}

# A policy is asked about the versions of a server that an index has.
allows(server, name) if \"asked\" in switchboard.allowed_tools with input as asked(server, name)

asked(server, name) := {{\"candidate_tools\": [{{\"id\": \"asked\", \"server\": server, \"tool\": name}}]}}
",
        server = quoted(server),
        new = quoted(&new),
    ));
    tests
}

/// Returns tools as an object of sets, a server on each line.
fn table(tools: &Tools<'_>) -> String {
    let mut out = "{\n".to_owned();
    for (server, names) in tools {
        let names: Vec<_> = names.iter().map(|it| quoted(it)).collect();
        out.push_str(&format!(
            "\t{}: {{{}}},\n",
            quoted(server),
            names.join(", ")
        ));
    }
    out.push('}');
    out
}

fn indented(table: &str) -> String {
    table.replace('\n', "\n\t")
}

/// Returns a text as a string of Rego, which is one of JSON.
fn quoted(text: &str) -> String {
    let mut w = Writer::dense();
    w.string(text);
    w.finish().trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::{AskedTool, asked_tools, written_policy};
    use crate::{TestVerdict, dead_rules, never_allows, read, test, vocabulary};
    use agent_model::Index;
    use std::collections::BTreeSet;

    fn index() -> Index {
        let server = |id: &str, version: &str, tools: &[&str]| {
            let tools = tools.iter().map(|name| {
                format!(
                    r#""{name}": {{"description": "{name}s", "inputSchema": {{"type": "object"}}}}"#
                )
            });
            let tools: Vec<_> = tools.collect();
            format!(
                r#"{{"id": "{id}", "version": "{version}", "endpoint": "https://{id}.example", "categories": ["notes"],
                "scopes": [], "data": {{"residency": "any", "maxSensitivity": "internal"}},
                "trust": {{"signed": true, "publisher": "p"}}, "capabilities": {{"tools": {{{}}}}}}}"#,
                tools.join(",")
            )
        };
        let servers = [
            server("files", "1.0.0", &["read", "a_new_tool"]),
            server("files", "2.0.0", &["read", "wipe"]),
            server("mail", "1.0.0", &["send"]),
        ];
        let text = format!("[{}]", servers.join(","));
        agent_lower::index(text.into()).expect("an index").value
    }

    fn names(names: &[(&str, &str)]) -> BTreeSet<(String, String)> {
        let names = names.iter();
        names
            .map(|(a, b)| ((*a).to_owned(), (*b).to_owned()))
            .collect()
    }

    #[test]
    fn a_written_policy_holds_in_its_tests_and_has_no_dead_rule() {
        let index = index();
        for allowed in [
            &[("files", "read")][..],
            &[
                ("files", "a_new_tool"),
                ("files", "read"),
                ("files", "wipe"),
                ("mail", "send"),
            ],
            &[("elsewhere", "x\ny")],
        ] {
            let written = written_policy(&index, &names(allowed), "answers\n# of a test");
            let policy = read(written.policy.clone().into()).expect("a policy").value;
            assert_eq!(never_allows(&policy), []);
            assert_eq!(dead_rules(&policy, &vocabulary(Some(&index), None)), []);
            let tested = test(written.policy.into(), written.tests.into()).expect("tests");
            let failed = tested.outcomes.iter();
            let failed: Vec<_> = failed
                .filter(|it| it.verdict != TestVerdict::Passed)
                .collect();
            assert!(failed.is_empty(), "{failed:#?}");
            assert_eq!(tested.unreached, []);
            // Four tools are in the index.
            let of_index = allowed.iter().filter(|(server, _)| *server != "elsewhere");
            let has_others = of_index.count() < 4;
            assert_eq!(tested.outcomes.len(), 2 + usize::from(has_others));
        }
    }

    #[test]
    fn a_test_fails_once_the_policy_allows_more_or_less() {
        let written = written_policy(&index(), &names(&[("files", "read")]), "a test");
        for (from, to, failing) in [
            (
                "{\"read\"}",
                "{\"read\", \"wipe\"}",
                "test_denies_each_other_tool",
            ),
            ("{\"read\"}", "{\"wipe\"}", "test_allows_each_tool"),
            (
                "not is_allowed(tool)",
                "is_allowed(tool)",
                "test_denies_a_new_tool_and_says_why",
            ),
        ] {
            let changed = written.policy.replace(from, to);
            assert_ne!(changed, written.policy);
            let tested = test(changed.into(), written.tests.clone().into()).expect("tests");
            let failed = tested.outcomes.iter();
            let mut failed = failed.filter(|it| it.verdict == TestVerdict::Failed);
            assert!(failed.any(|it| it.name == failing), "{failing}");
        }
    }

    #[test]
    fn each_tool_is_asked_about_once() {
        let asked = asked_tools(&index());
        let about = |server: &str, tool: &str| AskedTool {
            server: server.to_owned(),
            tool: tool.to_owned(),
            about: format!("{tool}s"),
        };
        assert_eq!(
            asked,
            [
                about("files", "a_new_tool"),
                about("files", "read"),
                about("files", "wipe"),
                about("mail", "send"),
            ]
        );
    }
}
