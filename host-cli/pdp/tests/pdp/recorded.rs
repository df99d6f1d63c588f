//! What Envoy 1.40 has sent, byte by byte, sent again.
//!
//! `envoy_of_others.rs` compares the recordings with what Envoy sends, and writes them anew with `AGENT_BLESS=1`.

use super::support::running;
use agent_syntax::json::parse_strict;
use agent_syntax::members::{items, member, string};
use envoy_types::pb::envoy::service::auth::v3::check_response::HttpResponse;
use envoy_types::pb::envoy::service::auth::v3::{CheckRequest, CheckResponse};
use envoy_types::pb::envoy::service::ext_proc::v3::body_mutation::Mutation;
use envoy_types::pb::envoy::service::ext_proc::v3::processing_response::Response as Told;
use envoy_types::pb::envoy::service::ext_proc::v3::{ProcessingRequest, ProcessingResponse};
use prost::Message;
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

/// What begins a connection of HTTP/2.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The length of the head of a frame.
const HEAD: usize = 9;

/// The type of a frame that has data.
const DATA: u8 = 0;

/// The type of a frame by which Envoy ends an exchange.
const RESET: u8 = 3;

/// Returns the path of a recording.
pub(crate) fn path(name: &str) -> PathBuf {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/pdp/recorded");
    PathBuf::from(folder).join(name)
}

/// Returns the questions of `ext_authz` that a peer sent on a connection.
pub(crate) fn checks(sent: &[u8]) -> Vec<CheckRequest> {
    messages(sent.strip_prefix(PREFACE).expect("HTTP/2"))
}

/// Returns the messages of `ext_proc` that a peer sent on a connection.
pub(crate) fn exchanges(sent: &[u8]) -> Vec<ProcessingRequest> {
    messages(sent.strip_prefix(PREFACE).expect("HTTP/2"))
}

/// Returns the types and bytes of the frames of a connection, those that are whole.
fn frames(mut sent: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    std::iter::from_fn(move || {
        let length = [0, *sent.first()?, *sent.get(1)?, *sent.get(2)?];
        let length = HEAD + u32::from_be_bytes(length) as usize;
        let (frame, rest) = sent.split_at_checked(length)?;
        sent = rest;
        Some((frame[3], frame))
    })
}

/// Reads the messages of gRPC in frames of streams that follow each other.
fn messages<M: Message + Default>(sent: &[u8]) -> Vec<M> {
    let data = frames(sent).filter(|(kind, _)| *kind == DATA);
    let data: Vec<_> = data
        .flat_map(|(_, frame)| &frame[HEAD..])
        .copied()
        .collect();
    let mut data = &data[..];
    let mut messages = Vec::new();
    // A message has a byte that says whether it is compressed, and its length.
    while let Some((head, rest)) = data.split_at_checked(5) {
        assert_eq!(head[0], 0, "it is compressed");
        let length = u32::from_be_bytes(head[1..].try_into().unwrap()) as usize;
        let Some((message, rest)) = rest.split_at_checked(length) else {
            break;
        };
        messages.push(M::decode(message).expect("a message"));
        data = rest;
    }
    messages
}

/// Sends a recording to a decision point, but for the ends of exchanges, which would overtake the answers. Returns the first
/// messages that come back.
fn replayed<M: Message + Default>(name: &str, count: usize) -> Vec<M> {
    let point = running();
    let recorded = std::fs::read(path(name)).unwrap();
    let mut stream = UnixStream::connect(&point.socket).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    stream.write_all(PREFACE).unwrap();
    for (kind, frame) in frames(recorded.strip_prefix(PREFACE).unwrap()) {
        if kind != RESET {
            stream.write_all(frame).unwrap();
        }
    }
    let mut answer = Vec::new();
    loop {
        let found = messages(&answer);
        if found.len() >= count {
            return found;
        }
        let mut part = [0; 4096];
        let read = stream.read(&mut part).expect("an answer in time");
        assert_ne!(
            read,
            0,
            "the connection ended behind {} messages",
            found.len()
        );
        answer.extend_from_slice(&part[..read]);
    }
}

#[test]
fn a_recorded_question_about_a_locked_tool_passes() {
    let answers: Vec<CheckResponse> = replayed("check.h2", 1);
    let response = answers[0].http_response.as_ref();
    assert!(
        matches!(response, Some(HttpResponse::OkResponse(_))),
        "{response:?}"
    );
}

#[test]
fn a_recorded_list_is_filtered() {
    let count = exchanges(&std::fs::read(path("process.h2")).unwrap()).len();
    let answers: Vec<ProcessingResponse> = replayed("process.h2", count);
    let mut passed = Vec::new();
    for answer in answers {
        if let Some(Told::ResponseBody(told)) = answer.response {
            match told.response.unwrap().body_mutation.unwrap().mutation {
                Some(Mutation::Body(bytes)) => passed.extend(bytes),
                other => panic!("{other:?}"),
            }
        }
    }
    let passed = String::from_utf8(passed).unwrap();
    let root = parse_strict(&passed).unwrap_or_else(|| panic!("no JSON: {passed}"));
    let tools = member(&root, "result").and_then(|it| member(it, "tools"));
    let tools = tools.and_then(items).expect("tools");
    let names = tools.iter().map(|it| member(it, "name").and_then(string));
    assert_eq!(names.collect::<Vec<_>>(), [Some("read")]);
}
