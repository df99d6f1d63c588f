//! The tools that an agent sees, as text and in the form of MCP \[4, 6\].

use super::drifts::write_drifts;
use super::json::{ObjectMembers, write_policy};
use super::styled::{Style, Styled, StyledSpan, count};
use agent_decide::{Definition, DenialReason, Expanded, Exposed, NotExpanded, Services};
use agent_diagnostic::Code;
use agent_explain::{denial, over_budget, policy_mismatch};
use agent_json_schema::child;
use agent_model::ServerView;
use agent_syntax::json::{Reader, Writer, parse_value};
use agent_syntax::{Node, Value, canonical_node};
use agent_text::sort::sort_by;

/// The keys of `_meta`, sorted. MCP requires a reversed domain of the author as their prefix; this
/// is the domain of the pages of the repository's owner.
mod meta {
    pub(super) const KIND: &str = "io.github.agent-engine/kind";
    pub(super) const SERVER: &str = "io.github.agent-engine/server";
    pub(super) const TOKEN_ESTIMATE: &str = "io.github.agent-engine/token-estimate";
}

/// Returns the result of MCP's `tools/list` as JSON with a final newline. It is valid by the versions
/// 2025-11-25 and 2026-07-28.
pub fn exposed_json(exposed: &Exposed<'_>) -> String {
    let mut w = Writer::pretty();
    w.object(|w| {
        w.key("_meta").object(|w| {
            w.key(meta::TOKEN_ESTIMATE).object(|w| {
                write_tokens(w, "stubs", exposed.stub_tokens());
                write_tokens(w, "tools", exposed.tool_tokens());
                write_tokens(w, "total", exposed.tokens());
            });
        });
        // The tools depend on the lock of the agent, and may change with every call of a stub.
        w.key("cacheScope").string("private");
        w.key("resultType").string("complete");
        w.objects("tools", &exposed.entries, |w, entry| {
            let kind = match &entry.stub_of {
                None => "tool",
                Some(_) => "stub",
            };
            write_tool(w, kind, entry.server, &entry.json, entry.tokens);
        });
        w.key("ttlMs").number(0);
    });
    w.finish()
}

/// Returns the definitions that an expansion adds, in the form of `tools/list`, as JSON with a final
/// newline.
pub fn expanded_json(expanded: &Expanded<'_>) -> String {
    let mut w = Writer::pretty();
    w.object(|w| {
        w.key("server").object(|w| write_server(w, expanded.server));
        w.key("tokenEstimate").object(|w| {
            write_tokens(w, "budget", expanded.budget);
            write_tokens(w, "needed", expanded.needed);
            write_tokens(w, "used", expanded.used);
        });
        w.objects("tools", &expanded.tools, |w, definition| {
            let Definition { json, tokens, .. } = definition;
            let server = definition.tool.server();
            write_tool(w, "tool", server, json, *tokens);
        });
    });
    w.finish()
}

/// Returns the reasons why nothing is expanded as JSON with a final newline. `code` is
/// `EXPANSION_DENIED`, `TOKEN_BUDGET_EXCEEDED`, `POLICY_MISSING`, `POLICY_CHANGED`, or the code of the first of the `drifts`.
pub fn not_expanded_json(refused: &NotExpanded) -> String {
    let mut w = Writer::pretty();
    w.object(|w| match refused {
        NotExpanded::Denied {
            denials,
            policy_decision,
        } => {
            w.key("code").string(Code::ExpansionDenied.name());
            w.objects("denied", denials.as_slice(), |w, one| {
                let (reason, error) = match &one.reason {
                    DenialReason::Policy { reason } => (reason.as_deref(), None),
                    DenialReason::PolicyError { kind } => (None, Some(kind.name())),
                    _ => (None, None),
                };
                w.key("id").string(&one.id);
                w.key("policyError").optional(error);
                w.key("policyReason").optional(reason);
                w.key("reason").string(one.reason.name());
                w.key("text").string(&denial(&one.reason));
            });
            write_policy(w, policy_decision.as_deref());
        }
        NotExpanded::OtherPolicy(found) => {
            let (code, text) = policy_mismatch(found);
            w.key("code").string(code.name());
            w.key("text").string(&text);
        }
        NotExpanded::Drifted(drifts) => {
            let drifts = drifts.as_slice();
            w.key("code")
                .optional(drifts.first().map(|drift| drift.code.name()));
            write_drifts(w, drifts);
        }
        NotExpanded::OverBudget {
            needed,
            used,
            budget,
        } => {
            w.key("code").string(Code::TokenBudgetExceeded.name());
            w.key("text").string(&over_budget(*needed, *used, *budget));
            w.key("tokenEstimate").object(|w| {
                match budget {
                    Some(budget) => write_tokens(w, "budget", *budget),
                    None => w.key("budget").null(),
                }
                write_tokens(w, "needed", *needed);
                write_tokens(w, "used", *used);
            });
        }
    });
    w.finish()
}

/// Returns the tools behind a stub as JSON with a final newline.
pub fn services_json(services: &Services<'_>) -> String {
    let mut w = Writer::pretty();
    w.object(|w| {
        w.key("server").object(|w| write_server(w, services.server));
        w.objects("tools", &services.tools, |w, definition| {
            w.key("description").optional(first_line(definition));
            w.key("name").string(&definition.name);
            write_tokens(w, "tokenEstimate", definition.tokens);
        });
    });
    w.finish()
}

/// Returns the tools that an agent sees, a line for each.
pub fn exposed(exposed: &Exposed<'_>) -> Vec<StyledSpan> {
    let mut out = Styled::default();
    out.put(Style::Heading, count(exposed.entries.len(), "tool"))
        .plain(" exposed, ")
        .put(Style::Heading, about(exposed.tokens()))
        .plain(" by an estimate")
        .end();
    let rows: Vec<_> = exposed
        .entries
        .iter()
        .map(|entry| {
            let what = match &entry.stub_of {
                None => String::new(),
                Some(tools) => format!("for {} on demand", count(tools.len(), "tool")),
            };
            (&*entry.name, entry.tokens, named(entry.server), what)
        })
        .collect();
    table(&mut out, &rows);
    out.finish()
}

/// Returns the tools that an expansion adds, a line for each.
pub fn expanded(expanded: &Expanded<'_>) -> Vec<StyledSpan> {
    let mut out = Styled::default();
    let Expanded {
        needed,
        used,
        budget,
        ..
    } = expanded;
    out.put(Style::Accepted, "✓ ")
        .put(Style::Heading, count(expanded.tools.len(), "tool"))
        .plain(" of ")
        .name(named(expanded.server))
        .plain(" expanded: ")
        .put(Style::Heading, about(*needed))
        .plain(" by an estimate")
        .dim(format!(
            "  {used} used before, {} of {budget} now",
            used.saturating_add(*needed)
        ))
        .end();
    list(&mut out, &expanded.tools);
    out.finish()
}

/// Returns the tools behind a stub, a line for each.
pub fn services(services: &Services<'_>) -> Vec<StyledSpan> {
    let mut out = Styled::default();
    let tokens = services.tools.iter().map(|one| one.tokens).sum();
    out.put(Style::Heading, count(services.tools.len(), "tool"))
        .plain(" on demand of ")
        .name(named(services.server))
        .plain(", ")
        .put(Style::Heading, about(tokens))
        .plain(" by an estimate")
        .end();
    list(&mut out, &services.tools);
    out.finish()
}

/// `about 1 token`
fn about(tokens: u64) -> String {
    let plural = if tokens == 1 { "" } else { "s" };
    format!("about {tokens} token{plural}")
}

fn named(server: ServerView<'_>) -> String {
    format!("{} {}", server.id(), server.version())
}

fn first_line<'i>(definition: &Definition<'i>) -> Option<&'i str> {
    let description = definition.tool.description()?;
    Some(description.lines().next().unwrap_or_default())
}

fn list(out: &mut Styled, tools: &[Definition<'_>]) {
    let rows = tools.iter().map(|one| {
        let about = first_line(one).unwrap_or_default();
        (&*one.name, one.tokens, String::new(), about.to_owned())
    });
    table(out, &rows.collect::<Vec<_>>());
}

/// Adds lines of a name, tokens, a server and a remark.
fn table(out: &mut Styled, rows: &[(&str, u64, String, String)]) {
    let name_width = rows.iter().map(|row| row.0.chars().count()).max();
    let tokens_width = rows.iter().map(|row| row.1.to_string().len()).max();
    let server_width = rows.iter().map(|row| row.2.chars().count()).max();
    let [name_width, tokens_width, server_width] =
        [name_width, tokens_width, server_width].map(Option::unwrap_or_default);
    for (name, tokens, server, rest) in rows {
        out.plain("  ")
            .name(format!("{name:<name_width$}"))
            .plain(format!("  ~{tokens:>tokens_width$}"));
        if !server.is_empty() && rest.is_empty() {
            out.plain(format!("  {server}"));
        } else if !server.is_empty() {
            out.plain(format!("  {server:<server_width$}"));
        }
        if !rest.is_empty() {
            out.dim(format!("  {rest}"));
        }
        out.end();
    }
}

/// Writes the members of a tool in the form of `tools/list`.
fn write_tool(w: &mut Writer, kind: &str, server: ServerView<'_>, definition: &str, tokens: u64) {
    w.key("_meta").object(|w| {
        w.key(meta::KIND).string(kind);
        w.key(meta::SERVER).object(|w| write_server(w, server));
        write_tokens(w, meta::TOKEN_ESTIMATE, tokens);
    });
    // The definition is the canonical form of an object.
    let Ok(node) = parse_value(&mut Reader::new(definition)) else {
        return;
    };
    for key in [
        "annotations",
        "description",
        "execution",
        "icons",
        "inputSchema",
        "name",
        "outputSchema",
        "title",
    ] {
        // MCP requires an input schema, and its `type`.
        let typed = key == "inputSchema";
        match child(&node, key) {
            Some(value) => write_node(w.key(key), value, typed),
            None if typed => w.key(key).object(|w| w.key("type").string("object")),
            None => {}
        }
    }
}

/// Writes a value with sorted keys. An object that must be `typed` gets the type of arguments, if it
/// has no type.
fn write_node(w: &mut Writer, node: &Node<'_>, typed: bool) {
    match &node.value {
        Value::Sequence(items) => w.array(|w| {
            for item in items {
                write_node(w, item, false);
            }
        }),
        Value::Mapping(entries) => w.object(|w| {
            let mut members: Vec<_> = entries
                .iter()
                .map(|entry| (&*entry.key, Some(&entry.value)))
                .collect();
            if typed && child(node, "type").is_none() {
                members.push(("type", None));
            }
            sort_by(&mut members, |a, b| a.0.cmp(b.0));
            for (key, value) in members {
                w.key(key);
                match value {
                    Some(value) => write_node(w, value, false),
                    None => w.string("object"),
                }
            }
        }),
        _ => {
            let mut scalar = String::new();
            canonical_node(node, &mut scalar);
            w.json(&scalar);
        }
    }
}

/// Writes the name of a server.
fn write_server(w: &mut Writer, server: ServerView<'_>) {
    w.key("id").string(server.id());
    w.key("version").string(server.version());
}

/// Writes a number of tokens, which may exceed 32 bits.
fn write_tokens(w: &mut Writer, key: &str, tokens: u64) {
    w.key(key).json(&tokens.to_string());
}
