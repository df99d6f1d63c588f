//! Values of the engine's JSON.

use agent_api::answer::Code;
use agent_session::REFUSAL_KEY;
use agent_worker_protocol::session::{CallReason, Refusal};
use serde_json::Value;

/// Returns the text of a string; empty for another value.
pub(super) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Returns the texts of a list of strings.
pub(super) fn texts(value: &Value) -> Vec<String> {
    let items = value.as_array().into_iter().flatten();
    items.map(text).collect()
}

/// Returns reasons `{code, help?, pointer?, text}`.
pub(super) fn reasons(value: &Value) -> Vec<CallReason> {
    let items = value.as_array().into_iter().flatten();
    let items = items.map(|it| CallReason {
        code: code(&text(&it["code"])),
        text: text(&it["text"]),
        help: text(&it["help"]),
        pointer: it["pointer"].as_str().map(str::to_owned),
    });
    items.collect()
}

fn code(name: &str) -> Option<Code> {
    Code::ALL.iter().copied().find(|code| code.name() == name)
}

/// Reads a result of `tools/call`: its texts, and whether the session refused instead of a server.
pub(super) fn result(bytes: &[u8]) -> (Vec<String>, Option<Refusal>) {
    let root: Value = serde_json::from_slice(bytes).unwrap_or_default();
    let content = root["content"].as_array().into_iter().flatten();
    let found: Vec<_> = content.map(|it| text(&it["text"])).collect();
    let refusal = &root["_meta"][REFUSAL_KEY];
    let refusal = refusal.is_object().then(|| Refusal {
        reasons: reasons(&refusal["reasons"]),
        instead: texts(&refusal["instead"]),
        retry_after_ms: refusal["retryAfterMs"].as_u64(),
        texts: found.clone(),
        result: String::from_utf8_lossy(bytes).into_owned(),
    });
    (found, refusal)
}
