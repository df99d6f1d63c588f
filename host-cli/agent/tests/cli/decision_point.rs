//! `agent pdp`, `agent bundle` and `agent fleet`: another program, beside this one.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

#[test]
fn the_program_beside_this_one_gets_the_arguments() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let agent = folder.path().join("agent");
    fs::hard_link(env!("CARGO_BIN_EXE_agent"), &agent).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = Command::new(&agent);
        let output = command.args(arguments).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (
            output.status.code(),
            text(output.stdout),
            text(output.stderr),
        )
    };
    let (code, _, said) = run(&["pdp"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("agent-pdp` is not installed"), "{said}");
    assert!(
        said.contains("cargo build --release --package agent-pdp"),
        "{said}"
    );

    let program = folder.path().join("agent-pdp");
    fs::write(&program, "#!/bin/sh\nprintf '%s\\n' \"$@\"\nexit 7\n").unwrap();
    let (code, _, said) = run(&["pdp"]);
    assert_eq!(code, Some(2));
    assert!(
        said.contains("agent-pdp` can't be started: permission denied"),
        "{said}"
    );

    fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
    for (arguments, expected) in [
        (
            &["pdp", "--socket", "a b", "-q", "--help"][..],
            "--socket\na b\n-q\n--help\n",
        ),
        (&["pdp", "--", "--help"], "--help\n"),
        (
            &["bundle", "make", "--name", "a"],
            "bundle\nmake\n--name\na\n",
        ),
        (&["bundle", "--", "--help"], "bundle\n--help\n"),
        (
            &["fleet", "status", "pdp.sock"],
            "fleet\nstatus\npdp.sock\n",
        ),
    ] {
        let (code, out, _) = run(arguments);
        assert_eq!((code, &*out), (Some(7), expected));
    }
}
