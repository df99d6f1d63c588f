//! Ways to make file writes fail from outside the program.
//!
//! A seccomp filter makes system calls fail. It needs no privileges and acts at the same
//! instruction each time.

#![allow(
    unsafe_code,
    reason = "what happens between fork and exec is unsafe to say"
)]

use std::io;
use std::mem::offset_of;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// The system calls that can replace a file by another.
#[cfg(target_arch = "x86_64")]
pub(crate) const RENAMES: &[libc::c_long] =
    &[libc::SYS_rename, libc::SYS_renameat, libc::SYS_renameat2];
#[cfg(not(target_arch = "x86_64"))]
pub(crate) const RENAMES: &[libc::c_long] = &[libc::SYS_renameat, libc::SYS_renameat2];

/// The system calls that sync a file to disk.
pub(crate) const SYNCS: &[libc::c_long] = &[libc::SYS_fsync, libc::SYS_fdatasync];

/// The user and group without files.
const NOBODY: u32 = 65534;

/// The effect of a system call.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fate {
    Killed,
    /// The call fails, with an error number.
    Fails(i32),
}

impl Fate {
    fn action(self) -> u32 {
        match self {
            Self::Killed => libc::SECCOMP_RET_KILL_PROCESS,
            Self::Fails(error) => libc::SECCOMP_RET_ERRNO | u32::try_from(error).unwrap(),
        }
    }
}

/// A restriction of the program.
#[derive(Clone, Debug)]
pub(crate) enum Sabotage {
    Syscalls(Vec<libc::sock_filter>),
    /// Files end after this number of bytes, and a write beyond fails half way.
    FileSize(u64),
    /// The program is not run by root.
    Unprivileged,
}

impl Sabotage {
    /// Makes these system calls end the program or fail.
    pub(crate) fn syscalls(calls: &[libc::c_long], fate: Fate) -> Self {
        let mut filter = vec![load(offset_of!(libc::seccomp_data, nr))];
        for &call in calls {
            filter.push(skip_unless_equal(call));
            filter.push(end(fate.action()));
        }
        filter.push(end(libc::SECCOMP_RET_ALLOW));
        Self::Syscalls(filter)
    }

    pub(crate) fn apply_to(&self, command: &mut Command) {
        match self.clone() {
            Self::Syscalls(mut filter) => {
                // SAFETY: only system calls, with memory that was allocated before.
                unsafe { command.pre_exec(move || install(&mut filter)) };
            }
            Self::FileSize(bytes) => {
                // SAFETY: only system calls.
                unsafe { command.pre_exec(move || limit_file_size(bytes)) };
            }
            Self::Unprivileged => {
                // SAFETY: only a system call.
                if unsafe { libc::geteuid() } == 0 {
                    command.uid(NOBODY).gid(NOBODY);
                }
            }
        }
    }
}

/// Returns the statement that loads a word of a system call's data.
fn load(offset: usize) -> libc::sock_filter {
    statement(
        libc::BPF_LD | libc::BPF_W | libc::BPF_ABS,
        0,
        u32::try_from(offset).unwrap(),
    )
}

/// Returns the statement that skips the next one unless the word is the operand.
fn skip_unless_equal(operand: libc::c_long) -> libc::sock_filter {
    let operand = u32::try_from(operand).unwrap();
    statement(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 1, operand)
}

/// Returns the statement that decides.
fn end(action: u32) -> libc::sock_filter {
    statement(libc::BPF_RET | libc::BPF_K, 0, action)
}

fn statement(code: u32, skipped: u8, operand: u32) -> libc::sock_filter {
    libc::sock_filter {
        code: u16::try_from(code).unwrap(),
        jt: 0,
        jf: skipped,
        k: operand,
    }
}

fn install(filter: &mut [libc::sock_filter]) -> io::Result<()> {
    let program = libc::sock_fprog {
        len: u16::try_from(filter.len()).map_err(io::Error::other)?,
        filter: filter.as_mut_ptr(),
    };
    // SAFETY: the program, and the filter it points to, outlive the calls.
    unsafe {
        checked(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))?;
        checked(libc::prctl(
            libc::PR_SET_SECCOMP,
            libc::SECCOMP_MODE_FILTER,
            &raw const program,
        ))
    }
}

fn limit_file_size(bytes: u64) -> io::Result<()> {
    let limit = libc::rlimit {
        rlim_cur: bytes,
        rlim_max: bytes,
    };
    // SAFETY: the limit outlives the call. An ignored signal makes the write fail instead.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        checked(libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit))
    }
}

fn checked(result: libc::c_int) -> io::Result<()> {
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}
