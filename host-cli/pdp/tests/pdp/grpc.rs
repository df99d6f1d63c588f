//! Decisions over gRPC, by the messages that the documentation has.

use super::support::running;
use prost::Message as _;
use prost::bytes::{Buf as _, BufMut as _};
use prost_reflect::{DescriptorPool, DynamicMessage, MessageDescriptor, Value};
use std::path::{Path, PathBuf};
use tokio::runtime::{Builder, Runtime};
use tonic::client::Grpc;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Status};

const METHOD: &str = "/agent.pdp.v1.DecisionPoint/Decide";

/// The bytes of messages.
#[derive(Default)]
struct Bytes;

impl Codec for Bytes {
    type Encode = Vec<u8>;
    type Decode = Vec<u8>;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Encoder for Bytes {
    type Item = Vec<u8>;
    type Error = Status;

    fn encode(&mut self, message: Vec<u8>, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.put_slice(&message);
        Ok(())
    }
}

impl Decoder for Bytes {
    type Item = Vec<u8>;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Vec<u8>>, Status> {
        Ok(Some(buffer.copy_to_bytes(buffer.remaining()).to_vec()))
    }
}

/// A client that knows the documentation alone.
struct Client {
    runtime: Runtime,
    channel: Channel,
    pool: DescriptorPool,
}

impl Client {
    fn of(socket: &Path) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let endpoint = Endpoint::from_shared(format!("unix://{}", socket.display())).unwrap();
        let channel = runtime.block_on(endpoint.connect()).unwrap();
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference");
        let files = protox::compile(["pdp.proto"], [folder]).unwrap();
        Self {
            runtime,
            channel,
            pool: DescriptorPool::from_file_descriptor_set(files).unwrap(),
        }
    }

    fn message(&self, name: &str) -> MessageDescriptor {
        let name = format!("agent.pdp.v1.{name}");
        self.pool.get_message_by_name(&name).unwrap()
    }

    fn question(&self, tool: &str, arguments: &str, subject: Option<&str>) -> DynamicMessage {
        let mut question = DynamicMessage::new(self.message("Question"));
        question.set_field_by_name("tool", Value::String(tool.to_owned()));
        let arguments = arguments.as_bytes().to_vec().into();
        question.set_field_by_name("arguments", Value::Bytes(arguments));
        if let Some(id) = subject {
            let mut subject = DynamicMessage::new(self.message("Subject"));
            subject.set_field_by_name("id", Value::String(id.to_owned()));
            subject.set_field_by_name("type", Value::String("user".to_owned()));
            let role = br#"{"role":"guest"}"#.to_vec().into();
            subject.set_field_by_name("properties", Value::Bytes(role));
            question.set_field_by_name("subject", Value::Message(subject));
        }
        question
    }

    fn ask(&self, question: &DynamicMessage) -> Result<DynamicMessage, Status> {
        let mut grpc = Grpc::new(self.channel.clone());
        let answer = self.runtime.block_on(async {
            grpc.ready().await.unwrap();
            let question = Request::new(question.encode_to_vec());
            grpc.unary(question, METHOD.parse().unwrap(), Bytes).await
        })?;
        let decision = DynamicMessage::decode(self.message("Decision"), &*answer.into_inner());
        let decision = decision.unwrap();
        // Every field of the answer is documented.
        assert_eq!(decision.unknown_fields().count(), 0);
        Ok(decision)
    }
}

fn is_allowed(decision: &DynamicMessage) -> bool {
    let allowed = decision.get_field_by_name("allowed").unwrap();
    allowed.as_bool().unwrap()
}

/// Returns a field of the first reason.
fn of_reason(decision: &DynamicMessage, name: &str) -> String {
    let reasons = decision.get_field_by_name("reasons").unwrap();
    let reason = reasons.as_list().unwrap()[0].as_message().unwrap().clone();
    assert_eq!(reason.unknown_fields().count(), 0);
    let field = reason.get_field_by_name(name).unwrap();
    field.as_str().unwrap().to_owned()
}

#[test]
fn a_call_is_decided_as_over_http() {
    let running = running();
    let client = Client::of(&running.socket);
    let allowed = client.question("records/read", r#"{"record":"1"}"#, Some("alice"));
    let allowed = client.ask(&allowed).unwrap();
    assert!(is_allowed(&allowed));
    let documents = allowed.get_field_by_name("documents").unwrap();
    let lock =
        documents.as_map().unwrap()[&prost_reflect::MapKey::String("lock".to_owned())].clone();
    assert!(running.first.contains(lock.as_str().unwrap()));
    let refused = client.question("read", r#"{"record":1}"#, Some("alice"));
    let refused = client.ask(&refused).unwrap();
    assert!(!is_allowed(&refused));
    assert_eq!(of_reason(&refused, "code"), "ARGUMENT_INVALID");
    assert_eq!(of_reason(&refused, "pointer"), "/record");
    // The policy sees the subject and its properties.
    let denied = client.question("write", "{}", Some("bob"));
    let denied = client.ask(&denied).unwrap();
    assert_eq!(of_reason(&denied, "code"), "POLICY_DENIED");
    let over_http = running.decide(
        r#"{"tool":"write","arguments":{},"subject":{"id":"bob","type":"user","properties":{"role":"guest"}}}"#,
    );
    for name in ["code", "text", "help"] {
        let found = of_reason(&denied, name);
        assert!(over_http.body.contains(&found), "{found}");
    }
}

#[test]
fn what_is_no_question_gets_a_status() {
    let running = running();
    let client = Client::of(&running.socket);
    for (question, text) in [
        (client.question("read", "{}", None), "`subject` is missing"),
        (
            client.question("read", "[]", Some("alice")),
            "WRONG_TYPE: the arguments are not one strict JSON object",
        ),
        (
            client.question("read", "{}", Some(&"x".repeat(257))),
            "INPUT_TOO_LARGE: the client's id has more than 256 bytes",
        ),
    ] {
        let status = client.ask(&question).expect_err("no decision");
        assert_eq!(
            (status.code(), status.message()),
            (Code::InvalidArgument, text)
        );
    }
    // The call of another agent is refused.
    let mut other = client.question("read", "{}", Some("alice"));
    other.set_field_by_name("agent", Value::String("writer".to_owned()));
    let refused = client.ask(&other).unwrap();
    assert_eq!(of_reason(&refused, "code"), "AGENT_CHANGED");
}
