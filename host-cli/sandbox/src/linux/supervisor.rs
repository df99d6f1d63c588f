//! The thread of a command: it starts it, watches its limits, ends its tree and waits for it.
//!
//! A thread of its own, because the kernel ends a child with the thread that started it, and a
//! runtime ends its threads as it likes. It also keeps the limits while the runtime is busy.

use std::net::TcpListener;
use std::os::unix::process::ExitStatusExt;
use std::process::{ChildStderr, ChildStdin, ChildStdout, ExitStatus};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::bubblewrap;
use super::launch::Launched;
use super::meter::Meter;
use super::network_namespace::NetworkNamespace;
use super::tree::Tree;
use crate::child::EndOnDrop;
use crate::sandbox::Place;
use crate::{Command, Exit, Limit, Limits, Tier};

/// How often the limits of a tree are checked.
const WATCH_INTERVAL: Duration = Duration::from_millis(50);

/// Stack of the thread, in bytes.
pub(super) const STACK: usize = 256 << 10;

/// The exit codes with which bubblewrap reports a signal.
const FIRST_SIGNAL_CODE: i32 = 129;
const LAST_SIGNAL_CODE: i32 = 192;

/// Why a command was ended from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    WallTime,
    Limit(Limit),
    Cancelled,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// By itself.
    Exited(Exit),
    /// From outside.
    Stopped(Cause),
    /// It was not started; the reason is on its standard error.
    NotStarted,
}

/// A started command.
pub(crate) struct Started {
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: ChildStdout,
    pub(crate) stderr: ChildStderr,
    pub(crate) proxy: Option<TcpListener>,
    pub(crate) inside: Option<NetworkNamespace>,
    pub(crate) end: EndOnDrop,
    pub(crate) ended: oneshot::Receiver<Ended>,
}

/// Ends a command.
#[derive(Clone, Debug)]
pub(crate) struct Stopper(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    tree: Tree,
    state: Mutex<CommandState>,
}

#[derive(Debug, Default)]
struct CommandState {
    /// The first cause.
    cause: Option<Cause>,
    /// The child may have been waited for, and its id reused.
    over: bool,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, CommandState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stop(&self, cause: Cause) {
        let mut state = self.state();
        if !state.over {
            state.cause.get_or_insert(cause);
            self.tree.kill();
        }
    }
}

impl Stopper {
    /// Ends all processes of the command now.
    pub(crate) fn stop(&self, cause: Cause) {
        self.0.stop(cause);
    }

    /// Asks the command's processes to end.
    pub(crate) fn terminate(&self) {
        let state = self.0.state();
        if !state.over {
            self.0.tree.terminate();
        }
    }

    /// Returns the id of the command's first process outside of its namespace.
    pub(crate) fn first(&self) -> Option<i32> {
        self.0.tree.first()
    }
}

/// Starts a command on a thread of its own.
pub(crate) async fn start(
    place: Option<Place>,
    command: Command,
    limits: Limits,
) -> Result<Started, String> {
    let (report, started) = oneshot::channel();
    thread::Builder::new()
        .name("agent-sandbox".to_owned())
        .stack_size(STACK)
        .spawn(move || supervise(place, &command, &limits, report))
        .map_err(|error| format!("no thread can be started: {error}"))?;
    started
        .await
        .unwrap_or_else(|_| Err("the thread of the command failed".to_owned()))
}

fn supervise(
    place: Option<Place>,
    command: &Command,
    limits: &Limits,
    report: oneshot::Sender<Result<Started, String>>,
) {
    let begin = Instant::now();
    let mut launched = match Launched::new(place, command, limits) {
        Ok(launched) => launched,
        Err(reason) => {
            let _ = report.send(Err(reason));
            return;
        }
    };
    let (stdin, stdout, stderr) = (
        launched.child.stdin.take(),
        launched.child.stdout.take(),
        launched.child.stderr.take(),
    );
    let (Some(stdin), Some(stdout), Some(stderr)) = (stdin, stdout, stderr) else {
        launched.abandon();
        let _ = report.send(Err("the command has no standard streams".to_owned()));
        return;
    };
    let Launched {
        mut child,
        tree,
        group,
        guarded,
        status,
        private,
        proxy,
        inside,
    } = launched;
    let shared = Arc::new(Shared {
        tree,
        state: Mutex::default(),
    });
    let (end, ended) = oneshot::channel();
    // If the caller is gone, this is dropped, which ends the command.
    let _ = report.send(Ok(Started {
        stdin,
        stdout,
        stderr,
        proxy,
        inside,
        end: EndOnDrop(Stopper(Arc::clone(&shared))),
        ended,
    }));

    let mut meter = Meter::new(limits, &group, &shared.tree);
    loop {
        let left = limits
            .wall_time
            .map(|limit| limit.saturating_sub(begin.elapsed()));
        if shared
            .tree
            .wait(left.unwrap_or(WATCH_INTERVAL).min(WATCH_INTERVAL))
        {
            break;
        }
        if left.is_some_and(|left| left.is_zero()) {
            shared.stop(Cause::WallTime);
        } else if let Some(limit) = meter.exceeded() {
            shared.stop(Cause::Limit(limit));
        }
    }
    // The child is over but not waited for, so that its id is still its own.
    let cause = {
        let mut state = shared.state();
        state.over = true;
        shared.tree.kill();
        state.cause
    };
    let cause = cause.or_else(|| meter.exceeded().map(Cause::Limit));
    let exit = child.wait();
    shared.tree.wait_for_all();
    drop(guarded);
    let was_started = status.is_none_or(bubblewrap::was_started);
    // Both wait until they are unused.
    drop(group);
    drop(private);
    let _ = end.send(match (cause, exit) {
        (Some(cause), _) => Ended::Stopped(cause),
        (None, Ok(status)) => by_itself(place.map(|it| it.tier), status, was_started),
        // Only for a child that was reaped elsewhere.
        (None, Err(_)) => Ended::Stopped(Cause::Cancelled),
    });
}

fn by_itself(tier: Option<Tier>, status: ExitStatus, was_started: bool) -> Ended {
    let exit = match (tier, status.code(), status.signal()) {
        (Some(Tier::Bubblewrap), Some(code @ FIRST_SIGNAL_CODE..=LAST_SIGNAL_CODE), _) => {
            Exit::Signal(code - FIRST_SIGNAL_CODE + 1)
        }
        (_, Some(code), _) => Exit::Code(code),
        (_, None, signal) => Exit::Signal(signal.unwrap_or(0)),
    };
    match exit {
        Exit::Code(_) if !was_started => Ended::NotStarted,
        Exit::Signal(libc::SIGXCPU) => Ended::Stopped(Cause::Limit(Limit::CpuTime)),
        Exit::Signal(libc::SIGXFSZ) => Ended::Stopped(Cause::Limit(Limit::FileSize)),
        exit => Ended::Exited(exit),
    }
}
