//! Any sequence of messages: the rules a second time, surfaces that agree, and a state that changes no answer.

use super::bundles::bundled;
use super::decision_point::{asked, point, reasons as decision_reasons};
use super::{World, at, capability, client, server};
use agent_model::Load;
use agent_session::health::Observation;
use agent_session::{
    AskedCall, CallAction, CallSubject, Client, Delivered, Documents, Expansion, Failure,
    Generation, Options, REFUSAL_KEY, Record, Session,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const SERVERS: [&str; 3] = ["s0", "s1", "s2"];
const TOOLS: usize = 4;

/// A tool of the index.
#[derive(Debug, Clone, Copy)]
struct Tool {
    /// Locked as essential, on demand, or not.
    locked: Option<bool>,
    approved: bool,
    limited: bool,
    forbidden: bool,
    /// Whether the policy allows its expansion, and its call.
    allowed: (bool, bool),
    /// Whether its input schema can be used.
    usable: bool,
    /// The tool that is its fallback, if both can be locked so.
    fallback: Option<usize>,
}

fn tool() -> impl Strategy<Value = Tool> {
    let rarely = || prop::bool::weighted(0.15);
    let locked = prop_oneof![
        2 => Just(None),
        4 => Just(Some(false)),
        4 => Just(Some(true)),
    ];
    (
        locked,
        rarely(),
        rarely(),
        rarely(),
        rarely(),
        rarely(),
        rarely(),
        prop::option::weighted(0.3, 0..SERVERS.len() * TOOLS),
    )
        .prop_map(
            |(locked, approved, limited, forbidden, no_expand, no_call, unusable, fallback)| Tool {
                locked,
                approved,
                limited,
                forbidden,
                allowed: (!no_expand, !no_call),
                usable: !unusable,
                fallback,
            },
        )
}

/// A lock, a policy and a snapshot of health.
#[derive(Debug, Clone)]
struct Setting {
    tools: Vec<Tool>,
    expansion: Expansion,
    has_policy: bool,
    /// Whether each server is locked for a category, and then whether on demand.
    categories: [Option<bool>; 3],
    /// The health of each server in a snapshot.
    health: Option<[bool; 3]>,
    limit: u32,
}

fn setting() -> impl Strategy<Value = Setting> {
    let tools = prop::collection::vec(tool(), SERVERS.len() * TOOLS);
    let expansion = prop_oneof![
        Just(Expansion::Stub),
        Just(Expansion::List),
        Just(Expansion::None),
    ];
    let health = prop::option::weighted(0.3, prop::array::uniform3(prop::bool::weighted(0.7)));
    let has_policy = prop::bool::ANY;
    let category = prop::option::weighted(0.3, prop::bool::ANY);
    let categories = prop::array::uniform3(category);
    (tools, expansion, has_policy, health, categories, 1..3_u32).prop_map(
        |(tools, expansion, has_policy, health, categories, limit)| Setting {
            categories,
            tools,
            expansion,
            has_policy,
            health,
            limit,
        },
    )
}

fn load(on_demand: bool) -> Load {
    match on_demand {
        true => Load::OnDemand,
        false => Load::Essential,
    }
}

fn name(tool: usize) -> String {
    format!("t{tool}")
}

impl Setting {
    /// Returns whether a tool is locked, and then whether on demand.
    fn locked(&self, tool: usize) -> Option<bool> {
        let own = self.tools[tool];
        match self.categories[tool / TOOLS] {
            Some(on_demand) => (!own.forbidden).then_some(on_demand),
            None => {
                let firsts = self.firsts(tool);
                let loads = firsts.iter().filter_map(|first| self.tools[*first].locked);
                loads.chain(own.locked).min()
            }
        }
    }

    /// Returns the fallback of a tool: one of another server, both for a capability.
    fn fallback(&self, tool: usize) -> Option<usize> {
        let other = self.tools[tool].fallback?;
        let (own, others) = (tool / TOOLS, other / TOOLS);
        let of_capability = |server: usize| self.categories[server].is_none();
        // It must meet the constraints.
        let (first, second) = (self.tools[tool], self.tools[other]);
        let meets = second.approved >= first.approved && second.limited >= first.limited;
        let may = own != others && of_capability(own) && of_capability(others) && meets;
        (may && self.tools[tool].locked.is_some()).then_some(other)
    }

    /// Returns the tools that a tool is the fallback of.
    fn firsts(&self, tool: usize) -> Vec<usize> {
        let others = 0..self.tools.len();
        others
            .filter(|it| self.fallback(*it) == Some(tool))
            .collect()
    }

    fn world(&self) -> World {
        let mut servers = Vec::new();
        for (number, id) in SERVERS.iter().enumerate() {
            let own = number * TOOLS..(number + 1) * TOOLS;
            let tools = own.map(|it| (name(it), self.entry(it)));
            let mut server = server(id, Value::Object(tools.collect()));
            server["policy"] = json!({ "rateLimitPerMin": self.limit });
            servers.push(server);
        }
        let tools = self.tools.iter().enumerate();
        let locked = tools.clone().filter_map(|(number, tool)| {
            if self.categories[number / TOOLS].is_some() {
                return None;
            }
            let load = load(tool.locked?);
            Some((SERVERS[number / TOOLS].to_owned(), name(number), load))
        });
        let denied = |phase: usize| {
            let denied = tools.clone().filter(|(_, it)| match phase {
                0 => !it.allowed.0,
                _ => !it.allowed.1,
            });
            let names: Vec<_> = denied.map(|(number, _)| name(number)).collect();
            json!(names).to_string()
        };
        let policy = format!(
            "package switchboard\nexpand := {}\ncall := {}\nallowed_tools contains tool.id if {{\n \
             some tool in input.candidate_tools\n input.phase == \"expand\"\n not tool.tool in expand\n}}\n\
             allowed_tools contains tool.id if {{\n some tool in input.candidate_tools\n \
             input.phase == \"call\"\n not tool.tool in call\n}}\n",
            denied(0),
            denied(1)
        );
        let health = self.health.map(|health| {
            let line = |(id, is_healthy): (&&str, &bool)| {
                let status = if *is_healthy { "HEALTHY" } else { "UNHEALTHY" };
                format!("{id}: {status}\n")
            };
            SERVERS
                .iter()
                .zip(&health)
                .map(line)
                .collect::<String>()
                .into_bytes()
        });
        let id = |tool: usize| (SERVERS[tool / TOOLS].to_owned(), name(tool));
        let fallbacks =
            (0..self.tools.len()).filter_map(|tool| Some([id(tool), id(self.fallback(tool)?)]));
        World {
            fallbacks: fallbacks.collect(),
            locked: locked.collect(),
            categories: self
                .categories
                .iter()
                .zip(SERVERS)
                .filter_map(|(category, id)| Some((id.to_owned(), load((*category)?))))
                .collect(),
            // A lock forbids nothing that it has for a capability.
            forbid: tools
                .clone()
                .filter(|(number, it)| it.forbidden && self.locked(*number).is_none())
                .map(|(number, _)| name(number))
                .collect(),
            policy: self.has_policy.then_some(policy),
            documents: Documents {
                health,
                ..Documents::default()
            },
            ..World::new(servers, &[])
        }
    }

    fn entry(&self, tool: usize) -> Value {
        let own = self.tools[tool];
        let mut constraints = Vec::new();
        constraints.extend(own.approved.then_some("human_in_the_loop"));
        constraints.extend(own.limited.then_some("rate_limited"));
        let number = if own.usable {
            json!("number")
        } else {
            json!(7)
        };
        json!({
            "description": name(tool),
            "inputSchema": { "type": "object", "properties": { "n": { "type": number } } },
            "x-summit-capabilities": capability(&constraints),
        })
    }

    fn options(&self) -> Options {
        Options {
            expansion: self.expansion,
            budget: Some(u64::MAX),
            ..Options::default()
        }
    }
}

/// What a server lists of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Live {
    Same,
    Other,
    Missing,
    Twice,
}

/// A message.
#[derive(Debug, Clone)]
enum Message {
    List(usize, Vec<Live>),
    /// Client, tool, whether through the stub, arguments, and whether a human approves.
    Call(usize, usize, bool, usize, Option<bool>),
    Expand(usize, usize),
    Observe(usize, bool),
    Wait(u64),
    Unreadable(usize),
}

fn message() -> impl Strategy<Value = Message> {
    let live = prop_oneof![
        12 => Just(Live::Same),
        1 => Just(Live::Other),
        1 => Just(Live::Missing),
        1 => Just(Live::Twice),
    ];
    let tool = 0..SERVERS.len() * TOOLS;
    let call = (
        0..3_usize,
        tool.clone(),
        prop::bool::ANY,
        0..4_usize,
        prop::option::of(prop::bool::weighted(0.8)),
    );
    prop_oneof![
        4 => (0..SERVERS.len(), prop::collection::vec(live, TOOLS))
            .prop_map(|(server, live)| Message::List(server, live)),
        12 => call.prop_map(|(client, tool, stub, arguments, answer)| {
            Message::Call(client, tool, stub, arguments, answer)
        }),
        2 => (0..3_usize, tool).prop_map(|(client, tool)| Message::Expand(client, tool)),
        1 => (0..SERVERS.len(), prop::bool::ANY).prop_map(|(it, works)| Message::Observe(it, works)),
        1 => (1..70_000_u64).prop_map(Message::Wait),
        1 => (0..SERVERS.len()).prop_map(Message::Unreadable),
    ]
}

fn clients() -> [Client; 3] {
    [
        client("a", Generation::Sessions),
        client("b", Generation::Stateless),
        Client {
            session: Some("other".to_owned()),
            ..client("a", Generation::Sessions)
        },
    ]
}

fn arguments(number: usize) -> Value {
    [
        json!({}),
        json!({ "n": 1 }),
        json!({ "n": "x" }),
        json!({ "o": 1 }),
    ][number]
        .clone()
}

/// The rules, written once more for readers.
#[derive(Debug, Default)]
struct Rules {
    now: u64,
    /// What each server lists of each tool, once it has listed.
    live: BTreeMap<usize, Live>,
    expanded: BTreeSet<(usize, usize)>,
    /// Answers of the human that were not used, by client, tool and arguments, and their time.
    consents: BTreeMap<(usize, usize, usize), (bool, u64)>,
    /// The window of each client and server: its start and its calls.
    windows: BTreeMap<(usize, usize), (u64, u32)>,
}

#[derive(Debug, PartialEq, Eq)]
enum Expected {
    PassedOn,
    Asked,
    Refused,
}

impl Rules {
    /// The key of a client: two sessions are one client.
    fn who(client: usize) -> usize {
        [0, 1, 0][client]
    }

    /// Whether any surface has a tool.
    fn is_there(&self, setting: &Setting, tool: usize) -> bool {
        let own = setting.tools[tool];
        let same = self.live.get(&tool).is_none_or(|it| *it == Live::Same);
        setting.locked(tool).is_some() && own.usable && same && self.is_in_force(setting, tool)
    }

    /// Whether a server is vetoed by its health, or by that it has not listed its tools.
    fn is_vetoed(&self, setting: &Setting, server: usize) -> bool {
        let is_healthy = setting.health.is_none_or(|health| health[server]);
        !is_healthy || !self.live.contains_key(&(server * TOOLS))
    }

    /// Whether a tool is served by the health of servers.
    fn is_in_force(&self, setting: &Setting, tool: usize) -> bool {
        let is_vetoed = |tool: usize| self.is_vetoed(setting, tool / TOOLS);
        let is_first = setting.tools[tool].locked.is_some();
        let of_category = setting.categories[tool / TOOLS].is_some();
        of_category
            || is_first && (setting.fallback(tool).is_none() || !is_vetoed(tool))
            || setting.firsts(tool).into_iter().any(is_vetoed)
    }

    /// Which tools are on some surface.
    fn there(&self, setting: &Setting) -> Vec<bool> {
        let tools = 0..setting.tools.len();
        tools.map(|tool| self.is_there(setting, tool)).collect()
    }

    fn is_behind_stub(setting: &Setting, tool: usize) -> bool {
        setting.locked(tool) == Some(true) && setting.expansion != Expansion::None
    }

    /// Whether a client's list has a tool.
    fn is_listed(&self, setting: &Setting, client: usize, tool: usize) -> bool {
        let added = setting.expansion == Expansion::List && self.expanded.contains(&(client, tool));
        self.is_there(setting, tool) && (!Self::is_behind_stub(setting, tool) || added)
    }

    fn expect(
        &mut self,
        setting: &Setting,
        (client, tool, stub, number): (usize, usize, bool, usize),
    ) -> Expected {
        let own = setting.tools[tool];
        let server = tool / TOOLS;
        let is_behind = Self::is_behind_stub(setting, tool);
        let named = match stub {
            true => is_behind,
            false => self.is_listed(setting, client, tool),
        };
        let by_policy = !setting.has_policy || own.allowed.1 && (!is_behind || own.allowed.0);
        let is_vetoed = self.is_vetoed(setting, server);
        let fits = number < 2;
        if !(self.is_there(setting, tool) && named && by_policy && !is_vetoed && fits) {
            return Expected::Refused;
        }
        let who = Self::who(client);
        let window = self.windows.get(&(who, server)).copied();
        let window = window.filter(|(start, _)| self.now - start < 60_000);
        if own.limited && window.is_some_and(|(_, calls)| calls >= setting.limit) {
            return Expected::Refused;
        }
        if own.approved {
            let consent = self.consents.remove(&(who, tool, number));
            match consent.filter(|(_, given)| self.now - given < 600_000) {
                None => return Expected::Asked,
                Some((false, _)) => return Expected::Refused,
                Some((true, _)) => {}
            }
        }
        if own.limited {
            let (start, calls) = window.unwrap_or((self.now, 0));
            self.windows.insert((who, server), (start, calls + 1));
        }
        Expected::PassedOn
    }
}

fn live_list(setting: &Setting, server: usize, live: &[Live]) -> String {
    let mut tools = Vec::new();
    for (at, live) in live.iter().enumerate() {
        let tool = server * TOOLS + at;
        let mut entry = setting.entry(tool);
        entry["name"] = json!(name(tool));
        match live {
            Live::Same => tools.push(entry),
            Live::Other => {
                entry["description"] = json!("other");
                tools.push(entry);
            }
            Live::Missing => {}
            Live::Twice => tools.extend([entry.clone(), entry]),
        }
    }
    tools.push(json!({ "name": format!("extra{server}") }));
    json!({ "tools": tools }).to_string()
}

/// Gives a message to a session. Returns everything that it answers, but for records.
fn give(session: &mut Session, setting: &Setting, message: &Message, now: u64) -> Vec<String> {
    give_and_record(session, setting, message, now, &mut Vec::new())
}

/// As `give`, and adds the records to a log.
fn give_and_record(
    session: &mut Session,
    setting: &Setting,
    message: &Message,
    now: u64,
    log: &mut Vec<Record>,
) -> Vec<String> {
    let clients = clients();
    let mut answers = Vec::new();
    match message {
        Message::List(server, live) => {
            let list = live_list(setting, *server, live);
            let found = session.tools(SERVERS[*server], list.as_bytes(), at(now));
            answers.push(format!(
                "{:?} {:?} {}",
                found.exposed, found.drifted, found.list_changed
            ));
            log.extend(found.records);
        }
        Message::Unreadable(server) => {
            let found = session.tools(SERVERS[*server], b"?", at(now));
            log.extend(found.records);
        }
        Message::Call(client, tool, stub, number, answer) => {
            let params = params(*tool, *stub, *number);
            let called = session.call(&clients[*client], params.as_bytes(), at(now));
            answers.push(format!("{} {:?}", called.id, called.action));
            log.extend(called.records);
            match called.action {
                CallAction::AskApproval { approval, .. } => match answer {
                    Some(answer) => {
                        let approved = session.approve(&approval, *answer, "t", at(now));
                        answers.push(format!("{:?}", approved.waiting));
                        log.extend(approved.records);
                    }
                    None => {
                        let how = Failure::Cancelled;
                        answers.push(shown(session.failed(called.id, &how, at(now)), log));
                    }
                },
                CallAction::Forward(_) => {
                    let result = format!("{{\"content\":[],\"structuredContent\":{}}}", number % 2);
                    let result = session.result(called.id, result.as_bytes(), at(now));
                    answers.push(shown(result, log));
                }
                _ => {}
            }
        }
        Message::Expand(client, tool) => {
            let params = expand_params(*tool);
            let called = session.call(&clients[*client], params.as_bytes(), at(now));
            answers.push(format!("{:?} {}", called.action, called.list_changed));
            log.extend(called.records);
        }
        Message::Observe(server, works) => {
            let observation = match works {
                true => Observation::Answered { latency_ms: 1 },
                false => Observation::Failed,
            };
            let found = session.observe(SERVERS[*server], observation, at(now));
            answers.push(format!("{:?}", found.status));
            log.extend(found.records);
        }
        Message::Wait(_) => {}
    }
    for client in &clients {
        let list = session.list(client, at(now));
        log.extend(list.records);
        answers.push(String::from_utf8(list.result).expect("UTF-8"));
    }
    answers
}

fn shown(delivered: Delivered, log: &mut Vec<Record>) -> String {
    let (text, records) = match delivered {
        Delivered::AsReceived(records) => ("as received".to_owned(), records),
        Delivered::Changed(result, records) | Delivered::Refused(result, records) => {
            (String::from_utf8(result).expect("UTF-8"), records)
        }
        Delivered::Repeat(state, records) => (state, records),
        Delivered::Error {
            message, records, ..
        } => (message, records),
        Delivered::Nothing(records) => ("nothing".to_owned(), records),
    };
    log.extend(records);
    text
}

/// Returns the log of a session that gets messages.
fn logged(setting: &Setting, messages: &[Message], options: Options) -> String {
    let world = setting.world();
    let opened = Session::open(world.documents(), options, at(0));
    let (mut session, mut log) = opened.expect("a session");
    let mut now = 0;
    for message in messages {
        if let Message::Wait(ms) = message {
            now += ms;
        }
        if let Message::List(server, _) = message {
            let answered = Observation::Answered { latency_ms: 1 };
            log.extend(session.observe(SERVERS[*server], answered, at(now)).records);
        }
        give_and_record(&mut session, setting, message, now, &mut log);
    }
    super::audit_log::text_of(&log)
}

/// Returns the calls that a replay lists, by their number.
fn listed_calls(answer: &Value) -> BTreeMap<u64, Value> {
    let calls = answer["calls"].as_array().expect("calls").iter();
    let number = |call: &Value| call["sequence"].as_u64().expect("a number");
    calls.map(|call| (number(call), call.clone())).collect()
}

fn params(tool: usize, stub: bool, number: usize) -> String {
    let arguments = arguments(number);
    match stub {
        true => json!({ "name": format!("{}_helper", SERVERS[tool / TOOLS]), "arguments":
            { "operation": "call", "tool": name(tool), "arguments": arguments } }),
        false => json!({ "name": name(tool), "arguments": arguments }),
    }
    .to_string()
}

fn expand_params(tool: usize) -> String {
    json!({ "name": format!("{}_helper", SERVERS[tool / TOOLS]), "arguments":
        { "operation": "expand", "tools": [name(tool)] } })
    .to_string()
}

/// Opens a session, with observed health of healthy servers that have listed nothing.
fn opened(setting: &Setting) -> Session {
    let mut session = setting.world().opened(setting.options());
    for server in session.servers() {
        session.observe(&server.name, Observation::Started, at(0));
        session.observe(&server.name, Observation::Answered { latency_ms: 1 }, at(0));
    }
    session
}

proptest! {
    #![proptest_config(ProptestConfig::default())]

    #[test]
    fn a_call_is_passed_on_if_and_only_if_the_rules_say_so(
        setting in setting(),
        messages in prop::collection::vec(message(), 0..60),
    ) {
        let mut session = opened(&setting);
        let mut rules = Rules::default();
        let clients = clients();
        for message in &messages {
            // Health is that of the snapshot here; `health.rs` has its own rules.
            if let Message::Observe(..) = message {
                continue;
            }
            match message {
                Message::Wait(ms) => rules.now += ms,
                Message::List(server, live) => {
                    let before = rules.there(&setting);
                    for (place, live) in live.iter().enumerate() {
                        rules.live.insert(server * TOOLS + place, *live);
                    }
                    let list = live_list(&setting, *server, live);
                    let found = session.tools(SERVERS[*server], list.as_bytes(), at(rules.now));
                    prop_assert_eq!(found.list_changed, rules.there(&setting) != before);
                }
                Message::Unreadable(server) => {
                    let before = rules.there(&setting);
                    for tool in server * TOOLS..(server + 1) * TOOLS {
                        rules.live.insert(tool, Live::Missing);
                    }
                    let found = session.tools(SERVERS[*server], b"{", at(rules.now));
                    prop_assert_eq!(found.list_changed, rules.there(&setting) != before);
                }
                Message::Call(client, tool, stub, number, answer) => {
                    let expected = rules.expect(&setting, (*client, *tool, *stub, *number));
                    let params = params(*tool, *stub, *number);
                    let called = session.call(&clients[*client], params.as_bytes(), at(rules.now));
                    let found = match &called.action {
                        CallAction::Forward(to) => {
                            prop_assert_eq!(&to.tool, &name(*tool));
                            session.failed(called.id, &Failure::Cancelled, at(rules.now));
                            Expected::PassedOn
                        }
                        CallAction::AskApproval { approval, .. } => {
                            if let Some(answer) = answer {
                                session.approve(approval, *answer, "t", at(rules.now));
                                let key = (Rules::who(*client), *tool, *number);
                                rules.consents.insert(key, (*answer, rules.now));
                            } else {
                                session.failed(called.id, &Failure::Cancelled, at(rules.now));
                            }
                            Expected::Asked
                        }
                        CallAction::ForwardRequest(_)
                        | CallAction::Answer(_)
                        | CallAction::Error { .. } => Expected::Refused,
                    };
                    prop_assert_eq!(found, expected, "{:?} {:?}", message, called.action);
                }
                Message::Expand(client, tool) => {
                    let params = expand_params(*tool);
                    let called = session.call(&clients[*client], params.as_bytes(), at(rules.now));
                    let own = setting.tools[*tool];
                    let may = rules.is_there(&setting, *tool)
                        && Rules::is_behind_stub(&setting, *tool)
                        && (!setting.has_policy || own.allowed.0);
                    let got = match &called.action {
                        CallAction::Answer(result) => {
                            let result: Value = serde_json::from_slice(result).expect("JSON");
                            result["isError"] != true
                        }
                        _ => false,
                    };
                    prop_assert_eq!(got, may, "{:?} {:?}", message, called.action);
                    if may && *client != 1 {
                        rules.expanded.insert((*client, *tool));
                    }
                }
                Message::Observe(..) => {}
            }
            for (number, client) in clients.iter().enumerate() {
                let names = super::listed(&mut session, client);
                let tools = 0..setting.tools.len();
                let mut expected: Vec<_> = tools
                    .clone()
                    .filter(|tool| rules.is_listed(&setting, number, *tool))
                    .map(name)
                    .collect();
                for (server, id) in SERVERS.iter().enumerate() {
                    let mut own = tools.clone().filter(|tool| tool / TOOLS == server);
                    let has_stub = own.any(|tool| {
                        rules.is_there(&setting, tool) && Rules::is_behind_stub(&setting, tool)
                    });
                    expected.extend(has_stub.then(|| format!("{id}_helper")));
                }
                expected.sort();
                prop_assert_eq!(names, expected);
            }
        }
    }

    #[test]
    fn a_decision_without_state_is_that_of_a_session_or_names_the_state(setting in setting()) {
        let setting = Setting { expansion: Expansion::Stub, ..setting };
        let world = setting.world();
        let point = point(&world);
        let by_bundle = bundled(&world);
        let mut session = world.session(setting.options());
        for (tool, own) in setting.tools.iter().enumerate() {
            for number in 0..4 {
                // Each client has quotas and approvals of its own.
                let client = Client {
                    id: format!("{tool}.{number}"),
                    ..client("", Generation::Stateless)
                };
                let stub = Rules::is_behind_stub(&setting, tool);
                let called = session.call(&client, params(tool, stub, number).as_bytes(), at(0));
                let by_session = match &called.action {
                    CallAction::Answer(result) => {
                        let result: Value = serde_json::from_slice(result).expect("JSON");
                        result["_meta"][REFUSAL_KEY]["reasons"].as_array().expect("reasons").clone()
                    }
                    CallAction::Error { .. } => vec![Value::Null],
                    _ => Vec::new(),
                };
                let is_locked = setting.locked(tool).is_some();
                let by_category = setting.categories[tool / TOOLS].is_some();
                let is_fallback = !by_category && own.locked.is_none() && setting.health.is_none();
                let needs_state = is_locked && (own.approved || own.limited || is_fallback);
                for name in [name(tool), format!("{}/{}", SERVERS[tool / TOOLS], name(tool))] {
                    let call = AskedCall {
                        subject: CallSubject {
                            id: client.id.clone(),
                            kind: client.kind.clone(),
                            properties: None,
                        },
                        ..asked(&name, &arguments(number))
                    };
                    let decision = point.decide(&call, at(0)).expect("a decision");
                    let reasons = decision_reasons(&decision);
                    let bundled = by_bundle.decide(&call, at(0)).expect("a decision");
                    prop_assert_eq!(&decision_reasons(&bundled), &reasons);
                    prop_assert!(
                        !reasons.is_empty() || matches!(called.action, CallAction::Forward(_)),
                        "{:?}",
                        called.action
                    );
                    let (state, others): (Vec<_>, Vec<_>) =
                        reasons.into_iter().partition(|it| it["code"] == "STATE_REQUIRED");
                    prop_assert_eq!(!state.is_empty(), needs_state, "{:?}", state);
                    if by_session == [Value::Null] {
                        // The name means nothing: an error of the protocol has no code.
                        prop_assert_eq!(&others[0]["code"], "TOOL_NOT_LOCKED");
                        continue;
                    }
                    let known = by_session.iter();
                    let known = known.filter(|it| !is_fallback || it["code"] != "HEALTH_VETO");
                    prop_assert_eq!(others.iter().collect::<Vec<_>>(), known.collect::<Vec<_>>());
                }
            }
        }
    }

    #[test]
    fn a_state_changes_no_later_answer(
        setting in setting(),
        messages in prop::collection::vec((message(), prop::bool::weighted(0.2)), 0..40),
    ) {
        let world = setting.world();
        let mut one = opened(&setting);
        let mut other = opened(&setting);
        let mut now = 0;
        for (message, moves) in &messages {
            if let Message::Wait(ms) = message {
                now += ms;
            }
            if *moves {
                let options = Options {
                    state: Some(other.export().into()),
                    ..setting.options()
                };
                other = Session::open(world.documents(), options, at(now)).expect("a session").0;
            }
            let answers = give(&mut one, &setting, message, now);
            prop_assert_eq!(give(&mut other, &setting, message, now), answers);
        }
        let without_chain = |session: &Session| {
            let mut state: Value = serde_json::from_slice(&session.export()).expect("JSON");
            state["chain"] = Value::Null;
            state
        };
        prop_assert_eq!(without_chain(&one), without_chain(&other));
    }

    #[test]
    fn a_log_decided_again_under_the_same_documents_differs_nowhere(
        setting in setting(),
        messages in prop::collection::vec(message(), 0..40),
        audit_arguments in prop::bool::ANY,
        observe in prop::bool::weighted(0.3),
    ) {
        let options = Options { audit_arguments, observe, ..setting.options() };
        let log = logged(&setting, &messages, options);
        let verified = super::audit_log::verified(log.as_bytes());
        prop_assert_eq!(verified.problems, vec![]);
        let answer = super::audit_log::replayed(log.as_bytes(), setting.world().documents());
        prop_assert_eq!(&answer["calls"], &json!([]), "{}", log);
        prop_assert_eq!(&answer["same"], true);
    }

    #[test]
    fn what_is_decided_without_arguments_is_decided_so_with_them(
        setting in setting(),
        other in setting(),
        keeps_tools in prop::bool::ANY,
        messages in prop::collection::vec(message(), 0..40),
    ) {
        let other = match keeps_tools {
            // The index is another one only in some servers.
            true => Setting { tools: setting.tools.clone(), ..other },
            false => other,
        };
        let answer = |audit_arguments| {
            let options = Options { audit_arguments, ..setting.options() };
            let log = logged(&setting, &messages, options);
            super::audit_log::replayed(log.as_bytes(), other.world().documents())
        };
        let (with, without) = (answer(true), answer(false));
        // Only the health of a fallback's first is in no record.
        for call in with["calls"].as_array().expect("calls") {
            let reason = call["reason"].as_str().unwrap_or_default();
            prop_assert!(reason.is_empty() || reason.starts_with("the tool is a fallback"), "{}", call);
        }
        let (with, without) = (listed_calls(&with), listed_calls(&without));
        for number in with.keys().chain(without.keys()) {
            let (with, without) = (with.get(number), without.get(number));
            if without.is_some_and(|it| it["outcome"] == "undecidable") {
                continue;
            }
            // A call that is refused for one part has more reasons when all parts are known.
            let verdict = |it: Option<&Value>| {
                let it = it.filter(|it| it["outcome"] == "differs");
                it.map(|it| it["now"]["verdict"].clone())
            };
            prop_assert_eq!(verdict(with), verdict(without), "{:?} {:?}", with, without);
        }
    }

    #[test]
    fn no_bytes_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..64),
        text in r#"[{}\[\]",:a-z0-9 \\]{0,60}"#,
        cut in 0..400_usize,
        flip in 0..400_usize,
    ) {
        let world = World::usual();
        let mut session = world.session(Options::default());
        let state = session.export();
        let change = |text: &[u8]| {
            let mut text = text.to_vec();
            let place = flip % text.len();
            text[place] = text[place].wrapping_add(1);
            text.truncate(text.len() - cut % text.len());
            text
        };
        let call = br#"{"name":"aws_helper","arguments":{"operation":"call","tool":"s3_list","arguments":{"key":"k"}}}"#;
        let result = br#"{"content":[{"type":"text","text":"t"}],"structuredContent":{"text":"t"},"_meta":{"a":1},"resultType":"complete"}"#;
        for params in [&bytes[..], text.as_bytes(), &change(call)] {
            for client in clients() {
                session.call(&client, params, at(0));
            }
            session.tools("files", params, at(0));
        }
        session.tools("files", &change(world.live("files").as_bytes()), at(0));
        world.start(&mut session);
        for payload in [&bytes[..], text.as_bytes(), &change(result)] {
            for client in clients() {
                let read = super::call(&mut session, &client, "read", json!({ "path": "a" }));
                session.result(read.id, payload, at(0));
            }
        }
        let state = Options { state: Some(change(&state).into()), ..Options::default() };
        if let Ok((mut session, _)) = Session::open(world.documents(), state, at(0)) {
            super::call(&mut session, &clients()[0], "remove", json!({}));
            session.status(at(0));
            session.export();
        }
        let id = String::from_utf8_lossy(&bytes).into_owned();
        session.approve(&id, true, &id, at(u64::MAX / 2));
        let odd = Client { id: id.clone(), kind: text.clone(), properties: Some(bytes.clone()), ..clients()[0].clone() };
        super::call(&mut session, &odd, &text, json!({}));
        session.list(&odd, at(0));
    }
}
