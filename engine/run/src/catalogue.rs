//! The live catalogue of the locked servers \[1, step 3\].

use super::action::{Action, PlannerTask, Server};
use super::documents::Read;
use super::effects::{Effects, Part};
use super::evidence::Evidence;
use super::stop::Stop;
use agent_api::decide::{CallContext, CallVerdict, EvaluationContext};
use agent_api::lower::{call_plan, integrity};
use agent_api::model::{Index, Lock, Name, ServerView, ToolName, ToolsSnapshot};
use agent_api::{CallAnswer, plan};
use agent_syntax::Value;
use agent_syntax::json::{Writer, parse_strict};
use agent_syntax::members::{member, string};
use core::fmt::Write;
use std::collections::BTreeMap;

/// Milliseconds that a server has to start and to list its tools.
const LIST_TIMEOUT_MS: u64 = 60_000;

/// Maximum size of a message of a server that lists its tools, in bytes.
const LIST_MAX_BYTES: u64 = 16 << 20;

/// The live tools of servers, by the servers' ids: the text of each tool by its name.
pub(crate) type LiveTools = BTreeMap<String, BTreeMap<String, String>>;

/// Lists the tools of every locked server. A server that can't list them counts as one without
/// tools; the evidence has the reason.
///
/// # Errors
/// The run is interrupted, or no server lists its tools: then the reason of the first one.
pub(crate) async fn list_tools(
    evidence: &Evidence,
    lock: &Lock,
    index: &Index,
) -> Result<LiveTools, Stop> {
    let mut live = LiveTools::new();
    let mut failed = None;
    for server in locked_servers(lock, index) {
        if live.contains_key(server.id()) {
            continue;
        }
        match list(evidence, server).await {
            Ok(tools) => drop(live.insert(server.id().to_owned(), tools)),
            Err(stop) if stop.is_final() => return Err(stop),
            Err(stop) => {
                let message = format!("the server `{}`: {}", server.id(), stop.message);
                failed.get_or_insert(Stop { message, ..stop });
            }
        }
    }
    match failed {
        Some(stop) if live.is_empty() => Err(stop),
        _ => Ok(live),
    }
}

/// Returns the locked entries of the index, in the order of the lock, each once.
fn locked_servers<'i>(lock: &Lock, index: &'i Index) -> Vec<ServerView<'i>> {
    let mut servers: Vec<ServerView<'i>> = Vec::new();
    for selection in &lock.selections {
        let found = index.find(selection.id.as_str(), selection.version.as_str());
        let found = found.filter(|it| integrity(*it) == selection.integrity);
        if let Some(server) = found
            && servers.iter().all(|it| it.rank() != server.rank())
        {
            servers.push(server);
        }
    }
    servers
}

async fn list(
    evidence: &Evidence,
    server: ServerView<'_>,
) -> Result<BTreeMap<String, String>, Stop> {
    let part = Part::Catalogue {
        server: server.id(),
    };
    let mut effects = Effects::new(evidence, part, LIST_TIMEOUT_MS);
    effects.begin();
    let endpoint = server.endpoint();
    let (connection, target) = match endpoint.starts_with("pkg:") {
        true => (None, String::new()),
        false => {
            let (origin, target) = plan::endpoint(endpoint)?;
            let decide = |texts: &[String]| plan::authorize_endpoint(endpoint, texts);
            (Some(effects.connect(&origin, decide).await?), target)
        }
    };
    let open = Server {
        id: server.id().to_owned(),
        version: server.version().to_owned(),
        endpoint: endpoint.to_owned(),
        connection,
        target,
        max_message_bytes: LIST_MAX_BYTES,
        timeout_ms: effects.remaining()?,
    };
    effects.perform(Action::OpenServer(open)).await?;
    let timeout_ms = effects.remaining()?;
    let list = effects.bytes(Action::ListTools { timeout_ms }).await?;
    Ok(tools(&String::from_utf8_lossy(&list)))
}

/// Returns the tools of a `tools/list` result. Those without a usable name, and those that share one, are
/// left out: the lock can't name them.
fn tools(list: &str) -> BTreeMap<String, String> {
    let root = parse_strict(list);
    let items = root.as_ref().and_then(|root| member(root, "tools"));
    let Some(Value::Sequence(items)) = items.map(|it| &it.value) else {
        return BTreeMap::new();
    };
    let mut found: BTreeMap<String, Option<String>> = BTreeMap::new();
    for item in items {
        if let Some(name) = member(item, "name").and_then(string)
            && ToolName::new(name).is_ok()
        {
            let text = item.span.of(list).to_owned();
            // The snapshot nests a tool one level deeper than the list.
            if parse_strict(&format!("[[[{text}]]]")).is_none() {
                continue;
            }
            found
                .entry(name.to_owned())
                .and_modify(|it| *it = None)
                .or_insert(Some(text));
        }
    }
    let unique = found.into_iter();
    unique
        .filter_map(|(name, text)| Some((name, text?)))
        .collect()
}

/// Returns the tools as a snapshot, which decides calls: a JSON object.
pub(crate) fn snapshot(live: &LiveTools) -> String {
    let mut text = String::from("{");
    for (number, (server, tools)) in live.iter().enumerate() {
        text.push_str(if number == 0 { "" } else { "," });
        agent_syntax::json::write_string(server, &mut text);
        let tools: Vec<_> = tools.values().map(String::as_str).collect();
        // Writing to a string can't fail.
        let _ = write!(text, ":{{\"tools\":[{}]}}", tools.join(","));
    }
    text.push('}');
    text
}

/// Returns the request for a plan of one call: the query, and the tools that may be called with some
/// arguments.
pub(crate) fn call_request(
    query: &str,
    live: &LiveTools,
    documents: &Read,
    evaluation_context: &EvaluationContext,
    catalogue: Option<&ToolsSnapshot>,
) -> String {
    let callable = |server: &str, tool: &str| {
        let context = documents.index.as_ref().map(|index| CallContext {
            index,
            lock: documents.lock.as_ref(),
            catalogue,
            evaluation_context: Some(evaluation_context),
        });
        context.is_some_and(|context| may_be_called(server, tool, context))
    };
    let mut w = Writer::dense();
    w.object(|w| {
        w.key("query").string(query);
        w.key("schema").json(CALL_SCHEMA);
        w.key("task").string(PlannerTask::Call.name());
        w.key("tools").array(|w| {
            for (server, tools) in live {
                for (tool, text) in tools {
                    if callable(server, tool) {
                        w.object(|w| write_tool(w, server, tool, text));
                    }
                }
            }
        });
    });
    w.finish()
}

fn write_tool(w: &mut Writer, server: &str, tool: &str, text: &str) {
    let node = parse_strict(text);
    let of_tool = |name| node.as_ref().and_then(|it| member(it, name));
    if let Some(description) = of_tool("description").and_then(string) {
        w.key("description").string(description);
    }
    if let Some(schema) = of_tool("inputSchema") {
        w.key("input_schema").json(schema.span.of(text));
    }
    w.key("server").string(server);
    w.key("tool").string(tool);
}

/// Returns whether a tool may be called, whatever its arguments are.
fn may_be_called(server: &str, tool: &str, context: CallContext<'_>) -> bool {
    let mut w = Writer::dense();
    w.object(|w| {
        w.key("args").object(|_| {});
        w.key("server").string(server);
        w.key("tool").string(tool);
        w.key("type").string("call_tool");
    });
    let Ok(plan) = call_plan(w.finish().into_bytes()) else {
        return false;
    };
    let answer = CallAnswer::new(&plan.value, context);
    match answer.verdict() {
        CallVerdict::Denied(checks) => checks
            .iter()
            .all(|it| it.denials.is_empty() || it.check.depends_on_arguments()),
        _ => true,
    }
}

/// The schema of a plan of one call.
const CALL_SCHEMA: &str = r#"{"oneOf":[{"type":"object","properties":{"type":{"const":"call_tool"},"server":{"type":"string"},"tool":{"type":"string"},"args":{"type":"object"}},"required":["type","server","tool","args"],"additionalProperties":false},{"type":"object","properties":{"type":{"const":"final_answer"},"answer":{"type":"string"},"needs_more_info":{"const":true}},"required":["type","answer","needs_more_info"],"additionalProperties":false}]}"#;

#[cfg(test)]
mod tests {
    use super::tools;

    #[test]
    fn one_bad_tool_hides_no_other() {
        let list = r#"{"tools":[{"name":"a"},{"name":""},{"name":1},7,{"name":"b"},{"name":"b"}]}"#;
        let found = tools(list);
        assert_eq!(
            found.into_iter().collect::<Vec<_>>(),
            [("a".to_owned(), r#"{"name":"a"}"#.to_owned())]
        );
        assert!(tools("{}").is_empty());
        assert!(tools("[").is_empty());
    }
}
