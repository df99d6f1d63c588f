//! A program whose changes of files are decided one by one, by seccomp's notifications. The program is not
//! traced and not changed.

#![expect(
    unsafe_code,
    reason = "the standard library has no filters of system calls"
)]

use std::fs;
use std::io;
use std::mem;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};
use std::ptr;

/// A call that changes a watched file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    /// Bytes are written.
    Write,
    /// A file or a folder is synchronised with the disk.
    Sync {
        /// Whether it is a folder.
        is_folder: bool,
    },
    /// A file gets another length.
    Truncate,
    /// A file gets its name.
    Rename,
    /// A folder is made.
    MakeFolder,
}

/// The effect on a call.
#[derive(Clone, Copy, Debug)]
pub(super) enum Verdict {
    /// The system makes it.
    Continue,
    /// It fails with an error.
    Fail(i32),
    /// The program is killed before it.
    Kill,
    /// The user interrupts the program before it, and the system makes it.
    Interrupt,
}

/// The calls that are decided on one by one.
const CALLS: &[libc::c_long] = &[
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_pwrite64,
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_ftruncate,
    libc::SYS_renameat,
    libc::SYS_renameat2,
    libc::SYS_linkat,
    libc::SYS_mkdirat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_rename,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_mkdir,
];

/// Runs a program to its end. `decide` gets every call of it that changes files below a folder with the
/// watched name, in order.
pub(super) fn intercepted(
    mut command: Command,
    watched: &str,
    mut decide: impl FnMut(Call) -> Verdict,
) -> Output {
    let (ours, theirs) = UnixStream::pair().expect("a pair of sockets");
    let filter = filter();
    let socket = theirs.as_raw_fd();
    // SAFETY: the closure calls only functions that may be called between fork and exec.
    unsafe {
        command.pre_exec(move || {
            let listener = install(&filter)?;
            send(socket, listener)
        });
    }
    let child = command.spawn().expect("the program");
    drop(theirs);
    let listener = receive(&ours).expect("the notifications");
    let pid = child.id();
    // The streams have to be read while the program runs.
    let reader = std::thread::spawn(move || child.wait_with_output());
    serve(&listener, pid, watched, &mut decide);
    drop(listener);
    reader.join().expect("the reader").expect("the output")
}

/// Returns a filter that notifies of [`CALLS`] and allows everything else.
fn filter() -> Vec<libc::sock_filter> {
    let statement = |code: u32, jt: u8, jf: u8, k: u32| libc::sock_filter {
        code: u16::try_from(code).expect("a code"),
        jt,
        jf,
        k,
    };
    let mut filter = vec![statement(
        libc::BPF_LD | libc::BPF_W | libc::BPF_ABS,
        0,
        0,
        0,
    )];
    for call in CALLS {
        let number = u32::try_from(*call).expect("a number");
        filter.push(statement(
            libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
            0,
            1,
            number,
        ));
        filter.push(statement(
            libc::BPF_RET | libc::BPF_K,
            0,
            0,
            libc::SECCOMP_RET_USER_NOTIF,
        ));
    }
    filter.push(statement(
        libc::BPF_RET | libc::BPF_K,
        0,
        0,
        libc::SECCOMP_RET_ALLOW,
    ));
    filter
}

/// Installs a filter in this process, and returns its notifications.
fn install(filter: &[libc::sock_filter]) -> io::Result<RawFd> {
    let program = libc::sock_fprog {
        len: u16::try_from(filter.len()).unwrap_or(u16::MAX),
        filter: filter.as_ptr().cast_mut(),
    };
    // SAFETY: the program lives through the call, which only reads it.
    let listener = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            libc::SECCOMP_FILTER_FLAG_NEW_LISTENER,
            &raw const program,
        )
    };
    RawFd::try_from(listener)
        .ok()
        .filter(|it| *it >= 0)
        .ok_or_else(io::Error::last_os_error)
}

/// A control message with one file descriptor.
#[repr(C, align(8))]
struct Control([u8; 24]);

/// Calls a function with a message of one byte and one file descriptor.
fn with_message<R>(control: &mut Control, call: impl FnOnce(*mut libc::msghdr) -> R) -> R {
    let mut byte = [0_u8];
    let mut part = libc::iovec {
        iov_base: byte.as_mut_ptr().cast(),
        iov_len: 1,
    };
    // SAFETY: all zeros are a valid message.
    let mut message: libc::msghdr = unsafe { mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = control.0.as_mut_ptr().cast();
    message.msg_controllen = control.0.len() as _;
    call(&raw mut message)
}

fn send(socket: RawFd, descriptor: RawFd) -> io::Result<()> {
    let mut control = Control([0; 24]);
    let sent = with_message(&mut control, |message| {
        // SAFETY: the control buffer has the size and the alignment of one header with a descriptor.
        unsafe {
            let header = libc::CMSG_FIRSTHDR(message);
            (*header).cmsg_level = libc::SOL_SOCKET;
            (*header).cmsg_type = libc::SCM_RIGHTS;
            (*header).cmsg_len = libc::CMSG_LEN(4) as _;
            ptr::write_unaligned(libc::CMSG_DATA(header).cast(), descriptor);
            libc::sendmsg(socket, message, 0)
        }
    });
    if sent == 1 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

fn receive(socket: &UnixStream) -> io::Result<OwnedFd> {
    let mut control = Control([0; 24]);
    with_message(&mut control, |message| {
        // SAFETY: the kernel writes one header with a descriptor without another owner.
        unsafe {
            if libc::recvmsg(socket.as_raw_fd(), message, libc::MSG_CMSG_CLOEXEC) != 1 {
                return Err(io::Error::last_os_error());
            }
            let header = libc::CMSG_FIRSTHDR(message);
            if header.is_null() {
                return Err(io::Error::other("no descriptor"));
            }
            let descriptor = ptr::read_unaligned(libc::CMSG_DATA(header).cast::<RawFd>());
            Ok(OwnedFd::from_raw_fd(descriptor))
        }
    })
}

/// Answers every notification until the program has ended.
fn serve(listener: &OwnedFd, pid: u32, watched: &str, decide: &mut impl FnMut(Call) -> Verdict) {
    let listener = listener.as_raw_fd();
    // Before its first write, the program tries its sandbox, which makes folders too.
    let mut has_begun = false;
    loop {
        let mut ready = libc::pollfd {
            fd: listener,
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: the structures live through the calls; all zeros are valid ones.
        unsafe {
            if libc::poll(&raw mut ready, 1, 60_000) <= 0 || ready.revents & libc::POLLIN == 0 {
                return;
            }
            let mut asked: libc::seccomp_notif = mem::zeroed();
            if libc::ioctl(
                listener,
                libc::SECCOMP_IOCTL_NOTIF_RECV as _,
                &raw mut asked,
            ) != 0
            {
                continue;
            }
            let mut answer: libc::seccomp_notif_resp = mem::zeroed();
            answer.id = asked.id;
            let is_own = Path::new(&format!("/proc/{pid}/task/{}", asked.pid)).exists();
            let call = is_own.then(|| call(pid, &asked.data, watched)).flatten();
            has_begun |= call == Some(Call::Write);
            let verdict = call.filter(|_| has_begun).map(&mut *decide);
            if matches!(verdict, Some(Verdict::Interrupt)) {
                libc::kill(pid.cast_signed(), libc::SIGINT);
            }
            match verdict {
                None | Some(Verdict::Continue | Verdict::Interrupt) => {
                    answer.flags =
                        u32::try_from(libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE).unwrap_or(1);
                }
                Some(Verdict::Fail(error)) => answer.error = -error,
                Some(Verdict::Kill) => {
                    // The child was not waited for, so the number is its own.
                    libc::kill(pid.cast_signed(), libc::SIGKILL);
                    return;
                }
            }
            libc::ioctl(
                listener,
                libc::SECCOMP_IOCTL_NOTIF_SEND as _,
                &raw mut answer,
            );
        }
    }
}

/// Returns the call of a notification, if it changes a watched file.
fn call(pid: u32, data: &libc::seccomp_data, watched: &str) -> Option<Call> {
    let call = match libc::c_long::from(data.nr) {
        libc::SYS_write | libc::SYS_writev | libc::SYS_pwrite64 => Call::Write,
        libc::SYS_fsync | libc::SYS_fdatasync => Call::Sync { is_folder: false },
        libc::SYS_ftruncate => Call::Truncate,
        libc::SYS_mkdirat => return Some(Call::MakeFolder),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_mkdir => return Some(Call::MakeFolder),
        // The program gives no other file a name.
        _ => return Some(Call::Rename),
    };
    let path = fs::read_link(format!("/proc/{pid}/fd/{}", data.args[0])).ok()?;
    let is_watched = path.components().any(|part| part.as_os_str() == watched);
    is_watched.then(|| match call {
        Call::Sync { .. } => Call::Sync {
            is_folder: path.is_dir(),
        },
        call => call,
    })
}
