//! Heads of an app's responses: checked, as an app is not trusted, and made anew for the client.
//!
//! `hyper` has parsed them, and refused what it can't read. It keeps what appears twice, so framing is checked here.

use crate::field::{Options, ends_with_response};
use crate::request::{Facts, content_length};
use hyper::http::header::{self, HeaderMap, HeaderValue};
use hyper::http::response::Parts;
use hyper::{StatusCode, Version};
use std::mem::take;

/// A response that can't be passed on: 502.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BadResponse(pub(crate) &'static str);

/// Makes a head into the client's.
///
/// `is_shared` says that the apps of other tasks have the same origin.
///
/// # Errors
///
/// When parsers could read the response in different ways, or the client did not ask for it.
pub(crate) fn translate(
    parts: &mut Parts,
    request: &Facts,
    is_shared: bool,
) -> Result<(), BadResponse> {
    let received = take(&mut parts.headers);
    let length = framed(&received)?;
    let options = Options::of(&received);
    if parts.status.as_u16() > 599 {
        let why = "the status of the app's response is not one of HTTP";
        return Err(BadResponse(why));
    }
    let is_switched = parts.status == StatusCode::SWITCHING_PROTOCOLS;
    let is_agreed = request.is_upgrade
        && options.is_upgrade
        && received
            .get(header::UPGRADE)
            .is_some_and(|it| it.as_bytes().eq_ignore_ascii_case(b"websocket"));
    if is_switched && !is_agreed {
        let why = "the app switched to a protocol that nobody asked for";
        return Err(BadResponse(why));
    }
    parts.version = Version::HTTP_11;
    let headers = &mut parts.headers;
    headers.reserve(received.len() + 2);
    for (name, value) in &received {
        let lower = name.as_str();
        if !ends_with_response(lower, is_shared) && !options.name(lower) {
            headers.append(name, value.clone());
        }
    }
    // Other lengths come from the body.
    if let Some(length) = length.filter(|_| request.is_head) {
        headers.insert(header::CONTENT_LENGTH, length.into());
    }
    if is_switched {
        let upgrade = HeaderValue::from_static("Upgrade");
        headers.insert(header::CONNECTION, upgrade);
        headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    }
    Ok(())
}

/// Returns the length that a response states.
fn framed(headers: &HeaderMap) -> Result<Option<u64>, BadResponse> {
    let mut lengths = headers.get_all(header::CONTENT_LENGTH).iter();
    let mut codings = headers.get_all(header::TRANSFER_ENCODING).iter();
    let length = match (lengths.next(), lengths.next()) {
        (None, _) => None,
        (Some(length), None) => content_length(length.as_bytes()),
        (Some(_), Some(_)) => None,
    };
    if length.is_none() && headers.contains_key(header::CONTENT_LENGTH) {
        let why = "`Content-Length` of the app's response is not one number";
        return Err(BadResponse(why));
    }
    match (codings.next(), codings.next()) {
        (None, _) => Ok(length),
        (Some(_), None) if length.is_some() => {
            let why = "the app's response has both `Content-Length` and `Transfer-Encoding`";
            Err(BadResponse(why))
        }
        (Some(coding), None) if coding.as_bytes().eq_ignore_ascii_case(b"chunked") => Ok(None),
        (Some(_), _) => {
            let why = "`Transfer-Encoding` of the app's response is not `chunked`";
            Err(BadResponse(why))
        }
    }
}
