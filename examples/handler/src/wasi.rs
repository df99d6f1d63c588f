//! The request over `wasi:http`.

use crate::bindings::agent::handler::log;
use crate::bindings::wasi::clocks::wall_clock;
use crate::bindings::wasi::http::outgoing_handler::handle;
use crate::bindings::wasi::http::types::{Fields, Method, OutgoingRequest, Scheme};
use crate::bindings::wasi::io::streams::StreamError;
use crate::bindings::wasi::random::random::get_random_bytes;

/// Bytes to read at a time.
const CHUNK: u64 = 64 << 10;

/// Returns the status and the body of the text at a URL.
pub(crate) fn get(url: &str) -> Result<(u16, Vec<u8>), String> {
    // Both are the same in every call.
    let (seconds, bytes) = (wall_clock::now().seconds, get_random_bytes(3));
    log::write(&format!("time {seconds}, random bytes {bytes:?}"));
    let (scheme, rest) = url.split_once("://").ok_or("no URL")?;
    let scheme = match scheme {
        "https" => Scheme::Https,
        _ => Scheme::Http,
    };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let headers = Fields::new();
    let is_set = headers.append("accept", b"text/plain");
    is_set.map_err(|error| format!("{error:?}"))?;
    let request = OutgoingRequest::new(headers);
    let is_set = request
        .set_method(&Method::Get)
        .and_then(|()| request.set_scheme(Some(&scheme)))
        .and_then(|()| request.set_authority(Some(authority)))
        .and_then(|()| request.set_path_with_query(Some(path)));
    is_set.map_err(|()| "not a URL".to_owned())?;
    let response = handle(request, None).map_err(|error| format!("{error:?}"))?;
    response.subscribe().block();
    let response = response.get().ok_or("no response")?;
    let response = response.map_err(|()| "the response was taken")?;
    let response = response.map_err(|error| format!("{error:?}"))?;
    let status = response.status();
    let body = response.consume().map_err(|()| "no body")?;
    let stream = body.stream().map_err(|()| "no stream")?;
    let mut bytes = Vec::new();
    loop {
        match stream.blocking_read(CHUNK) {
            Ok(chunk) => bytes.extend(chunk),
            Err(StreamError::Closed) => return Ok((status, bytes)),
            Err(StreamError::LastOperationFailed(error)) => return Err(error.to_debug_string()),
        }
    }
}
