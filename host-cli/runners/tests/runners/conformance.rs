//! The test of runners: one that passes, and many that break one rule each.

use crate::support::engine::ByEngine;
use crate::support::{example, runner};
use agent_runners::conformance::{App, Check, Outcome, Report, test};

async fn tested(text: &str) -> Report {
    let (runner, _folder) = runner(text);
    test(&runner, &App::python(), &ByEngine::new())
        .await
        .unwrap()
}

fn names(report: &Report, outcome: Outcome) -> Vec<&'static str> {
    let checks = report.checks.iter();
    let found = checks.filter(|check| check.outcome == outcome);
    found.map(|check| check.name).collect()
}

/// Returns the program on the reference page with other text in one place.
fn changed(from: &str, to: &str) -> String {
    let text = example();
    assert_eq!(text.matches(from).count(), 1, "{from}");
    text.replacen(from, to, 1)
}

/// Tests the example with other text in one place, and expects what then fails, and words of the first sentence.
async fn breaks(from: &str, to: &str, expected: &[&str], words: &str) {
    fails(&changed(from, to), expected, words).await;
}

async fn fails(text: &str, expected: &[&str], words: &str) {
    let report = tested(text).await;
    assert_eq!(names(&report, Outcome::Failed), expected, "{report}");
    let mut checks = report.checks.iter();
    let failed = checks.find(|check| check.outcome == Outcome::Failed);
    let Some(Check { sentence, .. }) = failed else {
        panic!("nothing failed: {report}");
    };
    assert!(sentence.contains(words), "{sentence}");
}

#[tokio::test]
async fn the_runner_of_the_reference_passes_every_check() {
    let report = tested(example()).await;
    assert!(report.passed(), "{report}");
    let passed = names(&report, Outcome::Passed);
    assert_eq!(passed.len(), report.checks.len(), "{report}");
    for name in passed {
        let page = include_str!("../../../../docs/reference/runner.md");
        assert!(page.contains(&format!("`{name}`")), "{name} is documented");
    }
}

#[tokio::test]
async fn health_is_optional() {
    let report = tested(&changed(", \"health\": health}", "}")).await;
    assert!(report.passed(), "{report}");
    let skipped = ["health-before", "health-after", "health-stopped"];
    assert_eq!(names(&report, Outcome::Skipped), skipped);
}

#[tokio::test]
async fn a_manifest_of_the_runner_is_judged_and_used() {
    let made = |task: &str| {
        let transport = r#"{"type": "tcp", "tcp_fallback": {"host": "127.0.0.1", "port": 61000}}"#;
        let files = r#"[file["path"] for file in request["plan"]["files"]]"#;
        let manifest = format!(
            r#"{{"task_id": {task}, "entry": {{"cmd": request["plan"]["start"]}}, "lang": "python",
               "files": {files}, "transport": {transport}}}"#
        );
        let to = format!("\"target\": str(APP), \"manifest\": {manifest}}}");
        changed("\"target\": str(APP)}", &to)
    };
    let report = tested(&made("request[\"task_id\"]")).await;
    assert!(report.passed(), "{report}");
    let report = tested(&made("\"ffffff\"")).await;
    let failed = names(&report, Outcome::Failed);
    assert_eq!(failed, ["apply-writes", "big-input"], "{report}");
}

#[tokio::test]
async fn a_runner_that_says_more_than_one_object_fails() {
    let dump = "json.dump(body | {\"version\": \"v1\"}, sys.stdout)";
    let twice = format!("{dump}\n{dump}");
    breaks(
        dump,
        &twice,
        &["one-object"],
        "did not write one JSON object",
    )
    .await;
    let logs = format!("print('starting')\n{dump}");
    breaks(dump, &logs, &["one-object"], "\"starting").await;
    let warns = format!("print('warning', file=sys.stderr)\n{dump}");
    breaks(dump, &warns, &["quiet"], "\"warning").await;
}

#[tokio::test]
async fn a_runner_with_wrong_envelopes_fails() {
    breaks("EXIT_CODES[code]\n", "1\n", &["exit-code"], "needs 10").await;
    breaks("EXIT_CODES[code]\n", "0\n", &["exit-code"], "exited with 0").await;
    let dump = "{\"version\": \"v1\"}";
    breaks(dump, "{\"version\": 1}", &["envelope"], "`version`").await;
    let message = "\"code\": code, \"message\": message";
    breaks(message, "\"code\": code", &["envelope"], "has no `message`").await;
    let twice = "\"version\": \"v1\"}, sys.stdout";
    let other = "\"version\": \"v1\", \"error\": 1}, sys.stdout";
    breaks(twice, other, &["envelope"], "has no `message`").await;
    // It fails itself.
    let unread = "\"E_PLAN\", f\"the request";
    let unlisted = "\"E_OTHER\", f\"the request";
    breaks(unread, unlisted, &["one-object", "quiet"], "but nothing").await;
}

#[tokio::test]
async fn a_runner_that_obeys_every_request_fails() {
    let known = "request[\"version\"] != \"v1\" or request[\"method\"] not in METHODS";
    let to = "request[\"version\"] != \"v1\"";
    let any = changed(known, to).replace(
        "METHODS[request[\"method\"]]",
        "METHODS.get(request[\"method\"], stop)",
    );
    fails(&any, &["unknown-method"], "it must fail with E_PLAN").await;
    let to = "request[\"method\"] not in METHODS";
    breaks(known, to, &["other-version"], "it must fail with E_PLAN").await;
}

#[tokio::test]
async fn a_runner_that_applies_wrongly_fails() {
    let check = "if any(part in (\"\", \".\", \"..\") for part in parts):";
    breaks(
        check,
        "if path.startswith('..'):",
        &["apply-outside"],
        "/tmp/outside.txt",
    )
    .await;
    let list = "[place(file[\"path\"]) for file in files]";
    let lazy = "(place(file[\"path\"]) for file in files)";
    breaks(list, lazy, &["apply-outside"], "wrote the files before it").await;
    let write = "path.write_bytes(file[\"content\"].encode())";
    breaks(
        write,
        "path.touch()",
        &["apply-writes", "big-input"],
        "other content",
    )
    .await;
    let chmod = "path.chmod(file.get(\"mode\", 0o644))";
    breaks(
        chmod,
        "path.chmod(0o644)",
        &["apply-writes"],
        "has the mode 0o644",
    )
    .await;
    breaks(
        "\"writes\": len(files)",
        "\"writes\": 1",
        &["apply-writes"],
        "`writes` 1",
    )
    .await;
    let read = "json.load(sys.stdin)";
    let short = "json.loads(os.read(0, 65536))";
    breaks(read, short, &["big-input"], "failed with E_PLAN").await;
}

#[tokio::test]
async fn a_runner_that_starts_wrongly_fails() {
    let port = "PORT = int(os.environ[\"PORT\"])";
    let fixed = "PORT = 8080; os.environ[\"PORT\"] = \"8080\"";
    breaks(port, fixed, &["port"], "`PORT` was 8181").await;
    // The app comes later than the answer.
    let early = "if not wait(lambda: app.poll() is not None or listens(), 30):";
    let crash = "if words == [\"false\"] and not wait(lambda: app.poll() is not None, 30):";
    let late = changed(early, crash).replace(
        "        words, cwd=APP",
        "        words if words == [\"false\"] else [\"sleep\", \"60\"], cwd=APP",
    );
    let unreached = ["start-address", "port"];
    fails(&late, &unreached, "where nothing listens").await;
    let address = "\"host\": \"127.0.0.1\", \"port\": PORT";
    let other = "\"host\": \"127.0.0.1\", \"port\": PORT + 1";
    breaks(
        address,
        other,
        &["start-address"],
        ":8081, where nothing listens",
    )
    .await;
    breaks(
        address,
        "\"port\": PORT",
        &["start-address", "port"],
        "`host`",
    )
    .await;
    let crash = "if app.poll() is not None:";
    breaks(
        crash,
        "if False:",
        &["start-crash"],
        "it must fail with E_RUNTIME",
    )
    .await;
    let streams = "stdout=LOG, stderr=LOG";
    breaks(
        streams,
        "stderr=subprocess.STDOUT",
        &["app-output"],
        "standard output",
    )
    .await;
}

#[tokio::test]
async fn a_runner_that_stops_wrongly_fails() {
    let stop = "for sent in (signal.SIGTERM, signal.SIGKILL):";
    breaks(stop, "for sent in ():", &["stop-ends"], "listens 5 s after").await;
    let none = "if pid is None:\n            break";
    let error = "if pid is None and sent == signal.SIGTERM:\n            raise Failure(\"E_RUNTIME\", \"nothing runs\")\n        if pid is None:\n            break";
    breaks(none, error, &["stop-twice"], "nothing runs").await;
    let stale = "\"live\": PID.exists()";
    breaks(
        "\"live\": running() is not None",
        stale,
        &["health-stopped"],
        "`live` true",
    )
    .await;
    let live = "\"live\": running() is not None";
    breaks(
        live,
        "\"live\": True",
        &["health-before", "health-stopped"],
        "`live` true",
    )
    .await;
    breaks(
        "\"ready\": listens()",
        "\"ready\": False",
        &["health-after"],
        "`ready` false",
    )
    .await;
}

#[tokio::test]
async fn a_runner_that_hangs_fails() {
    let raise = "raise Failure(\"E_PLAN\", \"the runner has";
    let hang = format!("time.sleep(1000); {raise}");
    breaks(raise, &hang, &["ends"], "did not end within 10 s").await;
}
