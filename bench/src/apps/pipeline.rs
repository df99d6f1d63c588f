//! `mcp run` of a small app in Python, split by stage: by what the daemon counts of each run.

use super::table::Table;
use agent_load::http::Connection;
use serde_json::Value;
use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Number of measured runs. One before them is not: it fills caches.
const RUNS: usize = 25;

/// What the apps do.
const PROMPT: &str = "Create a web service that responds 'Hello, World!'";

/// Time until a daemon listens, and until it answers.
const PATIENCE: Duration = Duration::from_secs(60);

/// The name of a whole run, and of the time outside the stages of the daemon.
const WHOLE: &str = "the whole command";
const REST: &str = "the command itself, and the rest";

/// The stages in order: a name, and the series of the daemon that has its time.
const STAGES: [(&str, &str); 7] = [
    (
        "plan",
        r#"mcpd_verb_duration_seconds_sum{verb="plan.create"}"#,
    ),
    (
        "write",
        r#"mcpd_verb_duration_seconds_sum{verb="fs.apply"}"#,
    ),
    (
        "packages",
        r#"mcpd_stage_duration_seconds_sum{stage="packages"}"#,
    ),
    (
        "sandbox",
        r#"mcpd_stage_duration_seconds_sum{stage="sandbox"}"#,
    ),
    ("ready", r#"mcpd_stage_duration_seconds_sum{stage="ready"}"#),
    (
        "probe",
        r#"mcpd_verb_duration_seconds_sum{verb="httpcheck.assert"}"#,
    ),
    (
        "report",
        r#"mcpd_verb_duration_seconds_sum{verb="report.finish"}"#,
    ),
];

/// What remains of `run.start`: policy, scan, port, manifest.
const START: (&str, &str) = (
    "start",
    r#"mcpd_verb_duration_seconds_sum{verb="run.start"}"#,
);

/// A daemon, which ends with this value.
struct Daemon(Child);

impl Drop for Daemon {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Measures runs of the program `agent`. Returns the medians of all stages, and the times that 19 of 20 runs stay below.
pub(crate) fn measure(agent: &Path) -> Result<[Table; 2], Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let command = |arguments: &[&str]| {
        let mut command = Command::new(agent);
        command.current_dir(folder.path()).args(arguments);
        command.stdin(Stdio::null()).stderr(Stdio::null());
        command
    };
    let _daemon = Daemon(command(&["mcpd", "--port", "0"]).spawn()?);
    let state = folder.path().join(".mcpd/.state");
    let until = Instant::now() + PATIENCE;
    let place = loop {
        match fs::read(state.join("daemon.json")) {
            Ok(place) => break serde_json::from_slice::<Value>(&place)?,
            Err(_) if Instant::now() < until => sleep(Duration::from_millis(20)),
            Err(error) => return Err(format!("the daemon does not start: {error}").into()),
        }
    };
    let address: SocketAddr = place["address"].as_str().unwrap_or_default().parse()?;
    let token = fs::read_to_string(state.join("token"))?;
    let mut times: BTreeMap<&'static str, Vec<Duration>> = BTreeMap::new();
    for number in 0..=RUNS {
        let before = counted(address, token.trim())?;
        let began = Instant::now();
        let output = command(&["app", "run", "--quiet", PROMPT]).output()?;
        let whole = began.elapsed();
        let url = String::from_utf8(output.stdout)?;
        let id = url.trim().trim_end_matches('/').rsplit('/').next();
        let Some(id) = id.filter(|_| output.status.success()) else {
            return Err(format!("run {number} failed: {}", output.status).into());
        };
        let after = counted(address, token.trim())?;
        if number > 0 {
            for (stage, time) in split(&before, &after, whole) {
                times.entry(stage).or_default().push(time);
            }
        }
        command(&["app", "kill", id]).output()?;
    }
    let title = |what: &str| format!("`mcp run` of hello-web in Python: {what} of {RUNS} runs");
    Ok([
        table(title("the median"), &mut times, 50),
        table(title("the 95th percentile"), &mut times, 95),
    ])
}

/// Returns the counts of the daemon.
fn counted(address: SocketAddr, token: &str) -> Result<BTreeMap<String, f64>, Box<dyn Error>> {
    let request = format!(
        "GET /metrics HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\r\n"
    );
    let answer = Connection::open(address, PATIENCE)?.ask(request.as_bytes())?;
    if answer.status() != 200 {
        return Err(format!("the daemon answers `{}`", answer.first).into());
    }
    let text = String::from_utf8(answer.body)?;
    let lines = text.lines().filter_map(|line| {
        let (series, value) = line.rsplit_once(' ')?;
        Some((series.to_owned(), value.parse().ok()?))
    });
    Ok(lines.collect())
}

/// Returns the time of each stage of a run.
fn split(
    before: &BTreeMap<String, f64>,
    after: &BTreeMap<String, f64>,
    whole: Duration,
) -> Vec<(&'static str, Duration)> {
    let of = |series: &str| {
        let at = |counts: &BTreeMap<String, f64>| counts.get(series).copied().unwrap_or(0.0);
        Duration::from_secs_f64((at(after) - at(before)).max(0.0))
    };
    let mut stages: Vec<_> = STAGES.iter().map(|(name, it)| (*name, of(it))).collect();
    let within = |name: &&(&str, Duration)| ["packages", "sandbox", "ready"].contains(&name.0);
    let measured: Duration = stages.iter().filter(within).map(|(_, time)| *time).sum();
    stages.push((START.0, of(START.1).saturating_sub(measured)));
    let all: Duration = stages.iter().map(|(_, time)| *time).sum();
    stages.push((REST, whole.saturating_sub(all)));
    stages.push((WHOLE, whole));
    stages
}

fn table(
    title: String,
    times: &mut BTreeMap<&'static str, Vec<Duration>>,
    percent: usize,
) -> Table {
    let mut at = |name: &'static str| {
        let times = times.entry(name).or_default();
        times.sort_unstable();
        let place = (times.len() * percent).div_ceil(100).saturating_sub(1);
        times.get(place).copied().unwrap_or_default()
    };
    let mut table = Table::new(title, WHOLE, at(WHOLE));
    for name in [
        "plan", "write", "packages", "sandbox", "start", "ready", "probe", "report", REST,
    ] {
        table.add(name, at(name));
    }
    table.note("Each stage is sorted by itself, so the rows need not add up.".to_owned());
    table
}
