//! Attacks on a session: `attacks/sessions.json`.

use super::{World, at, call_at, codes};
use agent_session::{CallAction, Called, Client, Delivered, Failure, Generation, Options, Session};
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
        let world = World::usual();
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
            CallAction::Forward { .. } => None,
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
            CallAction::Error { code, .. } => Some(code.to_string()),
        };
    }

    fn delivered(&mut self, delivered: Delivered) {
        self.code = match delivered {
            Delivered::AsReceived(_) | Delivered::Changed(..) => None,
            Delivered::Refused(result, _) => {
                let result: Value = serde_json::from_slice(&result).expect("JSON");
                Some(codes(&result).remove(0))
            }
            Delivered::Nothing(_) => Some("nothing".to_owned()),
        };
    }
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
