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

/// Returns the session after its events.
pub(crate) fn session() -> SessionView {
    let call = |params: &str| Event::Call(params.to_owned());
    let [find, reply] = [own!("find.call.json"), own!("reply.call.json")];
    let question = after(vec![call(find), call(reply)]);
    let approval = question.questions[0].approval.clone();
    let result = |call, result: &str| Event::Answer {
        call,
        result: result.to_owned(),
    };
    let helped = r#"{ "name": "acme-wiki_helper", "arguments": { "operation": "call", "tool": "search_pages", "arguments": { "query": "refund" } } }"#;
    after(vec![
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
    ])
}

fn after(events: Vec<Event>) -> SessionView {
    let texts = Texts::default()
        .with(DocumentKind::Manifest, own!("agents.md"))
        .with(DocumentKind::Index, own!("mcp.index.json"));
    let request = Request {
        events,
        ..Request::default()
    };
    let answer = Session::default().answer(texts, request);
    answer.session.expect("a session")
}
