//! Certificates, names and versions.

use crate::server::{Server, ample, once, read_request};
use agent_way_out::{
    Cancel, Error, ErrorKind, Limits, Method, Request, Response, Roots, Scheme, Target, WayOut,
};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::PrivateKeyDer;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_rustls::TlsAcceptor;

/// A certificate authority of a test.
struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        Self(CertifiedIssuer::self_signed(params, key).unwrap())
    }

    fn roots(&self) -> Roots {
        Roots {
            system: false,
            extra: vec![self.0.der().to_vec()],
        }
    }

    /// Returns the configuration of a server with these names.
    fn server(&self, names: &[&str], alpn: &[&str]) -> Arc<ServerConfig> {
        let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(names).unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let mut configuration =
            ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
                .with_safe_default_protocol_versions()
                .unwrap()
                .with_no_client_auth()
                .with_single_cert(vec![certificate.der().clone()], key)
                .unwrap();
        configuration.alpn_protocols = alpn.iter().map(|it| it.as_bytes().to_vec()).collect();
        Arc::new(configuration)
    }
}

/// The server name and the protocol that a client requested.
type Seen = Arc<Mutex<Option<(Option<String>, Option<Vec<u8>>)>>>;

async fn serve(configuration: Arc<ServerConfig>, answer: &'static str) -> (Server, Seen) {
    let seen = Seen::default();
    let note = Arc::clone(&seen);
    let server = once(move |stream| async move {
        let Ok(mut session) = TlsAcceptor::from(configuration).accept(stream).await else {
            return;
        };
        let (_, state) = session.get_ref();
        let name = state.server_name().map(str::to_owned);
        *note.lock().unwrap() = Some((name, state.alpn_protocol().map(<[u8]>::to_vec)));
        read_request(&mut session).await;
        let _ = session.write_all(answer.as_bytes()).await;
        let _ = session.shutdown().await;
    })
    .await;
    (server, seen)
}

async fn get(
    roots: Roots,
    host: &str,
    address: SocketAddr,
    limits: &Limits,
) -> Result<Response, Error> {
    let target = Target::new(Scheme::Https, host, address).unwrap();
    let request = Request::new(Method::GET, "/");
    WayOut::new(roots)
        .send(&target, request, limits, &Cancel::never())
        .await
}

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

#[tokio::test]
async fn the_name_is_checked_and_sent_and_the_address_is_connected_to() {
    let authority = Authority::new();
    let (server, seen) = serve(authority.server(&["api.example"], &["h2", "http/1.1"]), OK).await;
    // The name has no address here: only the checked one is used.
    let response = get(authority.roots(), "api.example", server.address, &ample()).await;
    assert_eq!(response.unwrap().body, "hello");
    let seen = seen.lock().unwrap().take().unwrap();
    assert_eq!(
        seen,
        (Some("api.example".to_owned()), Some(b"http/1.1".to_vec()))
    );
}

#[tokio::test]
async fn an_address_is_checked_and_not_sent_as_a_name() {
    let authority = Authority::new();
    let (server, seen) = serve(authority.server(&["127.0.0.1"], &[]), OK).await;
    let response = get(authority.roots(), "127.0.0.1", server.address, &ample()).await;
    assert_eq!(response.unwrap().body, "hello");
    assert_eq!(seen.lock().unwrap().take().unwrap(), (None, None));
}

#[tokio::test]
async fn other_certificates_are_refused() {
    let authority = Authority::new();
    let names = [&["other.example"][..], &["127.0.0.1"], &["*.example.com"]];
    for names in names {
        let (server, _) = serve(authority.server(names, &[]), OK).await;
        let error = get(authority.roots(), "api.example", server.address, &ample()).await;
        assert_eq!(error.unwrap_err().kind, ErrorKind::Tls, "{names:?}");
    }
    // Another authority, the authorities of the machine, and none at all.
    for roots in [Authority::new().roots(), Roots::system(), Roots::default()] {
        let (server, _) = serve(authority.server(&["api.example"], &[]), OK).await;
        let error = get(roots, "api.example", server.address, &ample()).await;
        assert_eq!(error.unwrap_err().kind, ErrorKind::Tls);
    }
    let broken = Roots {
        system: false,
        extra: vec![b"no certificate".to_vec()],
    };
    let (server, _) = serve(authority.server(&["api.example"], &[]), OK).await;
    let error = get(broken, "api.example", server.address, &ample()).await;
    assert_eq!(error.unwrap_err().kind, ErrorKind::Tls);
}

#[tokio::test]
async fn names_in_a_certificate_are_quoted_printably() {
    let authority = Authority::new();
    let long: Vec<String> = (0..200).map(|n| format!("name-{n}.example")).collect();
    let long: Vec<&str> = long.iter().map(String::as_str).collect();
    let (server, _) = serve(authority.server(&long, &[]), OK).await;
    let error = get(authority.roots(), "api.example", server.address, &ample()).await;
    let message = error.unwrap_err().message;
    assert!(message.chars().count() < 300, "{message}");
    assert!(message.ends_with('…'), "{message}");
}

#[tokio::test]
async fn another_protocol_is_not_spoken() {
    let authority = Authority::new();
    let (server, _) = serve(authority.server(&["api.example"], &["h2"]), OK).await;
    let error = get(authority.roots(), "api.example", server.address, &ample()).await;
    assert_eq!(error.unwrap_err().kind, ErrorKind::Tls);
}

#[tokio::test]
async fn a_server_without_tls_is_refused() {
    let server = once(|mut stream| async move {
        let _ = stream.write_all(OK.as_bytes()).await;
        let _ = stream.read(&mut [0]).await;
    })
    .await;
    let error = get(
        Authority::new().roots(),
        "api.example",
        server.address,
        &ample(),
    )
    .await;
    assert_eq!(error.unwrap_err().kind, ErrorKind::Tls);
}

#[tokio::test]
async fn a_handshake_that_never_ends_ends_in_time() {
    let server = once(|stream| async move {
        let _open = stream;
        std::future::pending().await
    })
    .await;
    let limits = Limits {
        connect: Duration::from_millis(100),
        ..ample()
    };
    let error = get(
        Authority::new().roots(),
        "api.example",
        server.address,
        &limits,
    )
    .await;
    assert_eq!(error.unwrap_err().kind, ErrorKind::Timeout);
}

#[tokio::test]
async fn a_body_that_ends_without_the_end_of_the_session_is_cut() {
    let authority = Authority::new();
    let configuration = authority.server(&["api.example"], &[]);
    let server = once(|stream| async move {
        let mut session = TlsAcceptor::from(configuration)
            .accept(stream)
            .await
            .unwrap();
        read_request(&mut session).await;
        session
            .write_all(b"HTTP/1.1 200 OK\r\n\r\nhello")
            .await
            .unwrap();
        session.flush().await.unwrap();
        // Closes the connection, but not the session.
        drop(session);
    })
    .await;
    let error = get(authority.roots(), "api.example", server.address, &ample()).await;
    assert_eq!(error.unwrap_err().kind, ErrorKind::Protocol);
}
