//! The sandbox of a task's runner.

use crate::limits::{KEPT_ERROR_BYTES, MAX_ANSWER_BYTES, MAX_HEAD_BYTES, MAX_REQUEST_BYTES};
use crate::{Error, Place, Request, Runner};
use agent_sandbox::{Child, Command, ErrorLog, Inside, Log, Mount, Network, Sandbox, Tier};
use std::fs;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::time::timeout;

/// The folder of a task, as runner and app see it.
pub const APP: &str = "/app";
/// Where the keeper finds requests.
const REQUESTS: &str = "/requests";
/// Runs the keeper.
const SHELL: &str = "/bin/sh";
const KEEPER: &str = include_str!("keeper.sh");
/// Where the system has its programs.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// What an invocation left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Its standard output.
    pub stdout: Vec<u8>,
    /// Its standard error, up to [`KEPT_ERROR_BYTES`].
    pub stderr: Vec<u8>,
    /// Its exit code; 128 and the number of the signal that ended it.
    pub exit_code: i32,
    /// The number of its request, and the bytes that it wrote.
    pub(crate) number: u64,
    pub(crate) written: Written,
}

/// Numbers of bytes that an invocation, and what it left behind, have written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) stdout: u64,
    pub(crate) stderr: u64,
}

/// The sandbox in which all invocations for a task happen, and in which the app runs. Dropping it ends the app and
/// everything else inside.
#[derive(Debug)]
pub struct Session {
    keeper: Option<Keeper>,
    requests: TempDir,
    count: u64,
    log: ErrorLog,
}

/// The first process of a sandbox.
#[derive(Debug)]
struct Keeper {
    child: Child,
    inside: Inside,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Session {
    /// Starts the sandbox of a session. The runner is not invoked yet. Needs a tokio runtime with I/O and time.
    ///
    /// # Errors
    ///
    /// [`Error::NotStarted`].
    pub async fn open(runner: &Runner, place: &Place) -> Result<Self, Error> {
        let not_started = |reason: &dyn std::fmt::Display| Error::NotStarted(reason.to_string());
        let sandbox = Sandbox::of(Tier::Bubblewrap)
            .await
            .map_err(|error| not_started(&error))?;
        let requests = tempfile::tempdir().map_err(|error| not_started(&error))?;
        let mut command = Command::new(SHELL);
        command.arguments = ["-c", KEEPER, "keeper"].map(Into::into).to_vec();
        command.arguments.push(runner.program().into());
        command.env.insert("PATH".into(), PATH.into());
        let env = place.env.iter();
        command
            .env
            .extend(env.map(|(name, value)| (name.into(), value.into())));
        let port = place.port.to_string();
        command.env.insert("PORT".into(), port.into());
        command.read = runner.read.clone();
        command.read.push(runner.program().to_owned());
        for (inside, folder) in &place.folders {
            let (folder, writable) = (folder.clone(), false);
            let mount = Mount { folder, writable };
            command.mounts.insert(inside.clone(), mount);
        }
        for (inside, folder, writable) in [
            (APP, place.folder.as_path(), !place.readonly),
            (REQUESTS, requests.path(), false),
        ] {
            let folder = folder.to_owned();
            let mount = Mount { folder, writable };
            command.mounts.insert(inside.into(), mount);
        }
        command.cwd = Some(APP.into());
        command.network = match place.has_proxy {
            true => Network::InboundAndProxy,
            false => Network::Inbound,
        };
        let mut child = sandbox
            .spawn(command, place.limits.clone())
            .await
            .map_err(|error| not_started(&error))?;
        let (Some(input), Some(output), Some(inside)) =
            (child.stdin.take(), child.stdout.take(), child.inside())
        else {
            return Err(not_started(&"the sandbox gave no streams and no network"));
        };
        Ok(Self {
            log: child.error_log(),
            keeper: Some(Keeper {
                child,
                inside,
                input,
                output: BufReader::new(output),
            }),
            requests,
            count: 0,
        })
    }

    /// Returns the socket at which connections to the proxy arrive, once. It does not block.
    pub fn take_proxy(&mut self) -> Option<TcpListener> {
        self.keeper.as_mut()?.child.proxy.take()
    }

    /// Invokes the runner. Dropping the future ends the session.
    ///
    /// # Errors
    ///
    /// If there is no reply within the time of the method. The session is then over, unless the request was too large.
    pub async fn call(&mut self, request: &Request<'_>) -> Result<Reply, Error> {
        self.invoke(&request.json(), request.method().time()).await
    }

    /// Invokes the runner with any bytes.
    pub(crate) async fn invoke(&mut self, request: &[u8], time: Duration) -> Result<Reply, Error> {
        if request.len() > MAX_REQUEST_BYTES {
            return Err(Error::RequestTooLarge);
        }
        self.count += 1;
        let number = self.count;
        let path = self.requests.path().join(number.to_string());
        fs::write(&path, request).map_err(|error| Error::Ended(error.to_string()))?;
        let reply = self
            .within(time, async |keeper| keeper.run(number).await)
            .await;
        // The runner has read it, or is gone.
        let _ = fs::remove_file(path);
        reply
    }

    /// Returns how much the invocation of a reply and the app that it left behind have written to its standard streams.
    pub(crate) async fn written(&mut self, number: u64) -> Result<Written, Error> {
        let time = crate::limits::HEALTH_TIME;
        self.within(time, async |keeper| {
            keeper.ask("size", number).await.map(|(_, written)| written)
        })
        .await
    }

    /// Speaks with the keeper. After a failure the session is over.
    async fn within<T>(
        &mut self,
        time: Duration,
        speak: impl AsyncFnOnce(&mut Keeper) -> Result<T, Fault>,
    ) -> Result<T, Error> {
        let Some(mut keeper) = self.keeper.take() else {
            return Err(Error::Ended("an earlier invocation failed".to_owned()));
        };
        match timeout(time, speak(&mut keeper)).await {
            Ok(Ok(value)) => {
                self.keeper = Some(keeper);
                Ok(value)
            }
            Ok(Err(Fault::TooLarge)) => Err(Error::AnswerTooLarge),
            Ok(Err(Fault::Stream(error))) => {
                // It has ended, and its end says why; or it can no longer be used.
                let Keeper { child, input, .. } = keeper;
                drop(input);
                match timeout(time, child.wait()).await {
                    Ok(Err(reason)) => Err(Error::Sandbox(reason)),
                    Ok(Ok(_)) | Err(_) => Err(Error::Ended(error.to_string())),
                }
            }
            Err(_) => Err(Error::Timeout(time)),
        }
    }

    /// Returns the network of the app; `None` after the end of the session.
    #[must_use]
    pub fn inside(&self) -> Option<Inside> {
        self.keeper.as_ref().map(|keeper| keeper.inside.clone())
    }

    /// Returns the addresses of the listeners inside, in the order of ports: what the kernel says, not the
    /// runner.
    #[must_use]
    pub fn listening(&self) -> Vec<SocketAddr> {
        let listening = self.keeper.as_ref().map(|keeper| keeper.inside.listening());
        listening.and_then(Result::ok).unwrap_or_default()
    }

    /// Returns the process id of the sandbox's first process, as this machine sees it.
    #[must_use]
    pub fn id(&self) -> Option<i32> {
        self.keeper.as_ref()?.child.handle().id()
    }

    /// Returns what the app has written to its log, also before the session was over, without so many first bytes.
    #[must_use]
    pub fn log_since(&self, count: usize) -> Log {
        self.log.since(count)
    }

    /// Ends everything inside, and waits until it is gone.
    pub async fn end(mut self) {
        if let Some(keeper) = self.keeper.take() {
            keeper.child.kill();
            let _ = keeper.child.wait().await;
        }
    }
}

/// Why a keeper can no longer be used.
enum Fault {
    TooLarge,
    Stream(io::Error),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Stream(error)
    }
}

impl Keeper {
    async fn run(&mut self, number: u64) -> Result<Reply, Fault> {
        let (exit_code, written) = self.ask("run", number).await?;
        if written.stdout > MAX_ANSWER_BYTES {
            return Err(Fault::TooLarge);
        }
        let stdout = self.read(written.stdout).await?;
        let stderr = self.read(written.stderr.min(KEPT_ERROR_BYTES)).await?;
        let rest = written.stderr.saturating_sub(KEPT_ERROR_BYTES);
        let mut rest = (&mut self.output).take(rest);
        tokio::io::copy(&mut rest, &mut tokio::io::sink()).await?;
        Ok(Reply {
            stdout,
            stderr,
            exit_code,
            number,
            written,
        })
    }

    /// Sends a line, and reads the line before what the keeper sends back.
    async fn ask(&mut self, what: &str, number: u64) -> Result<(i32, Written), Fault> {
        let line = format!("{what} {number}\n");
        self.input.write_all(line.as_bytes()).await?;
        self.input.flush().await?;
        let mut head = Vec::new();
        let mut limited = (&mut self.output).take(MAX_HEAD_BYTES);
        limited.read_until(b'\n', &mut head).await?;
        if head.is_empty() {
            return Err(Fault::Stream(io::ErrorKind::UnexpectedEof.into()));
        }
        head_of(&head, number).ok_or_else(|| {
            let message = "its first process wrote what it should not";
            Fault::Stream(io::Error::new(io::ErrorKind::InvalidData, message))
        })
    }

    async fn read(&mut self, size: u64) -> Result<Vec<u8>, Fault> {
        let mut bytes = Vec::new();
        (&mut self.output)
            .take(size)
            .read_to_end(&mut bytes)
            .await?;
        match bytes.len() as u64 == size {
            true => Ok(bytes),
            false => Err(Fault::Stream(io::ErrorKind::UnexpectedEof.into())),
        }
    }
}

/// Reads the line before an answer: the number of its request, the exit code and the two sizes.
fn head_of(line: &[u8], number: u64) -> Option<(i32, Written)> {
    let text = std::str::from_utf8(line).ok()?.strip_suffix('\n')?;
    let mut words = text.split(' ');
    let is_of_request = words.next()?.parse() == Ok(number);
    let exit_code = words.next()?.parse().ok()?;
    let stdout = words.next()?.parse().ok()?;
    let stderr = words.next()?.parse().ok()?;
    let written = Written { stdout, stderr };
    (is_of_request && words.next().is_none()).then_some((exit_code, written))
}

#[cfg(test)]
mod tests {
    use super::{Written, head_of};

    #[test]
    fn the_line_before_an_answer_is_read_strictly() {
        let (stdout, stderr) = (120, 0);
        let written = Written { stdout, stderr };
        assert_eq!(head_of(b"3 10 120 0\n", 3), Some((10, written)));
        for line in [
            "",
            "\n",
            "3 10 120 0",
            "3 10 120\n",
            "3 10 120 0 0\n",
            "3 10 -1 0\n",
            "3 x 1 0\n",
            "4 10 120 0\n",
        ] {
            assert_eq!(head_of(line.as_bytes(), 3), None, "{line:?}");
        }
    }
}
