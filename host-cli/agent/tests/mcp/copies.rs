//! The copy in which an app works: a person's tools take nothing that an app wrote for orders.

use crate::bed::{Bed, get};
use crate::small_app::start;
use serde_json::json;
use std::fs;
use std::path::Path;
use std::process::Command;

/// An app that leaves orders to git and data, and shows a file of its plan.
const APP: &str = r#"import os, socket

def write(path, content):
    folder = os.path.dirname(path)
    if folder:
        os.makedirs(folder, exist_ok=True)
    with open(path, "w") as file:
        file.write(content)

config = '[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = "touch %s; false"\n[alias]\n\torders = "!touch %s"\n'
def repository(folder, parts):
    write(folder + "HEAD", "ref: refs/heads/main\n")
    for part in ("objects", "refs"):
        os.makedirs(parts + part, exist_ok=True)
    write(parts + "config", config % (MARK, MARK))

repository(".git/", ".git/")
repository("sub/", "sub/")
# Git looks for its parts where `commondir` says. It has no files to look at then, and still obeys the configuration.
repository("split/", "common/")
write("split/commondir", "../common\n")
write("sub/data", "")
for name in (".envrc", ".vscode/tasks.json", ".idea/workspace.xml", "Makefile"):
    write(name, "orders")
with open("visits", "a") as file:
    file.write("x")

server = socket.create_server(("127.0.0.1", int(os.environ["PORT"])), backlog=64)
while True:
    client, _ = server.accept()
    with client:
        client.recv(65536)
        body = b" ".join(open(name, "rb").read() for name in ("text", "visits"))
        client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(body) + body)
"#;

/// Calls git in a folder and in its folders, as a person does. Returns whether that ran a command.
fn runs_a_command(bed: &Bed, folder: &Path) -> bool {
    let mark = bed.path("mark");
    let inner = fs::read_dir(folder).unwrap().flatten();
    let inner = inner.map(|it| it.path()).filter(|it| it.is_dir());
    for folder in inner.chain([folder.to_owned()]) {
        // The second runs a command of the configuration if git reads that at all.
        for command in ["status", "orders"] {
            let mut git = Command::new("git");
            git.arg(command).current_dir(&folder);
            git.env("HOME", bed.path(""));
            git.env("GIT_CEILING_DIRECTORIES", bed.path(""));
            // That there is no repository is a failure.
            git.output().expect("git");
        }
    }
    let has_run = mark.exists();
    let _ = fs::remove_file(mark);
    has_run
}

#[test]
fn what_an_app_writes_is_no_order_to_the_tools_of_a_person() {
    let mut bed = Bed::new(&[]);
    let app = APP.replace("MARK", &format!("{:?}", bed.path("mark")));
    let id = bed.task_with(&[("app.py", &app), ("text", "one")]);
    let task = Some(&*id);
    let begin = |bed: &Bed| {
        let started = bed.verb("run.start", task, &start("in-a-copy"));
        assert_eq!(started["ok"], true, "{started}");
    };
    begin(&bed);
    assert_eq!(get(&bed.app_url(&id)).body, "one x");

    let work = bed.path(&format!(".mcpd/.state/work/{id}"));
    let source = bed.path(&format!(".mcpd/{id}/source"));
    for folder in ["", "sub", "split"] {
        let is_order = runs_a_command(&bed, &work.join(folder));
        assert!(
            is_order,
            "the attack on `{folder}` works where the app wrote it"
        );
    }
    assert!(!runs_a_command(&bed, &source));
    let names = |folder: &Path| {
        let names = fs::read_dir(folder).unwrap().flatten();
        let mut names: Vec<_> = names
            .map(|it| it.file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    assert_eq!(names(&source), ["app.py", "text"]);
    let export = |name: &str, options: &[&str]| {
        let to = bed.path(name);
        let arguments = [&["export"], options, &[&id, to.to_str().unwrap()]].concat();
        let output = bed.mcp(&arguments);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        (to, String::from_utf8(output.stderr).unwrap())
    };
    let (planned, _) = export("planned", &[]);
    assert!(!runs_a_command(&bed, &planned));
    assert_eq!(names(&planned), ["app.py", "text"]);
    let (written, notes) = export("written", &["--written"]);
    assert!(!runs_a_command(&bed, &written));
    assert_eq!(names(&written), ["app.py", "common", "text", "visits"]);
    for left_out in [
        ".git/", "sub/", "split/", ".envrc", ".vscode/", ".idea/", "Makefile",
    ] {
        let note = format!("left out, as the app wrote it: {left_out:?}\n");
        assert!(notes.contains(&note), "{notes}");
    }

    // A later batch reaches the app while it runs, and so does the batch that takes it back.
    let change = json!({ "writes": [{ "path": "text", "content": "two" }] });
    assert_eq!(bed.verb("fs.apply", task, &change)["ok"], true);
    assert_eq!(get(&bed.app_url(&id)).body, "two x");
    let reverted = bed.daemon("POST", &format!("/tasks/{id}/revert"), "");
    assert_eq!(reverted.status, 200, "{}", reverted.body);
    assert_eq!(get(&bed.app_url(&id)).body, "one x");

    // Its own file outlives a start, and the daemon.
    begin(&bed);
    assert_eq!(get(&bed.app_url(&id)).body, "one xx");
    bed.kill();
    bed.start(&[]);
    assert_eq!(bed.verb("fs.apply", task, &change)["ok"], true);
    begin(&bed);
    assert_eq!(get(&bed.app_url(&id)).body, "two xxx");
    bed.done(&["kill", &id]);
    let last = bed.path("last");
    bed.done(&["export", "--written", &id, last.to_str().unwrap()]);
    assert_eq!(fs::read_to_string(last.join("visits")).unwrap(), "xxx");
    assert_eq!(fs::read_to_string(last.join("text")).unwrap(), "two");
    assert!(!runs_a_command(&bed, &last));

    // A removed task leaves no copy.
    bed.kill();
    fs::remove_dir_all(bed.path(&format!(".mcpd/{id}"))).unwrap();
    bed.start(&[]);
    assert!(!work.exists());
}
