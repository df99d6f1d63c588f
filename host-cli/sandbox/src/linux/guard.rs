//! The guard: a process that outlives this one and ends the sandboxes that it left.
//!
//! Bubblewrap and the first process of its namespaces let the kernel end them with their parent, but only once the
//! namespaces are made. If this process is killed before, they would wait for each other for ever. The guard reads from a
//! pipe what is being started; when the kernel closes the pipe with this process, it ends what is left.

use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::process::{self, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::process::{Pid, getpid};

/// Lines `+ TOKEN ID` and `- TOKEN`. An id below 0 is that of a process group.
const SCRIPT: &str = r#"left=
while read -r sign token id; do
  case $sign in
    +) left="$left $token:$id" ;;
    -) kept=
       for entry in $left; do
         case $entry in "$token":*) ;; *) kept="$kept $entry" ;; esac
       done
       left=$kept ;;
  esac
done
for entry in $left; do kill -s KILL -- "${entry#*:}"; done"#;

/// Maximum length of a line, in bytes: two numbers, a sign each, and what separates them.
const LINE: usize = 48;

/// A command that the guard ends if this process is killed, until this is dropped.
#[derive(Debug)]
pub(super) struct Guarded {
    token: u64,
}

impl Guarded {
    /// Starts the guard if there is none.
    pub(super) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        guard();
        Self {
            token: NEXT.fetch_add(1, Ordering::Relaxed),
        }
    }

    /// Returns how a new process announces itself.
    pub(super) fn announcement(&self) -> Announcement {
        Announcement { token: self.token }
    }

    /// Adds a process.
    pub(super) fn add(&self, process: Pid) {
        send(format_args!("+ {} {}\n", self.token, process.as_raw_pid()));
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        send(format_args!("- {}\n", self.token));
    }
}

/// The announcement of a new process before `exec`, with its process group.
pub(super) struct Announcement {
    token: u64,
}

impl Announcement {
    /// Announces this process, which leads its process group. Makes one system call and allocates nothing.
    pub(super) fn make(&self) {
        let group = getpid().as_raw_pid();
        send(format_args!("+ {} -{group}\n", self.token));
    }
}

/// Returns the pipe to the guard of this process, which is started once. Without a shell there is none.
fn guard() -> Option<&'static OwnedFd> {
    static GUARD: OnceLock<Option<OwnedFd>> = OnceLock::new();
    let start = || {
        let mut shell = process::Command::new("/bin/sh");
        shell
            .args(["-c", SCRIPT])
            .env_clear()
            .current_dir("/")
            // A signal of a terminal ends this process and not its guard.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        Some(shell.spawn().ok()?.stdin.take()?.into())
    };
    GUARD.get_or_init(start).as_ref()
}

/// Sends a line to the guard, whole. A guard that has ended is no reason to refuse a command.
fn send(line: std::fmt::Arguments<'_>) {
    let mut buffer = [0; LINE];
    let mut rest = &mut buffer[..];
    if rest.write_fmt(line).is_err() {
        return;
    }
    let length = LINE - rest.len();
    if let Some(guard) = guard() {
        let _ = rustix::io::write(guard, &buffer[..length]);
    }
}
