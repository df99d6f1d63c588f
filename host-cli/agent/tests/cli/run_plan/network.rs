//! The network of a server that reaches only the hosts of its entry.

use super::server::Server;
use super::{
    MCP, evidence, index_of, operator, output, project, read, run_as_operator, step, summary,
};
use crate::project::Project;
use serde_json::{Value, json};
use std::fs;
use std::net::TcpListener;

/// An MCP server whose tool requests the URL of its query, through the proxy of its environment and without.
const SERVER: &str = r#"
import json, os, socket, sys, urllib.error, urllib.parse, urllib.request
def request(url):
    try:
        with urllib.request.urlopen(url, timeout=30) as answer:
            return answer.read().decode()
    except urllib.error.HTTPError as error:
        return f'{error.code}: {error.read().decode()}'
    except OSError as error:
        return f'failed: {error}'
def direct(url):
    parts = urllib.parse.urlsplit(url)
    try:
        socket.create_connection((parts.hostname, parts.port or 80), 5)
        return True
    except OSError:
        return False
for line in sys.stdin:
    message = json.loads(line)
    if 'id' not in message:
        continue
    answer = {'jsonrpc': '2.0', 'id': message['id']}
    if message['method'] == 'initialize':
        answer['result'] = {'protocolVersion': '2025-11-25', 'capabilities': {'tools': {}},
                            'serverInfo': {'name': 'acme', 'version': '1'}}
    elif message['method'] == 'tools/list':
        answer['result'] = {'tools': [{'name': 'search', 'description': 'Searches.', 'inputSchema': {
            'type': 'object', 'properties': {'query': {'type': 'string'}}, 'required': ['query']}}]}
    elif message['method'] == 'tools/call':
        url = message['params']['arguments']['query']
        made = {'body': request(url), 'direct': direct(url), 'pid': os.getpid()}
        answer['result'] = {'content': [], 'structuredContent': made}
    else:
        answer['error'] = {'code': -32601, 'message': 'unknown'}
    print(json.dumps(answer), flush=True)
"#;

/// A project whose server may reach `network` and is asked for a URL.
fn reaching(network: &str, url: &str) -> Project {
    let bindings = json!([{
        "connector_id": MCP, "tool_id": "search", "driver_kind": "mcp_proxy", "server": "acme",
        "tool": "search", "destinations": ["https://unused.example"]
    }]);
    let steps = json!([step(MCP, "search", json!({ "query": url }))]);
    let project = project(bindings, steps);
    index_of(&project, "pkg:npm/acme@1.0.0", "Searches.");
    let folder = project.path("operator");
    let folder = folder.display();
    let text = format!(
        "servers:\n  acme:\n    command: [/usr/bin/python3, {folder}/server.py]\n    \
         read: [{folder}/server.py]\n    network: {network}\n"
    );
    operator(&project, &text);
    project.write("operator/server.py", SERVER);
    project
}

/// Runs the server, and returns what its request came to. A direct connection must have failed.
fn requested(network: &str, url: &str) -> (String, Project) {
    let project = reaching(network, url);
    run_as_operator(&project).exits(0);
    let made: Value = output(&project, "search");
    assert_eq!(made["direct"], false, "{made}");
    (made["body"].as_str().unwrap().to_owned(), project)
}

#[test]
fn a_listed_address_is_reached_through_the_proxy() {
    let server = Server::start(|_| ("200 OK", "text/plain", "hello".to_owned()));
    let url = format!("{}/a?b=c", server.origin());
    let listed = server.origin().replace("http://", "");
    let (body, project) = requested(&format!("[\"{listed}\"]"), &url);
    assert_eq!(body, "hello");
    let [request] = &server.requests()[..] else {
        panic!("one request");
    };
    assert!(
        request.head.starts_with("GET /a?b=c HTTP/1.1\r\n"),
        "{}",
        request.head
    );
    assert!(
        request.head.contains(&format!("\r\nHost: {listed}\r\n")),
        "{}",
        request.head
    );
    assert_eq!(summary(&project)["steps"][0]["sandbox_tier"], "bubblewrap");
}

#[test]
fn another_port_of_a_listed_host_is_refused_and_said_so() {
    let server = Server::start(|_| ("200 OK", "text/plain", "hello".to_owned()));
    let (body, project) = requested("[\"127.0.0.1:1\"]", &server.origin());
    assert!(body.starts_with("403: "), "{body}");
    assert!(body.contains("not an allowed destination"), "{body}");
    assert!(server.requests().is_empty());
    let log = read(&project, "logs/search.log");
    assert!(log.contains("network: `127.0.0.1:"), "{log}");
}

#[test]
fn a_name_that_leads_to_an_address_that_is_not_public_is_refused() {
    let server = Server::start(|_| ("200 OK", "text/plain", "hello".to_owned()));
    let url = server.origin().replace("127.0.0.1", "localhost");
    let listed = url.replace("http://", "");
    let (body, _) = requested(&format!("[\"{listed}\"]"), &url);
    assert!(body.starts_with("403: "), "{body}");
    assert!(body.contains("not a public address; allow `"), "{body}");
    assert!(server.requests().is_empty());
    // With an entry for the address as well, the name is reached.
    let address = server.origin().replace("http://", "");
    let (body, _) = requested(&format!("[\"{listed}\", \"{address}\"]"), &url);
    assert_eq!(body, "hello");
}

#[test]
fn a_server_without_a_network_has_no_proxy() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (body, project) = requested("none", &url);
    assert!(body.starts_with("failed: "), "{body}");
    // Neither does the whole evidence name one.
    let record = fs::read_to_string(evidence(&project).join("run_summary.json")).unwrap();
    assert!(!record.contains("3128"), "{record}");
}

#[test]
fn a_list_that_cannot_be_kept_starts_no_server() {
    let project = reaching("[\"a b:80\"]", "http://a.example/");
    run_as_operator(&project)
        .exits(1)
        .answers("the entry `a b:80` is not `host:port`");
    assert_eq!(summary(&project)["reason"], "UNAVAILABLE");
    let project = reaching("[\"a.example:80\"]\n    sandbox: none", "http://a.example/");
    run_as_operator(&project)
        .exits(1)
        .answers("can't be limited to hosts");
    assert_eq!(summary(&project)["reason"], "UNAVAILABLE");
}
