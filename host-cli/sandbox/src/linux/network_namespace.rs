//! The network of a command, as seen from outside: sockets of it, and what listens there.
//!
//! A socket belongs to the network of the process that makes it: a short-lived process enters the network,
//! makes sockets, and hands them over.

use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut, Read};
use std::mem::MaybeUninit;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use rustix::cmsg_space;
use rustix::fs::{Mode, OFlags, openat};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socket_with,
    socketpair, sockopt,
};
use rustix::process::Pid;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

/// `NS_GET_USERNS` of `ioctl_ns(2)`.
const GET_USER_NAMESPACE: libc::Ioctl = 0xb701;

/// Maximum size of the kernel's table of connections, in bytes.
const MAX_TABLE: u64 = 4 << 20;

/// The state of a socket that listens, in that table.
const LISTENING: &str = "0A";

/// A network that is not that of this process.
#[derive(Debug)]
pub(crate) struct NetworkNamespace {
    network: File,
    /// The user namespace that owns it.
    owner: OwnedFd,
    /// The folder `/proc/PID/net` of its first process. It keeps naming that process after its id is reused.
    tables: OwnedFd,
}

impl NetworkNamespace {
    /// Returns the network of a process.
    pub(super) fn of(process: Pid) -> io::Result<Self> {
        let network = File::open(format!("/proc/{}/ns/net", process.as_raw_pid()))?;
        // The process may have entered another one since, which has no rights to the network.
        let owner = owner(&network)?;
        let tables = File::open(format!("/proc/{}/net", process.as_raw_pid()))?.into();
        Ok(Self {
            network,
            owner,
            tables,
        })
    }

    /// Returns TCP sockets that are not connected. They connect to addresses of both families where the
    /// kernel has both.
    pub(crate) fn unconnected(&self, count: usize) -> io::Result<Vec<OwnedFd>> {
        self.sockets(count, unconnected)
    }

    /// Makes sockets in the network. `make` may only make system calls.
    pub(super) fn sockets(
        &self,
        count: usize,
        make: fn() -> io::Result<OwnedFd>,
    ) -> io::Result<Vec<OwnedFd>> {
        let (owner, network) = (self.owner.try_clone()?, self.network.try_clone()?);
        let (socket, inside) = socketpair(
            AddressFamily::UNIX,
            SocketType::DGRAM,
            SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
            None,
        )?;
        let mut enter = Command::new("/");
        enter
            .env_clear()
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        #[expect(unsafe_code, reason = "the standard library has no other way in")]
        // SAFETY: the closure makes system calls only; it neither allocates nor takes a lock.
        unsafe {
            enter.pre_exec(move || {
                move_into_link_name_space(owner.as_fd(), Some(LinkNameSpaceType::User))?;
                move_into_link_name_space(network.as_fd(), Some(LinkNameSpaceType::Network))?;
                for _ in 0..count {
                    send(&inside, make()?.as_fd())?;
                }
                // The process has nothing to execute.
                libc::_exit(0)
            });
        }
        enter.spawn()?.wait()?;
        (0..count).map(|_| receive(&socket)).collect()
    }

    /// Returns where processes listen for TCP, in the order of ports.
    pub(crate) fn listening(&self) -> io::Result<Vec<SocketAddr>> {
        let mut found = Vec::new();
        for (name, may_miss) in [("tcp", false), ("tcp6", true)] {
            let flags = OFlags::RDONLY | OFlags::CLOEXEC;
            let file = match openat(&self.tables, name, flags, Mode::empty()) {
                Ok(file) => File::from(file),
                // A kernel without the sixth version. Without the fourth, the process is gone.
                Err(rustix::io::Errno::NOENT) if may_miss => continue,
                Err(error) => return Err(error.into()),
            };
            let mut table = String::new();
            file.take(MAX_TABLE).read_to_string(&mut table)?;
            found.extend(table.lines().skip(1).filter_map(listening));
        }
        found.sort_by_key(|address| (address.port(), address.ip()));
        Ok(found)
    }
}

/// Parses a line of `/proc/net/tcp` or `tcp6`, if it is about a socket that listens.
fn listening(line: &str) -> Option<SocketAddr> {
    let mut fields = line.split_whitespace().skip(1);
    let (local, _, state) = (fields.next()?, fields.next()?, fields.next()?);
    if state != LISTENING {
        return None;
    }
    let (address, port) = local.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    // Each group of 8 digits is a number in the order of bytes of this machine.
    let word = |at: usize| {
        let digits = address.get(at..at + 8)?;
        Some(u32::from_str_radix(digits, 16).ok()?.to_ne_bytes())
    };
    let address: IpAddr = match address.len() {
        8 => Ipv4Addr::from(word(0)?).into(),
        32 => {
            let words = [word(0)?, word(8)?, word(16)?, word(24)?];
            let mut bytes = [0; 16];
            bytes.copy_from_slice(words.as_flattened());
            Ipv6Addr::from(bytes).into()
        }
        _ => return None,
    };
    Some(SocketAddr::new(address, port))
}

/// Returns the user namespace that owns another namespace.
fn owner(namespace: &File) -> io::Result<OwnedFd> {
    #[expect(unsafe_code, reason = "a system call without a safe function")]
    // SAFETY: the request takes no argument, and returns a new descriptor or -1.
    unsafe {
        match libc::ioctl(namespace.as_raw_fd(), GET_USER_NAMESPACE) {
            -1 => Err(io::Error::last_os_error()),
            descriptor => Ok(OwnedFd::from_raw_fd(descriptor)),
        }
    }
}

fn unconnected() -> io::Result<OwnedFd> {
    let make = |family| {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        socket_with(family, SocketType::STREAM, flags, None)
    };
    match make(AddressFamily::INET6) {
        Ok(socket) => {
            sockopt::set_ipv6_v6only(&socket, false)?;
            Ok(socket)
        }
        Err(_) => Ok(make(AddressFamily::INET)?),
    }
}

fn send(to: &OwnedFd, descriptor: BorrowedFd<'_>) -> io::Result<()> {
    let descriptors = [descriptor];
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
    let mut rights = SendAncillaryBuffer::new(&mut space);
    rights.push(SendAncillaryMessage::ScmRights(&descriptors));
    sendmsg(to, &[IoSlice::new(b"1")], &mut rights, SendFlags::empty())?;
    Ok(())
}

fn receive(from: &OwnedFd) -> io::Result<OwnedFd> {
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
    let mut rights = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    let flags = RecvFlags::CMSG_CLOEXEC;
    recvmsg(from, &mut [IoSliceMut::new(&mut byte)], &mut rights, flags)?;
    let descriptors = rights.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    });
    descriptors.ok_or_else(|| io::Error::other("the socket was not handed over"))
}

#[cfg(test)]
mod tests {
    use super::listening;

    #[test]
    fn sockets_that_listen_are_read_off_the_tables() {
        let of = |line: &str| listening(line).map(|address| address.to_string());
        let line = "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000 1000 0 7 1";
        assert_eq!(of(line).as_deref(), Some("127.0.0.1:8080"));
        let line = "   1: 00000000000000000000000001000000:0BB8 00000000000000000000000000000000:0000 0A 0:0";
        assert_eq!(of(line).as_deref(), Some("[::1]:3000"));
        for none in [
            "   0: 0100007F:1F90 0100007F:9999 01 00000000:00000000",
            "   0: 0100007F 00000000:0000 0A",
            "   0: 01007F:1F90 00000000:0000 0A",
            "   0: \u{20ac}\u{20ac}\u{20ac}:1F90 00000000:0000 0A",
            "",
        ] {
            assert_eq!(of(none), None, "{none}");
        }
    }
}
