//! The requests of a component to others: decided on as the connections of a program, and sent by the way out.

use agent_wasi_app::{Log, NotSent, Outgoing, Sending};
use agent_way_out::{
    Cancel, Error, ErrorKind, HeaderMap, Limits, Proxy, Request, Roots, Scheme, StatusCode, Target,
    WayOut, header,
};
use bytes::Bytes;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::time::timeout;

/// Maximum size of the body of a response, in bytes.
const RESPONSE_BYTES: u64 = 4 << 20;

/// Maximum number of refused destinations in the log.
const REFUSALS: usize = 1024;

/// Headers that concern one connection, or that the way out writes itself.
const OF_CONNECTIONS: [header::HeaderName; 10] = [
    header::ACCEPT_ENCODING,
    header::CONNECTION,
    header::CONTENT_LENGTH,
    header::EXPECT,
    header::HOST,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// What sends the requests of one app.
pub(super) struct Egress {
    proxy: Proxy,
    way_out: WayOut,
    log: Arc<dyn Log>,
    /// The refusals that are in the log.
    logged: Mutex<BTreeSet<String>>,
}

impl Egress {
    pub(super) fn new(proxy: Proxy, log: Arc<dyn Log>) -> Self {
        Self {
            proxy,
            way_out: WayOut::new(Roots::system()),
            log,
            logged: Mutex::default(),
        }
    }

    /// Writes why a request was not sent, each reason once.
    fn note(&self, kind: &str, message: &str) {
        let line = format!("mcpd: egress {kind}: {message}");
        let mut logged = self.logged.lock().unwrap_or_else(PoisonError::into_inner);
        if logged.len() < REFUSALS && logged.insert(line.clone()) {
            self.log.note(&line);
        }
    }

    async fn sent(&self, request: http::Request<Bytes>) -> Result<http::Response<Bytes>, NotSent> {
        let (head, body) = request.into_parts();
        let scheme = match head.uri.scheme_str() {
            Some("http") => Scheme::Http,
            _ => Scheme::Https,
        };
        let authority = head.uri.authority().ok_or(NotSent::Malformed)?;
        let host = authority.host();
        let port = authority.port_u16().unwrap_or(scheme.default_port());
        let addresses = self.proxy.addresses(&format!("{host}:{port}")).await;
        let addresses = addresses.map_err(|refusal| {
            let (kind, reason) = match refusal.is_denied {
                true => ("denied", NotSent::Denied),
                false => ("failed", NotSent::Unreachable),
            };
            self.note(kind, &refusal.message);
            reason
        })?;
        let path = head.uri.path_and_query().map_or("/", |it| it.as_str());
        let mut request = Request::new(head.method, path);
        request.headers = without(head.headers);
        request.body = body;
        for address in addresses {
            let target = Target::new(scheme, host, address).map_err(|_| NotSent::Malformed)?;
            let never = Cancel::never();
            let connection = match self.way_out.open(&target, &limits(), &never).await {
                Ok(connection) => connection,
                // Another address may be reached.
                Err(error) if matches!(error.kind, ErrorKind::Connect | ErrorKind::Timeout) => {
                    self.note("failed", &error.message);
                    continue;
                }
                Err(error) => return Err(self.failed(host, &error)),
            };
            let answered = async {
                let mut exchange = connection.request(request, &limits(), &never).await?;
                let body = exchange.body().await?;
                Ok(received(exchange.status(), exchange.headers(), body))
            };
            return answered.await.map_err(|error| self.failed(host, &error));
        }
        Err(NotSent::Unreachable)
    }

    fn failed(&self, host: &str, error: &Error) -> NotSent {
        self.note("failed", &format!("`{host}`: {}", error.message));
        reason(error)
    }
}

impl Outgoing for Egress {
    fn send<'a>(&'a self, request: http::Request<Bytes>) -> Sending<'a> {
        Box::pin(async move {
            let sent = timeout(limits().total, self.sent(request)).await;
            sent.unwrap_or(Err(NotSent::Late))
        })
    }
}

fn reason(error: &Error) -> NotSent {
    match error.kind {
        ErrorKind::Resolve | ErrorKind::Connect => NotSent::Unreachable,
        ErrorKind::Tls => NotSent::Untrusted,
        ErrorKind::Timeout | ErrorKind::Cancelled => NotSent::Late,
        ErrorKind::BodyTooLarge | ErrorKind::HeadTooLarge => NotSent::TooLarge,
        ErrorKind::InvalidRequest | ErrorKind::Protocol => NotSent::Malformed,
    }
}

fn without(mut headers: HeaderMap) -> HeaderMap {
    for name in &OF_CONNECTIONS {
        headers.remove(name);
    }
    headers
}

/// Returns a response whose body is whole, so it needs no framing.
fn received(status: StatusCode, headers: &HeaderMap, body: Bytes) -> http::Response<Bytes> {
    let mut whole = http::Response::new(body);
    *whole.status_mut() = status;
    *whole.headers_mut() = without(headers.clone());
    whole
}

fn limits() -> Limits {
    Limits {
        body_bytes: RESPONSE_BYTES,
        ..Limits::default()
    }
}

#[cfg(test)]
mod tests {
    use super::Egress;
    use agent_wasi_app::{Log, NotSent, Outgoing as _};
    use agent_way_out::{Gate, Proxy, ProxyLimits, Resolver};
    use bytes::Bytes;
    use std::io::{Read as _, Write as _};
    use std::net::{IpAddr, TcpListener};
    use std::sync::{Arc, Mutex};
    use std::thread;

    /// Admits one destination.
    struct One(String);

    impl Gate for One {
        fn admit(&mut self, wanted: &str) -> Result<(String, u16), String> {
            let (host, port) = wanted.rsplit_once(':').ok_or("no port")?;
            match wanted == self.0 {
                true => Ok((host.to_owned(), port.parse().unwrap())),
                false => Err(format!("`{wanted}` is not listed")),
            }
        }

        fn authorize(&mut self, _: &str, addresses: &[IpAddr]) -> Result<Vec<IpAddr>, String> {
            Ok(addresses.to_vec())
        }
    }

    #[derive(Default)]
    struct Notes(Mutex<Vec<String>>);

    impl Log for Notes {
        fn write(&self, _: &[u8]) {}

        fn note(&self, line: &str) {
            self.0.lock().unwrap().push(line.to_owned());
        }
    }

    fn egress(listed: &str) -> (Egress, Arc<Notes>) {
        let gate = One(listed.to_owned());
        let proxy = Proxy::new(gate, Resolver::system(), ProxyLimits::default());
        let notes = Arc::new(Notes::default());
        (Egress::new(proxy, Arc::clone(&notes) as _), notes)
    }

    fn request(uri: &str) -> http::Request<Bytes> {
        let request = http::Request::post(uri).header("host", "other.example");
        request.body(Bytes::from_static(b"question")).unwrap()
    }

    #[tokio::test]
    async fn a_listed_server_answers_and_no_other_is_reached() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let serving = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut received = Vec::new();
            while !received.ends_with(b"question") {
                let mut part = [0; 1024];
                let count = stream.read(&mut part).unwrap();
                assert!(count > 0);
                received.extend(&part[..count]);
            }
            let answer = "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\nX-Of: it\r\n\r\n\
                          6\r\nanswer\r\n0\r\n\r\n";
            stream.write_all(answer.as_bytes()).unwrap();
            String::from_utf8(received).unwrap()
        });
        let (egress, notes) = egress(&address.to_string());
        let response = egress.send(request(&format!("http://{address}/a?b"))).await;
        let response = response.unwrap();
        assert_eq!(response.status(), 201);
        assert_eq!(response.body(), "answer");
        assert_eq!(response.headers()["x-of"], "it");
        assert!(!response.headers().contains_key("transfer-encoding"));
        let received = serving.join().unwrap();
        assert!(received.starts_with("POST /a?b HTTP/1.1\r\n"), "{received}");
        assert!(
            received.contains(&format!("host: {address}\r\n")),
            "{received}"
        );
        assert!(notes.0.lock().unwrap().is_empty());

        // The listener has ended.
        let gone = egress.send(request(&format!("http://{address}/"))).await;
        assert_eq!(gone.unwrap_err(), NotSent::Unreachable);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let other = format!("http://{}/", listener.local_addr().unwrap());
        for _ in 0..2 {
            let denied = egress.send(request(&other)).await;
            assert_eq!(denied.unwrap_err(), NotSent::Denied);
        }
        assert!(listener.accept().is_err());
        let notes = notes.0.lock().unwrap();
        assert_eq!(notes.len(), 2, "{notes:?}");
        assert!(notes[0].starts_with("mcpd: egress failed: "), "{notes:?}");
        assert!(
            notes[1].starts_with("mcpd: egress denied: `127.0.0.1:"),
            "{notes:?}"
        );
    }
}
