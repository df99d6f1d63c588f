//! Bundles: made, verified, and followed by a decision point.

use super::support::{Folder, Running};
use agent_syntax::members::{boolean, member, number, string};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use ring::rand::SystemRandom;
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

const PROGRAM: &str = env!("CARGO_BIN_EXE_agent-pdp");

/// An end that no test reaches.
pub(crate) const END: &str = "2999-01-01T00:00:00Z";

/// What precedes the bytes of an Ed25519 public key in its DER form.
const DER: [u8; 12] = [
    0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00,
];

const READ: &str = r#"{"tool":"read","subject":{"id":"alice","type":"user"}}"#;

const DELETE: &str =
    r#"{"tool":"delete","arguments":{"soft":true},"subject":{"id":"alice","type":"user"}}"#;

/// Writes a private key, and returns its entry among the trusted keys.
pub(crate) fn key(folder: &Folder, name: &str, more: &str) -> String {
    let path = folder.path(name);
    if !path.exists() {
        let key = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        fs::write(&path, key.as_ref()).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    }
    let pair = Ed25519KeyPair::from_pkcs8(&fs::read(&path).unwrap()).unwrap();
    let public = [&DER, pair.public_key().as_ref()].concat();
    let public = BASE64_STANDARD.encode(public);
    format!(r#"{{"name":"{name}","public_key":"{public}","bundles":["support"]{more}}}"#)
}

pub(crate) fn trust(folder: &Folder, keys: &[String]) {
    folder.write("keys.json", &format!(r#"{{"keys":[{}]}}"#, keys.join(",")));
}

/// A folder with the key `one`, which is trusted.
pub(crate) fn folder() -> Folder {
    let folder = Folder::new();
    trust(&folder, &[key(&folder, "one", "")]);
    folder
}

pub(crate) fn run(folder: &Folder, arguments: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(PROGRAM)
        .current_dir(folder.root.path())
        .args(arguments)
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(text).unwrap())
}

/// Makes `support.json` of the folder's documents.
pub(crate) fn make(folder: &Folder, key: &str, sequence: &str, end: &str) {
    let (code, text) = run(
        folder,
        &[
            "bundle",
            "make",
            "--policy",
            "policy.rego",
            "--name",
            "support",
            "--sequence",
            sequence,
            "--not-after",
            end,
            "--key",
            key,
            "--out",
            "support.json",
        ],
    );
    assert_eq!((code, &*text), (Some(0), ""));
}

const SERVE: [&str; 12] = [
    "--socket",
    "pdp.sock",
    "--threads",
    "2",
    "--bundle",
    "support.json",
    "--name",
    "support",
    "--keys",
    "keys.json",
    "--sequences",
    "sequences.json",
];

fn serve(folder: &Folder) -> Running {
    let child = Command::new(PROGRAM)
        .current_dir(folder.root.path())
        .args(SERVE)
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    Running::of(child, folder.path("pdp.sock"))
}

/// Has the files read now.
fn hang_up(running: &Running) {
    let pid = running.child.id().to_string();
    let status = Command::new("kill").args(["-HUP", &pid]).status();
    assert!(status.unwrap().success());
}

/// Returns the sequence of the bundle, and whether it decides.
fn status(running: &Running) -> (u64, bool) {
    let reply = running.get("/v1/status");
    assert_eq!(reply.status, 200, "{}", reply.body);
    let json = reply.json();
    let bundle = member(&json, "bundle").unwrap();
    let sequence = member(bundle, "sequence").and_then(number).unwrap();
    (
        sequence,
        member(&json, "decides").and_then(boolean).unwrap(),
    )
}

/// Returns the code of an answer without a decision.
fn refusal(running: &Running) -> String {
    let reply = running.decide(READ);
    assert_eq!(reply.status, 503, "{}", reply.body);
    let json = reply.json();
    let code = member(member(&json, "error").unwrap(), "code");
    code.and_then(string).unwrap().to_owned()
}

#[test]
fn a_bundle_decides_like_the_documents_in_it() {
    let folder = folder();
    make(&folder, "one", "7", END);
    let text = fs::read_to_string(folder.path("support.json")).unwrap();
    make(&folder, "one", "7", END);
    assert_eq!(
        fs::read_to_string(folder.path("support.json")).unwrap(),
        text
    );
    let running = serve(&folder);
    assert!(
        running
            .first
            .contains("decides at pdp.sock by bundle support, sequence 7")
    );
    assert!(
        running
            .first
            .contains("until 2999-01-01T00:00:00.000Z, sha256-")
    );
    let denied = DELETE.replace("true", "false");
    assert_eq!(running.decide(DELETE).codes(), [""; 0]);
    assert_eq!(running.decide(&denied).codes(), ["POLICY_DENIED"]);
    let verify = [
        "bundle",
        "verify",
        "support.json",
        "--name",
        "support",
        "--keys",
        "keys.json",
    ];
    let (code, said) = run(&folder, &verify);
    assert_eq!(code, Some(0), "{said}");
    let digest = said.trim().rsplit(' ').next().unwrap();
    let reply = running.decide(&denied);
    assert!(
        reply
            .body
            .contains(&format!("\"documents\":{{\"bundle\":\"{digest}\""))
    );
    let evaluation = r#"{"subject":{"type":"user","id":"a"},"action":{"name":"tools/call"},"resource":{"type":"tool","id":"read"}}"#;
    let reply = running.post("/access/v1/evaluation", evaluation);
    assert!(
        reply.decision() && reply.body.contains(digest),
        "{}",
        reply.body
    );
    let reply = running.get("/v1/status");
    assert!(
        reply
            .body
            .contains(&format!("{{\"digest\":\"{digest}\",\"name\":\"support\""))
    );
    assert_eq!(status(&running), (7, true));
    assert_eq!(running.post("/v1/status", "{}").status, 405);
}

#[test]
fn a_changed_file_decides_from_then_on_and_a_refused_one_never() {
    let folder = folder();
    make(&folder, "one", "7", END);
    let seventh = fs::read(folder.path("support.json")).unwrap();
    let running = serve(&folder);
    // Nobody asks: the file is looked at once a second.
    make(&folder, "one", "8", END);
    running.wait_for("decides by bundle support, sequence 8");
    assert_eq!(status(&running), (8, true));
    assert_eq!(running.decide(READ).codes(), [""; 0]);
    for (bundle, code) in [(&seventh[..], "BUNDLE_OLDER"), (b"{}", "BUNDLE_INVALID")] {
        fs::write(folder.path("support.json"), bundle).unwrap();
        hang_up(&running);
        running.wait_for(code);
        running.wait_for("decides by bundle support, sequence 8");
        assert_eq!(status(&running), (8, true));
    }
    fs::remove_file(folder.path("support.json")).unwrap();
    hang_up(&running);
    running.wait_for("support.json");
    running.wait_for("decides by bundle support, sequence 8");
    assert_eq!(running.decide(READ).codes(), [""; 0]);
    make(&folder, "one", "9", END);
    running.wait_for("decides by bundle support, sequence 9");
}

#[test]
fn nothing_is_decided_after_the_end() {
    let folder = folder();
    let end = SystemTime::now() + Duration::from_secs(12);
    let end = end
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap()
        .as_secs();
    let date = Command::new("date")
        .args(["-u", "-d", &format!("@{end}"), "+%Y-%m-%dT%H:%M:%SZ"])
        .output()
        .unwrap();
    let date = String::from_utf8(date.stdout).unwrap();
    make(&folder, "one", "1", date.trim());
    let running = serve(&folder);
    assert_eq!(running.decide(READ).codes(), [""; 0]);
    running.wait_for("the bundle `support` expired: every question gets status 503");
    assert_eq!(refusal(&running), "BUNDLE_EXPIRED");
    assert_eq!(status(&running), (1, false));
    make(&folder, "one", "2", END);
    running.wait_for("decides by bundle support, sequence 2");
    assert_eq!(running.decide(READ).codes(), [""; 0]);
}

#[test]
fn a_revoked_key_takes_back_its_bundle_until_another_key_signs() {
    let folder = folder();
    make(&folder, "one", "1", END);
    let running = serve(&folder);
    let revoked = key(&folder, "one", r#","revoked":true"#);
    trust(&folder, &[revoked.clone(), key(&folder, "two", "")]);
    hang_up(&running);
    running.wait_for("the key `one` is revoked");
    running.wait_for("the keys in `keys.json` changed: every question gets status 503");
    assert_eq!(refusal(&running), "BUNDLE_UNTRUSTED");
    assert_eq!(status(&running), (1, false));
    make(&folder, "two", "2", END);
    hang_up(&running);
    running.wait_for("decides by bundle support, sequence 2");
    assert_eq!(running.decide(READ).codes(), [""; 0]);
    // Keys that can't be read change nothing.
    folder.write("keys.json", "{");
    hang_up(&running);
    running.wait_for("JSON_SYNTAX");
    running.wait_for("decides by bundle support, sequence 2");
    assert_eq!(status(&running), (2, true));
}

#[test]
fn the_highest_sequence_outlives_a_restart_and_is_shared() {
    let folder = folder();
    make(&folder, "one", "7", END);
    let seventh = fs::read(folder.path("support.json")).unwrap();
    make(&folder, "one", "8", END);
    drop(serve(&folder));
    let mode = fs::metadata(folder.path("sequences.json"))
        .unwrap()
        .permissions();
    assert_eq!(mode.mode() & 0o777, 0o600);
    fs::write(folder.path("support.json"), seventh).unwrap();
    let (code, text) = run(&folder, &SERVE);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("BUNDLE_OLDER"), "{text}");
    assert!(
        text.contains("the bundle has the sequence 7, and 8 was accepted"),
        "{text}"
    );
    let lowest: Vec<_> = SERVE[..10]
        .iter()
        .copied()
        .chain(["--min-sequence", "8"])
        .collect();
    let (code, text) = run(&folder, &lowest);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("BUNDLE_OLDER"), "{text}");
    folder.write("sequences.json", "[]");
    fs::set_permissions(
        folder.path("sequences.json"),
        fs::Permissions::from_mode(0o666),
    )
    .unwrap();
    let (code, text) = run(&folder, &SERVE);
    assert_eq!(code, Some(2), "{text}");
    assert!(
        text.contains("the sequences in `sequences.json` can't be used"),
        "{text}"
    );
    fs::set_permissions(
        folder.path("sequences.json"),
        fs::Permissions::from_mode(0o600),
    )
    .unwrap();
    for damaged in ["{", "[]", "null", r#"{"support":{"sequence":1}}"#] {
        folder.write("sequences.json", damaged);
        let (code, text) = run(&folder, &SERVE);
        assert_eq!(code, Some(2), "{text}");
        assert!(text.contains("it is no file of sequences"), "{text}");
    }
}

#[test]
fn a_bundle_that_nobody_vouches_for_opens_no_socket() {
    let folder = folder();
    key(&folder, "two", "");
    make(&folder, "two", "1", END);
    let (code, text) = run(&folder, &SERVE);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("BUNDLE_UNTRUSTED"), "{text}");
    assert!(text.contains("no trusted key signed the bundle"), "{text}");
    assert!(!folder.path("pdp.sock").exists());
    assert!(!folder.path("sequences.json").exists());
    let (code, text) = run(&folder, &SERVE[..10]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("old bundles would be accepted"), "{text}");
    for (without, more) in [(8, ""), (12, "--policy=policy.rego"), (12, "--lock=a")] {
        let arguments = SERVE[..without].iter().copied();
        let arguments: Vec<_> = arguments
            .chain(Some(more).filter(|it| !it.is_empty()))
            .collect();
        let (code, text) = run(&folder, &arguments);
        assert_eq!(code, Some(2), "{text}");
        assert!(text.contains("Usage:"), "{text}");
    }
    trust(&folder, &[key(&folder, "two", ""), "{}".to_owned()]);
    let (code, text) = run(&folder, &SERVE);
    assert_eq!(code, Some(1), "{text}");
    assert!(
        text.contains("MISSING_FIELD") && text.contains("keys.json:1"),
        "{text}"
    );
    trust(&folder, &[key(&folder, "two", "")]);
    fs::set_permissions(folder.path("keys.json"), fs::Permissions::from_mode(0o666)).unwrap();
    let (code, text) = run(&folder, &SERVE);
    assert_eq!(code, Some(2), "{text}");
    assert!(
        text.contains("the keys in `keys.json` can't be trusted"),
        "{text}"
    );
}

#[test]
fn only_documents_that_can_be_obeyed_are_signed() {
    let folder = folder();
    let made = |more: &[&str]| {
        let usual = [
            "bundle",
            "make",
            "--name",
            "support",
            "--sequence",
            "1",
            "--not-after",
            END,
        ];
        let arguments: Vec<_> = usual.iter().chain(more).copied().collect();
        run(&folder, &arguments)
    };
    let (code, text) = made(&["--key", "one"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("POLICY_MISSING"), "{text}");
    let (code, text) = made(&["--policy", "policy.rego", "--key", "one"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.starts_with("{\n  \"documents\": {\n"), "{text}");
    let by_file = text;
    let (code, text) = made(&["--policy", "policy.rego", "--key", "policy.rego"]);
    assert_eq!(code, Some(2), "{text}");
    // A program may have the key in place of a file.
    let pem = BASE64_STANDARD.encode(fs::read(folder.path("one")).unwrap());
    let pem = format!("-----BEGIN PRIVATE KEY-----\n{pem}\n-----END PRIVATE KEY-----\n");
    folder.write("one.pem", &pem);
    let by = |program: &[&str]| {
        let usual = ["--policy", "policy.rego", "--key-command"];
        let arguments: Vec<_> = usual.iter().chain(program).copied().collect();
        made(&arguments)
    };
    assert_eq!(by(&["cat", "one.pem"]), (Some(0), by_file));
    let (code, text) = by(&["cat", "gone.pem"]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("the key can't be had"), "{text}");
    let (code, text) = by(&["echo", "not a key"]);
    assert_eq!(code, Some(2), "{text}");
    assert!(
        text.contains("the output of `--key-command` is not an Ed25519 private key"),
        "{text}"
    );
    let (code, text) = made(&["--policy", "policy.rego"]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("--key <FILE>"), "{text}");
    fs::set_permissions(folder.path("one"), fs::Permissions::from_mode(0o640)).unwrap();
    let (code, text) = made(&["--policy", "policy.rego", "--key", "one"]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("other users can read the key"), "{text}");
}

#[test]
fn a_status_shows_by_what_each_instance_decides() {
    let (first, second) = (folder(), folder());
    make(&first, "one", "7", END);
    make(&second, "one", "7", END);
    let instances = [serve(&first), serve(&second)];
    let sockets = instances.each_ref().map(|it| it.socket.to_str().unwrap());
    let shown = |more: &[&str]| {
        let usual = ["fleet", "status", sockets[0], sockets[1]];
        let arguments: Vec<_> = usual.iter().chain(more).copied().collect();
        run(&first, &arguments)
    };
    let (code, text) = shown(&[]);
    assert_eq!((code, text.lines().count()), (Some(0), 2), "{text}");
    let line = format!(
        "{}: decides: bundle support, sequence 7, until 2999-01-01",
        sockets[1]
    );
    assert!(text.lines().nth(1).unwrap().starts_with(&line), "{text}");
    // A roll-out: one has the next bundle.
    make(&second, "one", "8", END);
    hang_up(&instances[1]);
    let rolled = || status(&instances[1]) == (8, true);
    let mut looks = 0;
    while !rolled() && looks < 100 {
        looks += 1;
        std::thread::sleep(Duration::from_millis(100));
    }
    let (code, text) = shown(&[]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("\n2 are live:\n  sha256-"), "{text}");
    assert_eq!(text.matches(", 1 of 2\n").count(), 2, "{text}");
    let (code, text) = shown(&["--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(code, Some(0));
    assert_eq!(json["instances"][1]["bundle"]["sequence"], 8);
    assert_eq!(json["live"].as_array().unwrap().len(), 2);
    assert_eq!(json["live"][0]["digest"], json["instances"][0]["digest"]);
    // Who does not answer decides nothing.
    let (code, text) = shown(&["gone.sock"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(
        text.contains("gone.sock: no answer: no such file"),
        "{text}"
    );
}

#[test]
fn a_published_bundle_is_put_in_place_if_it_is_accepted() {
    let folder = folder();
    make(&folder, "one", "7", END);
    let seventh = fs::read_to_string(folder.path("support.json")).unwrap();
    make(&folder, "one", "8", END);
    let eighth = fs::read_to_string(folder.path("support.json")).unwrap();
    make(&folder, "one", "7", END);
    let running = serve(&folder);
    let put = |body: &str| {
        let length = body.len();
        let request = format!(
            "PUT /v1/bundle HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\nconnection: close\r\n\r\n{body}"
        );
        running.send(request.as_bytes())
    };
    let reply = put(&eighth);
    assert_eq!(reply.status, 200, "{}", reply.body);
    // The next one counts before the file is looked at.
    assert_eq!(put(&seventh).status, 422);
    assert!(
        reply.body.contains("\"name\":\"support\""),
        "{}",
        reply.body
    );
    running.wait_for("this user published bundle support, sequence 8");
    running.wait_for("decides by bundle support, sequence 8");
    assert_eq!(
        fs::read_to_string(folder.path("support.json")).unwrap(),
        eighth
    );
    for (body, code) in [(&*seventh, "BUNDLE_OLDER"), ("{}", "BUNDLE_INVALID")] {
        let reply = put(body);
        assert_eq!(reply.status, 422, "{}", reply.body);
        let json = reply.json();
        let found = member(member(&json, "error").unwrap(), "code");
        assert_eq!(found.and_then(string), Some(code), "{}", reply.body);
    }
    assert_eq!(
        fs::read_to_string(folder.path("support.json")).unwrap(),
        eighth
    );
    assert_eq!(status(&running), (8, true));
}

#[test]
fn no_lost_file_brings_an_older_bundle_back() {
    let folder = folder();
    make(&folder, "one", "9", END);
    let running = serve(&folder);
    fs::remove_file(folder.path("sequences.json")).unwrap();
    make(&folder, "one", "8", END);
    hang_up(&running);
    running.wait_for("the bundle has the sequence 8, and 9 was accepted");
    make(&folder, "one", "9", "2998-01-01T00:00:00Z");
    hang_up(&running);
    running.wait_for("another bundle was accepted with the sequence 9");
    assert_eq!(status(&running), (9, true));
}

#[test]
fn a_lowest_sequence_is_no_way_back_either() {
    let folder = folder();
    make(&folder, "one", "7", END);
    let arguments = SERVE[..10].iter().chain(&["--min-sequence", "7"]);
    let child = Command::new(PROGRAM)
        .current_dir(folder.root.path())
        .args(arguments)
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let running = Running::of(child, folder.path("pdp.sock"));
    make(&folder, "one", "9", END);
    hang_up(&running);
    running.wait_for("decides by bundle support, sequence 9");
    make(&folder, "one", "8", END);
    hang_up(&running);
    running.wait_for("the bundle has the sequence 8, and 9 was accepted");
    assert_eq!(status(&running), (9, true));
}

#[test]
fn a_bundle_that_always_changes_delays_no_revocation() {
    let folder = folder();
    make(&folder, "one", "1", END);
    let running = serve(&folder);
    let bundle = fs::read(folder.path("support.json")).unwrap();
    std::thread::scope(|scope| {
        let (sender, end) = std::sync::mpsc::channel::<()>();
        let path = folder.path("support.json");
        scope.spawn(move || {
            while end
                .recv_timeout(Duration::from_millis(200))
                .is_err_and(|it| it == std::sync::mpsc::RecvTimeoutError::Timeout)
            {
                fs::write(&path, &bundle).unwrap();
            }
        });
        trust(&folder, &[key(&folder, "one", r#","revoked":true"#)]);
        running.wait_for("the keys in `keys.json` changed: every question gets status 503");
        drop(sender);
    });
    assert_eq!(refusal(&running), "BUNDLE_UNTRUSTED");
}

#[test]
fn a_refused_file_that_is_mended_in_place_is_read() {
    let folder = folder();
    make(&folder, "one", "1", END);
    let running = serve(&folder);
    // The mode of the keys changes, and neither their size nor their time of change.
    let mode = |mode| {
        let mode = fs::Permissions::from_mode(mode);
        fs::set_permissions(folder.path("keys.json"), mode).unwrap();
    };
    mode(0o666);
    running.wait_for("the keys in `keys.json` can't be trusted");
    make(&folder, "one", "2", END);
    mode(0o600);
    running.wait_for("decides by bundle support, sequence 2");
}
