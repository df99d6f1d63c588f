//! Attacks on a session: `attacks/sessions.json`.

use super::{World, at, call_at, codes};
use agent_model::Serve;
use agent_session::{
    CallAction, Called, Client, Delivered, Failure, Generation, ListKind, Method, Options, Session,
};
use agent_tests::attacks::{Attack, attacks, text};
use agent_tests::corpus::Failures;
use serde_json::{Value, json};

/// A session under attack.
struct Attacked {
    world: World,
    session: Session,
    /// The number of the last call.
    call: u64,
    /// The approval that was asked for last.
    approval: String,
    /// The code of the last call or result. It is `None` for what passes.
    code: Option<String>,
}

impl Attacked {
    fn new() -> Self {
        let world = World {
            serving: vec![
                ("files".to_owned(), vec![Serve::Prompts, Serve::Resources]),
                ("numbers".to_owned(), vec![Serve::Resources]),
            ],
            ..World::usual()
        };
        Self {
            session: world.session(Options::default()),
            world,
            call: 0,
            approval: String::new(),
            code: None,
        }
    }

    /// Does a step of a row: the server lists, the client calls, the server answers, or the human does.
    fn step(&mut self, step: &Value) {
        let ms = step["ms"].as_u64().unwrap_or(1);
        let of = step["of"].as_u64().unwrap_or(self.call);
        if let Some(server) = step["list"].as_str() {
            let list = listed(&self.world, server, step);
            self.session.tools(server, list.as_bytes(), at(ms));
        } else if step.get("call").is_some() {
            let arguments = step.get("arguments").cloned().unwrap_or(json!({}));
            let (client, name) = (client(step), text(&step["call"]));
            let called = call_at(&mut self.session, &client, &name, arguments, ms);
            self.called(&called);
        } else if let Some(server) = step["entries"].as_str() {
            let (kind, list) = entries(step);
            self.session.entries(server, kind, list.as_bytes(), at(ms));
        } else if let Some(method) = step["method"].as_str() {
            let method = Method::named(method).expect("a method");
            let params = step["with"].to_string();
            let client = client(step);
            let called = self
                .session
                .request(&client, method, params.as_bytes(), at(ms));
            self.called(&called);
        } else if step.get("params").is_some() {
            let params = text(&step["params"]);
            let called = self.session.call(&client(step), params.as_bytes(), at(ms));
            self.called(&called);
        } else if step.get("result").is_some() {
            let result = text(&step["result"]);
            let delivered = self.session.result(of, result.as_bytes(), at(ms));
            self.delivered(delivered);
        } else if let Some(how) = step["end"].as_str() {
            let how = match how {
                "cancelled" => Failure::Cancelled,
                "timed_out" => Failure::TimedOut,
                "closed" => Failure::Closed,
                other => panic!("{other} is no end"),
            };
            let delivered = self.session.failed(of, &how, at(ms));
            self.delivered(delivered);
        } else if let Some(answer) = step["approve"].as_bool() {
            let id = step["id"].as_str().unwrap_or(&self.approval).to_owned();
            self.session.approve(&id, answer, "terminal", at(ms));
        } else {
            panic!("{step} is no step");
        }
    }

    fn called(&mut self, called: &Called) {
        self.call = called.id;
        self.code = match &called.action {
            CallAction::Forward(_) | CallAction::ForwardRequest(_) => None,
            CallAction::Answer(result) => {
                let result: Value = serde_json::from_slice(result).expect("JSON");
                result["isError"]
                    .as_bool()
                    .unwrap_or_default()
                    .then(|| codes(&result).remove(0))
            }
            CallAction::AskApproval { approval, .. } => {
                self.approval.clone_from(approval);
                Some("asks".to_owned())
            }
            CallAction::Error { code, data, .. } => Some(code_of(*code, data.as_deref())),
        };
    }

    fn delivered(&mut self, delivered: Delivered) {
        self.code = match delivered {
            Delivered::AsReceived(_) | Delivered::Changed(..) => None,
            Delivered::Repeat(..) => Some("repeats".to_owned()),
            Delivered::Refused(result, _) => {
                let result: Value = serde_json::from_slice(&result).expect("JSON");
                Some(codes(&result).remove(0))
            }
            Delivered::Error { code, data, .. } => Some(code_of(code, data.as_deref())),
            Delivered::Nothing(_) => Some("nothing".to_owned()),
        };
    }
}

/// Returns the code of a refusal in the `data` of an error, else that of the error.
fn code_of(code: i64, data: Option<&[u8]>) -> String {
    let data: Value = serde_json::from_slice(data.unwrap_or(b"null")).expect("JSON");
    let of_refusal = data[agent_session::REFUSAL_KEY]["code"].as_str();
    of_refusal.map_or_else(|| code.to_string(), str::to_owned)
}

/// Returns the list of a step: of URIs, of templates or of the names of prompts, or its text.
fn entries(step: &Value) -> (ListKind, String) {
    let kinds = [
        (ListKind::Resources, "uris", "uri", "resources"),
        (
            ListKind::Templates,
            "templates",
            "uriTemplate",
            "resourceTemplates",
        ),
        (ListKind::Prompts, "prompts", "name", "prompts"),
    ];
    let mut kinds = kinds.into_iter();
    let known = kinds.find(|(_, list, ..)| step.get(list).is_some());
    let (kind, list, key, member) = known.expect("a list");
    if step[list].is_string() {
        return (kind, text(&step[list]));
    }
    let entries = step[list].as_array().expect("a list").iter();
    let entries = entries.map(|it| {
        let mut entry = json!({ "name": "n" });
        entry[key] = it.clone();
        entry
    });
    let entries: Vec<_> = entries.collect();
    (kind, json!({ member: entries }).to_string())
}

/// Returns the list of a server: the locked one with the changes of a step, or the step's text.
fn listed(world: &World, server: &str, step: &Value) -> String {
    if step.get("text").is_some() {
        return text(&step["text"]);
    }
    let mut list: Value = serde_json::from_str(&world.live(server)).expect("JSON");
    let tools = list["tools"].as_array_mut().expect("tools");
    for (name, members) in step["change"].as_object().into_iter().flatten() {
        let tool = tools.iter_mut().find(|it| it["name"] == **name);
        let tool = tool.expect("a tool of the server");
        let tool = tool.as_object_mut().expect("an object");
        for (member, value) in members.as_object().expect("members") {
            match value {
                Value::Null => drop(tool.remove(member)),
                value => drop(tool.insert(member.clone(), value.clone())),
            }
        }
    }
    let named = |name: &Value| name.as_str().map(str::to_owned);
    if let Some(name) = named(&step["again"]) {
        let again = tools.iter().find(|it| it["name"] == *name).cloned();
        tools.extend(again);
    }
    if let Some(name) = named(&step["drop"]) {
        tools.retain(|it| it["name"] != *name);
    }
    tools.extend(step["add"].as_array().into_iter().flatten().cloned());
    list.to_string()
}

fn client(step: &Value) -> Client {
    let member = |name: &str, other: &str| match step.get(name) {
        Some(value) => text(value),
        None => other.to_owned(),
    };
    Client {
        id: member("client", "c"),
        kind: member("kind", "local"),
        properties: None,
        generation: match step.get("session") {
            Some(_) => Generation::Sessions,
            None => Generation::Stateless,
        },
        session: step["session"].as_str().map(str::to_owned),
        capabilities: None,
    }
}

fn ended(attack: &Attack) -> Option<String> {
    let mut attacked = Attacked::new();
    let steps = attack.row["do"].as_array().expect("steps");
    steps.iter().for_each(|step| attacked.step(step));
    attacked.code
}

#[test]
fn every_attack_ends_with_its_code() {
    let mut failures = Failures::default();
    let attacks = attacks("sessions");
    let refused = attacks.iter().filter(|it| it.code().is_some());
    assert!(refused.count() >= 100);
    for attack in &attacks {
        let ended = ended(attack);
        if ended.as_deref() != attack.code() {
            failures.add(&attack.name, format!("ends with {ended:?}"));
        }
    }
    failures.finish();
}
