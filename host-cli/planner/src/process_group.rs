//! A process and what it starts.

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::oneshot;

/// A process that leads a process group. All processes of the group end with their leader, and when
/// the group is dropped.
pub(crate) struct ProcessGroup {
    /// The leader's standard input.
    pub(crate) stdin: Option<ChildStdin>,
    /// The leader's standard output.
    pub(crate) stdout: Option<ChildStdout>,
    /// The leader's standard error.
    pub(crate) stderr: Option<ChildStderr>,
    leader: Arc<Mutex<Leader>>,
    /// The leader's end, until it was waited for.
    exit: Option<oneshot::Receiver<io::Result<ExitStatus>>>,
}

/// The first process of a group.
struct Leader {
    child: Child,
    /// Whether the process was waited for. Its id may be that of another process then.
    reaped: bool,
}

impl Leader {
    fn kill_group(&self) {
        if !self.reaped {
            // A group that is gone needs no signal.
            let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        }
    }

    /// Ends the rest of the group, and waits for the leader, which has ended.
    fn reap(&mut self) -> io::Result<ExitStatus> {
        self.kill_group();
        let status = self.child.wait();
        self.reaped = true;
        status
    }
}

fn lock(leader: &Mutex<Leader>) -> std::sync::MutexGuard<'_, Leader> {
    leader.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ProcessGroup {
    /// Starts a command, whose standard streams are pipes, as the leader of a group. Needs a tokio
    /// runtime with I/O.
    pub(crate) fn start(command: &mut Command) -> io::Result<Self> {
        let mut child = command.process_group(0).spawn()?;
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let id = Pid::from_child(&child);
        let leader = Arc::new(Mutex::new(Leader {
            child,
            reaped: false,
        }));
        let (sender, exit) = oneshot::channel();
        let watched = Arc::clone(&leader);
        let mut group = Self {
            stdin: None,
            stdout: None,
            stderr: None,
            leader,
            exit: Some(exit),
        };
        // A separate thread: a runtime waits for the threads of its pool when it ends.
        thread::Builder::new()
            .name("planner".to_owned())
            .spawn(move || {
                // The leader stays a zombie, so that the id of its group is still its own.
                let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
                while waitid(WaitId::Pid(id), ended).err() == Some(Errno::INTR) {}
                let status = lock(&watched).reap();
                // The caller may be gone.
                let _ = sender.send(status);
            })?;
        group.stdin = streams.0.map(ChildStdin::from_std).transpose()?;
        group.stdout = streams.1.map(ChildStdout::from_std).transpose()?;
        group.stderr = streams.2.map(ChildStderr::from_std).transpose()?;
        Ok(group)
    }

    /// Waits until the leader has ended, and the rest of the group with it. A second call returns an error
    /// at once.
    pub(crate) async fn exit(&mut self) -> io::Result<ExitStatus> {
        let lost = || Err(io::Error::other("the process was waited for already"));
        let Some(exit) = &mut self.exit else {
            return lost();
        };
        let status = exit.await;
        self.exit = None;
        status.unwrap_or_else(|_| lost())
    }

    /// Ends all processes of the group.
    pub(crate) fn kill(&self) {
        lock(&self.leader).kill_group();
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.kill();
    }
}
