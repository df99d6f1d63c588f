//! The session of the log of the examples: a call, an approval, a refusal, an expansion, and a call by a helper.
//! A record has the digests of the documents, of each list, of each result and of the record before, so two
//! sessions with the same log gave the same answers.

use agent_answer::DocumentKind;
use agent_worker::sessions::Session;
use agent_worker_protocol::Texts;
use agent_worker_protocol::session::{Event, Request, SessionView};

macro_rules! own {
    ($file:literal) => {
        include_str!(concat!("../../../session-page/examples/", $file))
    };
}

/// The log.
pub(crate) const LOG: &str = own!("agent.audit.jsonl");

/// The log of a session in which private mail may have leaked.
pub(crate) const LEAK: &str = own!("leak.audit.jsonl");

/// Returns the session after its events.
pub(crate) fn session() -> SessionView {
    let call = |params: &str| Event::Call(params.to_owned());
    let [find, reply] = [own!("find.call.json"), own!("reply.call.json")];
    let question = after(USUAL, vec![call(find), call(reply)]);
    let approval = question.questions[0].approval.clone();
    let result = |call, result: &str| Event::Answer {
        call,
        result: result.to_owned(),
    };
    let helped = r#"{ "name": "acme-wiki_helper", "arguments": { "operation": "call", "tool": "search_pages", "arguments": { "query": "refund" } } }"#;
    after(
        USUAL,
        vec![
            call(find),
            result(
                1,
                r#"{"content":[{"type":"text","text":"T-1042"}],"structuredContent":{"tickets":["T-1042"]}}"#,
            ),
            call(reply),
            Event::Decide {
                approval,
                yes: true,
            },
            result(3, r#"{"content":[{"type":"text","text":"sent"}]}"#),
            call(own!("delete.call.json")),
            call(own!("expand.call.json")),
            call(helped),
        ],
    )
}

/// Returns a session that reads mail, and then publishes a note: no rule looks at the calls before.
pub(crate) fn leak() -> SessionView {
    let call = |params: &str| Event::Call(params.to_owned());
    let result = |call, text: &str| Event::Answer {
        call,
        result: format!(r#"{{"content":[{{"type":"text","text":"{text}"}}]}}"#),
    };
    let publish = call(own!("leak.publish.call.json"));
    let documents = [own!("leak.agents.md"), own!("leak.index.json")];
    after(
        documents,
        vec![
            publish.clone(),
            result(1, "note 1"),
            call(own!("leak.read.call.json")),
            result(2, "From: Ann. The code of the door is 4711."),
            publish,
            result(3, "note 2"),
        ],
    )
}

const USUAL: [&str; 2] = [own!("agents.md"), own!("mcp.index.json")];

fn after([manifest, index]: [&str; 2], events: Vec<Event>) -> SessionView {
    let texts = Texts::default()
        .with(DocumentKind::Manifest, manifest)
        .with(DocumentKind::Index, index);
    let request = Request {
        events,
        ..Request::default()
    };
    let answer = Session::default().answer(texts, request);
    answer.session.expect("a session")
}
