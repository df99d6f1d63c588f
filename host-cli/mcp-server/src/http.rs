//! Requests and answers over HTTP on loopback, of this crate and of others that listen there.

use super::events::Body;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Either, Full, LengthLimitError, Limited};
use hyper::body::{Body as _, Incoming};
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use hyper::{Response, StatusCode};
use std::time::Duration;
use tokio::time::timeout;

/// Returns an answer that no cache keeps, and whose type no browser guesses.
pub(crate) fn respond(status: StatusCode, body: Body) -> Response<Body> {
    let mut answer = Response::new(body);
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    answer
}

/// Returns an answer with a content of a media type.
#[must_use]
pub fn respond_with(
    status: StatusCode,
    kind: &'static str,
    content: impl Into<Bytes>,
) -> Response<Body> {
    let mut answer = respond(status, Either::Left(Full::new(content.into())));
    let kind = HeaderValue::from_static(kind);
    answer.headers_mut().insert(CONTENT_TYPE, kind);
    answer
}

/// Reads the body of a request.
///
/// # Errors
///
/// The status and the reason of the answer to a body that is too large, too slow or ends too early. One whose
/// `Content-Length` exceeds the limit is refused before it arrives.
pub async fn read_body(
    body: Incoming,
    max_bytes: usize,
    time: Duration,
) -> Result<Bytes, (StatusCode, String)> {
    let refuse = |status, why: &str| Err((status, why.to_owned()));
    let too_large = || {
        let size = match max_bytes >> 20 {
            0 => format!("{} KiB", max_bytes >> 10),
            mib => format!("{mib} MiB"),
        };
        let why = format!("the body is larger than {size}");
        Err((StatusCode::PAYLOAD_TOO_LARGE, why))
    };
    if body.size_hint().lower() > max_bytes as u64 {
        return too_large();
    }
    match timeout(time, Limited::new(body, max_bytes).collect()).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => too_large(),
        Ok(Err(_)) => refuse(StatusCode::BAD_REQUEST, "the body ended too early"),
        Err(_) => refuse(StatusCode::REQUEST_TIMEOUT, "the body arrived too slowly"),
    }
}
