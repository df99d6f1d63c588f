//! The trial run: a tier counts only after a command in it has found the fences closed.

use std::fs;
use std::future;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::time::Duration;

use super::readable;
use crate::sandbox::{Place, run_in};
use crate::{Command, Limits, RunError};

/// Where systems install bash, whose redirections open connections.
const SHELLS: [&str; 2] = ["/bin/bash", "/usr/bin/bash"];

/// The name of each variable that bash or the sandbox sets is known. The arguments are a file outside
/// and the port of a listener outside.
const SCRIPT: &str = r#"
for name in $(compgen -e); do
    case $name in
        HOME | TMPDIR | PWD | OLDPWD | SHLVL | _) ;;
        *) echo "the environment contains $name" ;;
    esac
done
{ read -r line < "$1"; } 2> /dev/null && echo "a file outside can be read"
{ echo changed > "$1"; } 2> /dev/null && echo "a file outside can be changed"
{ true; } 2> /dev/null 3<> "/dev/tcp/127.0.0.1/$2" && echo "a connection can be made"
echo done
"#;

/// The last line of the script's output.
const DONE: &str = "done\n";

/// The content of the file outside.
const CONTENT: &str = "outside\n";

/// Limits of the trial: ample, also on a busy machine.
fn limits() -> Limits {
    Limits {
        wall_time: Some(Duration::from_secs(60)),
        ..Limits::default()
    }
}

/// Why a trial was not passed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Failure {
    NoShell,
    NotRun(String),
    OpenFence(String),
}

/// Runs the trial in a place.
pub(super) async fn run(place: Place) -> Result<(), Failure> {
    let shell = readable::find(&SHELLS).ok_or(Failure::NoShell)?;
    let trial = Outside::new().map_err(|error| Failure::NotRun(error.to_string()))?;
    let command = trial.command(shell);
    let result = run_in(place, command, Vec::new(), limits(), future::pending()).await;
    match result {
        Ok(finished) => trial.judge(&finished.stdout),
        Err(RunError::NotStarted(reason)) => Err(Failure::NotRun(reason)),
        Err(error) => Err(Failure::NotRun(error.to_string())),
    }
}

/// What the command must not reach.
struct Outside {
    folder: tempfile::TempDir,
    listener: TcpListener,
}

impl Outside {
    fn new() -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        fs::write(folder.path().join("file"), CONTENT)?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        Ok(Self { folder, listener })
    }

    fn command(&self, shell: &Path) -> Command {
        let mut command = Command::new(shell);
        let port = self
            .listener
            .local_addr()
            .map_or(0, |address| address.port());
        command.arguments = vec![
            "--norc".into(),
            "--noprofile".into(),
            "-c".into(),
            SCRIPT.into(),
        ];
        command.arguments.push("trial".into());
        command
            .arguments
            .push(self.folder.path().join("file").into());
        command.arguments.push(port.to_string().into());
        command
    }

    /// Judges by the output of the command and by what is seen here.
    fn judge(&self, output: &[u8]) -> Result<(), Failure> {
        let output = String::from_utf8_lossy(output);
        let Some(open) = output.strip_suffix(DONE) else {
            return Err(Failure::NotRun("its output is not complete".to_owned()));
        };
        let content = fs::read_to_string(self.folder.path().join("file"));
        let connected = self.listener.accept().is_ok();
        if !open.is_empty() {
            return Err(Failure::OpenFence(open.trim().replace('\n', ", ")));
        }
        if connected || !content.is_ok_and(|content| content == CONTENT) {
            return Err(Failure::OpenFence(
                "a connection or a change has arrived outside".to_owned(),
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{CONTENT, Failure, Outside, SHELLS, readable};
    use std::fs;
    use std::net::TcpStream;
    use std::process;

    #[test]
    fn a_command_without_a_sandbox_fails_the_trial() {
        let trial = Outside::new().unwrap();
        let command = trial.command(readable::find(&SHELLS).unwrap());
        let output = process::Command::new(command.program)
            .args(command.arguments)
            .env("CANARY", "1")
            .output()
            .unwrap();
        let Err(Failure::OpenFence(open)) = trial.judge(&output.stdout) else {
            panic!("{output:?}");
        };
        for fence in ["CANARY", "read", "changed", "connection"] {
            assert!(open.contains(fence), "{open}");
        }
    }

    #[test]
    fn what_arrives_outside_counts_also_if_the_command_is_silent() {
        let trial = Outside::new().unwrap();
        assert_eq!(trial.judge(b"done\n"), Ok(()));
        assert!(matches!(trial.judge(b"do"), Err(Failure::NotRun(_))));
        let connection = TcpStream::connect(trial.listener.local_addr().unwrap()).unwrap();
        assert!(matches!(trial.judge(b"done\n"), Err(Failure::OpenFence(_))));
        drop(connection);
        let file = trial.folder.path().join("file");
        assert_eq!(fs::read_to_string(&file).unwrap(), CONTENT);
        fs::write(file, "else").unwrap();
        assert!(matches!(trial.judge(b"done\n"), Err(Failure::OpenFence(_))));
    }
}
