//! Secrets of the operator, given by every way in to every run of these tests. After a run, none of them
//! may be in its streams or in a file, in any form.

use super::project::{Project, Run};
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// The folders of a project: where the program runs, and the operator's configuration.
pub(crate) const WORKING: &str = "work";
pub(crate) const OPERATOR: &str = "operator";

/// The part that every secret of these tests contains.
pub(crate) const CORE: &str = "canary/7f3a";

/// The names of the secrets with their values: each from another source.
pub(crate) const SECRETS: [(&str, &str); 4] = [
    ("ENV", "canary/7f3a of env"),
    ("FILE", "canary/7f3a+of=file"),
    ("KEYRING", "canary/7f3a?of&keyring"),
    ("COMMAND", "canary/7f3a%of\"command"),
];

/// The variable of the secret `ENV`.
const VARIABLE: &str = "AGENT_TEST_CANARY_ENV";

/// Writes the operator's configuration into a folder: the sources of the secrets, and the server `acme`,
/// which gets them as headers, in the query, as variables and as arguments.
pub(crate) fn configure(folder: &Path) {
    let shown = folder.display();
    let configuration = format!(
        "servers:\n  acme:\n    \
         headers: {{ X-Env: {{ secret: ENV }}, X-Command: {{ secret: COMMAND }} }}\n    \
         query: {{ file: {{ secret: FILE }}, keyring: {{ secret: KEYRING }} }}\n    \
         env: {{ ENV: {{ secret: ENV }}, KEYRING: {{ secret: KEYRING }} }}\n    \
         command: [/usr/bin/python3, {shown}/server.py]\n    \
         arguments: [{{ secret: FILE }}, {{ secret: COMMAND }}]\n    \
         read: [{shown}/server.py]\n\
         secrets:\n  \
         ENV: {{ env: {VARIABLE} }}\n  \
         FILE: {{ file: {shown}/file }}\n  \
         KEYRING: {{ keyring: canary }}\n  \
         COMMAND: {{ command: [/bin/cat, {shown}/command] }}\n"
    );
    let [(_, _), (_, file), (_, keyring), (_, command)] = SECRETS;
    fs::create_dir_all(folder.join("agent")).unwrap();
    for (name, text, mode) in [
        ("agent/servers.local.yaml", configuration, 0o600),
        ("file", file.to_owned() + "\n", 0o600),
        ("command", command.to_owned(), 0o600),
        // What the user's keyring answers.
        (
            "secret-tool",
            format!("#!/bin/sh\nprintf '%s' '{keyring}'\n"),
            0o700,
        ),
    ] {
        let path = folder.join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }
    for folder in [folder.to_owned(), folder.join("agent")] {
        fs::set_permissions(folder, Permissions::from_mode(0o700)).unwrap();
    }
}

/// Lets the program find the folders of a user below a root, and the secrets that the configuration names.
pub(crate) fn give(command: &mut Command, root: &Path) {
    let folder = root.join(OPERATOR);
    let path = std::env::var("PATH").unwrap_or_default();
    command
        .env("XDG_CONFIG_HOME", &folder)
        .env("XDG_DATA_HOME", root.join("data"))
        .env("XDG_CACHE_HOME", root.join("cache"))
        .env("XDG_STATE_HOME", root.join("state"))
        .env("PATH", format!("{}:{path}", folder.display()))
        .env(VARIABLE, SECRETS[0].1);
}

/// The files in which tests keep secrets, each in a folder `operator`.
const SOURCES: [&str; 4] = ["command", "file", "key", "secret-tool"];

/// The first bytes of a program.
const PROGRAM: &[u8] = b"\x7fELF";

/// Asserts that no part of a secret is in the streams of a run, or in any file beside its sources: of the
/// working folder, and of the folders of configuration, data and cache beside it.
#[track_caller]
pub(crate) fn assert_hidden(run: &Run, folder: &Path) {
    assert_free(&run.stdout, "standard output");
    assert_free(&run.stderr, "standard error");
    let root = folder.ancestors().find(|it| it.join(WORKING).is_dir());
    let mut folders = vec![root.unwrap_or(folder).to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            assert_free(&path.display().to_string(), "a name");
            let Some(metadata) = unless_gone(fs::symlink_metadata(&path), &path) else {
                continue;
            };
            let kind = metadata.file_type();
            let is_source =
                folder.ends_with(OPERATOR) && SOURCES.iter().any(|source| path.ends_with(source));
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() && !is_source {
                let Some(bytes) = unless_gone(fs::read(&path), &path) else {
                    continue;
                };
                // A test may copy the program, which no run writes and which takes minutes to search.
                if !bytes.starts_with(PROGRAM) {
                    assert_free(
                        &String::from_utf8_lossy(&bytes),
                        &path.display().to_string(),
                    );
                }
            }
        }
    }
}

/// Returns what was read, or `None` where another run of the same project has renamed the file since it was
/// listed.
#[track_caller]
fn unless_gone<T>(read: io::Result<T>, path: &Path) -> Option<T> {
    match read {
        Ok(value) => Some(value),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => panic!("{}: {error}", path.display()),
    }
}

/// Asserts that a text has no form of what the secrets have in common.
#[track_caller]
fn assert_free(text: &str, from: &str) {
    let percent = CORE.replace('/', "%2F");
    let forms = [
        CORE.to_owned(),
        CORE.replace('/', "\\/"),
        CORE.replace('/', "\\u002f"),
        percent.to_lowercase(),
        // base64 at each of the three offsets, without the characters that neighbours decide
        "Y2FuYXJ5Lzdm".to_owned(),
        "NhbmFyeS83Zj".to_owned(),
        "jYW5hcnkvN2Yz".to_owned(),
    ];
    let lower = text.to_lowercase();
    for form in forms {
        let is_there = text.contains(&form) || form.starts_with("canary") && lower.contains(&form);
        assert!(!is_there, "{form} is in {from}: {text}");
    }
}

#[test]
fn a_leak_is_seen_in_every_form() {
    let (_, secret) = SECRETS[0];
    let hex = |byte: u8| format!("%{byte:02x}");
    let percent = secret.bytes().map(|byte| match byte {
        b'a'..=b'z' | b'0'..=b'9' => char::from(byte).to_string(),
        byte => hex(byte),
    });
    let percent: String = percent.collect();
    for leak in [
        format!("got {secret}."),
        format!("?key={percent}"),
        secret.replace('/', "\\/"),
        "Y2FuYXJ5LzdmM2Egb2YgZW52".to_owned(),
        "eGNhbmFyeS83ZjNhIG9mIGVudg==".to_owned(),
        "eHhjYW5hcnkvN2YzYSBvZiBlbnY=".to_owned(),
    ] {
        let seen = std::panic::catch_unwind(|| assert_free(&leak, "a text"));
        assert!(seen.is_err(), "{leak}");
    }
    assert_free("{present, len: 18}", "a text");
}

#[test]
fn a_leak_is_seen_in_every_folder() {
    for leak in [
        "work/a/b",
        "work/operator/servers.local.yaml",
        "operator/agent/log",
        "data/agent/packages/x",
        "cache/agent/handlers/x",
        "cache/canary/7f3a",
    ] {
        let project = Project::empty();
        let root = project.path("..");
        let path = root.join(leak);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, SECRETS[1].1).unwrap();
        let run = Run {
            code: Some(0),
            stdout: String::new(),
            stderr: String::new(),
        };
        let seen = std::panic::catch_unwind(|| assert_hidden(&run, &project.path("")));
        assert!(seen.is_err(), "{leak}");
        fs::remove_file(path).unwrap();
        assert_hidden(&run, &project.path(""));
    }
}
