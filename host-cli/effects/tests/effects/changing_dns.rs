//! A name whose addresses change between the check and the connection.

use agent_effects::{Effects, Lookup, Resolver, Run};
use agent_evidence::Store;
use agent_host::contract::run::{Decision, Documents, Mode, Options, Status};
use agent_host::{Engine, Zone, block_on};
use agent_operator::Operator;
use serde_json::{Value, json};
use std::io::{self, BufRead, BufReader, Write};
use std::net::{IpAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// The name of the server.
const NAME: &str = "changing.example";

/// Answers with loopback once, and then with an address that nobody may connect to.
#[derive(Clone, Default)]
struct Changing(Arc<AtomicUsize>);

impl Lookup for Changing {
    fn lookup(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        assert_eq!(name, NAME);
        let address = match self.0.fetch_add(1, Ordering::Relaxed) {
            0 => "127.0.0.1",
            _ => "169.254.169.254",
        };
        Ok(vec![address.parse().unwrap()])
    }
}

/// Answers one request. Returns the port, and the request's head when the thread ends.
fn serve() -> (u16, thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let served = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut head = String::new();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        while !head.ends_with("\r\n\r\n") {
            assert_ne!(reader.read_line(&mut head).unwrap(), 0);
        }
        let body = r#"{"seen":true}"#;
        let answer = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(answer.as_bytes()).unwrap();
        head
    });
    (port, served)
}

fn documents(port: u16) -> Documents {
    let (connector, tool) = ("core:http", "get");
    let origin = format!("http://{NAME}:{port}");
    let profile = json!({
        "schema_id": "ds.instruction_profile_core_v1", "profile_id": "profile",
        "security_model_version": "1.0.0", "status": "active",
        "caps": {
            "max_steps": 1, "max_timeout_ms": 60_000, "max_input_bytes": 4096,
            "max_output_bytes": 4096, "max_log_bytes": 4096
        },
        "rules": [{
            "rule_id": "r", "effect": "allow",
            "target": { "kind": "tool", "selector": format!("{connector}/{tool}") }
        }]
    });
    let pool = json!({
        "schema_id": "ds.mova_agent_tool_pool_v1", "pool_id": "pool", "pool_version": "1.0.0",
        "connectors": [{
            "connector_id": connector, "provider": "internal", "resource": "any", "protocol": "any"
        }],
        "bindings": [{
            "connector_id": connector, "tool_id": tool, "driver_kind": "http", "methods": ["GET"],
            "destinations": [&origin], "non_public_addresses": ["127.0.0.1"],
            "limits": {
                "timeout_ms": 60_000, "max_input_bytes": 4096, "max_output_bytes": 4096,
                "max_log_bytes": 256
            }
        }]
    });
    let plan = json!({
        "envelope_id": "env.mova_agent_plan_v1", "verb": "create",
        "roles": { "planner": "a-model", "executor": "agent" },
        "plan": {
            "plan_id": "p", "request_id": "req",
            "tool_pool_ref": { "pool_id": "pool", "pool_version": "1.0.0" },
            "instruction_profile_ref": { "profile_id": "profile" },
            "steps": [{
                "step_id": "one", "connector_id": connector, "tool_id": tool,
                "input": { "method": "GET", "url": format!("{origin}/a") }
            }]
        }
    });
    let text = |value: Value| Some(value.to_string().into_bytes());
    Documents {
        plan: text(plan),
        request: None,
        tool_pool: text(pool),
        instruction_profile: text(profile),
        lock: None,
        index: None,
        task: None,
        tenant: None,
        tenant_id: None,
        policy: None,
        policy_context: None,
        mova: Vec::new(),
        goal: None,
        summary: None,
    }
}

#[test]
fn the_connection_goes_to_the_address_that_was_checked() {
    let (port, served) = serve();
    let lookups = Changing::default();
    let folder = tempfile::tempdir().unwrap();
    let engine = Engine::embedded().unwrap();
    let mut instance = engine.instantiate().unwrap();
    let finished = block_on(async {
        let resolver = Resolver::new(lookups.clone(), Duration::from_secs(60));
        let approver = Arc::new(|_: &_| Decision {
            approved: false,
            by: "nobody".to_owned(),
        });
        let store = Store::new(folder.path());
        let operator = Operator::default();
        let mut effects = Effects::new(store, approver, &operator, engine, resolver).await?;
        let options = Options {
            run_id: "run".to_owned(),
            random: vec![7; 32],
            sandbox_tier: effects.sandbox_tier().to_owned(),
            handlers: effects.handlers().listed(),
            approvals: Vec::new(),
            secrets: Vec::new(),
            mode: Mode::CarryOut,
            asks_for_summary: false,
        };
        let run = Run::start(&mut instance, &documents(port), &options, Zone::default())?;
        run.carry_out(&mut effects).await
    })
    .unwrap();
    assert_eq!(
        finished.status,
        Status::Completed,
        "{}",
        finished.text.len()
    );
    let head = served.join().unwrap();
    assert!(head.starts_with("GET /a HTTP/1.1\r\n"), "{head}");
    assert!(head.contains(&format!("host: {NAME}:{port}\r\n")), "{head}");
    // A second lookup would have led to the metadata of a cloud.
    assert_eq!(lookups.0.load(Ordering::Relaxed), 1);
}
