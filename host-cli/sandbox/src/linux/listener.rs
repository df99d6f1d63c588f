//! The one way out of a network of its own: a socket that listens inside, and whose connections are
//! accepted by this process.
//!
//! No process inside has to pass bytes on, and the command gets nothing but an address to connect to. A
//! socket belongs to the network of the process that makes it: a short-lived process enters the network,
//! makes the socket, and hands it over.

use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use rustix::cmsg_space;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, bind, listen, recvmsg, sendmsg,
    socket_with, socketpair, sockopt,
};
use rustix::process::Pid;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::PROXY_PORT;

/// Connections that wait to be accepted.
const BACKLOG: i32 = 32;

/// `NS_GET_USERNS` of `ioctl_ns(2)`.
const GET_USER_NAMESPACE: libc::Ioctl = 0xb701;

/// Returns a socket that listens on loopback in the network of a process, which is not that of this one.
pub(super) fn listener(process: Pid) -> io::Result<TcpListener> {
    let network = File::open(format!("/proc/{}/ns/net", process.as_raw_pid()))?;
    // The process may have entered another one since, which has no rights to the network.
    let owner = owner(&network)?;
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
            send(&inside, make()?.as_fd())?;
            // The process has nothing to execute.
            libc::_exit(0)
        });
    }
    enter.spawn()?.wait()?;
    receive(&socket)
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

fn make() -> io::Result<OwnedFd> {
    let socket = socket_with(
        AddressFamily::INET,
        SocketType::STREAM,
        SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
        None,
    )?;
    // Loopback may not have its address yet.
    sockopt::set_ip_freebind(&socket, true)?;
    bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, PROXY_PORT))?;
    listen(&socket, BACKLOG)?;
    Ok(socket)
}

fn send(to: &OwnedFd, descriptor: BorrowedFd<'_>) -> io::Result<()> {
    let descriptors = [descriptor];
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
    let mut rights = SendAncillaryBuffer::new(&mut space);
    rights.push(SendAncillaryMessage::ScmRights(&descriptors));
    sendmsg(to, &[IoSlice::new(b"1")], &mut rights, SendFlags::empty())?;
    Ok(())
}

fn receive(from: &OwnedFd) -> io::Result<TcpListener> {
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
    let mut rights = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    let flags = RecvFlags::CMSG_CLOEXEC;
    recvmsg(from, &mut [IoSliceMut::new(&mut byte)], &mut rights, flags)?;
    let descriptors = rights.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    });
    descriptors
        .map(TcpListener::from)
        .ok_or_else(|| io::Error::other("the socket was not handed over"))
}
