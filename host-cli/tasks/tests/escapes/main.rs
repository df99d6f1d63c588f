//! Attempts of an app to leave its sandbox, each judged from inside. None passes.

#[path = "../support/mod.rs"]
mod support;

mod attempts;
mod limits;
mod outside;

use attempts::{ATTEMPTS, Attempt};
use outside::{Outside, VALUE};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};
use support::{LONG, PYTHON, Place, get, log, run_unprivileged, supervisor};

const APP: &str = include_str!("app.py");

/// How many attempts count at least, on any kernel.
const FEWEST: usize = 60;

/// Errors of a kernel that lacks what an attempt uses, in the sandbox and outside.
const MISSING: [&str; 4] = [
    "ENOSYS",
    "EAFNOSUPPORT",
    "EPROTONOSUPPORT",
    "ESOCKTNOSUPPORT",
];

/// The outcome of each attempt, by its name.
type Seen = BTreeMap<String, String>;

#[test]
fn no_attempt_passes() {
    let place = Place::new();
    let task = place.task(APP);
    let other = place.task("the source of another task");
    let mut outside = Outside::new(&place, &task, &other);
    let lacking = prove_from_outside(&mut outside);

    let mut command = supervisor();
    command.env("SECRET_OF_THE_HOST", VALUE);
    let mut spec = place.spec(&task);
    spec.env = [("GIVEN".to_owned(), "given".to_owned())].into();
    let run = match task.start(command, spec).unwrap() {
        agent_tasks::Started::Ready(run) => run,
        other => panic!("{other:?}: {}", log(&task)),
    };
    let described = outside.describe(Path::new("/app"), run.supervisor.pid);
    let seen = parse(&post(&run.socket, &described));

    let known: Vec<&str> = ATTEMPTS.iter().map(|attempt| attempt.name).collect();
    let unknown: Vec<_> = seen
        .keys()
        .filter(|name| !known.contains(&name.as_str()))
        .collect();
    assert!(unknown.is_empty(), "not in the table: {unknown:?}");
    let wrong: Vec<String> = ATTEMPTS.iter().filter_map(|it| judge(it, &seen)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let counted = ATTEMPTS.len() - lacking.len();
    assert!(counted >= FEWEST, "{counted} attempts, without {lacking:?}");
    outside.assert_untouched();
    assert!(get(&run.socket).unwrap().ends_with("alive"));
    task.stop(LONG).unwrap();
    outside.assert_untouched();
}

/// Returns what is wrong with the outcome of an attempt.
fn judge(attempt: &Attempt, seen: &Seen) -> Option<String> {
    let name = attempt.name;
    let Some(seen) = seen.get(name) else {
        return Some(format!("{name}: it was not made"));
    };
    let is_usual = attempt.stopped.contains(&seen.as_str());
    (!is_usual).then(|| format!("{name}: {seen} instead of {:?}", attempt.stopped))
}

/// Makes attempts without a sandbox, as root: each has to come to something else than in it, or it shows
/// nothing. Returns those that this kernel lacks.
fn prove_from_outside(outside: &mut Outside) -> Vec<&'static str> {
    if !rustix::process::getuid().is_root() {
        return Vec::new();
    }
    let folder = tempfile::tempdir().unwrap();
    let proven = || ATTEMPTS.iter().filter(|attempt| attempt.is_proven);
    let names: Vec<&str> = proven().map(|attempt| attempt.name).collect();
    let own = std::process::id().cast_signed();
    let (victim, app) = (outside.second_victim(), outside.app.clone());
    let mut described = outside.describe(&app, own);
    described["victim"] = json!(victim);
    let input = json!({ "names": names, "outside": described });
    let mut process = Command::new(PYTHON)
        .args(["-I", "-S", "-B", "-c", APP, "outside"])
        .env("SECRET_OF_THE_HOST", VALUE)
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let stdin = process.stdin.take().unwrap();
    serde_json::to_writer(stdin, &input).unwrap();
    let output = process.wait_with_output().unwrap();
    let seen = parse(&String::from_utf8(output.stdout).unwrap());
    let lacking: Vec<&str> = proven()
        .map(|attempt| attempt.name)
        .filter(|name| {
            seen.get(*name)
                .is_some_and(|it| MISSING.contains(&it.as_str()))
        })
        .collect();
    let same: Vec<String> = proven()
        .filter(|attempt| !lacking.contains(&attempt.name) && judge(attempt, &seen).is_none())
        .map(|attempt| format!("{}: {}", attempt.name, seen[attempt.name]))
        .collect();
    assert!(same.is_empty(), "the same without a sandbox: {same:?}");
    assert_eq!(seen.len(), names.len(), "{seen:?}");
    outside.assert_reached();
    lacking
}

/// Sends what is outside to the app. Returns the body of its answer.
fn post(socket: &Path, described: &Value) -> String {
    let body = described.to_string();
    let mut connection = UnixStream::connect(socket).unwrap();
    connection.set_read_timeout(Some(LONG)).unwrap();
    let length = body.len();
    let head = format!("POST / HTTP/1.0\r\nHost: task\r\nContent-Length: {length}\r\n\r\n");
    connection.write_all((head + &body).as_bytes()).unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).unwrap();
    answer.split_once("\r\n\r\n").unwrap().1.to_owned()
}

fn parse(lines: &str) -> Seen {
    let line = |line: &str| {
        let value: Value = serde_json::from_str(line).unwrap();
        let text = |name: &str| value[name].as_str().unwrap().to_owned();
        (text("name"), text("seen"))
    };
    lines.lines().map(line).collect()
}

#[test]
fn none_passes_for_a_user_without_rights() {
    run_unprivileged("no_attempt_passes");
    run_unprivileged("limits::");
}
