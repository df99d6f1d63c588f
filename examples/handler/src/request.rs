//! The request over `agent:handler/request`.

use crate::bindings::agent::handler::request::{Request, send};

/// Returns the status and the body of the text at a URL. The host decides on the request and sends it. A refused one
/// does not return.
pub(crate) fn get(url: &str) -> Result<(u16, Vec<u8>), String> {
    let response = send(&Request {
        method: "GET".to_owned(),
        url: url.to_owned(),
        headers: vec![("accept".to_owned(), "text/plain".to_owned())],
        body: None,
    });
    Ok((response.status, response.body))
}
