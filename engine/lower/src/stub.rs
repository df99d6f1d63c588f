//! The stub tool that represents a server's tools on demand \[4, 6.1\].

use super::tool::ToolEntry;
use agent_model::{ServerView, ToolView};
use agent_syntax::json::Writer;
use agent_text::listed;

/// Maximum number of characters of a server's id in the name of a stub. With the suffix, the name
/// has the 64 characters that most clients allow.
pub const STUB_ID_LIMIT: usize = 57;

/// The operation of a stub that lists its tools.
pub const LIST_SERVICES: &str = "list_services";

/// The operation of a stub that loads the definitions of its tools.
pub const EXPAND: &str = "expand";

/// Returns the name of a server's stub: its [`plain_name`] and `_helper`. Different ids may have the
/// same stub name.
pub fn stub_name(id: &str) -> String {
    let mut name = plain_name(id);
    name.push_str("_helper");
    name
}

/// Returns the id of a server for use in the name of a tool: characters outside `[A-Za-z0-9_-]` become
/// `_`, and the id is cut to [`STUB_ID_LIMIT`] characters.
pub fn plain_name(id: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let characters = id.chars().take(STUB_ID_LIMIT);
    characters.map(|c| if plain(c) { c } else { '_' }).collect()
}

/// The operation of a stub that calls one of its tools.
pub const CALL: &str = "call";

/// Maximum number of tools that a stub names in its description.
pub const STUB_TOOLS_LIMIT: usize = 50;

/// Returns the RFC 8785 form of `{annotations, description, inputSchema, name}` of a server's stub for
/// these tools, each by the name that an agent calls.
///
/// Its annotations are the least safe of theirs, because a call of the stub may call any of them.
pub fn stub_definition(server: ServerView<'_>, tools: &[(&str, ToolView<'_>)]) -> String {
    let entries: Vec<_> = tools
        .iter()
        .map(|(_, tool)| ToolEntry::read(tool.entry()))
        .collect();
    // An absent hint has the default of MCP's `ToolAnnotations`.
    let all = |name, default, safe| {
        let mut hints = entries.iter().map(|it| it.hint(name).unwrap_or(default));
        hints.all(|hint| hint == safe)
    };
    let mut w = Writer::dense();
    w.object(|w| {
        w.key("annotations").object(|w| {
            w.key("destructiveHint")
                .bool(!all("destructiveHint", true, false));
            w.key("idempotentHint")
                .bool(all("idempotentHint", false, true));
            w.key("openWorldHint")
                .bool(!all("openWorldHint", true, false));
            w.key("readOnlyHint").bool(all("readOnlyHint", false, true));
        });
        w.key("description").string(&format!(
            "Tools of the server {} {}, loaded on demand: {}. `{LIST_SERVICES}` lists them, \
             `{EXPAND}` returns the definitions of those named in `tools`, `{CALL}` calls `tool` \
             with `arguments`.",
            server.id(),
            server.version(),
            named(tools),
        ));
        w.key("inputSchema").object(|w| {
            w.key("additionalProperties").bool(false);
            w.key("properties").object(|w| {
                w.key("arguments").object(|w| {
                    w.key("description")
                        .string(&format!("The tool's arguments, for `{CALL}`."));
                    w.key("type").string("object");
                });
                w.key("operation").object(|w| {
                    w.key("enum").strings([LIST_SERVICES, EXPAND, CALL]);
                    w.key("type").string("string");
                });
                w.key("tool").object(|w| {
                    w.key("description")
                        .string(&format!("The name of a tool; needed for `{CALL}`."));
                    w.key("type").string("string");
                });
                w.key("tools").object(|w| {
                    w.key("description")
                        .string(&format!("Names of tools; needed for `{EXPAND}`."));
                    w.key("items").object(|w| w.key("type").string("string"));
                    w.key("minItems").number(1);
                    w.key("type").string("array");
                });
            });
            w.key("required").strings(["operation"]);
            w.key("type").string("object");
        });
        w.key("name").string(&stub_name(server.id()));
    });
    let mut definition = w.finish();
    definition.pop();
    definition
}

/// Returns the names of tools in a sentence.
fn named(tools: &[(&str, ToolView<'_>)]) -> String {
    let names: Vec<_> = tools.iter().map(|(name, _)| name).collect();
    listed(&names, STUB_TOOLS_LIMIT)
}
