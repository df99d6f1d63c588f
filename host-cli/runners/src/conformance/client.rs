//! A request to the app, by a socket of its network.

use crate::limits::{CONFORMANCE_RESPONSE_BYTES, CONFORMANCE_WAIT};
use agent_sandbox::Inside;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpSocket;
use tokio::time::timeout;

/// Sends `GET /` and returns the whole response.
pub(super) async fn get(inside: &Inside, ip: Ipv4Addr, port: u16) -> io::Result<String> {
    timeout(CONFORMANCE_WAIT, exchange(inside, ip, port))
        .await
        .map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
}

async fn exchange(inside: &Inside, ip: Ipv4Addr, port: u16) -> io::Result<String> {
    let socket = inside.sockets(1)?.pop();
    let socket = socket.ok_or_else(|| io::Error::other("no socket was made"))?;
    let ip = match socket.local_addr()?.is_ipv6() {
        true => IpAddr::V6(ip.to_ipv6_mapped()),
        false => IpAddr::V4(ip),
    };
    let socket = TcpSocket::from_std_stream(socket);
    let mut stream = socket.connect(SocketAddr::new(ip, port)).await?;
    let request = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    stream.write_all(request).await?;
    let mut response = Vec::new();
    let mut limited = stream.take(CONFORMANCE_RESPONSE_BYTES);
    limited.read_to_end(&mut response).await?;
    Ok(String::from_utf8_lossy(&response).into_owned())
}
