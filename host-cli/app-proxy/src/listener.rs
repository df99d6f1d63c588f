//! Listeners on loopback.

use crate::connection;
use crate::site::Site;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::sleep;

/// Time until the next try after a connection could not be accepted, as there are too many open files.
const PAUSE: Duration = Duration::from_millis(100);

/// What a client gets when there are too many connections.
const BUSY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nRetry-After: 1\r\nConnection: close\r\n\r\n";

/// Listens at a port of loopback. Port 0 is a free one.
pub(crate) fn bind(port: u16) -> io::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

/// Listens at a port, or at a free one where that can't be had.
pub(crate) fn bind_or_free<L>(port: u16, bind: impl Fn(u16) -> io::Result<L>) -> io::Result<L> {
    bind(port).or_else(|first| bind(0).map_err(|_| first))
}

/// A listener that is served until this is dropped.
#[derive(Debug)]
pub(crate) struct Serving(tokio::task::AbortHandle);

impl Drop for Serving {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Serving {
    /// Serves a listener in a runtime.
    pub(crate) fn start(runtime: &Handle, listener: TcpListener, site: Site) -> Self {
        let site = Arc::new(site);
        let task = runtime.spawn(async move {
            // Without a driver there is nothing to serve with: the runtime is ending.
            if let Ok(listener) = tokio::net::TcpListener::from_std(listener) {
                accept(&listener, &site).await;
            }
        });
        Self(task.abort_handle())
    }
}

async fn accept(listener: &tokio::net::TcpListener, site: &Arc<Site>) {
    loop {
        let Ok((stream, address)) = listener.accept().await else {
            sleep(PAUSE).await;
            continue;
        };
        // A response is one write; it need not wait for more.
        let _ = stream.set_nodelay(true);
        let Ok(permit) = Arc::clone(&site.shared.connections).try_acquire_owned() else {
            let _ = stream.try_write(BUSY);
            continue;
        };
        let site = Arc::clone(site);
        tokio::spawn(async move {
            connection::serve(stream, address.ip(), site).await;
            drop(permit);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::bind_or_free;
    use std::io;

    #[test]
    fn a_free_port_is_used_when_the_own_one_is_taken() {
        let taken = |port| match port {
            0 => Ok(40000),
            _ => Err(io::Error::from(io::ErrorKind::AddrInUse)),
        };
        assert_eq!(bind_or_free(23456, taken).unwrap(), 40000);
        assert_eq!(bind_or_free(23456, Ok).unwrap(), 23456);
    }

    #[test]
    fn the_first_failure_is_returned_when_no_port_can_be_had() {
        let none = |port| match port {
            0 => Err::<(), _>(io::Error::from(io::ErrorKind::PermissionDenied)),
            _ => Err(io::Error::from(io::ErrorKind::AddrInUse)),
        };
        let error = bind_or_free(23456, none).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
    }
}
