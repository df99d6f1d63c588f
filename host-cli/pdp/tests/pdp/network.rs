//! The listener for other machines: who is answered there, and what.

use super::support::{Folder, Reply, Running, reply};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tokio_rustls::TlsConnector;

const PROGRAM: &str = env!("CARGO_BIN_EXE_agent-pdp");

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

const READ: &str = r#"{"tool":"read","subject":{"id":"alice","type":"user"}}"#;

/// A certificate with its key.
struct Identity {
    certificate: CertificateDer<'static>,
    key: Vec<u8>,
}

/// An authority, which vouches for the listener and for callers.
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: CertificateDer<'static>,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let certificate = params.self_signed(&key).unwrap();
        Self {
            certificate: certificate.der().clone(),
            issuer: Issuer::new(params, key),
        }
    }

    /// Returns the file by which others trust it.
    pub(crate) fn pem(&self) -> String {
        pem("CERTIFICATE", &self.certificate)
    }

    fn identity(&self, name: &str) -> Identity {
        self.identity_of(&[name])
    }

    fn identity_of(&self, names: &[&str]) -> Identity {
        let key = KeyPair::generate().unwrap();
        let names = names.iter().map(|it| (*it).to_owned());
        let params = CertificateParams::new(names.collect::<Vec<_>>()).unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        Identity {
            certificate: certificate.der().clone(),
            key: key.serialize_der(),
        }
    }
}

fn pem(label: &str, der: &[u8]) -> String {
    let text = BASE64_STANDARD.encode(der);
    format!("-----BEGIN {label}-----\n{text}\n-----END {label}-----\n")
}

/// A folder with a certificate for a listener on this machine, its key, and the authority.
pub(crate) fn with_certificates(authority: &Authority) -> Folder {
    let folder = Folder::new();
    let own = authority.identity("localhost");
    folder.write("own.pem", &pem("CERTIFICATE", &own.certificate));
    private(&folder, "own.key", &pem("PRIVATE KEY", &own.key));
    folder.write("ca.pem", &authority.pem());
    folder
}

/// A folder with a listener's certificate, and with callers.
fn folder(authority: &Authority, callers: &str) -> Folder {
    let folder = with_certificates(authority);
    for (name, end) in [("a", '1'), ("b", '2'), ("c", '3')] {
        private(
            &folder,
            &format!("{name}.token"),
            &format!("{TOKEN}{end}\n"),
        );
    }
    folder.write("callers.json", callers);
    folder
}

fn private(folder: &Folder, name: &str, text: &str) {
    folder.write(name, text);
    let mode = fs::Permissions::from_mode(0o600);
    fs::set_permissions(folder.path(name), mode).unwrap();
}

const LISTEN: [&str; 16] = [
    "--socket",
    "pdp.sock",
    "--threads",
    "2",
    "--policy",
    "policy.rego",
    "--listen",
    "127.0.0.1:0",
    "--certificate",
    "own.pem",
    "--private-key",
    "own.key",
    "--callers",
    "callers.json",
    "--client-ca",
    "ca.pem",
];

/// Starts a decision point with a listener. Returns its port too.
fn listening(folder: &Folder) -> (Running, u16) {
    started(folder, &LISTEN)
}

fn started(folder: &Folder, arguments: &[&str]) -> (Running, u16) {
    let child = Command::new(PROGRAM)
        .current_dir(folder.root.path())
        .args(arguments)
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let running = Running::of(child, folder.path("pdp.sock"));
    let line = running.wait_for("answers callers at https://127.0.0.1:");
    let port = line.rsplit(':').next().unwrap().trim().parse().unwrap();
    (running, port)
}

/// Runs a decision point that does not start.
fn failing(folder: &Folder, arguments: &[&str]) -> String {
    let output = Command::new(PROGRAM)
        .current_dir(folder.root.path())
        .args(arguments)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    String::from_utf8(output.stderr).unwrap()
}

/// Starts a decision point with a listener for callers.
pub(crate) fn with_callers(callers: &str) -> (Folder, Running, u16) {
    let folder = folder(&Authority::new(), callers);
    let (running, port) = listening(&folder);
    (folder, running, port)
}

/// A token of the callers.
pub(crate) fn token(end: char) -> String {
    format!("{TOKEN}{end}")
}

/// Returns what connects to the listener of a folder by some protocols.
pub(crate) fn connector(folder: &Folder, protocols: &[&[u8]]) -> TlsConnector {
    let mut roots = RootCertStore::empty();
    let authority = CertificateDer::from_pem_file(folder.path("ca.pem")).unwrap();
    roots.add(authority).unwrap();
    let config = ClientConfig::builder().with_root_certificates(roots);
    let mut config = config.with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|it| it.to_vec()).collect();
    TlsConnector::from(Arc::new(config))
}

/// A client of a listener.
struct Peer<'a> {
    port: u16,
    authority: &'a Authority,
    identity: Option<&'a Identity>,
}

impl Peer<'_> {
    /// Sends the bytes of a request, and reads the answer. The error is that of the connection.
    fn send(&self, request: &str) -> std::io::Result<Reply> {
        let mut roots = RootCertStore::empty();
        roots.add(self.authority.certificate.clone()).unwrap();
        let config = ClientConfig::builder().with_root_certificates(roots);
        let config = match self.identity {
            None => config.with_no_client_auth(),
            Some(identity) => {
                let key = PrivateKeyDer::try_from(identity.key.clone()).unwrap();
                let chain = vec![identity.certificate.clone()];
                config.with_client_auth_cert(chain, key).unwrap()
            }
        };
        let name = ServerName::try_from("localhost").unwrap();
        let connection = ClientConnection::new(Arc::new(config), name).unwrap();
        let stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        let mut stream = StreamOwned::new(connection, stream);
        stream.write_all(request.as_bytes())?;
        let mut answer = Vec::new();
        match stream.read_to_end(&mut answer) {
            // The listener ends connections without a farewell.
            Err(error) if answer.is_empty() => Err(error),
            _ => Ok(reply(answer)),
        }
    }

    fn ask(&self, method: &str, path: &str, token: &str, body: &str) -> Reply {
        let token = match token {
            "" => String::new(),
            token => format!("authorization: Bearer {token}\r\n"),
        };
        let length = body.len();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\n{token}content-type: application/json\r\n\
             content-length: {length}\r\nconnection: close\r\n\r\n{body}"
        );
        self.send(&request).unwrap()
    }
}

pub(crate) const CALLERS: &str = r#"{ "callers": {
    "proxy": { "role": "enforcer", "token": "a.token", "agents": ["clerk"] },
    "other": { "role": "enforcer", "token": "b.token", "agents": ["writer", "painter"] },
    "dashboard": { "role": "reader", "token": "c.token" },
    "mesh": { "role": "enforcer", "certificate": "mesh.example" },
    "ci": { "role": "publisher", "certificate": "ci.example" },
    "desk": { "role": "approver", "certificate": "desk.example" }
} }"#;

#[test]
fn nobody_who_is_not_known_learns_anything() {
    let authority = Authority::new();
    let folder = folder(&authority, CALLERS);
    let (running, port) = listening(&folder);
    let peer = |identity| Peer {
        port,
        authority: &authority,
        identity,
    };
    let unknown = authority.identity("unknown.example");
    let several = authority.identity_of(&["mesh.example", "ci.example"]);
    for (identity, token) in [
        (None, ""),
        (Some(&several), ""),
        (None, TOKEN),
        (None, "0123456789abcdef0123456789abcdef4"),
        (Some(&unknown), ""),
    ] {
        for (method, path) in [
            ("POST", "/v1/decide"),
            ("GET", "/v1/status"),
            ("GET", "/.well-known/authzen-configuration"),
            ("GET", "/nothing"),
        ] {
            let reply = peer(identity).ask(method, path, token, READ);
            assert_eq!(reply.status, 401, "{path}: {}", reply.body);
            assert!(reply.has("www-authenticate: bearer"), "{}", reply.head);
            assert_eq!(
                reply.body,
                "{\"error\":{\"status\":401,\"text\":\"the caller is not known\"}}\n"
            );
        }
    }
    // A certificate of another authority ends the connection.
    let stranger = Authority::new().identity("mesh.example");
    let request = "GET /v1/status HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    assert!(peer(Some(&stranger)).send(request).is_err());
    // Without TLS there is no answer.
    let mut plain = TcpStream::connect(("127.0.0.1", port)).unwrap();
    plain.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    let _ = plain.read_to_end(&mut answer);
    assert!(!answer.starts_with(b"HTTP/"), "{answer:?}");
    // This user has the socket.
    assert_eq!(running.decide(READ).codes(), [""; 0]);
}

#[test]
fn a_caller_does_what_its_role_includes() {
    let authority = Authority::new();
    let folder = folder(&authority, CALLERS);
    let (_running, port) = listening(&folder);
    let (mesh, ci, desk) = (
        authority.identity("mesh.example"),
        authority.identity("ci.example"),
        authority.identity("desk.example"),
    );
    let token = |end: char| format!("{TOKEN}{end}");
    for (name, identity, token, [decide, status, publish, approve]) in [
        ("proxy", None, token('1'), [200, 403, 403, 403]),
        ("other", None, token('2'), [403, 403, 403, 403]),
        ("dashboard", None, token('3'), [403, 200, 403, 403]),
        ("mesh", Some(&mesh), String::new(), [200, 403, 403, 403]),
        // No bundle decides here, so there is no place for another.
        ("ci", Some(&ci), String::new(), [403, 200, 404, 403]),
        // There is no store, so nothing waits for an answer.
        ("desk", Some(&desk), String::new(), [403, 403, 403, 404]),
        // A token says more than a certificate.
        ("dashboard", Some(&mesh), token('3'), [403, 200, 403, 403]),
    ] {
        let peer = Peer {
            port,
            authority: &authority,
            identity,
        };
        for (method, path, body, expected) in [
            ("POST", "/v1/decide", READ, decide),
            ("GET", "/v1/status", "", status),
            ("PUT", "/v1/bundle", "{}", publish),
            ("POST", "/v1/approval", r#"{"id":"a"}"#, approve),
            ("GET", "/.well-known/authzen-configuration", "", 200),
            ("GET", "/nothing", "", 404),
        ] {
            let reply = peer.ask(method, path, &token, body);
            assert_eq!(reply.status, expected, "{name} {path}: {}", reply.body);
        }
        let evaluation = r#"{"subject":{"type":"user","id":"a"},"action":{"name":"tools/call"},"resource":{"type":"tool","id":"read"}}"#;
        let reply = peer.ask("POST", "/access/v1/evaluation", &token, evaluation);
        assert_eq!(reply.status, decide, "{name}: {}", reply.body);
    }
}

#[test]
fn an_enforcer_asks_about_its_agents_alone() {
    let authority = Authority::new();
    let folder = folder(&authority, CALLERS);
    let (_running, port) = listening(&folder);
    let peer = Peer {
        port,
        authority: &authority,
        identity: None,
    };
    let ask = |end: char, agent: &str| {
        let body = READ.replace("{\"tool\"", &format!("{{\"agent\":\"{agent}\",\"tool\""));
        peer.ask("POST", "/v1/decide", &format!("{TOKEN}{end}"), &body)
    };
    assert_eq!(ask('1', "clerk").codes(), [""; 0]);
    let reply = ask('1', "writer");
    assert_eq!(reply.status, 403, "{}", reply.body);
    assert!(
        reply
            .body
            .contains("the caller may not ask about this agent")
    );
    // The caller may ask about it, and the lock is that of another.
    assert_eq!(ask('2', "writer").codes(), ["AGENT_CHANGED"]);
    let reply = peer.ask("POST", "/v1/decide", &format!("{TOKEN}2"), READ);
    assert_eq!(reply.status, 403, "{}", reply.body);
    assert!(reply.body.contains("names no agent"), "{}", reply.body);
}

#[test]
fn an_enforcer_asks_by_its_tenants_alone() {
    let authority = Authority::new();
    let callers = r#"{ "callers": {
        "acme": { "role": "enforcer", "token": "a.token", "tenants": ["acme", "umbrella"] },
        "other": { "role": "enforcer", "token": "b.token", "tenants": ["other"] },
        "any": { "role": "enforcer", "token": "c.token" }
    } }"#;
    let folder = folder(&authority, callers);
    folder.write(
        "tenants.yaml",
        "tenants:\n  - { id: acme, policy: policy.rego }\n  - { id: other, policy: policy.rego }\n",
    );
    let by_tenant = ["--tenant", "tenants.yaml", "--tenant-id", "acme"];
    let arguments = LISTEN
        .iter()
        .filter(|it| !["--policy", "policy.rego"].contains(it));
    let arguments: Vec<_> = arguments.chain(&by_tenant).copied().collect();
    let (_running, port) = started(&folder, &arguments);
    let peer = Peer {
        port,
        authority: &authority,
        identity: None,
    };
    let decides = |end: char, expected: u16| {
        let reply = peer.ask("POST", "/v1/decide", &format!("{TOKEN}{end}"), READ);
        assert_eq!(reply.status, expected, "{}", reply.body);
        reply
    };
    assert_eq!(decides('1', 200).codes(), [""; 0]);
    assert_eq!(decides('3', 200).codes(), [""; 0]);
    let reply = decides('2', 403);
    assert!(
        reply.body.contains("the caller may not ask by this tenant"),
        "{}",
        reply.body
    );
}

#[test]
fn a_publisher_puts_a_signed_bundle_in_place() {
    let authority = Authority::new();
    let folder = folder(&authority, CALLERS);
    let key = super::bundle::key(&folder, "one", "");
    super::bundle::trust(&folder, &[key]);
    let make = |sequence| super::bundle::make(&folder, "one", sequence, super::bundle::END);
    make("2");
    let second = fs::read_to_string(folder.path("support.json")).unwrap();
    make("1");
    let by_bundle = [
        "--bundle",
        "support.json",
        "--name",
        "support",
        "--keys",
        "keys.json",
        "--sequences",
        "sequences.json",
    ];
    let arguments = LISTEN
        .iter()
        .filter(|it| !["--policy", "policy.rego"].contains(it));
    let arguments: Vec<_> = arguments.chain(&by_bundle).copied().collect();
    let (running, port) = started(&folder, &arguments);
    let (mesh, ci) = (
        authority.identity("mesh.example"),
        authority.identity("ci.example"),
    );
    let put = |identity, body: &str| {
        let peer = Peer {
            port,
            authority: &authority,
            identity: Some(identity),
        };
        peer.ask("PUT", "/v1/bundle", "", body)
    };
    assert_eq!(put(&mesh, &second).status, 403);
    let forged = second.replacen("package switchboard", "package Switchboard", 1);
    let reply = put(&ci, &forged);
    assert_eq!(reply.status, 422, "{}", reply.body);
    assert!(reply.body.contains("BUNDLE_INVALID"), "{}", reply.body);
    let reply = put(&ci, &second);
    assert_eq!(reply.status, 200, "{}", reply.body);
    running.wait_for("ci published bundle support, sequence 2");
    running.wait_for("decides by bundle support, sequence 2");
}

#[test]
fn callers_that_say_something_else_open_no_listener() {
    let authority = Authority::new();
    for (callers, why) in [
        ("[]", "it is not an object"),
        ("{}", "`callers` is missing"),
        (r#"{"callers":{},"more":1}"#, "`more` is not a known member"),
        (r#"{"callers":{"a":{}}}"#, "`callers.a.role` is missing"),
        (
            r#"{"callers":{"a":{"role":"king","token":"a.token"}}}"#,
            "`callers.a.role` is none of",
        ),
        (r#"{"callers":{"a":{"role":"reader"}}}"#, "give one of them"),
        (
            r#"{"callers":{"a":{"role":"reader","token":"a.token","certificate":"a.example"}}}"#,
            "give one of them",
        ),
        (
            r#"{"callers":{"a":{"role":"reader","token":"gone.token"}}}"#,
            "the token `gone.token`",
        ),
        (
            r#"{"callers":{"a":{"role":"reader","certificate":"a b"}}}"#,
            "is not a DNS name",
        ),
        (
            r#"{"callers":{"a":{"role":"reader","token":"a.token","agents":["b"]}}}"#,
            "are those of an enforcer",
        ),
        (
            r#"{"callers":{"a":{"role":"enforcer","token":"a.token","agents":[]}}}"#,
            "`callers.a.agents` is empty",
        ),
        (
            r#"{"callers":{"a":{"role":"reader","token":"a.token"},"b":{"role":"publisher","token":"a.token"}}}"#,
            "`a` and `b` have one token",
        ),
        (
            r#"{"callers":{"a":{"role":"reader","certificate":"x.example"},"b":{"role":"publisher","certificate":"x.example"}}}"#,
            "`b` has the certificate of another",
        ),
        (
            r#"{"callers":{"a":{"role":"enforcer","token":"a.token","agents":[1]}}}"#,
            "is not an array of strings",
        ),
    ] {
        let text = failing(&folder(&authority, callers), &LISTEN);
        assert!(text.contains(why), "{why}: {text}");
    }
    let folder = folder(&authority, CALLERS);
    let text = failing(&folder, &LISTEN[..14]);
    assert!(text.contains("no authority is named"), "{text}");
    let text = failing(&folder, &LISTEN[..8]);
    assert!(text.contains("--certificate <FILE>"), "{text}");
    for (name, mode, why) in [
        ("own.key", 0o644, "other users can read the key `own.key`"),
        ("a.token", 0o644, "other users can read it"),
        (
            "callers.json",
            0o666,
            "the callers in `callers.json` can't be used",
        ),
    ] {
        fs::set_permissions(folder.path(name), fs::Permissions::from_mode(mode)).unwrap();
        let text = failing(&folder, &LISTEN);
        assert!(text.contains(why), "{text}");
        fs::set_permissions(folder.path(name), fs::Permissions::from_mode(0o600)).unwrap();
    }
    folder.write("own.pem", "none");
    let text = failing(&folder, &LISTEN);
    assert!(text.contains("it has no certificate in PEM"), "{text}");
    assert!(!folder.path("pdp.sock").exists());
}
