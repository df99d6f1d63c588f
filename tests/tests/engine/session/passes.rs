//! How often the engine reads the arguments of a call. The host reads them once more, which a test of `host-cli/serve`
//! counts.

use super::{World, at, is_passed_on, new_client, old_client};
use agent_session::{Client, Expansion, Options, Session};
use agent_syntax::json::bytes_read;
use serde_json::json;

/// Size of the arguments, next to which everything else is small.
const SIZE: usize = 1 << 20;

const READS_ARGUMENTS: &str = "package switchboard\nallowed_tools contains tool.id if {\n \
     some tool in input.candidate_tools\n input.arguments != {}\n}\n";

/// Returns how often the arguments of a call are read.
#[track_caller]
fn passes(session: &mut Session, client: &Client, params: &str) -> u64 {
    let before = bytes_read();
    let called = session.call(client, params.as_bytes(), at(0));
    let read = bytes_read() - before;
    assert!(is_passed_on(&called), "{:?}", called.action);
    read / SIZE as u64
}

fn direct() -> String {
    json!({ "name": "read", "arguments": { "path": "x".repeat(SIZE) } }).to_string()
}

#[test]
fn arguments_are_parsed_once() {
    let mut session = World::usual().session(Options::default());
    for client in [new_client(), old_client()] {
        assert_eq!(passes(&mut session, &client, &direct()), 1);
    }
    // A stub, whose arguments hold those of the tool.
    let mut session = World::usual().session(Options {
        expansion: Expansion::Stub,
        ..Options::default()
    });
    let inner = json!({ "key": "x".repeat(SIZE) });
    let arguments = json!({ "operation": "call", "tool": "s3_list", "arguments": inner });
    let params = json!({ "name": "aws_helper", "arguments": arguments }).to_string();
    assert_eq!(passes(&mut session, &new_client(), &params), 1);
}

#[test]
fn a_policy_reads_its_input_once_more() {
    let world = World {
        policy: Some(READS_ARGUMENTS.to_owned()),
        ..World::usual()
    };
    let mut session = world.session(Options::default());
    assert_eq!(passes(&mut session, &new_client(), &direct()), 2);
}
