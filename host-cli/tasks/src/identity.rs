//! Which process it is: its id alone may belong to another one later.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// A process of this machine, now or in the past.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// The id of the process.
    pub pid: i32,
    /// When it was started, in ticks since the machine was.
    pub start_ticks: u64,
    /// The id of the machine's start.
    pub boot_id: String,
}

/// A process that lives, by a handle that no other process can get.
#[derive(Debug)]
pub(crate) struct Living(OwnedFd);

impl Identity {
    /// Returns this process.
    ///
    /// # Errors
    ///
    /// When `/proc` can't be read.
    pub fn own() -> io::Result<Self> {
        let pid = rustix::process::getpid().as_raw_pid();
        let start_ticks =
            start_ticks(pid).ok_or_else(|| io::Error::other("/proc does not list this process"))?;
        Ok(Self {
            pid,
            start_ticks,
            boot_id: boot_id()?,
        })
    }

    /// Returns a handle of the process; `None` if it has ended.
    ///
    /// It lives as long as one of its threads does: the files of a killed process stay open until then.
    pub(crate) fn living(&self) -> Option<Living> {
        let handle = pidfd_open(Pid::from_raw(self.pid)?, PidfdFlags::empty()).ok()?;
        // With the handle, what `/proc` says is about the same process, or it has ended.
        let is_same = start_ticks(self.pid) == Some(self.start_ticks)
            && boot_id().is_ok_and(|boot_id| boot_id == self.boot_id);
        let living = Living(handle);
        (is_same && !living.wait(Duration::ZERO)).then_some(living)
    }

    /// Returns whether the process lives.
    #[must_use]
    pub fn lives(&self) -> bool {
        self.living().is_some()
    }

    /// Asks the process to end, by `SIGTERM`. Returns whether it has ended within a time.
    ///
    /// # Errors
    ///
    /// When this user may not send it signals.
    pub fn end(&self, timeout: Duration) -> io::Result<bool> {
        let Some(living) = self.living() else {
            return Ok(true);
        };
        living.signal(Signal::TERM)?;
        Ok(living.wait(timeout))
    }
}

impl Living {
    /// Sends a signal. A process that has ended needs none.
    pub(crate) fn signal(&self, signal: Signal) -> io::Result<()> {
        match pidfd_send_signal(&self.0, signal) {
            Ok(()) | Err(Errno::SRCH) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Waits for the end. Returns whether it came within the time.
    pub(crate) fn wait(&self, timeout: Duration) -> bool {
        let end = Instant::now() + timeout;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let left = Timespec {
                tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: left.subsec_nanos().into(),
            };
            match poll(&mut [PollFd::new(&self.0, PollFlags::IN)], Some(&left)) {
                Err(Errno::INTR) => {}
                ready => return ready.is_ok_and(|ready| ready > 0),
            }
        }
    }
}

/// Returns when a process was started; `None` if the table has none of this id.
fn start_ticks(pid: i32) -> Option<u64> {
    parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

fn parse(stat: &str) -> Option<u64> {
    // The name is in parentheses, and may itself contain some. After it comes field 3 of proc(5).
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(22 - 3)?.parse().ok()
}

fn boot_id() -> io::Result<String> {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
    Ok(text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::{Identity, boot_id, parse, start_ticks};
    use std::time::Duration;

    #[test]
    fn the_start_is_the_field_after_any_name() {
        let stat = "7 (a) (b c) S 3 5 5 0 -1 4194304 1 2 3 4 10 20 30 40 20 0 6 0 99 1 2";
        assert_eq!(parse(stat), Some(99));
        assert_eq!(parse("7 (a) S 3"), None);
        assert_eq!(parse(""), None);
    }

    #[test]
    fn another_process_of_the_same_id_is_not_the_one() {
        let own = Identity::own().unwrap();
        assert!(own.lives());
        assert!(!own.living().unwrap().wait(Duration::ZERO));
        let mut other = own.clone();
        other.start_ticks += 1;
        assert!(!other.lives());
        let mut other = own.clone();
        other.boot_id.push('x');
        assert!(!other.lives());
        // Processes that start at once have the same time.
        std::thread::sleep(Duration::from_millis(50));
        let mut child = std::process::Command::new("/bin/true").spawn().unwrap();
        let mut other = own;
        other.pid = i32::try_from(child.id()).unwrap();
        assert!(!other.lives());
        child.wait().unwrap();
    }

    /// A program whose first thread ends, and whose second one waits for its input to end.
    const SECOND_THREAD: &str = "import ctypes, sys, threading
threading.Thread(target=sys.stdin.read).start()
print('started', flush=True)
ctypes.CDLL(None).pthread_exit(None)";

    #[test]
    fn a_process_lives_until_its_last_thread_has_ended() {
        let mut child = std::process::Command::new("/usr/bin/python3")
            .args(["-c", SECOND_THREAD])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let stdout = child.stdout.take().unwrap();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(stdout), &mut line).unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        let identity = Identity {
            pid,
            start_ticks: start_ticks(pid).unwrap(),
            boot_id: boot_id().unwrap(),
        };
        let state = || std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        while !state().contains(") Z ") {
            std::thread::sleep(Duration::from_millis(1));
        }
        let living = identity.living().expect("a thread of it lives");
        drop(child.stdin.take());
        // It is not reaped yet.
        assert!(living.wait(Duration::from_secs(30)));
        assert!(!identity.lives() && state().contains(") Z "));
        child.wait().unwrap();
    }
}
