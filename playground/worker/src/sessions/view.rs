//! What an agent gets in a session, and what waits in it.

use super::arguments::{arguments, input_schema};
use super::history::history;
use super::host::{Forwarded, Host};
use super::json;
use agent_api::decide::token_estimate;
use agent_api::lower::{CALL, EXPAND, LIST_SERVICES, ToolEntry};
use agent_api::model::Index;
use agent_api::served::stub_name;
use agent_api::text::sort::{map_of, sort_by};
use agent_session::{Documents, LockedServer};
use agent_smallest_value::smallest_value;
use agent_syntax::json::parse_strict;
use agent_syntax::members::{items, member, string};
use agent_worker_protocol::session::{
    Arguments, Caller, Event, Expansion, OpenCall, Past, Question, Server, SessionView, Shown, Tool,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Definitions as they are written on a list, by the names that clients call.
pub(super) type Definitions = BTreeMap<String, String>;

impl Host {
    /// Returns the session as the page shows it. The draft comes last: a decision on it changes the session.
    pub(super) fn view(
        mut self,
        whole: &Definitions,
        events: &[Event],
        draft: Option<&str>,
    ) -> SessionView {
        let now = self.now();
        let list = self.session.list(&self.client, now).result;
        let list = String::from_utf8_lossy(&list).into_owned();
        let listed = definitions(&list);
        let status = self.session.status(now);
        let status: Value = serde_json::from_str(&status).unwrap_or_default();
        let servers = self.session.servers();
        let tools = tools(&status, &listed, whole, &servers);
        let arguments = |params: &str| arguments(params, whole, &listed);
        for (past, event) in self.past.iter_mut().zip(events) {
            if let (Past::Called { arguments: of, .. }, Event::Call(params)) = (past, event) {
                *of = arguments(params);
            }
        }
        let tokens = |of: &Definitions| of.values().map(|it| token_estimate(it)).sum();
        let before = self.session.history(&self.client, now);
        let draft_arguments = draft.map(&arguments).unwrap_or_default();
        let lines = self.records.iter().map(|it| format!("{}\n", it.line));
        let mut view = SessionView {
            agent: format!(
                "{} {}",
                json::text(&status["agent"]["name"]),
                json::text(&status["agent"]["version"])
            ),
            tokens: tokens(&listed),
            all_tokens: tokens(whole),
            servers: self.servers(&status),
            tools,
            open: (self.forwarded.iter())
                .map(|it| open(it, arguments(&it.params), whole))
                .collect(),
            questions: self.questions(arguments),
            records: lines.collect(),
            elapsed_ms: self.elapsed_ms,
            list,
            past: std::mem::take(&mut self.past),
            history: None,
            draft: None,
            draft_arguments,
        };
        view.draft = draft.map(|draft| self.decide(draft));
        let tool = &view.draft_arguments.tool;
        view.history = before.map(|it| history(&it, tool, view.draft.as_ref()));
        view
    }

    fn servers(&self, status: &Value) -> Vec<Server> {
        let servers = status["servers"].as_array().into_iter().flatten();
        let servers = servers.map(|it| {
            let name = json::text(&it["name"]);
            Server {
                endpoint: json::text(&it["endpoint"]),
                health: json::text(&it["health"]),
                runs: !self.exited.contains(&name),
                unlocked: json::texts(&it["unlocked"]),
                name,
            }
        });
        servers.collect()
    }

    fn questions(&self, arguments: impl Fn(&str) -> Arguments) -> Vec<Question> {
        let waiting = self.waiting.iter().map(|it| Question {
            approval: it.approval.clone(),
            text: it.text.clone(),
            arguments: arguments(&it.params),
            wait_ms: it.expires_ms.saturating_sub(self.elapsed_ms),
        });
        waiting.collect()
    }
}

/// Returns every definition that clients of a generation may get.
pub(super) fn whole(documents: Documents, caller: &Caller, index: Option<&Index>) -> Definitions {
    let caller = Caller {
        expansion: Expansion::None,
        ..caller.clone()
    };
    let Ok(mut host) = Host::open(documents, &caller) else {
        return Definitions::new();
    };
    host.replay(&[], index);
    let list = host.session.list(&host.client, host.now()).result;
    definitions(&String::from_utf8_lossy(&list))
}

/// Returns the definitions of a list by their names, as they are written there.
fn definitions(list: &str) -> Definitions {
    let Some(root) = parse_strict(list) else {
        return Definitions::new();
    };
    let tools = member(&root, "tools").and_then(items).unwrap_or_default();
    let tools = tools.iter().filter_map(|tool| {
        let name = member(tool, "name").and_then(string)?;
        Some((name.to_owned(), tool.span.of(list).to_owned()))
    });
    map_of(tools)
}

/// Returns the tools of the lock with their reasons, and the helpers.
fn tools(
    status: &Value,
    listed: &Definitions,
    whole: &Definitions,
    servers: &[LockedServer],
) -> Vec<Tool> {
    let of_lock = status["tools"].as_array().into_iter().flatten();
    let mut tools: Vec<_> = of_lock
        .map(|it| {
            let name = json::text(&it["name"]);
            let server = json::text(&it["server"]);
            let id = servers.iter().find(|it| it.name == server);
            let stub = id.map(|it| stub_name(&it.id)).unwrap_or_default();
            let definition = listed.get(&name).or_else(|| whole.get(&name));
            let shown = if listed.contains_key(&name) {
                Shown::Listed
            } else if json::text(&it["state"]) == "exposed" && listed.contains_key(&stub) {
                Shown::Behind(stub)
            } else {
                Shown::Withheld(json::reasons(&it["reasons"]))
            };
            let is_withheld = matches!(shown, Shown::Withheld(_));
            let definition = definition.filter(|_| !is_withheld).cloned();
            let arguments = smallest_arguments(definition.as_deref());
            let (call, expand) = match &shown {
                Shown::Behind(stub) => (
                    params(
                        stub,
                        &json!({ "operation": CALL, "tool": name, "arguments": arguments }),
                    ),
                    Some(params(
                        stub,
                        &json!({ "operation": EXPAND, "tools": [name] }),
                    )),
                ),
                _ => (params(&name, &arguments), None),
            };
            Tool {
                tokens: definition.as_deref().map(token_estimate),
                about: about(definition.as_deref()),
                definition,
                name,
                server,
                shown,
                call,
                expand,
            }
        })
        .collect();
    let helpers = listed.iter().filter(|(name, _)| {
        let mut names = tools.iter().map(|it| &it.name);
        names.all(|it| it != *name)
    });
    let helpers: Vec<_> = helpers
        .map(|(name, definition)| {
            let mut of = servers.iter().filter(|it| stub_name(&it.id) == *name);
            Tool {
                name: name.clone(),
                server: of.next().map(|it| it.name.clone()).unwrap_or_default(),
                about: about(Some(definition)),
                shown: Shown::Helper,
                tokens: Some(token_estimate(definition)),
                definition: Some(definition.clone()),
                call: params(name, &json!({ "operation": LIST_SERVICES })),
                expand: None,
            }
        })
        .collect();
    tools.extend(helpers);
    sort_by(&mut tools, |a, b| place(a).cmp(&place(b)));
    tools
}

/// Returns the place of a tool: those on the list first, tools on demand below their helper, and
/// then those that no client gets.
fn place(tool: &Tool) -> (u8, &str, u8, &str) {
    match &tool.shown {
        Shown::Listed => (0, "", 0, &tool.name),
        Shown::Helper => (1, &tool.name, 0, ""),
        Shown::Behind(helper) => (1, helper, 1, &tool.name),
        Shown::Withheld(_) => (2, "", 0, &tool.name),
    }
}

/// Returns what a definition says about its tool.
fn about(definition: Option<&str>) -> String {
    let definition = definition.and_then(|it| serde_json::from_str(it).ok());
    definition.map_or_else(String::new, |it: Value| json::text(&it["description"]))
}

/// Returns the parameters of a call, for people.
fn params(tool: &str, arguments: &Value) -> String {
    let tool = Value::from(tool);
    let arguments = serde_json::to_string_pretty(arguments).unwrap_or_default();
    let arguments = arguments.replace('\n', "\n  ");
    format!("{{\n  \"name\": {tool},\n  \"arguments\": {arguments}\n}}\n")
}

/// Returns the smallest arguments that the input schema of a definition allows.
fn smallest_arguments(definition: Option<&str>) -> Value {
    let schema = definition.and_then(input_schema);
    schema.map_or_else(|| json!({}), |it| smallest_value(&it, &|_| None))
}

/// Returns a call that waits for its server, with a result that its output schema allows.
fn open(call: &Forwarded, arguments: Arguments, whole: &Definitions) -> OpenCall {
    let entry = whole.get(&call.tool).map(|it| ToolEntry::read(it));
    let schema = entry.as_ref().and_then(ToolEntry::output_schema);
    let schema = schema.and_then(|it| serde_json::from_str(&it).ok());
    let content = schema.map(|it: Value| smallest_value(&it, &|_| None));
    let text = content
        .as_ref()
        .map_or_else(|| "done".to_owned(), Value::to_string);
    let mut result = json!({ "content": [{ "type": "text", "text": text }] });
    if let Some(content) = content {
        result["structuredContent"] = content;
    }
    OpenCall {
        call: call.call,
        tool: call.tool.clone(),
        server: call.server.clone(),
        arguments,
        example: serde_json::to_string_pretty(&result).unwrap_or_default(),
    }
}
