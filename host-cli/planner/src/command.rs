//! Plans of a program of the operator.

use crate::attempt::within;
use crate::error::{PlannerError, PlannerErrorKind, QUOTE_CHARS};
use crate::limits::Limits;
use crate::process_group::ProcessGroup;
use crate::redaction::Redaction;
use crate::request::PlannerRequest;
use agent_way_out::Cancel;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::ChildStdin;
use tokio::time::timeout;

/// Number of bytes at the end of standard error that are kept for messages.
const STDERR_BYTES: usize = 4 << 10;
/// Size of the buffers for standard output and standard error, in bytes.
const BUFFER: usize = 16 << 10;
/// Maximum time to wait for a killed program to be gone.
const END: Duration = Duration::from_secs(5);
/// The variable of the environment that programs are looked up by.
const PATH: &str = "PATH";

/// A program of the operator. It reads the [`PlannerRequest`] as JSON from standard input and writes
/// the plan to standard output.
///
/// It is started without a shell and without a sandbox, in the working folder of this process. All
/// processes of its group end with it, and with the attempt.
#[derive(Clone, Default)]
pub struct Command {
    /// The program and its arguments. A name without `/` is looked up in `PATH`.
    pub argv: Vec<OsString>,
    /// The environment. `PATH` is added to it from this process if it is missing, and nothing else.
    pub env: BTreeMap<OsString, OsString>,
}

impl fmt::Debug for Command {
    /// Shows neither arguments nor values of the environment: they may be secrets.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Command")
            .field("program", &self.argv.first())
            .field("arguments", &self.argv.len().saturating_sub(1))
            .field("env", &self.env.keys())
            .finish()
    }
}

impl Command {
    /// Returns a command with an environment of `PATH` alone.
    pub fn new<A: Into<OsString>>(argv: impl IntoIterator<Item = A>) -> Self {
        Self {
            argv: argv.into_iter().map(Into::into).collect(),
            env: BTreeMap::new(),
        }
    }

    /// Returns what the program writes to standard output.
    pub(crate) async fn plan(
        &self,
        request: &PlannerRequest,
        limits: &Limits,
        cancel: &Cancel,
    ) -> Result<Vec<u8>, PlannerError> {
        let request = request.to_json()?;
        let mut group = self.start()?;
        let work = converse(&mut group, &request, limits.plan_bytes);
        let finished = match within(limits.time, cancel, work).await {
            Ok(finished) => finished,
            Err(error) => {
                group.kill();
                // The leader may have been waited for already.
                let _ = timeout(END, group.exit()).await;
                return Err(error);
            }
        };
        match finished.status.success() {
            true => Ok(finished.stdout),
            false => Err(self.failed(finished.status, &finished.stderr)),
        }
    }

    fn start(&self) -> Result<ProcessGroup, PlannerError> {
        let Some((program, arguments)) = self.argv.split_first() else {
            let kind = PlannerErrorKind::InvalidConfiguration;
            return Err(PlannerError::new(kind, "the command has no program"));
        };
        let mut command = std::process::Command::new(program);
        command.args(arguments).env_clear();
        if !self.env.contains_key(std::ffi::OsStr::new(PATH))
            && let Some(path) = std::env::var_os(PATH)
        {
            command.env(PATH, path);
        }
        command.envs(&self.env);
        command.stdin(Stdio::piped());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        ProcessGroup::start(&mut command).map_err(|error| {
            let text = format!("{}: {error}", program.display());
            let what = "the command can't be started";
            let redaction = self.redaction();
            PlannerError::quoting(PlannerErrorKind::NotStarted, what, &text, &redaction)
        })
    }

    fn redaction(&self) -> Redaction {
        let path = OsString::from(PATH);
        let values = self.env.iter().filter(|(name, _)| **name != path);
        Redaction::new(values.map(|(_, value)| value.as_encoded_bytes()))
    }

    fn failed(&self, status: ExitStatus, stderr: &[u8]) -> PlannerError {
        let what = match (status.code(), status.signal()) {
            (Some(code), _) => format!("the command failed with exit code {code}"),
            (None, Some(signal)) => format!("the command was ended by signal {signal}"),
            (None, None) => "the command failed".to_owned(),
        };
        let redaction = self.redaction();
        // Programs name their failure last.
        let text = redaction.mask(&String::from_utf8_lossy(stderr));
        let text = text.trim();
        let beyond = text.chars().count().saturating_sub(QUOTE_CHARS);
        let end: String = text.chars().skip(beyond).collect();
        PlannerError::quoting(PlannerErrorKind::Failed, &what, &end, &redaction)
    }
}

/// The result of a program that ended by itself.
struct Finished {
    status: ExitStatus,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

/// Writes the request and reads both outputs at the same time, until the program has ended.
async fn converse(
    group: &mut ProcessGroup,
    request: &[u8],
    plan_bytes: usize,
) -> Result<Finished, PlannerError> {
    let (stdin, stdout, stderr) = (group.stdin.take(), group.stdout.take(), group.stderr.take());
    let (Some(stdin), Some(stdout), Some(stderr)) = (stdin, stdout, stderr) else {
        unreachable!("a new group has its streams");
    };
    let exit = async {
        let exit = group.exit().await;
        exit.map_err(|error| {
            let message = format!("the command was lost: {error}");
            PlannerError::new(PlannerErrorKind::Failed, message)
        })
    };
    let write = async {
        write_request(stdin, request).await;
        Ok(())
    };
    let (status, (), stdout, stderr) =
        tokio::try_join!(exit, write, read_plan(stdout, plan_bytes), async {
            Ok(read_end(stderr).await)
        },)?;
    Ok(Finished {
        status,
        stdout,
        stderr,
    })
}

/// Writes the request and ends the input.
async fn write_request(mut stdin: ChildStdin, request: &[u8]) {
    // A program need not read its input: a failed write is its own affair.
    let _ = stdin.write_all(request).await;
}

/// Reads the plan to its end.
async fn read_plan(
    mut stdout: impl AsyncRead + Unpin,
    plan_bytes: usize,
) -> Result<Vec<u8>, PlannerError> {
    let mut plan = Vec::new();
    let mut buffer = vec![0; BUFFER];
    loop {
        match stdout.read(&mut buffer).await {
            Ok(0) => return Ok(plan),
            Ok(count) if count > plan_bytes - plan.len() => {
                return Err(PlannerError::too_large("the plan", plan_bytes));
            }
            Ok(count) => plan.extend_from_slice(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                let message = format!("the plan can't be read: {error}");
                return Err(PlannerError::new(PlannerErrorKind::Failed, message));
            }
        }
    }
}

/// Reads standard error to its end, and returns its last bytes.
async fn read_end(mut stderr: impl AsyncRead + Unpin) -> Vec<u8> {
    let mut end = Vec::new();
    let mut buffer = vec![0; BUFFER];
    // A pipe that can't be read is at its end.
    while let Ok(count @ 1..) = stderr.read(&mut buffer).await {
        end.extend_from_slice(&buffer[..count]);
        end.drain(..end.len().saturating_sub(STDERR_BYTES));
    }
    end
}
