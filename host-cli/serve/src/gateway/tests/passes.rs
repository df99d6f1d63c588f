//! How often the host reads the arguments of a call. The engine reads them once more, which a test of `tests` counts.

use crate::audit::AuditLog;
use crate::gateway::{Gateway, Setup, Upstream};
use agent_effects::{Access, Resolver};
use agent_host::contract::session::{
    ApprovalMode, Documents, Expansion, Observation, ObservedServer, Options,
};
use agent_host::{Engine, Signals, Zone};
use agent_mcp_protocol::{Client, Generations, Limits, Options as Identity, Stdio, Wait};
use agent_mcp_server::{Endpoint, Hosts, Listener, Token};
use agent_syntax::json::bytes_read;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;
use tokio::io::{
    AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, duplex,
};
use tokio::net::TcpStream;
use tokio::runtime::Builder;
use tokio::sync::mpsc;
use tokio::task::{LocalSet, spawn_local};

/// Size of the arguments, next to which everything else is small.
const SIZE: usize = 1 << 20;

const LIST: &str = r#"{"tools":[{"name":"read","inputSchema":{"type":"object"}}]}"#;

/// Answers as a server of 2026-07-28.
async fn server(stream: DuplexStream) {
    let (reader, mut writer) = tokio::io::split(stream);
    let mut lines = BufReader::new(reader).lines();
    while let Some(line) = lines.next_line().await.unwrap() {
        let (_, id) = line.split_once(r#""id":"#).unwrap();
        let (id, _) = id.split_once(',').unwrap();
        let result = match line.contains("server/discover") {
            true => r#"{"supportedVersions":["2026-07-28"],"resultType":"complete"}"#,
            false => r#"{"content":[],"resultType":"complete"}"#,
        };
        let answer = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n");
        writer.write_all(answer.as_bytes()).await.unwrap();
    }
}

/// Returns a connection to such a server.
async fn upstream() -> Upstream {
    let (ours, theirs) = duplex(64 << 10);
    spawn_local(server(theirs));
    let (reader, writer) = tokio::io::split(ours);
    let limits = Limits::default();
    let identity = Identity {
        name: "agent".to_owned(),
        version: "1".to_owned(),
        generations: Generations::Stateless,
        limits,
    };
    let transport = Stdio::new(reader, writer, limits.frame_bytes);
    let wait = Wait::time(Duration::from_secs(60));
    let client = Client::connect(transport, &identity, &wait).await.unwrap();
    let (multiplexed, driver) = client.multiplexed(mpsc::channel(1).0);
    spawn_local(driver.run());
    Upstream::Streams(multiplexed)
}

/// Returns a gateway whose only server is `files`.
async fn gateway(log: &Path, token: Token) -> Gateway {
    let engine = Engine::embedded().unwrap();
    let mut signals = Signals::new().unwrap();
    let operator = Default::default();
    let access = Access::new(&operator, engine.clone(), Resolver::system(), &mut signals);
    let options = Options {
        seed: vec![0; 32],
        expansion: Expansion::Stub,
        budget: None,
        observe: true,
        servers: vec![ObservedServer {
            name: "files".to_owned(),
            endpoint: "pkg:npm/files@1.0.0".to_owned(),
        }],
        audit_arguments: false,
        approval_mode: ApprovalMode::Host,
        payload_max_bytes: None,
        secrets: Vec::new(),
        last_record: None,
        state: None,
    };
    let setup = Setup {
        name: None,
        access: access.await.unwrap(),
        ignoring: Vec::new(),
        documents: Documents {
            lock: None,
            index: None,
            definitions: None,
            policy: None,
            policy_context: None,
            tenant: None,
            tenant_id: None,
            task: None,
            health: None,
        },
        options,
        zone: Zone::default(),
        log: AuditLog::open(log, 1 << 30).unwrap(),
        clients: vec![("test".to_owned(), token)],
    };
    let mut gateway = Gateway::default();
    gateway.add(engine, setup).unwrap().unwrap();
    let shared = &gateway.agents[0].service;
    shared
        .decider
        .observe("files", Observation::Started)
        .unwrap();
    shared.decider.tools("files", LIST.as_bytes()).unwrap();
    let slot = Rc::clone(&shared.slots.borrow()["files"].0);
    slot.upstream.send_replace(Some(upstream().await));
    shared.tried("files");
    gateway
}

async fn counted() {
    let folder = tempfile::tempdir().unwrap();
    let token = Token::random().unwrap();
    let bearer = token.reveal().to_owned();
    let gateway = gateway(&folder.path().join("audit.jsonl"), token).await;
    let listener = Listener::bind(([127, 0, 0, 1], 0).into()).await.unwrap();
    let address = listener.address();
    let endpoint = Rc::new(Endpoint::new(gateway.agents.clone(), Hosts::of(address)));
    spawn_local(async move {
        let answer = move |request| {
            let endpoint = Rc::clone(&endpoint);
            async move { endpoint.answer(request).await }
        };
        listener.serve(answer).await;
    });
    let text = "x".repeat(SIZE);
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"read","arguments":{{"path":"{text}"}},"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
    );
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nAuthorization: Bearer {bearer}\r\n\
         Content-Type: application/json\r\nAccept: application/json\r\nContent-Length: {}\r\n\
         MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: read\r\n\r\n{body}",
        body.len()
    );
    let before = bytes_read();
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.contains(r#""content":[]"#), "{answer}");
    let passes = (bytes_read() - before) / SIZE as u64;
    assert_eq!(passes, 1);
}

#[test]
fn the_arguments_of_a_call_are_read_once() {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    LocalSet::new().block_on(&runtime, counted());
}
