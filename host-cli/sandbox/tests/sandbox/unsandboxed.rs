//! The explicit exception: a command without a sandbox.

use agent_sandbox::{Command, RunError, spawn_unsandboxed};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, BufReader};

const MAX_LOG: u64 = 1 << 10;

fn python(program: &str) -> Command {
    let mut command = Command::new("/usr/bin/python3");
    command.arguments = ["-I", "-S", "-B", "-c", program].map(Into::into).to_vec();
    command
}

#[tokio::test]
async fn a_command_without_a_sandbox_has_only_its_own_environment() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    let mut command = python(
        "import os, sys
open(sys.argv[1], 'w').write(repr(sorted(os.environ)))
print('to the log', file=sys.stderr)
sys.exit(3)",
    );
    command.arguments.push(file.clone().into());
    command.env = [("LC_ALL".into(), "C".into())].into();
    let child = spawn_unsandboxed(command, MAX_LOG).await.unwrap();
    let (exit, log) = child.wait().await.unwrap();
    assert_eq!(exit, agent_sandbox::Exit::Code(3));
    assert_eq!(log.bytes, b"to the log\n");
    // No grant was needed, and the environment of this process is not passed on.
    assert_eq!(std::fs::read_to_string(file).unwrap(), "['LC_ALL']");
}

#[tokio::test]
async fn it_ends_as_a_whole() {
    let program = "
import os, sys, time
if os.fork() == 0: time.sleep(1000)
print('ready', flush=True)
time.sleep(1000)";
    let mut child = spawn_unsandboxed(python(program), MAX_LOG).await.unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).await.unwrap();
    assert_eq!(line, "ready\n");
    child.kill();
    // It returns once all processes are gone: the second one keeps the output open till then.
    let ended = tokio::time::timeout(Duration::from_secs(60), child.wait());
    assert!(matches!(ended.await.unwrap(), Err(RunError::Cancelled(_))));
    assert_eq!(output.read_line(&mut line).await.unwrap(), 0);
}
