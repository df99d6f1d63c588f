//! The one way out of a network of its own: a socket that listens inside, and whose connections are
//! accepted by this process.
//!
//! No process inside has to pass bytes on, and the command gets nothing but an address to connect to.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener};
use std::os::fd::OwnedFd;

use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, listen, socket_with, sockopt};

use super::network_namespace::NetworkNamespace;
use crate::PROXY_PORT;

/// Connections that wait to be accepted.
const BACKLOG: i32 = 32;

/// Returns a socket that listens on loopback in a network.
pub(super) fn listener(network: &NetworkNamespace) -> io::Result<TcpListener> {
    let listener = network.sockets(1, make)?.pop();
    listener
        .map(TcpListener::from)
        .ok_or_else(|| io::Error::other("the socket was not handed over"))
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
