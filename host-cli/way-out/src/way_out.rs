//! Opening connections.

use crate::cancel::Cancel;
use crate::connection::{Connection, bounded};
use crate::error::{Error, ErrorKind};
use crate::limits::Limits;
use crate::metered::Stream;
use crate::request::Request;
use crate::target::{Host, Scheme, Target};
use crate::tls::Roots;
use bytes::Bytes;
use hyper::{HeaderMap, StatusCode};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use std::fmt;
use std::sync::{Arc, OnceLock};
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_rustls::TlsConnector;

/// The way out of the host.
pub struct WayOut {
    roots: Roots,
    /// The configuration for `https`, made on first use: it reads the certificates of the machine.
    tls: OnceLock<Result<Arc<ClientConfig>, Error>>,
}

impl fmt::Debug for WayOut {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("WayOut").finish_non_exhaustive()
    }
}

/// A whole response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The status. Statuses of redirections are returned like all others.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

impl WayOut {
    /// Returns a way out that trusts some roots.
    #[must_use]
    pub fn new(roots: Roots) -> Self {
        Self {
            roots,
            tls: OnceLock::new(),
        }
    }

    /// Sends one request on a new connection, and waits for the whole response.
    ///
    /// # Errors
    ///
    /// When there is no response within the limits; [`ErrorKind`] lists the reasons.
    pub async fn send(
        &self,
        target: &Target,
        request: Request,
        limits: &Limits,
        cancel: &Cancel,
    ) -> Result<Response, Error> {
        let end = Instant::now() + limits.total;
        let connection = self.open_until(target, limits, end, cancel).await?;
        let exchange = connection.request_until(request, limits, end, cancel);
        let mut exchange = exchange.await?;
        let body = exchange.body().await?;
        Ok(Response {
            status: exchange.status(),
            headers: exchange.headers().clone(),
            body,
        })
    }

    /// Opens a connection to the address of a target.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Connect`], [`ErrorKind::Tls`], [`ErrorKind::Timeout`] or [`ErrorKind::Cancelled`].
    pub async fn open(
        &self,
        target: &Target,
        limits: &Limits,
        cancel: &Cancel,
    ) -> Result<Connection, Error> {
        let end = Instant::now() + limits.total;
        self.open_until(target, limits, end, cancel).await
    }

    async fn open_until(
        &self,
        target: &Target,
        limits: &Limits,
        end: Instant,
        cancel: &Cancel,
    ) -> Result<Connection, Error> {
        let end = end.min(Instant::now() + limits.connect);
        bounded("the connection", end, cancel, async {
            let stream = self.stream(target).await?;
            Connection::new(target.clone(), stream, limits).await
        })
        .await
    }

    /// Connects to the address of a target: the only connection that the host opens.
    async fn stream(&self, target: &Target) -> Result<Box<dyn Stream>, Error> {
        let address = target.address();
        let tcp = TcpStream::connect(address).await.map_err(|e| {
            Error::caused(
                ErrorKind::Connect,
                &format!("no connection to {address}"),
                &e,
            )
        })?;
        // Small requests are sent at once.
        let _ = tcp.set_nodelay(true);
        match target.scheme() {
            Scheme::Http => Ok(Box::new(tcp)),
            Scheme::Https => {
                let tls = |e: &dyn fmt::Display| Error::caused(ErrorKind::Tls, "no TLS session", e);
                let configuration = self.tls.get_or_init(|| self.roots.configuration());
                let connector = TlsConnector::from(configuration.clone()?);
                let name = match target.host() {
                    Host::Name(name) => ServerName::try_from(name.clone()).map_err(|e| tls(&e))?,
                    Host::Address(address) => ServerName::IpAddress((*address).into()),
                };
                let session = connector.connect(name, tcp).await.map_err(|e| tls(&e))?;
                Ok(Box::new(session))
            }
        }
    }
}
