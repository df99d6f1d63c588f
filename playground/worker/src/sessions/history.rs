//! What a client did before, as rules about earlier calls see it.

use super::json;
use agent_session::records_in;
use agent_worker_protocol::session::{Decided, EarlierCall, History};
use serde_json::Value;

/// Reads an earlier call. The log of one session has a record on each line.
pub(super) fn earlier_call(it: &Value) -> EarlierCall {
    let record = it["record"].as_u64().unwrap_or_default();
    EarlierCall {
        record,
        line: u32::try_from(record).unwrap_or(u32::MAX),
        server: json::text(&it["server"]),
        tool: json::text(&it["tool"]),
        time: json::text(&it["time"]),
        labels: json::texts(&it["labels"]),
        decides: false,
    }
}

/// Returns the history of a session from the engine's JSON, for the call of a tool that is decided now.
pub(super) fn history(text: &str, tool: &str, draft: Option<&Decided>) -> History {
    let root: Value = serde_json::from_str(text).unwrap_or_default();
    let decide = named_in(draft);
    let list = |name: &str| root[name].as_array().into_iter().flatten();
    let calls = list("calls").map(|it| {
        let call = earlier_call(it);
        EarlierCall {
            decides: decide.contains(&call.record),
            ..call
        }
    });
    let folded = list("folded").filter(|it| it["label"].is_null());
    let labels = root["labels"].as_object().into_iter().flatten();
    let own = list("tools").find(|it| it["tool"].as_str() == Some(tool));
    History {
        calls: calls.collect(),
        folded: folded.filter_map(|it| it["count"].as_u64()).sum(),
        labels: labels.map(|(label, _)| label.clone()).collect(),
        draft: own.map(traits).unwrap_or_default(),
    }
}

/// Returns what the calls of a tool are, in words.
fn traits(tool: &Value) -> Vec<String> {
    let of = |name: &str, words: &str| (tool[name] == true).then(|| words.to_owned());
    let labels = json::texts(&tool["labels"]).into_iter();
    let labels = labels.map(|it| format!("returns data that is `{it}`"));
    let acts = [
        of("sends", "sends data to others"),
        of("writes", "changes something"),
    ];
    acts.into_iter().flatten().chain(labels).collect()
}

/// Returns the numbers of the records that the reasons of a decision name.
fn named_in(decided: Option<&Decided>) -> Vec<u64> {
    match decided {
        Some(Decided::Refuse(refusal)) => {
            let reasons = refusal.reasons.iter();
            reasons.flat_map(|it| records_in(&it.text)).collect()
        }
        Some(Decided::Ask { text, .. }) => records_in(text),
        _ => Vec::new(),
    }
}
