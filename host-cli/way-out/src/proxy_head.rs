//! The heads of requests to a proxy, and of the responses that it passes on.

use std::io;
use tokio::io::{AsyncRead, AsyncReadExt as _};

/// Number of bytes to make room for before each read.
const READ: usize = 4 << 10;

/// The end of a head.
const END: &[u8] = b"\r\n\r\n";

/// The scheme of a request that is passed on.
const SCHEME: &str = "http://";

/// The port of a URL of that scheme without one.
const PORT: u16 = 80;

/// Headers about the connection to the proxy, and the host, which is that of the URL.
const DROPPED: [&str; 5] = [
    "connection",
    "host",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
];

/// What a program asks a proxy for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// `host:port`, as the program wrote it.
    pub(crate) authority: String,
    /// The head for the server, of a request that is passed on. A tunnel has no head.
    pub(crate) head: Option<String>,
}

/// Why there is no request.
#[derive(Debug)]
pub(crate) enum HeadError {
    /// The connection ended or failed.
    Closed,
    /// The head exceeds its limit.
    TooLarge,
    /// It is not the head of a request to a proxy.
    Invalid(&'static str),
}

impl From<io::Error> for HeadError {
    fn from(_: io::Error) -> Self {
        Self::Closed
    }
}

/// Headers of a response about a connection that would be kept.
const KEPT: [&[u8]; 3] = [b"connection", b"keep-alive", b"proxy-connection"];

/// Reads the head of a request, of at most `limit` bytes. Returns it, and the bytes that were read behind
/// it.
pub(crate) async fn read(
    stream: &mut (impl AsyncRead + Unpin),
    limit: usize,
) -> Result<(Wanted, Vec<u8>), HeadError> {
    let (head, rest) = read_head(stream, Vec::new(), limit).await?;
    let head = std::str::from_utf8(&head);
    let head = head.map_err(|_| HeadError::Invalid("the head is not UTF-8"))?;
    Ok((parse(head).map_err(HeadError::Invalid)?, rest))
}

/// The head of a response.
#[derive(Debug)]
pub(crate) struct ResponseHead {
    /// What the program gets instead, with its end.
    pub(crate) head: Vec<u8>,
    /// The bytes that were read behind it.
    pub(crate) rest: Vec<u8>,
    /// Whether no other head follows. An interim response precedes the final one, perhaps by a long time.
    pub(crate) is_final: bool,
}

/// Reads one head of a response, of at most `limit` bytes, which may begin in `bytes`. The connection is for one
/// request, so the final head says that it closes: a server that keeps it open would get the request for
/// another one.
pub(crate) async fn read_response(
    stream: &mut (impl AsyncRead + Unpin),
    bytes: Vec<u8>,
    limit: usize,
) -> Result<ResponseHead, HeadError> {
    let (mut head, rest) = read_head(stream, bytes, limit).await?;
    let status = head.split(|byte| *byte == b' ').nth(1).unwrap_or_default();
    let is_final = status.first() != Some(&b'1');
    match is_final {
        true => head = closing(&head),
        false => head.extend(END),
    }
    Ok(ResponseHead {
        head,
        rest,
        is_final,
    })
}

/// Returns the head of a response that closes its connection, with its end.
fn closing(head: &[u8]) -> Vec<u8> {
    let mut closing = Vec::with_capacity(head.len() + 32);
    for line in head.split(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
        if !KEPT.iter().any(|kept| name.eq_ignore_ascii_case(kept)) {
            closing.extend(line);
            closing.extend(b"\r\n");
        }
    }
    closing.extend(b"Connection: close\r\n\r\n");
    closing
}

/// Reads a head of at most `limit` bytes, which may begin in `bytes`. Returns it without its end, and the
/// bytes that were read behind it.
async fn read_head(
    stream: &mut (impl AsyncRead + Unpin),
    mut bytes: Vec<u8>,
    limit: usize,
) -> Result<(Vec<u8>, Vec<u8>), HeadError> {
    loop {
        if let Some(at) = bytes.windows(END.len()).position(|part| part == END) {
            if at > limit {
                return Err(HeadError::TooLarge);
            }
            let rest = bytes.split_off(at + END.len());
            bytes.truncate(at);
            return Ok((bytes, rest));
        }
        if bytes.len() > limit {
            return Err(HeadError::TooLarge);
        }
        bytes.reserve(READ);
        if stream.read_buf(&mut bytes).await? == 0 {
            return Err(HeadError::Closed);
        }
    }
}

fn parse(head: &str) -> Result<Wanted, &'static str> {
    let mut lines = head.split("\r\n");
    // A line break of one character would begin another header at the server.
    if lines
        .clone()
        .any(|line| line.contains(|c: char| c.is_control() && c != '\t'))
    {
        return Err("the head contains a control character");
    }
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (Some(method), Some(target), Some(version @ ("HTTP/1.1" | "HTTP/1.0")), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err("the first line is not that of a request");
    };
    if method == "CONNECT" {
        return Ok(Wanted {
            authority: target.to_owned(),
            head: None,
        });
    }
    let scheme = target.get(..SCHEME.len());
    if !scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case(SCHEME)) {
        return Err("a proxy is asked for a URL with `http:`, or for a tunnel by CONNECT");
    }
    let rest = &target[SCHEME.len()..];
    let (authority, path) = authority(rest, PORT);
    let host = &rest[..rest.len() - path.len()];
    let slash = if path.starts_with('/') { "" } else { "/" };
    let mut forwarded = format!("{method} {slash}{path} {version}\r\nHost: {host}\r\n");
    for line in lines {
        let (name, _) = line.split_once(':').ok_or("a header has no colon")?;
        let is_token = |byte: u8| byte.is_ascii_graphic();
        if name.is_empty() || !name.bytes().all(is_token) {
            return Err("a header has no name");
        }
        if !DROPPED.iter().any(|it| name.eq_ignore_ascii_case(it)) {
            forwarded.push_str(line);
            forwarded.push_str("\r\n");
        }
    }
    // The connection leads to one server, so that it can't carry a request for another one.
    forwarded.push_str("Connection: close\r\n\r\n");
    Ok(Wanted {
        authority,
        head: Some(forwarded),
    })
}

/// Splits what follows the scheme of a URL. Returns `host:port`, with `port` if the URL has no port, and
/// the path with the query.
#[must_use]
pub fn authority(rest: &str, port: u16) -> (String, &str) {
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    let has_port = !host.ends_with(']') && host.contains(':');
    let authority = match has_port {
        true => host.to_owned(),
        false => format!("{host}:{port}"),
    };
    (authority, path)
}

#[cfg(test)]
mod tests {
    use super::{HeadError, Wanted, parse, read, read_response};

    #[test]
    fn a_tunnel_names_its_destination() {
        let wanted = parse("CONNECT api.example.com:443 HTTP/1.1\r\nHost: other:1").unwrap();
        assert_eq!(wanted.authority, "api.example.com:443");
        assert_eq!(wanted.head, None);
    }

    #[test]
    fn a_request_is_passed_on_to_the_host_of_its_url() {
        let head = "GET HTTP://api.example.com/a?b HTTP/1.0\r\nHost: other\r\nAccept: */*\r\n\
                    Proxy-Authorization: x\r\nProxy-Connection: keep-alive\r\nConnection: keep-alive";
        let wanted = parse(head).unwrap();
        assert_eq!(wanted.authority, "api.example.com:80");
        assert_eq!(
            wanted.head.as_deref(),
            Some(
                "GET /a?b HTTP/1.0\r\nHost: api.example.com\r\nAccept: */*\r\nConnection: close\r\n\r\n"
            )
        );
        for (url, authority, line) in [
            ("http://a:8080", "a:8080", "GET / HTTP/1.1"),
            ("http://[::1]?x", "[::1]:80", "GET /?x HTTP/1.1"),
            ("http://[::1]:1/", "[::1]:1", "GET / HTTP/1.1"),
        ] {
            let Wanted {
                authority: found,
                head,
            } = parse(&format!("GET {url} HTTP/1.1")).unwrap();
            assert_eq!(found, authority);
            assert!(head.unwrap().starts_with(line), "{url}");
        }
    }

    #[test]
    fn other_heads_are_refused() {
        for head in [
            "",
            "GET / HTTP/1.1",
            "GET https://a/ HTTP/1.1",
            "GET http://a/ HTTP/2",
            "GET http://a/ b HTTP/1.1",
            "GET http://a/ HTTP/1.1\r\nX: a\nHost: b",
            "GET http://a/ HTTP/1.1\r\nX",
            "GET http://a/ HTTP/1.1\r\n folded: x",
            "GET http://a/ HTTP/1.1\r\nHost : b",
        ] {
            assert!(parse(head).is_err(), "{head:?}");
        }
    }

    #[tokio::test]
    async fn a_response_closes_its_connection() {
        let response = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nKeep-Alive: timeout=5\r\n\
                         connection: keep-alive\r\nX: \xe9\r\nContent-Length: 2\r\n\r\n{}";
        let mut stream = &response[..];
        let interim = read_response(&mut stream, Vec::new(), 200).await.unwrap();
        assert_eq!(interim.head, b"HTTP/1.1 100 Continue\r\n\r\n");
        assert!(!interim.is_final);
        let last = read_response(&mut stream, interim.rest, 200).await.unwrap();
        let expected =
            b"HTTP/1.1 200 OK\r\nX: \xe9\r\nContent-Length: 2\r\nConnection: close\r\n\r\n";
        assert_eq!(last.head, expected);
        assert_eq!(last.rest, b"{}");
        assert!(last.is_final);
        let endless = [b'x'; 300];
        let refused = read_response(&mut &endless[..], Vec::new(), 200).await;
        assert!(matches!(refused, Err(HeadError::TooLarge)));
    }

    #[tokio::test]
    async fn a_head_may_have_its_limit_and_no_byte_more() {
        let head = b"CONNECT a:1 HTTP/1.1\r\n\r\nrest";
        let whole = head.len() - b"\r\n\r\nrest".len();
        let (wanted, rest) = read(&mut &head[..], whole).await.unwrap();
        assert_eq!((&*wanted.authority, &rest[..]), ("a:1", &b"rest"[..]));
        let refused = read(&mut &head[..], whole - 1).await;
        assert!(matches!(refused, Err(HeadError::TooLarge)));
        let endless = [b'x'; 20_000];
        let refused = read(&mut &endless[..], 100).await;
        assert!(matches!(refused, Err(HeadError::TooLarge)));
        let refused = read(&mut &b"CONNECT"[..], 100).await;
        assert!(matches!(refused, Err(HeadError::Closed)));
    }
}
