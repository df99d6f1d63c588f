//! The live list of a server's tools, as far as a decision on one of them needs it.

use agent_syntax::Value;
use agent_syntax::json::parse_strict;
use agent_syntax::members::{member, string};

/// Returns the result of `tools/list` with the entries of one tool alone, as received. A text that is no
/// such result becomes `null`: the decision on both is the same.
pub(crate) fn entries_of(list: &str, tool: &str) -> String {
    let root = parse_strict(list);
    let items = root.as_ref().and_then(|root| member(root, "tools"));
    let Some(Value::Sequence(items)) = items.map(|it| &it.value) else {
        return "null".to_owned();
    };
    let of_tool = items
        .iter()
        .filter(|item| member(item, "name").and_then(string) == Some(tool));
    let entries: Vec<_> = of_tool.map(|item| item.span.of(list)).collect();
    format!("{{\"tools\":[{}]}}", entries.join(","))
}

#[cfg(test)]
mod tests {
    use super::entries_of;

    #[test]
    fn other_tools_are_left_out() {
        let list = r#"{"tools":[{"name":"a","x":1},7,{"name":"b"},{"name" : "a"}],"_meta":{}}"#;
        assert_eq!(
            entries_of(list, "a"),
            r#"{"tools":[{"name":"a","x":1},{"name" : "a"}]}"#
        );
        assert_eq!(entries_of(list, "c"), r#"{"tools":[]}"#);
        for no_list in [
            "",
            "[",
            "{}",
            r#"{"tools":{}}"#,
            r#"{"tools":[],"tools":[]}"#,
        ] {
            assert_eq!(entries_of(no_list, "a"), "null", "{no_list}");
        }
    }
}
