//! The listener for other machines: TLS, and callers that are known.

use super::own_files::{own, private, unusable};
use super::service::Answer;
use agent_host::Failure;
use agent_host::input::reason;
use agent_mcp_server::{Protocol, serve_connections};
use hyper::Request;
use hyper::body::Incoming;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::{RootCertStore, ServerConfig};
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use tokio::net;
use tokio_rustls::TlsAcceptor;

/// The first certificate of a peer, which its connection proved to have the key of.
pub(crate) type PeerCertificate = Option<CertificateDer<'static>>;

/// The name of HTTP/2 in a handshake. Envoy asks by it.
const HTTP_2: &[u8] = b"h2";

/// Where the listener is, and what it proves to be.
pub(crate) struct Network<'a> {
    pub(crate) listen: SocketAddr,
    pub(crate) certificate: &'a Path,
    pub(crate) private_key: &'a Path,
    pub(crate) client_ca: Option<&'a Path>,
}

/// A listener whose connections are encrypted.
pub(crate) struct Secured {
    listener: TcpListener,
    acceptor: TlsAcceptor,
    pub(crate) address: SocketAddr,
}

impl Secured {
    /// Listens at the address of the command line.
    ///
    /// # Errors
    ///
    /// When a file can't be read or has another form, the key is readable by other users, callers have certificates and no
    /// authority is named, or the address can't be listened at.
    pub(crate) fn bind(args: &Network<'_>, have_certificates: bool) -> Result<Self, Failure> {
        let chain = certificates(args.certificate)?;
        let key = private_key(args.private_key)?;
        let verifier = match args.client_ca {
            None if have_certificates => {
                let message = "callers have certificates, and no authority is named";
                return Err(Failure::new(message).help("name the authority with `--client-ca`"));
            }
            None => None,
            Some(path) => {
                let mut roots = RootCertStore::empty();
                for certificate in certificates(path)? {
                    roots
                        .add(certificate)
                        .map_err(|error| unusable(path, &error.to_string()))?;
                }
                let verifier = WebPkiClientVerifier::builder(Arc::new(roots));
                // Others have tokens.
                let verifier = verifier.allow_unauthenticated().build();
                Some(verifier.map_err(|error| unusable(path, &error.to_string()))?)
            }
        };
        let config = ServerConfig::builder();
        let config = match verifier {
            None => config.with_no_client_auth(),
            Some(verifier) => config.with_client_cert_verifier(verifier),
        };
        let config = config.with_single_cert(chain, key);
        let mut config = config.map_err(|error| unusable(args.certificate, &error.to_string()))?;
        // A connection that is resumed would have a certificate that was verified long ago.
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        config.alpn_protocols = vec![HTTP_2.to_vec(), b"http/1.1".to_vec()];
        let failed = |error: io::Error| {
            let (address, why) = (args.listen, reason(&error));
            Failure::new(format_args!("`{address}` can't be listened at: {why}"))
                .help("name another address with `--listen`")
        };
        let listener = TcpListener::bind(args.listen).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self {
            listener,
            acceptor: TlsAcceptor::from(Arc::new(config)),
            address,
        })
    }

    /// Returns its connections for one of several threads, each of which gets some.
    ///
    /// # Errors
    ///
    /// When the system refuses another descriptor.
    pub(crate) fn share(&self) -> Result<Self, Failure> {
        let listener = self.listener.try_clone();
        let listener = listener
            .map_err(|error| Failure::new(format_args!("the listener can't be shared: {error}")))?;
        Ok(Self {
            listener,
            acceptor: self.acceptor.clone(),
            address: self.address,
        })
    }

    /// Answers requests of the connections, for ever.
    ///
    /// # Errors
    ///
    /// When the system refuses to wait for connections.
    pub(crate) async fn serve<F>(
        self,
        answer: impl Fn(PeerCertificate, Request<Incoming>) -> F + 'static,
    ) -> Result<(), Failure>
    where
        F: Future<Output = Answer> + 'static,
    {
        let listener = net::TcpListener::from_std(self.listener).map_err(|error| {
            Failure::new(format_args!("the listener can't be awaited: {error}"))
        })?;
        let accept = async || Ok(listener.accept().await?.0);
        let open = |stream: net::TcpStream| {
            let acceptor = self.acceptor.clone();
            async move {
                // An answer is one write; it need not wait for more.
                let _ = stream.set_nodelay(true);
                let stream = acceptor.accept(stream).await?;
                let (_, connection) = stream.get_ref();
                let certificates = connection.peer_certificates().unwrap_or_default();
                let first = certificates.first().map(|it| it.clone().into_owned());
                let protocol = match connection.alpn_protocol() {
                    Some(HTTP_2) => Protocol::Http2,
                    _ => Protocol::Http1,
                };
                Ok((stream, first, protocol))
            }
        };
        serve_connections(accept, open, answer).await;
        Ok(())
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, Failure> {
    let text = own(path)?;
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    match all {
        Ok(all) if !all.is_empty() => Ok(all),
        _ => Err(unusable(path, "it has no certificate in PEM")),
    }
}

/// Reads the key of the listener's certificate.
fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, Failure> {
    let text = private(path)?;
    PrivateKeyDer::from_pem_slice(&text).map_err(|_| unusable(path, "it has no private key in PEM"))
}

/// Returns whether a host is this machine, which needs no TLS.
pub(crate) fn is_loopback(host: &str) -> bool {
    let host = host.trim_matches(['[', ']']);
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|it| it.is_loopback())
}
