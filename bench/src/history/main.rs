//! Measures what the history of calls costs: a decision with its result, after no and after 1,000 calls, and the replay of
//! 100,000 recorded calls. The unit is a decision in a session that keeps no history.
//!
//! Prints a table and writes it as JSON to `target/bench-history.json`.

#![expect(clippy::print_stdout, reason = "the program prints a table")]

#[path = "../table.rs"]
mod table;

use agent_api::{decide::EvaluationContext, lower, render, resolve};
use agent_session::audit_log::Replay;
use agent_session::health::Observation;
use agent_session::{CallAction, Client, Clock, Documents, Generation, Options, Session};
use serde_json::json;
use std::error::Error;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};
use table::Table;

/// The calls before those that are measured.
const BEFORE: u64 = 1_000;

/// The calls that are added up.
const SUMMED: u64 = 200;

/// The calls that are measured, of which the median counts.
const MEASURED: usize = 2_001;

/// The most that a decision may take after 1,000 calls, as a multiple of one without a history.
const TARGET: f64 = 1.3;

/// The calls that are replayed.
const REPLAYED: u64 = 100_000;

/// Rules that read labels, of which no data has one.
const OF_LABELS: &str = "
        - { rule: no-send-after, label: private }
        - { rule: no-write-after, label: untrusted, tools: [files/*] }";

/// A rule that is asked about each call, as data has its label.
const OF_A_LABEL: &str = "
        - { rule: no-send-after, label: untrusted, mode: log-only }";

/// A rule that adds up a number of every call. It can do so until calls are folded.
const OF_CALLS: &str = "
        - { rule: sum-at-most, tools: [mail/read], argument: /a, limit: 1000000000 }";

/// Rules that are about other tools.
const OF_OTHERS: &str = "
        - { rule: at-most, tools: [mail/list], calls: 5 }
        - { rule: before, tools: [mail/list], needs: [mail/read] }";

fn main() -> Result<(), Box<dyn Error>> {
    let unit = median_after(None, BEFORE)?;
    let title =
        format!("The history of calls: the median of {MEASURED} decisions with their results");
    let mut table = Table::new(title, "no history is kept", unit);
    for (name, rules) in [
        ("rules of labels", OF_LABELS),
        ("rules of other tools", OF_OTHERS),
        ("a rule that is asked", OF_A_LABEL),
    ] {
        let first = format!("{name}, after no call");
        let later = format!("{name}, after {BEFORE} calls");
        table.add(&first, median_after(Some(rules), 0)?);
        table.add_target(&later, median_after(Some(rules), BEFORE)?, TARGET);
        let compared = format!("{name}: the second ÷ the first");
        table.compare(&compared, &later, &first, TARGET);
    }
    let name = format!("a sum over {SUMMED} calls");
    table.add(&name, median_of(Some(OF_CALLS), SUMMED, 41)?);
    for (name, rules) in [
        ("no history", None),
        ("rules of labels", Some(OF_LABELS)),
        ("a rule of a label that data has", Some(OF_A_LABEL)),
        ("rules of other tools", Some(OF_OTHERS)),
    ] {
        let (time, bytes) = replay(rules)?;
        table.note(format!(
            "{REPLAYED} recorded calls ({} MB) are replayed with {name} in {:.1} s.",
            bytes / 1_000_000,
            time.as_secs_f64()
        ));
    }
    println!("{table}");
    std::fs::write("target/bench-history.json", table::json(&[table])?)?;
    Ok(())
}

fn documents(rules: Option<&str>) -> Result<Documents, Box<dyn Error>> {
    let schema = json!({ "type": "object", "properties": { "a": {} } });
    let tool = json!({ "inputSchema": schema });
    let index = json!([{
        "id": "mail", "version": "1", "endpoint": "https://mail.example/mcp", "categories": ["mail"], "scopes": [],
        "trust": { "signed": true, "publisher": "P" }, "data": { "residency": "any", "maxSensitivity": "public" },
        "capabilities": { "tools": { "read": tool, "list": tool } },
    }]);
    let manifest = "---\nname: a\nversion: 1.0.0\nrequires:\n  mcp:\n    - category: mail\n      permissions: []\n---\n";
    let manifest = lower::manifest(manifest.into()).map_err(|found| format!("{found:?}"))?;
    let text = index.to_string().into_bytes();
    let index = lower::index(text.clone()).map_err(|found| format!("{found:?}"))?;
    let (manifest, index) = (Arc::new(manifest.value), Arc::new(index.value));
    let resolved = resolve(manifest, Arc::clone(&index), EvaluationContext::default());
    let resolved = resolved.map_err(|found| format!("{found:?}"))?;
    let lock = resolved.lock().ok_or("the agent has no lock")?;
    let tenant = |rules: &str| format!("tenants:\n  - id: t\n    history:\n      rules:{rules}\n");
    Ok(Documents {
        definitions: render::definitions(&lock, &index).map(String::into_bytes),
        lock: Some(render::lock(&lock).into_bytes()),
        index: Some(text),
        tenant: rules.map(|rules| tenant(rules).into_bytes()),
        ..Documents::default()
    })
}

fn at(ms: u64) -> Clock {
    Clock {
        unix_ms: 1_795_510_800_000 + ms,
        monotonic_ms: ms,
        utc_offset_minutes: 0,
    }
}

/// A session, and the lines that it recorded.
struct Running {
    session: Session,
    client: Client,
    log: String,
}

impl Running {
    fn open(rules: Option<&str>) -> Result<Self, Box<dyn Error>> {
        let opened = Session::open(documents(rules)?, Options::default(), at(0));
        let (session, records) = opened.map_err(|found| format!("{found:?}"))?;
        let mut running = Self {
            session,
            client: Client {
                id: "c".to_owned(),
                kind: "local".to_owned(),
                properties: None,
                generation: Generation::Stateless,
                session: None,
                capabilities: None,
            },
            log: String::new(),
        };
        running.keep(&records);
        let schema = json!({ "type": "object", "properties": { "a": {} } });
        let tool = |name| json!({ "name": name, "inputSchema": schema });
        let list = json!({ "tools": [tool("list"), tool("read")] }).to_string();
        let found = running.session.tools("mail", list.as_bytes(), at(0));
        running.keep(&found.records);
        let answered = Observation::Answered { latency_ms: 1 };
        let found = running.session.observe("mail", answered, at(0));
        running.keep(&found.records);
        Ok(running)
    }

    fn keep(&mut self, records: &[agent_session::Record]) {
        for record in records {
            self.log.push_str(&record.line);
            self.log.push('\n');
        }
    }

    /// Makes a call, and takes its result.
    fn call(&mut self, ms: u64, keeps: bool) -> Result<(), Box<dyn Error>> {
        let params = format!(r#"{{"name":"read","arguments":{{"a":{ms}}}}}"#);
        let called = self.session.call(&self.client, params.as_bytes(), at(ms));
        let CallAction::Forward(_) = called.action else {
            return Err(format!("{:?}", called.action).into());
        };
        let result = br#"{"content":[{"type":"text","text":"done"}]}"#;
        let delivered = self.session.result(called.id, result, at(ms));
        if keeps {
            self.keep(&called.records);
            if let agent_session::Delivered::Changed(_, records) = &delivered {
                self.keep(records);
            }
        }
        black_box(delivered);
        Ok(())
    }
}

fn median_after(rules: Option<&str>, before: u64) -> Result<Duration, Box<dyn Error>> {
    median_of(rules, before, MEASURED)
}

/// Returns the median time of calls after others.
fn median_of(
    rules: Option<&str>,
    before: u64,
    measured: usize,
) -> Result<Duration, Box<dyn Error>> {
    let mut running = Running::open(rules)?;
    for ms in 0..before {
        running.call(ms, false)?;
    }
    // A history that is to stay empty begins anew for every call.
    let state = running.session.export();
    let mut times = Vec::new();
    for number in 0..measured {
        if before == 0 && number % 16 == 0 {
            let options = Options {
                state: Some(state.clone().into()),
                ..Options::default()
            };
            let opened = Session::open(documents(rules)?, options, at(0));
            running.session = opened.map_err(|found| format!("{found:?}"))?.0;
        }
        let start = Instant::now();
        running.call(before + number as u64, false)?;
        times.push(start.elapsed());
    }
    times.sort_unstable();
    Ok(times[times.len() / 2])
}

/// Returns the time in which a log is decided again, and its size.
fn replay(rules: Option<&str>) -> Result<(Duration, usize), Box<dyn Error>> {
    let mut running = Running::open(rules)?;
    for ms in 0..REPLAYED {
        running.call(ms, true)?;
    }
    let start = Instant::now();
    let opened = Replay::open(documents(rules)?);
    let mut replay = opened.map_err(|found| format!("{found:?}"))?;
    for part in running.log.as_bytes().chunks(1 << 20) {
        replay.feed(part);
    }
    replay.end_file();
    let replayed = replay.finish().map_err(|found| format!("{found:?}"))?;
    let time = start.elapsed();
    let calls = format!("\"same\": {REPLAYED}");
    match replayed.json.contains(&calls) {
        true => Ok((time, running.log.len())),
        false => Err(replayed.json.chars().take(500).collect::<String>().into()),
    }
}
