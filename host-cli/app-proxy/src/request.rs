//! Heads of requests: read strictly, and written for the app.

use crate::chunked::{Decoder, has_only_crlf};
use crate::field::{Options, RequestField, of_request};
use crate::flow::{Framing, Source};
use crate::limits::{HEAD_BYTES, HEADERS};
use crate::refusal::Refusal;
use crate::reply::Wanted;
use crate::target;
use httparse::{Header, Status};
use std::mem::MaybeUninit;

/// Room for the headers of a head.
pub(crate) type Room<'b> = [MaybeUninit<Header<'b>>; HEADERS];

/// The name of this gateway in `Via` (RFC 9110, 7.6.3).
const VIA: &[u8] = b"Via: 1.1 agent\r\n";

/// A checked head.
pub(crate) struct Head<'h, 'b> {
    pub(crate) method: &'b str,
    /// Path and query.
    pub(crate) target: &'b str,
    pub(crate) host: &'b str,
    /// Whether a browser asks for something else than a page of its own, such as a script or a frame.
    pub(crate) is_embedded: bool,
    pub(crate) facts: Facts,
    headers: &'h [Header<'b>],
    options: Options<'b>,
    expects: bool,
}

/// What remains of a head when its bytes are gone.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Facts {
    /// The size of the head, in bytes.
    pub(crate) length: usize,
    pub(crate) body: Body,
    pub(crate) is_head: bool,
    /// Whether the client speaks HTTP/1.1: it then knows chunks and interim responses.
    pub(crate) is_http_11: bool,
    pub(crate) is_close: bool,
    /// Whether it asks for a WebSocket.
    pub(crate) is_upgrade: bool,
    /// Whether it can be sent again when nothing came back: a method without further effects, and no body.
    pub(crate) is_repeatable: bool,
    /// Whether the client reads trailer sections.
    pub(crate) has_trailers: bool,
    pub(crate) wanted: Wanted,
}

/// The body of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Body {
    None,
    Length(u64),
    Chunked,
}

impl Body {
    pub(crate) fn source(self) -> Source {
        match self {
            Self::None => Source::Done,
            Self::Length(length) => Source::Length(length),
            Self::Chunked => Source::Chunked(Decoder::default()),
        }
    }

    pub(crate) fn framing(self) -> Framing {
        match self {
            // An app that joins trailers with headers would take them for statements of this gateway.
            Self::Chunked => Framing::Chunked { trailers: false },
            Self::None | Self::Length(_) => Framing::Plain,
        }
    }
}

/// Reads a head. Nothing, if it is not complete.
///
/// # Errors
///
/// When it breaks a rule of RFC 9110 or 9112, or a limit. The connection must be closed then: nobody knows where the
/// next request begins.
pub(crate) fn read<'h, 'b>(
    bytes: &'b [u8],
    room: &'h mut Room<'b>,
) -> Result<Option<Head<'h, 'b>>, Refusal> {
    let mut request = httparse::Request::new(&mut []);
    let too_large = || {
        Refusal::new(
            431,
            format!("the head of the request is larger than {HEAD_BYTES} bytes"),
        )
    };
    let length = match request.parse_with_uninit_headers(bytes, room) {
        Ok(Status::Complete(length)) if length > HEAD_BYTES => return Err(too_large()),
        Ok(Status::Complete(length)) => length,
        Ok(Status::Partial) if !has_only_crlf(bytes) => return Err(bare_lf()),
        Ok(Status::Partial) if bytes.len() > HEAD_BYTES => return Err(too_large()),
        Ok(Status::Partial) => return Ok(None),
        Err(error) => return Err(refused(error)),
    };
    if !has_only_crlf(&bytes[..length]) {
        return Err(bare_lf());
    }
    let is_http_11 = request.version == Some(1);
    let headers: &'h [Header<'b>] = request.headers;
    let method = request.method.unwrap_or_default();
    let mut raw = RawFields::default();
    for header in headers {
        raw.read(header)?;
    }
    let host = raw.host.ok_or(Refusal::bad("the request has no `Host`"))?;
    let host = str::from_utf8(host).map_err(|_| Refusal::bad("`Host` is not ASCII"))?;
    if method == "CONNECT" || method == "TRACE" {
        return Err(Refusal::new(
            501,
            format!("the method `{method}` is not supported"),
        ));
    }
    let target = target::check(request.path.unwrap_or_default(), host)?;
    let body = raw.body(is_http_11)?;
    let is_safe = matches!(method, "GET" | "HEAD" | "OPTIONS");
    let is_upgrade = is_http_11
        && method == "GET"
        && body == Body::None
        && raw.options.is_upgrade
        && raw.is_websocket;
    let facts = Facts {
        length,
        body,
        is_head: method == "HEAD",
        is_http_11,
        is_close: !is_http_11 || raw.options.is_close,
        is_upgrade,
        is_repeatable: (is_safe || matches!(method, "PUT" | "DELETE"))
            && matches!(body, Body::None | Body::Length(0)),
        has_trailers: raw.has_trailers && is_http_11,
        wanted: raw.accept.map_or(Wanted::Json, Wanted::of),
    };
    Ok(Some(Head {
        method,
        target,
        host,
        is_embedded: raw.is_embedded,
        facts,
        headers,
        options: raw.options,
        // A client of HTTP/1.0 can't wait for an interim response.
        expects: raw.expects && is_http_11,
    }))
}

/// The headers that mean something here.
#[derive(Default)]
struct RawFields<'b> {
    host: Option<&'b [u8]>,
    length: Option<&'b [u8]>,
    coding: Option<&'b [u8]>,
    accept: Option<&'b [u8]>,
    options: Options<'b>,
    is_websocket: bool,
    has_trailers: bool,
    expects: bool,
    is_embedded: bool,
}

impl<'b> RawFields<'b> {
    fn read(&mut self, header: &Header<'b>) -> Result<(), Refusal> {
        let value = header.value;
        let once = |own: &mut Option<&'b [u8]>, message| match own.replace(value) {
            None => Ok(()),
            Some(_) => Err(Refusal::bad(message)),
        };
        match of_request(header.name) {
            RequestField::Host => once(&mut self.host, "`Host` appears twice")?,
            RequestField::ContentLength => {
                once(&mut self.length, "`Content-Length` appears twice")?;
            }
            RequestField::TransferEncoding => {
                once(&mut self.coding, "`Transfer-Encoding` appears twice")?;
            }
            RequestField::Connection => self.options.read(value),
            RequestField::Upgrade => {
                self.is_websocket |= value.eq_ignore_ascii_case(b"websocket");
            }
            RequestField::Te => {
                let mut codings = value.split(|byte| *byte == b',');
                self.has_trailers |=
                    codings.any(|it| it.trim_ascii().eq_ignore_ascii_case(b"trailers"));
            }
            RequestField::Expect if value.eq_ignore_ascii_case(b"100-continue") => {
                self.expects = true;
            }
            RequestField::Expect => {
                return Err(Refusal::new(
                    417,
                    "`Expect` has a value other than `100-continue`",
                ));
            }
            RequestField::Accept => self.accept = Some(value),
            RequestField::FetchDest => self.is_embedded |= value != b"document",
            RequestField::Dropped | RequestField::Other => {}
        }
        Ok(())
    }

    fn body(&self, is_http_11: bool) -> Result<Body, Refusal> {
        match (self.length, self.coding) {
            (None, None) => Ok(Body::None),
            (Some(_), Some(_)) => Err(Refusal::bad(
                "the request has both `Content-Length` and `Transfer-Encoding`",
            )),
            (Some(length), None) => match content_length(length) {
                Some(length) => Ok(Body::Length(length)),
                None => Err(Refusal::bad("`Content-Length` is not a number of bytes")),
            },
            (None, Some(_)) if !is_http_11 => {
                Err(Refusal::bad("HTTP/1.0 has no `Transfer-Encoding`"))
            }
            (None, Some(coding)) if coding.eq_ignore_ascii_case(b"chunked") => Ok(Body::Chunked),
            (None, Some(_)) => Err(Refusal::new(
                501,
                "`Transfer-Encoding` has a value other than `chunked`",
            )),
        }
    }
}

/// Returns a number of bytes as everybody reads it: some take a leading zero for the sign of an octal number.
pub(crate) fn without_zeros(value: &[u8]) -> &[u8] {
    let zeros = value.iter().take_while(|byte| **byte == b'0').count();
    &value[zeros.min(value.len().saturating_sub(1))..]
}

/// Reads a number of bytes: digits alone, and at most as many as 64 bits hold.
pub(crate) fn content_length(value: &[u8]) -> Option<u64> {
    let is_number = (1..=19).contains(&value.len()) && value.iter().all(u8::is_ascii_digit);
    let text = str::from_utf8(value).ok().filter(|_| is_number)?;
    text.parse().ok()
}

fn bare_lf() -> Refusal {
    Refusal::bad("a line of the head does not end with CR LF")
}

fn refused(error: httparse::Error) -> Refusal {
    match error {
        httparse::Error::HeaderName => Refusal::bad("the name of a header is malformed"),
        httparse::Error::HeaderValue => {
            Refusal::bad("the value of a header has a character that is not allowed")
        }
        httparse::Error::NewLine => bare_lf(),
        httparse::Error::TooManyHeaders => {
            Refusal::new(431, format!("the request has more than {HEADERS} headers"))
        }
        httparse::Error::Version => Refusal::new(505, "the version is not HTTP/1.1 or HTTP/1.0"),
        _ => Refusal::bad("the first line of the request is malformed"),
    }
}

impl Head<'_, '_> {
    /// Writes the head for an app that gets `path`. `prefix` is empty where the app has a port of its own.
    pub(crate) fn write(&self, path: &str, prefix: [&str; 2], client: &str, out: &mut Vec<u8>) {
        let add = |out: &mut Vec<u8>, parts: &[&str]| {
            for part in parts {
                out.extend_from_slice(part.as_bytes());
            }
        };
        add(
            out,
            &[
                self.method,
                " ",
                path,
                " HTTP/1.1\r\nHost: ",
                self.host,
                "\r\n",
            ],
        );
        for header in self.headers {
            let value = match of_request(header.name) {
                RequestField::Accept | RequestField::FetchDest | RequestField::Other
                    if !self.options.name(header.name) =>
                {
                    header.value
                }
                RequestField::Expect if self.expects => header.value,
                RequestField::ContentLength => without_zeros(header.value),
                _ => continue,
            };
            for part in [header.name.as_bytes(), b": ", value, b"\r\n"] {
                out.extend_from_slice(part);
            }
        }
        add(
            out,
            &[
                "X-Forwarded-For: ",
                client,
                "\r\nX-Forwarded-Host: ",
                self.host,
            ],
        );
        add(out, &["\r\nX-Forwarded-Proto: http\r\n"]);
        if prefix != ["", ""] {
            add(out, &["X-Forwarded-Prefix: ", prefix[0], prefix[1], "\r\n"]);
        }
        if self.facts.body == Body::Chunked {
            add(out, &["Transfer-Encoding: chunked\r\n"]);
        }
        if self.facts.is_upgrade {
            add(out, &["Connection: Upgrade\r\nUpgrade: websocket\r\n"]);
        } else if self.facts.has_trailers {
            add(out, &["Connection: TE\r\nTE: trailers\r\n"]);
        }
        out.extend_from_slice(VIA);
        out.extend_from_slice(b"\r\n");
    }
}

#[cfg(test)]
mod tests {
    use super::{Body, Room, read};
    use crate::limits::HEADERS;
    use proptest::prelude::*;
    use std::mem::MaybeUninit;

    /// Parts of requests that parsers read in different ways.
    const PARTS: [&str; 36] = [
        "GET / HTTP/1.1\r\n",
        "POST /a?b HTTP/1.1\r\n",
        "Host: h\r\n",
        "Host: h\r\n",
        "\r\n",
        "\r\n\r\n",
        "\n",
        "\r",
        " ",
        "\t",
        "\0",
        ":",
        "Content-Length: 3\r\n",
        "content-length:03\r\n",
        "Content-Length: ",
        "Content_Length: 4\r\n",
        "Transfer-Encoding: chunked\r\n",
        "Transfer-Encoding : chunked\r\n",
        "transfer-encoding:\tchunked\r\n",
        "Transfer-Encoding: x, ",
        "Connection: close, content-length, host, x-forwarded-for\r\n",
        "Connection: Upgrade, TE\r\n",
        "Upgrade: websocket\r\n",
        "TE: trailers\r\n",
        "Expect: 100-continue\r\n",
        "X-Forwarded-For: evil\r\n",
        "x_forwarded_for: evil\r\n",
        "Forwarded: for=evil\r\n",
        "Via: 1.0 other\r\n",
        "Cookie: a=b\r\n",
        "a: \u{e4}\r\n",
        "/..",
        "%2e",
        "http://h/",
        "GET / HTTP/1.0\r\n",
        "3",
    ];

    /// Checks what is written for an app, with nothing of the reader.
    fn check(text: &str, body: Body) {
        let (head, rest) = text.split_once("\r\n\r\n").expect("a head has an end");
        assert_eq!(rest, "");
        assert!(!head.contains('\0'), "{head:?}");
        let mut lines = head.split("\r\n");
        let first: Vec<_> = lines.next().unwrap_or_default().split(' ').collect();
        assert!(matches!(first[..], [_, "/p", "HTTP/1.1"]), "{first:?}");
        let (mut hosts, mut lengths, mut codings, mut clients) = (0, 0, 0, 0);
        for line in lines {
            assert!(
                !line.contains(['\r', '\n']) && !line.starts_with([' ', '\t']),
                "{line:?}"
            );
            let (name, value) = line.split_once(':').expect("a header has a colon");
            assert!(!name.contains([' ', '\t']), "{line:?}");
            let name = name.to_ascii_lowercase().replace('_', "-");
            let is_forwarded = name.starts_with("x-forwarded-") || name == "forwarded";
            assert!(!is_forwarded || !value.contains("evil"), "{line:?}");
            match &*name {
                "host" => hosts += 1,
                "content-length" => {
                    lengths += 1;
                    assert_eq!(Body::Length(value.trim().parse().unwrap()), body);
                }
                "transfer-encoding" => {
                    codings += 1;
                    assert_eq!((value, body), (" chunked", Body::Chunked));
                }
                "x-forwarded-for" => clients += 1,
                _ => {}
            }
        }
        assert_eq!((hosts, clients), (1, 1), "{head:?}");
        let framed = usize::from(body != Body::None);
        assert_eq!(lengths + codings, framed, "{head:?}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        #[test]
        fn an_app_gets_one_framing_and_one_host(
            first in 0..2_usize,
            parts in prop::collection::vec(prop::sample::select(&PARTS[..]), 0..8),
        ) {
            let request = format!("{}Host: h\r\n{}\r\n", PARTS[first], parts.concat());
            let mut room: Room<'_> = [const { MaybeUninit::uninit() }; HEADERS];
            if let Ok(Some(head)) = read(request.as_bytes(), &mut room) {
                let mut out = Vec::new();
                head.write("/p", ["/apps/", "a"], "127.0.0.1", &mut out);
                check(&String::from_utf8_lossy(&out), head.facts.body);
            }
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let bytes = [b"GET / HTTP/1.1\r\nHost: h\r\n", &bytes[..], b"\r\n\r\n"].concat();
            let mut room: Room<'_> = [const { MaybeUninit::uninit() }; HEADERS];
            let length = read(&bytes, &mut room).ok().flatten().map(|head| head.facts.length);
            prop_assert!(length.is_none_or(|length| length <= bytes.len()));
        }
    }
}
