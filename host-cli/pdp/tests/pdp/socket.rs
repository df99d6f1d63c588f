//! The socket, and the start and the end of the program.

use super::support::Folder;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::process::Command;

#[test]
fn only_this_user_can_connect_and_a_signal_removes_the_socket() {
    let folder = Folder::new();
    let mut running = folder.start();
    let mode = fs::metadata(&running.socket).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let pid = running.child.id().to_string();
    assert!(Command::new("kill").arg(&pid).status().unwrap().success());
    assert_eq!(running.child.wait().unwrap().code(), Some(0));
    assert!(!running.socket.exists());
}

#[test]
fn a_socket_is_taken_only_if_nobody_listens_there() {
    let folder = Folder::new();
    let path = folder.path("pdp.sock");
    drop(UnixListener::bind(&path).unwrap());
    let running = folder.start();
    assert_eq!(running.get("/").status, 404);
    let (code, text) = folder.failing(&[]);
    assert_eq!(code, Some(2), "{text}");
    assert!(
        text.contains("another program listens at `pdp.sock`"),
        "{text}"
    );
    // The first one is still there.
    assert_eq!(running.get("/").status, 404);
    folder.write("file", "mine");
    let (code, text) = Command::new(env!("CARGO_BIN_EXE_agent-pdp"))
        .current_dir(folder.root.path())
        .args(["--socket", "file", "--policy", "policy.rego"])
        .output()
        .map(|it| (it.status.code(), String::from_utf8(it.stderr).unwrap()))
        .unwrap();
    assert_eq!(code, Some(2));
    assert!(
        text.contains("`file` exists, and is not a socket"),
        "{text}"
    );
    assert_eq!(fs::read_to_string(folder.path("file")).unwrap(), "mine");
}

#[test]
fn a_folder_of_others_is_refused() {
    let folder = Folder::new();
    fs::create_dir(folder.path("open")).unwrap();
    fs::set_permissions(folder.path("open"), fs::Permissions::from_mode(0o777)).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_agent-pdp"))
        .current_dir(folder.root.path())
        .args(["--socket", "open/pdp.sock", "--policy", "policy.rego"])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text.contains("the socket `open/pdp.sock` is not safe"),
        "{text}"
    );
    assert!(!folder.path("open/pdp.sock").exists());
}

#[test]
fn documents_that_can_not_be_obeyed_open_no_socket() {
    let folder = Folder::new();
    folder.write(
        "policy.rego",
        "package switchboard\n\nallowed_tools := set()\n",
    );
    let (code, text) = folder.failing(&[]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("POLICY_CHANGED"), "{text}");
    assert!(!folder.path("pdp.sock").exists());
    fs::remove_file(folder.path("agents.lock")).unwrap();
    let (code, text) = folder.failing(&[]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("there is no `agents.lock` here"), "{text}");
    let (code, text) = folder.failing(&["--threads", "0"]);
    assert_eq!(code, Some(2), "{text}");
}

#[test]
fn the_policy_may_be_that_of_the_tenant() {
    let folder = Folder::new();
    folder.write(
        "tenants.yaml",
        "tenants:\n  - id: t\n    policy: policy.rego\n",
    );
    let child = Command::new(env!("CARGO_BIN_EXE_agent-pdp"))
        .current_dir(folder.root.path())
        .args(["--socket", "pdp.sock", "--tenant", "tenants.yaml"])
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let running = super::support::Running::of(child, folder.path("pdp.sock"));
    let body =
        r#"{"tool":"delete","arguments":{"soft":false},"subject":{"id":"alice","type":"user"}}"#;
    let reply = running.decide(body);
    assert_eq!(reply.codes(), ["POLICY_DENIED"]);
    assert!(reply.body.contains("\"tenant\":\"sha256-"));
}
