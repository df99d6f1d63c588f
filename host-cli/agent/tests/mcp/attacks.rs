//! Attacks by `fs.apply`: all through the daemon, each with its code, and nothing of the batch is written.

use crate::bed::Bed;
use crate::small_app::{APP, start};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

/// A file that every batch writes in addition to the attack.
const GOOD: &str = "good.txt";

fn write(path: &str) -> Value {
    json!({ "writes": [{ "path": GOOD, "content": "x" }, { "path": path, "content": "attack" }] })
}

fn write_mode(mode: u64) -> Value {
    json!({ "writes": [{ "path": GOOD, "content": "x" }, { "path": "a", "content": "", "mode": mode }] })
}

fn patch(path: &str, diff: &str) -> Value {
    json!({ "writes": [{ "path": GOOD, "content": "x" }], "patches": [{ "path": path, "diff": diff }] })
}

/// Returns a batch of empty files.
fn files(paths: [&str; 3]) -> Value {
    json!({ "writes": paths.map(|path| json!({ "path": path, "content": "" })) })
}

/// Returns a batch of so many files.
fn many(files: usize) -> Value {
    let files = (0..files).map(|number| json!({ "path": format!("f{number}"), "content": "" }));
    json!({ "writes": files.collect::<Vec<_>>() })
}

/// Returns all files, links and folders below a folder, without following links.
fn tree(folder: &Path) -> BTreeMap<String, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(inner) = open.pop() {
        for entry in fs::read_dir(&inner).unwrap().flatten() {
            let (path, kind) = (entry.path(), entry.file_type().unwrap());
            let content = kind.is_file().then(|| fs::read(&path).unwrap());
            found.insert(
                path.strip_prefix(folder).unwrap().display().to_string(),
                content,
            );
            if kind.is_dir() {
                open.push(path);
            }
        }
    }
    found
}

#[test]
fn no_batch_leaves_its_folder_or_is_written_in_part() {
    let bed = Bed::new(&[]);
    let outside = bed.path("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("file"), "kept").unwrap();
    let id = bed.task_with(&[("app.py", "one\n"), ("docs/read.md", "two\n")]);
    let source = bed.path(&format!(".mcpd/{id}/source"));
    // What an app could make by itself.
    symlink(&outside, source.join("folder-link")).unwrap();
    symlink(outside.join("file"), source.join("file-link")).unwrap();
    symlink("/nowhere", source.join("dangling")).unwrap();
    fs::hard_link(outside.join("file"), source.join("hard-link")).unwrap();
    let before = tree(&bed.path(&format!(".mcpd/{id}")));

    let absolute = outside.join("new").display().to_string();
    let diff = |from: &str, to: &str| format!("--- {from}\n+++ {to}\n@@ -1 +1 @@\n-one\n+attack\n");
    let renames = "diff --git a/app.py b/../../outside/new\nsimilarity index 100%\nrename from app.py\nrename to ../../outside/new\n";
    let moves = "diff --git a/app.py b/other.py\nrename from app.py\nrename to other.py\n--- a/app.py\n+++ b/other.py\n@@ -1 +1 @@\n-one\n+attack\n";
    let hunks = {
        let hunk = "@@ -1 +1 @@\n-one\n+one\n".repeat(20_000);
        format!("--- a/app.py\n+++ b/app.py\n{hunk}")
    };
    let deep = vec!["d"; 17].join("/");
    let mut attacks: Vec<(&str, Value, &str)> = vec![
        ("absolute", write("/etc/mcpd-attack"), "E_FS"),
        (
            "absolute to a folder of the machine",
            write(&absolute),
            "E_FS",
        ),
        ("a Windows drive", write("C:\\windows\\a"), "E_FS"),
        ("a share", write("\\\\host\\share\\a"), "E_FS"),
        ("a stream", write("app.py:stream"), "E_FS"),
        ("up", write("../attack"), "E_FS"),
        ("up from below", write("docs/../../../outside/file"), "E_FS"),
        ("up at the end", write("docs/.."), "E_FS"),
        ("up by a backslash", write("docs\\..\\..\\attack"), "E_FS"),
        ("here", write("./app.py"), "E_FS"),
        ("an empty segment", write("docs//a"), "E_FS"),
        ("a folder", write("docs/"), "E_FS"),
        ("nothing", write(""), "E_PLAN"),
        ("the end of a text in C", write("app.py\0.txt"), "E_FS"),
        ("a line break", write("a\nb"), "E_FS"),
        ("a text from right to left", write("a\u{202e}yp.b"), "E_FS"),
        ("a space of no width", write("app\u{200b}.py"), "E_FS"),
        ("a combining mark", write("e\u{301}.py"), "E_FS"),
        ("a dot at the end", write("app.py."), "E_FS"),
        ("a space at the end", write("app.py "), "E_FS"),
        ("a folder of Git", write(".git/hooks/post-checkout"), "E_FS"),
        ("the same in capitals", write("docs/.GIT/config"), "E_FS"),
        ("its short name", write("GIT~1/config"), "E_FS"),
        (
            "a repository of Git",
            files(["HEAD", "objects/a", "refs/a"]),
            "E_FS",
        ),
        (
            "the same below, in capitals",
            files(["docs/Head", "docs/OBJECTS/a", "docs/REFS"]),
            "E_FS",
        ),
        (
            "a repository whose parts are elsewhere",
            files(["docs/HEAD", "docs/commondir", "x"]),
            "E_FS",
        ),
        (
            "the folder of the daemon",
            write(".mcpd/policy.yaml"),
            "E_FS",
        ),
        ("a link to a folder", write("folder-link/file"), "E_FS"),
        ("a new file behind a link", write("folder-link/new"), "E_FS"),
        ("a link to a file", write("file-link"), "E_FS"),
        ("a link to nothing", write("dangling"), "E_FS"),
        ("a link to a folder itself", write("folder-link"), "E_FS"),
        (
            "a patch behind a link",
            patch(
                "folder-link/file",
                "--- a/folder-link/file\n+++ b/folder-link/file\n@@ -1 +1 @@\n-kept\n+attack\n",
            ),
            "E_FS",
        ),
        (
            "a removal behind a link",
            patch(
                "folder-link/file",
                "--- a/folder-link/file\n+++ /dev/null\n@@ -1 +0,0 @@\n-kept\n\\ No newline at end of file\n",
            ),
            "E_FS",
        ),
        ("a file as a folder", write("app.py/a"), "E_FS"),
        ("a folder as a file", write("docs"), "E_FS"),
        ("another case of a file", write("APP.py"), "E_FS"),
        ("another case of a folder", write("DOCS/other.md"), "E_FS"),
        (
            "another case by folding",
            json!({ "writes": [{ "path": "stra\u{df}e", "content": "" }, { "path": "STRASSE", "content": "" }] }),
            "E_FS",
        ),
        (
            "one file twice",
            json!({ "writes": [{ "path": "a", "content": "1" }, { "path": "a", "content": "2" }] }),
            "E_FS",
        ),
        (
            "two cases in one batch",
            json!({ "writes": [{ "path": "a", "content": "1" }, { "path": "A", "content": "2" }] }),
            "E_FS",
        ),
        (
            "a file and a folder in one batch",
            json!({ "writes": [{ "path": "a", "content": "1" }, { "path": "a/b", "content": "2" }] }),
            "E_FS",
        ),
        ("set-user-id", write_mode(0o4755), "E_PLAN"),
        ("set-group-id", write_mode(0o2755), "E_PLAN"),
        ("sticky", write_mode(0o1777), "E_PLAN"),
        ("a mode of a device", write_mode(0o020_644), "E_PLAN"),
        (
            "a patch of another file",
            patch("app.py", &diff("a/docs/read.md", "b/docs/read.md")),
            "E_FS",
        ),
        (
            "a patch to a file outside",
            patch("app.py", &diff("a/app.py", "b/../../outside/file")),
            "E_FS",
        ),
        (
            "a patch from a file outside",
            patch("app.py", &diff("/etc/passwd", "b/app.py")),
            "E_FS",
        ),
        (
            "a patch whose path leads outside",
            patch("../../../outside/file", &diff("a/app.py", "b/app.py")),
            "E_FS",
        ),
        ("a rename", patch("app.py", moves), "E_FS"),
        (
            "a rename to a file outside",
            patch("app.py", renames),
            "E_FS",
        ),
        (
            "a copy",
            patch(
                "app.py",
                "diff --git a/app.py b/copy.py\ncopy from app.py\ncopy to copy.py\n",
            ),
            "E_FS",
        ),
        (
            "a change of the mode",
            patch(
                "app.py",
                "diff --git a/app.py b/app.py\nold mode 100644\nnew mode 104755\n",
            ),
            "E_FS",
        ),
        (
            "a new link",
            patch(
                "new",
                "diff --git a/new b/new\nnew file mode 120000\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+/etc/passwd\n\\ No newline at end of file\n",
            ),
            "E_FS",
        ),
        (
            "a binary patch",
            patch(
                "app.py",
                "diff --git a/app.py b/app.py\nGIT binary patch\nliteral 0\nHcmV?d00001\n\n",
            ),
            "E_FS",
        ),
        (
            "two files in one patch",
            patch(
                "app.py",
                &format!(
                    "{}{}",
                    diff("a/app.py", "b/app.py"),
                    diff("a/docs/read.md", "b/docs/read.md")
                ),
            ),
            "E_FS",
        ),
        (
            "a patch that does not apply",
            patch(
                "app.py",
                &diff("a/app.py", "b/app.py").replace("-one", "-two"),
            ),
            "E_FS",
        ),
        (
            "a count of lines that overflows",
            patch(
                "app.py",
                "--- a/app.py\n+++ b/app.py\n@@ -1,18446744073709551616 +1 @@\n-one\n+two\n",
            ),
            "E_FS",
        ),
        (
            "a line far behind the end",
            patch(
                "app.py",
                "--- a/app.py\n+++ b/app.py\n@@ -4294967295 +1 @@\n-one\n+two\n",
            ),
            "E_FS",
        ),
        ("too many hunks", patch("app.py", &hunks), "E_FS"),
        ("too many files", many(1_025), "E_PLAN"),
        ("too many folders", write(&format!("{deep}/a")), "E_FS"),
        ("too long a name", write(&"n".repeat(129)), "E_FS"),
        (
            "too long a path",
            write(&vec!["n".repeat(100); 6].join("/")),
            "E_PLAN",
        ),
        (
            "too large a file",
            json!({ "writes": [{ "path": "large", "content": "x".repeat((4 << 20) + 1) }] }),
            "E_FS",
        ),
        (
            "too large a batch",
            json!({ "writes": (0..4).map(|it| json!({ "path": format!("large{it}"), "content": "x".repeat(3_500_000) })).collect::<Vec<_>>() }),
            "E_FS",
        ),
        (
            "an unknown member",
            json!({ "writes": [], "links": [{ "path": "a", "target": "/etc" }] }),
            "E_PLAN",
        ),
        (
            "a content that is no text",
            json!({ "writes": [{ "path": "a", "content": 1 }] }),
            "E_PLAN",
        ),
    ];
    let devices = [
        "con",
        "NUL.txt",
        "docs/aux",
        "com1",
        "LPT9.log",
        "prn .md",
        "COM\u{b9}",
    ];
    attacks.extend(devices.map(|device| ("a device of Windows", write(device), "E_FS")));
    let mut wrong = Vec::new();
    for (name, input, code) in &attacks {
        let response = bed.verb("fs.apply", Some(&id), input);
        let has_hint = response["error"]["hints"][0].is_string();
        let is_whole = tree(&bed.path(&format!(".mcpd/{id}"))) == before;
        if response["error"]["code"] != *code || !has_hint || !is_whole {
            wrong.push(format!(
                "{name}, whose files are kept: {is_whole}: {response}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(attacks.len() > 60);
    assert_eq!(fs::read(outside.join("file")).unwrap(), b"kept");
    assert_eq!(tree(&outside).len(), 1);
    assert!(!Path::new("/etc/mcpd-attack").exists());

    // A larger request than any may be is refused before its body comes.
    let length = (17 << 20).to_string();
    let headers = [("Content-Length", &*length)];
    let refused = bed.daemon_with("POST", "/verbs/fs.apply", &headers, "");
    assert_eq!(refused.status, 413, "{}", refused.body);
    // A name of a file outside sees no change, and the file of the app gets its own.
    let linked = bed.verb("fs.apply", Some(&id), &write("hard-link"));
    assert_eq!(linked["ok"], true, "{linked}");
    assert_eq!(fs::read(outside.join("file")).unwrap(), b"kept");
    assert_eq!(fs::read(source.join("hard-link")).unwrap(), b"attack");
    let mode = fs::metadata(source.join("hard-link"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o7000, 0);
}

#[test]
fn an_app_that_swaps_its_files_for_links_reaches_nothing_through_the_daemon() {
    // The planner writes down what it gets, and changes nothing.
    let planner = r#"
import json, sys
request = json.load(sys.stdin)
with open(sys.argv[1], "a") as log:
    json.dump(request.get("present", []), log)
json.dump({"files": [{"path": "app.py", "content": ""}], "start": "python app.py", "lang": "python"}, sys.stdout)
"#;
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("requests");
    let bed = Bed::new(&[
        "--planner",
        "/usr/bin/python3",
        "-c",
        planner,
        log.to_str().unwrap(),
    ]);
    let outside = bed.path("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("file"), "secret of the user").unwrap();
    fs::write(outside.join("secret-name"), "secret of the user").unwrap();
    // What the sandbox does not have leads somewhere for the daemon.
    let swapping = format!(
        "import ctypes, os, threading
os.makedirs('folder', exist_ok=True)
for name in ('folder/file', 'own'):
    open(name, 'w').close()
os.symlink({outside:?}, 'link')
os.symlink({outside:?} + '/file', 'file-link')
os.mkfifo('pipe')
libc = ctypes.CDLL(None)
def exchange(a, b):
    libc.renameat2(-100, a.encode(), -100, b.encode(), 2)
def swap():
    while True:
        exchange('folder', 'link')
        exchange('own', 'file-link')
        exchange('own', 'pipe')
        # A batch moves what is in its way aside.
        try:
            os.symlink({outside:?}, 'link')
        except OSError:
            pass
threading.Thread(target=swap, daemon=True).start()
"
    );
    let id = bed.task_with(&[("app.py", &format!("{swapping}{APP}"))]);
    let task = Some(&*id);
    let started = bed.verb("run.start", task, &start("swapping"));
    assert_eq!(started["ok"], true, "{started}");
    for round in 0..40 {
        let content = format!("round {round}");
        let batch = json!({ "writes": [
            { "path": GOOD, "content": content }, { "path": "folder/file", "content": content },
        ] });
        let applied = bed.verb("fs.apply", task, &batch);
        assert_eq!(applied["ok"], true, "{applied}");
        for path in [GOOD, "folder/file"] {
            let written = bed.path(&format!(".mcpd/{id}/source/{path}"));
            assert_eq!(fs::read_to_string(written).unwrap(), content);
        }

        let report = bed.verb("report.finish", task, &json!({ "include": ["source"] }));
        assert!(!report.to_string().contains("secret-name"), "{report}");
        let path = format!("/tasks/{id}/plan-change");
        let planned = bed.daemon("POST", &path, r#"{"prompt":"anything"}"#);
        assert_eq!(planned.status, 200, "{}", planned.body);
    }
    let exported = bed.path("exported");
    bed.done(&["export", "--written", &id, exported.to_str().unwrap()]);
    for (path, content) in tree(&exported) {
        assert_ne!(
            content.as_deref(),
            Some(&b"secret of the user"[..]),
            "{path}"
        );
        assert!(!path.contains("secret-name"), "{path}");
    }
    let requests = fs::read_to_string(log).unwrap();
    assert!(
        requests.contains("exchange"),
        "the planner gets the files of the app"
    );
    assert!(!requests.contains("secret of the user"));
    for name in ["file", "secret-name"] {
        assert_eq!(fs::read(outside.join(name)).unwrap(), b"secret of the user");
    }
    assert_eq!(tree(&outside).len(), 2);
}
