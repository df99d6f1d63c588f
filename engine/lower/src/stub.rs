//! The stub tool that represents a server's tools on demand \[4, 6.1\].

use agent_model::ServerView;
use agent_syntax::json::Writer;

/// Maximum number of characters of a server's id in the name of a stub. With the suffix, the name
/// has the 64 characters that most clients allow.
pub const STUB_ID_LIMIT: usize = 57;

/// The operation of a stub that lists its tools.
pub const LIST_SERVICES: &str = "list_services";

/// The operation of a stub that loads the definitions of its tools.
pub const EXPAND: &str = "expand";

/// Returns the name of a server's stub: its id and `_helper`.
///
/// Characters outside `[A-Za-z0-9_-]` become `_`, and the id is cut to [`STUB_ID_LIMIT`]
/// characters. Different ids may have the same stub name.
pub fn stub_name(id: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let mut name: String = id
        .chars()
        .take(STUB_ID_LIMIT)
        .map(|c| if plain(c) { c } else { '_' })
        .collect();
    name.push_str("_helper");
    name
}

/// Returns the RFC 8785 form of `{name, description, inputSchema}` of a server's stub.
///
/// It does not list the tools, because the stub exists to save their tokens.
pub fn stub_definition(server: ServerView<'_>) -> String {
    let mut w = Writer::dense();
    w.object(|w| {
        w.key("description").string(&format!(
            "Tools of the server {} {}, loaded on demand: `{LIST_SERVICES}` lists them, \
             `{EXPAND}` loads the definitions of those named in `tools`.",
            server.id(),
            server.version(),
        ));
        w.key("inputSchema").object(|w| {
            w.key("additionalProperties").bool(false);
            w.key("properties").object(|w| {
                w.key("operation").object(|w| {
                    w.key("enum").strings([LIST_SERVICES, EXPAND]);
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
