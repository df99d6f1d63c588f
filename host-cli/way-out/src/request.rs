//! Requests.

use crate::error::{Error, ErrorKind};
use crate::target::Target;
use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{
    ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, EXPECT, HOST, HeaderName, PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use hyper::http::HeaderValue;
use hyper::{HeaderMap, Method, Uri};
use std::fmt;

/// The headers that the way out writes itself, or that would change how a message is framed.
const RESERVED: [HeaderName; 11] = [
    ACCEPT_ENCODING,
    CONNECTION,
    CONTENT_LENGTH,
    EXPECT,
    HOST,
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
];

/// A request to a [`Target`].
#[derive(Clone)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// The path and the query, from the first `/` on and without a fragment.
    pub path: String,
    /// The headers. `Host`, `Content-Length` and `Accept-Encoding` are added, and those of framing,
    /// of proxies and of upgrades are refused.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

/// Returns headers: names, values, and whether each value is a secret.
///
/// # Errors
///
/// When a name or a value can't be sent.
pub fn headers<'h>(
    headers: impl IntoIterator<Item = (&'h str, &'h str, bool)>,
) -> Result<HeaderMap, String> {
    let mut map = HeaderMap::new();
    for (name, value, is_secret) in headers {
        let name = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| format!("{name:?} is not the name of a header"))?;
        let value = HeaderValue::from_str(value);
        let mut value = value.map_err(|_| format!("the value of `{name}` can't be sent"))?;
        value.set_sensitive(is_secret);
        map.append(name, value);
    }
    Ok(map)
}

impl fmt::Debug for Request {
    /// Shows no header, path or body: each may hold a secret.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = out.debug_struct("Request");
        shown.field("method", &self.method);
        shown.field("headers", &self.headers.len());
        shown.field("body", &self.body.len());
        shown.finish_non_exhaustive()
    }
}

impl Request {
    /// Returns a request without headers and body.
    pub fn new(method: Method, path: impl Into<String>) -> Self {
        Self {
            method,
            path: path.into(),
            headers: HeaderMap::new(),
            body: Bytes::new(),
        }
    }

    /// Returns the request for a target in the form of the protocol.
    pub(crate) fn prepare(self, target: &Target) -> Result<hyper::Request<Full<Bytes>>, Error> {
        let invalid = |message: String| Error::new(ErrorKind::InvalidRequest, message);
        if self.method == Method::CONNECT {
            return Err(invalid("the method `CONNECT` is not supported".to_owned()));
        }
        let plain = |b: u8| b.is_ascii_graphic() && b != b'#';
        if !self.path.starts_with('/') || !self.path.bytes().all(plain) {
            let what = "the path must start with `/` and hold only visible ASCII without `#`";
            return Err(invalid(what.to_owned()));
        }
        if let Some(name) = RESERVED
            .iter()
            .find(|name| self.headers.contains_key(*name))
        {
            return Err(invalid(format!("the header `{name}` can't be set")));
        }
        let uri = Uri::try_from(self.path);
        let uri = uri.map_err(|_| invalid("the path is not one of a URL".to_owned()))?;
        let host = HeaderValue::try_from(target.authority());
        let host = host.map_err(|_| invalid("the host is not a header value".to_owned()))?;

        let has_body = !self.body.is_empty() || matches!(self.method, Method::POST | Method::PUT);
        let length = self.body.len();
        let mut request = hyper::Request::new(Full::new(self.body));
        *request.method_mut() = self.method;
        *request.uri_mut() = uri;
        let headers = request.headers_mut();
        *headers = self.headers;
        headers.insert(HOST, host);
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        if has_body {
            headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
        }
        Ok(request)
    }
}
