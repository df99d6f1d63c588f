//! All processes of one command: how they are ended, and what they use.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, WaitOptions, kill_process_group, pidfd_open,
    pidfd_send_signal, test_kill_process_group, waitid, waitpgid,
};

use super::processes::{self, Process};

/// How long to wait for killed processes to be gone, and how often to look.
const END_TIMEOUT: Duration = Duration::from_secs(10);
const END_INTERVAL: Duration = Duration::from_millis(1);

/// The processes of a command.
#[derive(Debug)]
pub(super) struct Tree {
    /// The process that this one started, and a handle of it.
    direct: Pid,
    handle: OwnedFd,
    kind: Kind,
}

/// What holds the processes together.
#[derive(Debug)]
enum Kind {
    /// A namespace of processes, which ends with its first process.
    Namespace { first: Pid, handle: OwnedFd },
    /// A process group, which no process can leave by the filter. A signal to it reaches all at once.
    Group,
}

impl Tree {
    /// The tree of a bubblewrap process, whose namespace begins with `first`.
    pub(super) fn namespace(child: &Child, first: Pid, handle: OwnedFd) -> io::Result<Self> {
        Self::new(child, Kind::Namespace { first, handle })
    }

    /// The tree of a process that leads its process group.
    pub(super) fn group(child: &Child) -> io::Result<Self> {
        Self::new(child, Kind::Group)
    }

    fn new(child: &Child, kind: Kind) -> io::Result<Self> {
        let direct = Pid::from_child(child);
        Ok(Self {
            handle: pidfd_open(direct, PidfdFlags::empty())?,
            direct,
            kind,
        })
    }

    /// Ends all processes. Only for a tree whose direct child has not been waited for: its id must
    /// still be its own.
    pub(super) fn kill(&self) {
        // A process that is gone needs no signal.
        match &self.kind {
            Kind::Namespace { handle, .. } => {
                let _ = pidfd_send_signal(handle, Signal::KILL);
                let _ = pidfd_send_signal(&self.handle, Signal::KILL);
            }
            Kind::Group => {
                let _ = kill_process_group(self.direct, Signal::KILL);
            }
        }
    }

    /// Sends all processes but the sandbox's own a signal to end, which they may handle.
    pub(super) fn terminate(&self) {
        let members = || {
            let (members, own) = self.members(&processes::table());
            let own = usize::try_from(own).unwrap_or(0);
            members.into_iter().skip(own).map(|process| process.id)
        };
        let handle = |id| {
            Some((
                id,
                pidfd_open(Pid::from_raw(id)?, PidfdFlags::empty()).ok()?,
            ))
        };
        let handles: Vec<_> = members().filter_map(handle).collect();
        // Those that are still in the tree: an id could have got another process before its handle.
        let still: Vec<_> = members().collect();
        for (id, handle) in handles {
            if still.contains(&id) {
                let _ = pidfd_send_signal(handle, Signal::TERM);
            }
        }
    }

    /// Returns the id of the first process that is not the sandbox's own.
    pub(super) fn first(&self) -> Option<i32> {
        let (members, own) = self.members(&processes::table());
        let own = usize::try_from(own).unwrap_or(0);
        members.get(own).map(|process| process.id)
    }

    /// Waits until the direct child has ended. Returns whether it has within `timeout`.
    pub(super) fn wait(&self, timeout: Duration) -> bool {
        wait(self.handle.as_fd(), timeout)
    }

    /// Waits until all processes are gone. For a tree that was killed and whose direct child was
    /// waited for.
    pub(super) fn wait_for_all(&self) {
        self.wait_for_end();
        self.reap();
    }

    /// Waits for those whose parent ended, if that made them children of this process: it is the
    /// first process of a container, or asked for it.
    fn reap(&self) {
        match &self.kind {
            Kind::Namespace { handle, .. } => {
                let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
                let _ = waitid(WaitId::PidFd(handle.as_fd()), options);
            }
            Kind::Group => while let Ok(Some(_)) = waitpgid(self.direct, WaitOptions::NOHANG) {},
        }
    }

    fn wait_for_end(&self) {
        match &self.kind {
            // The first process ends after all others of its namespace.
            Kind::Namespace { handle, .. } => {
                wait(handle.as_fd(), END_TIMEOUT);
            }
            // The kernel still knows those that have ended until their parent, the machine's first
            // process, notices. In a container it may never do.
            Kind::Group => {
                let end = Instant::now() + END_TIMEOUT;
                let group = self.direct.as_raw_pid();
                while test_kill_process_group(self.direct) != Err(Errno::SRCH)
                    && processes::group(&processes::table(), group)
                        .iter()
                        .any(|process| !process.ended)
                    && Instant::now() < end
                {
                    thread::sleep(END_INTERVAL);
                }
            }
        }
    }

    /// Returns the processes of the command in a table, and how many of them are the sandbox's own.
    pub(super) fn members(&self, table: &[Process]) -> (Vec<Process>, u64) {
        match &self.kind {
            Kind::Namespace { first, .. } => (processes::descendants(table, first.as_raw_pid()), 1),
            Kind::Group => (processes::group(table, self.direct.as_raw_pid()), 0),
        }
    }
}

/// Waits until a process has ended or a pipe has something to read, by its descriptor. Returns
/// whether it has within `timeout`.
pub(super) fn wait(descriptor: BorrowedFd<'_>, timeout: Duration) -> bool {
    let end = Instant::now() + timeout;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let left = Timespec {
            tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: left.subsec_nanos().into(),
        };
        match poll(&mut [PollFd::new(&descriptor, PollFlags::IN)], Some(&left)) {
            Err(Errno::INTR) => {}
            Ok(ready) => return ready > 0,
            // Polling a valid descriptor fails for want of memory only.
            Err(_) => thread::sleep(END_INTERVAL),
        }
    }
}
