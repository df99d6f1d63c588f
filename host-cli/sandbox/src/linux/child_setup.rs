//! What a new process does to itself between `fork` and `exec`: with `listener`, the one place with code
//! that may only make system calls.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

use libc::{c_uint, c_ulong, sock_filter, sock_fprog};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Resource, Rlimit, Signal, set_parent_process_death_signal, setsid};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities, set_no_new_privs};

use super::guard::Announcement;
use super::rlimits;

/// The first file descriptor after standard input, output and error.
const FIRST_OTHER: c_uint = 3;

/// What a new process does, in this order.
#[derive(Default)]
pub(super) struct ChildSetup {
    /// Announces itself to the guard.
    pub(super) announcement: Option<Announcement>,
    /// Joins these control groups.
    pub(super) groups: Vec<File>,
    /// Keeps these files open, and no others but the standard streams.
    pub(super) keep: Vec<OwnedFd>,
    /// Applies these limits.
    pub(super) limits: Vec<(Resource, Rlimit)>,
    /// Restricts itself.
    pub(super) restrictions: Option<Restrictions>,
}

/// The restrictions of the tier without namespaces.
pub(super) struct Restrictions {
    /// The rules of Landlock.
    pub(super) rules: OwnedFd,
    /// The filter of system calls.
    pub(super) filter: Vec<sock_filter>,
}

impl ChildSetup {
    /// Makes the process of a command do this. It also ends with the thread that starts it.
    pub(super) fn prepare(self, command: &mut Command) {
        #[expect(unsafe_code, reason = "the standard library has no other way in")]
        // SAFETY: the closure makes system calls only; it neither allocates nor takes a lock.
        unsafe {
            command.pre_exec(move || self.perform());
        }
    }

    fn perform(&self) -> io::Result<()> {
        if let Some(announcement) = &self.announcement {
            announcement.make();
        }
        for group in &self.groups {
            rustix::io::write(group, b"0")?;
        }
        close_on_exec(FIRST_OTHER)?;
        for file in &self.keep {
            fcntl_setfd(file, FdFlags::empty())?;
        }
        rlimits::apply(&self.limits)?;
        if let Some(restrictions) = &self.restrictions {
            restrictions.apply()?;
        }
        // The last step, as a change of credentials can take it back.
        Ok(set_parent_process_death_signal(Some(Signal::KILL))?)
    }
}

impl Restrictions {
    fn apply(&self) -> io::Result<()> {
        // A process group that no process can leave by the filter, without a terminal.
        setsid()?;
        // Root without its capabilities is a user like any other.
        let none = CapabilitySets {
            effective: CapabilitySet::empty(),
            permitted: CapabilitySet::empty(),
            inheritable: CapabilitySet::empty(),
        };
        set_capabilities(None, none)?;
        set_no_new_privs(true)?;

        let rules = self.rules.as_raw_fd();
        const NO_FLAGS: c_uint = 0;
        #[expect(unsafe_code, reason = "a system call without a safe function")]
        // SAFETY: the call takes two numbers.
        let answer = unsafe { libc::syscall(libc::SYS_landlock_restrict_self, rules, NO_FLAGS) };
        if answer != 0 {
            return Err(io::Error::last_os_error());
        }

        let program = sock_fprog {
            len: u16::try_from(self.filter.len()).map_err(|_| io::ErrorKind::InvalidInput)?,
            filter: self.filter.as_ptr().cast_mut(),
        };
        #[expect(unsafe_code, reason = "a system call without a safe function")]
        // SAFETY: `program` points to as many instructions as it says. The kernel copies them.
        let answer = unsafe {
            libc::prctl(
                libc::PR_SET_SECCOMP,
                c_ulong::from(libc::SECCOMP_MODE_FILTER),
                &raw const program,
            )
        };
        match answer {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// Returns whether the kernel has what this needs: since Linux 5.11.
pub(super) fn is_supported() -> bool {
    // No file has this number.
    close_on_exec(c_uint::MAX).is_ok()
}

/// Marks all files from a number on to be closed on `exec`. Files opened here are marked already;
/// this is for those that this process itself inherited.
fn close_on_exec(first: c_uint) -> io::Result<()> {
    #[expect(unsafe_code, reason = "a system call without a safe function")]
    // SAFETY: the call takes three numbers, and with this flag it closes nothing now.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_close_range,
            first,
            c_uint::MAX,
            libc::CLOSE_RANGE_CLOEXEC,
        )
    };
    match answer {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
