//! Heads of requests: checked strictly before `hyper` reads them, and made anew for the app.

use crate::field::{Options, ends_with_request};
use crate::limits::{HEAD_BYTES, HEADERS};
use crate::refusal::Refusal;
use crate::reply::Wanted;
use crate::target;
use httparse::{Header, Status};
use hyper::body::{Body as _, Incoming};
use hyper::http::header::{self, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Request, Uri, Version};
use std::mem::{MaybeUninit, take};

/// The name of this gateway in `Via` (RFC 9110, 7.6.3).
const VIA: HeaderValue = HeaderValue::from_static("1.1 agent");

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
const FORWARDED_PREFIX: HeaderName = HeaderName::from_static("x-forwarded-prefix");

/// The body of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Body {
    None,
    Length(u64),
    Chunked,
}

/// Checks the head at the front of bytes. Returns its length and the body that follows, or nothing if it is not
/// complete.
///
/// # Errors
///
/// When it breaks a rule of RFC 9110 or 9112, or a limit. The connection must be closed then: nobody knows where the
/// next request begins.
pub(crate) fn check(bytes: &[u8]) -> Result<Option<(usize, Body)>, Refusal> {
    let mut room = [const { MaybeUninit::uninit() }; HEADERS];
    let mut request = httparse::Request::new(&mut []);
    let too_large = || {
        Refusal::new(
            431,
            format!("the head of the request is larger than {HEAD_BYTES} bytes"),
        )
    };
    let length = match request.parse_with_uninit_headers(bytes, &mut room) {
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
    let mut raw = RawFields::default();
    for header in request.headers.iter() {
        raw.read(header)?;
    }
    let host = raw.host.ok_or(Refusal::bad("the request has no `Host`"))?;
    let host = str::from_utf8(host).map_err(|_| Refusal::bad("`Host` is not ASCII"))?;
    let method = request.method.unwrap_or_default();
    if method == "CONNECT" || method == "TRACE" {
        return Err(Refusal::new(
            501,
            format!("the method `{method}` is not supported"),
        ));
    }
    target::check(request.path.unwrap_or_default(), host)?;
    let body = raw.body(request.version == Some(1))?;
    Ok(Some((length, body)))
}

/// Returns whether every line ends with CRLF: a bare LF means different things to different parsers.
fn has_only_crlf(bytes: &[u8]) -> bool {
    memchr::memchr_iter(b'\n', bytes).all(|place| place > 0 && bytes[place - 1] == b'\r')
}

/// The headers that decide where a message ends and whose it is.
#[derive(Default)]
struct RawFields<'b> {
    host: Option<&'b [u8]>,
    length: Option<&'b [u8]>,
    coding: Option<&'b [u8]>,
}

impl<'b> RawFields<'b> {
    fn read(&mut self, header: &Header<'b>) -> Result<(), Refusal> {
        let value = header.value;
        let is = |name: &str| header.name.eq_ignore_ascii_case(name);
        let (own, message) = match header.name.len() {
            4 if is("host") => (&mut self.host, "`Host` appears twice"),
            14 if is("content-length") => (&mut self.length, "`Content-Length` appears twice"),
            17 if is("transfer-encoding") => {
                (&mut self.coding, "`Transfer-Encoding` appears twice")
            }
            6 if is("expect") && !value.eq_ignore_ascii_case(b"100-continue") => {
                return Err(Refusal::new(
                    417,
                    "`Expect` has a value other than `100-continue`",
                ));
            }
            _ => return Ok(()),
        };
        match own.replace(value) {
            None => Ok(()),
            Some(_) => Err(Refusal::bad(message)),
        }
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

/// What decides how a request is answered.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Facts {
    pub(crate) wanted: Wanted,
    pub(crate) body: Body,
    pub(crate) is_head: bool,
    /// Whether it asks for a WebSocket.
    pub(crate) is_upgrade: bool,
    /// Whether it can be sent again when nothing came back: a method without further effects, and no body.
    pub(crate) is_repeatable: bool,
    /// Whether the client reads trailer sections.
    has_trailers: bool,
    /// Whether the client waits before it sends the body.
    pub(crate) expects: bool,
    /// Whether a browser asks for something else than a page of its own, such as a script or a frame.
    pub(crate) is_embedded: bool,
}

impl Facts {
    pub(crate) fn of(parts: &Parts, body: &Incoming) -> Self {
        let (headers, method) = (&parts.headers, &parts.method);
        let is_http_11 = parts.version == Version::HTTP_11;
        let body = match body.size_hint().exact() {
            None => Body::Chunked,
            Some(0) if !headers.contains_key(header::CONTENT_LENGTH) => Body::None,
            Some(length) => Body::Length(length),
        };
        let has = |name: HeaderName, wanted: &str| {
            let values = headers.get_all(name).into_iter();
            let mut values = values.flat_map(|it| it.as_bytes().split(|byte| *byte == b','));
            values.any(|it| it.trim_ascii().eq_ignore_ascii_case(wanted.as_bytes()))
        };
        let mut embeddings = headers.get_all("sec-fetch-dest").iter();
        Self {
            wanted: match headers.get_all(header::ACCEPT).iter().next_back() {
                Some(accept) => Wanted::of(accept.as_bytes()),
                None => Wanted::Json,
            },
            body,
            is_head: method == Method::HEAD,
            is_upgrade: is_http_11
                && method == Method::GET
                && body == Body::None
                && Options::of(headers).is_upgrade
                && has(header::UPGRADE, "websocket"),
            is_repeatable: matches!(
                *method,
                Method::GET | Method::HEAD | Method::OPTIONS | Method::PUT | Method::DELETE
            ) && matches!(body, Body::None | Body::Length(0)),
            has_trailers: is_http_11 && has(header::TE, "trailers"),
            // A client of HTTP/1.0 can't wait for an interim response.
            expects: is_http_11 && headers.contains_key(header::EXPECT),
            is_embedded: embeddings.any(|it| it != "document"),
        }
    }
}

/// Makes the request for an app that gets the path of `uri`. `prefix` is nothing where the app has a port of its own.
/// The spelling of the client's headers is taken out of `parts`.
pub(crate) fn translate(
    parts: &mut Parts,
    facts: &Facts,
    uri: Uri,
    prefix: Option<HeaderValue>,
    client: &HeaderValue,
) -> Request<()> {
    let mut request = Request::new(());
    *request.method_mut() = parts.method.clone();
    *request.uri_mut() = uri;
    *request.extensions_mut() = take(&mut parts.extensions);
    let options = Options::of(&parts.headers);
    let headers = request.headers_mut();
    headers.reserve(parts.headers.len() + 8);
    let host = parts.headers.get(header::HOST);
    if let Some(host) = host {
        headers.insert(header::HOST, host.clone());
    }
    for (name, value) in &parts.headers {
        let is_dropped = ends_with_request(name.as_str()) || options.name(name.as_str());
        if !is_dropped || (*name == header::EXPECT && facts.expects) {
            headers.append(name, value.clone());
        }
    }
    headers.insert(FORWARDED_FOR, client.clone());
    if let Some(host) = host {
        headers.insert(FORWARDED_HOST, host.clone());
    }
    headers.insert(FORWARDED_PROTO, HeaderValue::from_static("http"));
    if let Some(prefix) = prefix {
        headers.insert(FORWARDED_PREFIX, prefix);
    }
    match facts.body {
        Body::None => {}
        Body::Length(length) => drop(headers.insert(header::CONTENT_LENGTH, length.into())),
        Body::Chunked => {
            let chunked = HeaderValue::from_static("chunked");
            headers.insert(header::TRANSFER_ENCODING, chunked);
        }
    }
    if facts.is_upgrade {
        let upgrade = HeaderValue::from_static("Upgrade");
        headers.insert(header::CONNECTION, upgrade);
        headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    } else if facts.has_trailers {
        headers.insert(header::CONNECTION, HeaderValue::from_static("TE"));
        headers.insert(header::TE, HeaderValue::from_static("trailers"));
    }
    headers.append(header::VIA, VIA);
    request
}
