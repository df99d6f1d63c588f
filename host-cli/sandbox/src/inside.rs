//! The network of a running command, for connections to it.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::Arc;

use crate::PROXY_PORT;
use crate::linux::NetworkNamespace;

/// Maximum number of sockets that [`Inside::sockets`] makes at a time.
pub const MAX_SOCKETS: usize = 64;

/// The network of a command with [`Network::Inbound`](crate::Network::Inbound). It has nothing but the
/// command's own loopback, so whatever listens there belongs to the command.
#[derive(Clone, Debug)]
pub struct Inside {
    network: Arc<NetworkNamespace>,
    /// Whether a socket of ours listens there, too.
    has_proxy: bool,
}

impl Inside {
    pub(crate) fn new(network: NetworkNamespace, has_proxy: bool) -> Self {
        Self {
            network: Arc::new(network),
            has_proxy,
        }
    }

    /// Returns where the command listens for TCP, in the order of ports. Its proxy is not among them.
    ///
    /// # Errors
    ///
    /// If the command has ended.
    pub fn listening(&self) -> io::Result<Vec<SocketAddr>> {
        let mut listening = self.network.listening()?;
        if self.has_proxy {
            let proxy = SocketAddr::from((Ipv4Addr::LOCALHOST, PROXY_PORT));
            listening.retain(|address| *address != proxy);
        }
        Ok(listening)
    }

    /// Returns sockets of this network that are not connected and don't block. A process is started for
    /// it, which takes about a millisecond: take several at once.
    ///
    /// On a kernel with IPv6 they connect to an address of IPv4 by its mapped form.
    ///
    /// # Errors
    ///
    /// If no process can be started, or more than [`MAX_SOCKETS`] are wanted.
    pub fn sockets(&self, count: usize) -> io::Result<Vec<TcpStream>> {
        if count > MAX_SOCKETS {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let sockets = self.network.unconnected(count)?;
        Ok(sockets.into_iter().map(TcpStream::from).collect())
    }
}
