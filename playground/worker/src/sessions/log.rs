//! The calls of a log, decided again.

use super::history::earlier_call;
use super::json;
use agent_api::answer::Diagnostic;
use agent_session::Documents;
use agent_session::audit_log::Replay;
use agent_worker_protocol::session::{EarlierCall, LogView, LoggedCall, Verdict};
use serde_json::Value;

/// Decides the calls of a log again.
pub(super) fn replay(documents: Documents, log: &str) -> Result<LogView, Vec<Diagnostic>> {
    let mut replay = Replay::open(documents)?;
    replay.feed(log.as_bytes());
    // The end of a pasted text is no end of a line that was cut off.
    if !log.ends_with('\n') {
        replay.feed(b"\n");
    }
    replay.end_file();
    let replayed = match replay.finish() {
        Ok(replayed) => replayed,
        Err(problems) => {
            return Ok(LogView {
                problems,
                ..LogView::default()
            });
        }
    };
    let root: Value = serde_json::from_str(&replayed.json).unwrap_or_default();
    let count = |name: &str| root["counts"][name].as_u64().unwrap_or_default();
    let documents = root["documents"].as_array().into_iter().flatten();
    let calls = root["calls"].as_array().into_iter().flatten();
    let mut problems = replayed.differences;
    problems.extend(replayed.warnings);
    Ok(LogView {
        problems,
        is_valid: true,
        is_same: root["same"].as_bool(),
        counts: ["differs", "other_reasons", "same", "undecidable"].map(count),
        documents: documents.map(|it| json::text(&it["document"])).collect(),
        calls: calls.map(call).collect(),
    })
}

fn call(it: &Value) -> LoggedCall {
    let sequence = it["sequence"].as_u64().unwrap_or_default();
    let line = it["line"].as_u64().unwrap_or_default();
    let earlier = it["earlier"].as_array().into_iter().flatten();
    let earlier = earlier.map(|it| {
        let call = earlier_call(it);
        // Records have their numbers in order, and each its line.
        let line = line.saturating_sub(sequence.saturating_sub(call.record));
        EarlierCall {
            line: u32::try_from(line).unwrap_or(u32::MAX),
            ..call
        }
    });
    LoggedCall {
        sequence,
        line: u32::try_from(line).unwrap_or(u32::MAX),
        tool: json::text(&it["tool"]),
        server: it["server"].as_str().map(str::to_owned),
        client: json::text(&it["client"]),
        time: json::text(&it["time"]),
        recorded: verdict(&it["recorded"]),
        now: match it["reason"].as_str() {
            Some(reason) => Err(reason.to_owned()),
            None => Ok(verdict(&it["now"])),
        },
        depends_on: json::texts(&it["depends_on"]),
        earlier: earlier.collect(),
    }
}

fn verdict(it: &Value) -> Verdict {
    Verdict {
        name: json::text(&it["verdict"]),
        reasons: json::reasons(&it["reasons"]),
    }
}
