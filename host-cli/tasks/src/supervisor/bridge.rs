//! From the socket of a task to the port of its app.
//!
//! The app has a separate network with nothing but loopback. A socket of that network is made from
//! outside, and this process connects it: nothing of ours runs inside. Whatever listens in that network is
//! the app's, so the port of an app that ignores `PORT` is the port of the listener.

use super::connections::Connections;
use super::waiting::{FirstBytes, Waiting};
use agent_sandbox::{Inside, MAX_SOCKETS};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex as Lock, PoisonError};
use std::time::Duration;
use tokio::io::copy_bidirectional_with_sizes;
use tokio::net::{TcpSocket, TcpStream, UnixListener, UnixStream};
use tokio::sync::Mutex;
use tokio::task;

/// Size of the buffer of one direction of a connection, in bytes.
const BUFFER: usize = 16 << 10;

/// Connects the clients of a socket with the app.
pub(super) struct Bridge {
    inside: Inside,
    /// The port at which the app is asked to listen.
    port: u16,
    /// Where the app was found last.
    target: Lock<Option<SocketAddr>>,
    /// Sockets that are not connected.
    sockets: Mutex<Vec<std::net::TcpStream>>,
    connections: Connections,
    waiting: Waiting,
}

impl Bridge {
    pub(super) fn new(inside: Inside, port: u16) -> Self {
        Self {
            inside,
            port,
            target: Lock::default(),
            sockets: Mutex::default(),
            connections: Connections::new(),
            waiting: Waiting::new(),
        }
    }

    /// Returns where the app listens: at its port, or else at the lowest one; `None` if it doesn't.
    pub(super) fn find(&self) -> Option<SocketAddr> {
        let listening = self.inside.listening().ok()?;
        let asked = listening.iter().find(|it| it.port() == self.port);
        let found = asked.or(listening.first()).copied();
        *self.target.lock().unwrap_or_else(PoisonError::into_inner) = found;
        found
    }

    /// Returns for how long there has been no connection.
    pub(super) fn idle(&self) -> Duration {
        self.connections.idle()
    }

    /// Serves the sockets of a task: passes the bytes of clients on, and reports to gateways whether one waits.
    pub(super) async fn serve(self: Arc<Self>, clients: UnixListener, gateways: UnixListener) {
        // The first client shall not wait for them.
        if let Ok(socket) = self.socket().await {
            self.sockets.lock().await.push(socket);
        }
        let pass = |client| {
            let bridge = Arc::clone(&self);
            async move { bridge.pass(client).await }
        };
        tokio::select! {
            () = self.connections.accept(clients, pass) => {}
            () = self.waiting.report(gateways) => {}
        }
    }

    /// Passes bytes on in both directions until both have ended. A client of an app that doesn't listen
    /// sees the end at once.
    async fn pass(&self, client: UnixStream) {
        let Ok(app) = self.connect().await else {
            return;
        };
        let bytes = Arc::new(FirstBytes::default());
        let (mut client, mut app) = (bytes.of_client(client), bytes.of_app(app));
        tokio::select! {
            _ = copy_bidirectional_with_sizes(&mut client, &mut app, BUFFER, BUFFER) => {}
            () = self.waiting.count(&bytes) => {}
        }
    }

    async fn connect(&self) -> io::Result<TcpStream> {
        let known = *self.target.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(target) = known
            && let Ok(connected) = self.connect_to(target).await
        {
            return Ok(connected);
        }
        // It is not yet known, or listens elsewhere by now.
        let target = self.find().ok_or(io::ErrorKind::ConnectionRefused)?;
        self.connect_to(target).await
    }

    async fn connect_to(&self, target: SocketAddr) -> io::Result<TcpStream> {
        let socket = self.socket().await?;
        let is_v6 = socket.local_addr()?.is_ipv6();
        let socket = TcpSocket::from_std_stream(socket);
        let address = SocketAddr::new(reached_at(target.ip(), is_v6), target.port());
        let connected = socket.connect(address).await?;
        connected.set_nodelay(true)?;
        Ok(connected)
    }

    /// Returns a socket of the app's network.
    async fn socket(&self) -> io::Result<std::net::TcpStream> {
        let mut sockets = self.sockets.lock().await;
        if sockets.is_empty() {
            let inside = self.inside.clone();
            let made = task::spawn_blocking(move || inside.sockets(MAX_SOCKETS));
            *sockets = made.await.map_err(io::Error::other)??;
        }
        sockets
            .pop()
            .ok_or_else(|| io::Error::other("no socket was made"))
    }
}

/// Returns the address at which a socket reaches one that listens at `ip`.
fn reached_at(ip: IpAddr, is_v6: bool) -> IpAddr {
    let ip = match ip {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    match ip {
        IpAddr::V4(ip) if is_v6 => ip.to_ipv6_mapped().into(),
        ip => ip,
    }
}

#[cfg(test)]
mod tests {
    use super::reached_at;

    #[test]
    fn an_app_is_reached_at_loopback_or_at_its_own_address() {
        for (listens, is_v6, reached) in [
            ("0.0.0.0", true, "::ffff:127.0.0.1"),
            ("0.0.0.0", false, "127.0.0.1"),
            ("127.0.0.2", true, "::ffff:127.0.0.2"),
            ("::", true, "::1"),
            ("::1", true, "::1"),
            ("::ffff:127.0.0.1", true, "::ffff:127.0.0.1"),
        ] {
            let found = reached_at(listens.parse().unwrap(), is_v6);
            assert_eq!(found.to_string(), reached, "{listens}");
        }
    }
}
