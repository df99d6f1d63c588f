//! Limits of what a server answers with, while it arrives.

use super::server::{self, Server};
use super::{MCP, index, index_of, mcp, operator, project, run, run_as_operator, step, summary};
use crate::project::Project;
use serde_json::json;

/// The bytes that a server answers a call with: more than its step accepts, and less than a list of tools may
/// have.
const BYTES: usize = 1 << 20;

/// The limit of a message in the tests: `max_output_bytes` of the binding, and room for what surrounds it.
const REFUSED: &str = "a message is larger than 69632 bytes";

/// An MCP server that answers a call with a line that does not end.
const SERVER: &str = r#"
import json, sys, time
for line in sys.stdin:
    message = json.loads(line)
    if 'id' not in message:
        continue
    answer = {'jsonrpc': '2.0', 'id': message['id']}
    if message['method'] == 'initialize':
        answer['result'] = {'protocolVersion': '2025-11-25', 'capabilities': {'tools': {}},
                            'serverInfo': {'name': 'acme', 'version': '1'}}
    elif message['method'] == 'tools/list':
        # A list may be longer than a result.
        answer['result'] = {'padding': 'x' * BYTES, 'tools': [{'name': 'search', 'description': 'Searches.',
            'inputSchema': {'type': 'object', 'properties': {'query': {'type': 'string'}},
                            'required': ['query']}}]}
    elif message['method'] == 'tools/call':
        sys.stdout.write('{"jsonrpc":"2.0","id":%s,"result":{"padding":"' % json.dumps(message['id']))
        sys.stdout.write('x' * BYTES)
        sys.stdout.flush()
        time.sleep(600)
    else:
        answer['error'] = {'code': -32601, 'message': 'unknown'}
    print(json.dumps(answer), flush=True)
"#;

fn refused(project: &Project, ended: crate::project::Run) {
    ended.exits(1).answers("limit_exceeded").answers(REFUSED);
    assert_eq!(summary(project)["code"], "limit_exceeded");
}

#[test]
fn a_result_of_a_started_server_is_cut_off_while_it_arrives() {
    let bindings = json!([{
        "connector_id": MCP, "tool_id": "search", "driver_kind": "mcp_proxy", "server": "acme",
        "tool": "search", "destinations": ["https://unused.example"]
    }]);
    let steps = json!([step(MCP, "search", json!({ "query": "mars" }))]);
    let project = project(bindings, steps);
    index_of(&project, "pkg:generic/acme@1.0.0", "Searches.");
    let folder = project.path("operator");
    let folder = folder.display();
    let text = format!(
        "servers:\n  acme:\n    command: [/usr/bin/python3, {folder}/server.py]\n    \
         read: [{folder}/server.py]\n"
    );
    operator(&project, &text);
    let server = SERVER.replace("BYTES", &BYTES.to_string());
    project.write("operator/server.py", server);
    // Without the limit, the call would end with the time of the step.
    let ended = run_as_operator(&project);
    refused(&project, ended);
}

#[test]
fn a_result_over_http_is_cut_off_while_it_arrives() {
    let server = Server::start(|request| {
        let (status, media_type, body) = server::mcp(request, "Searches.");
        let more = match request.body.contains("tools/call") {
            true => " ".repeat(BYTES),
            false => String::new(),
        };
        (status, media_type, body + &more)
    });
    let steps = json!([step(MCP, "search", json!({ "query": "mars" }))]);
    let project = project(mcp(&server), steps);
    index(&project, &server, "Searches.");
    let ended = run(&project);
    refused(&project, ended);
}
