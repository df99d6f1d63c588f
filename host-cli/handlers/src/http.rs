//! `http`: one request, from `http_input` to `http_output` of the tool pool's schema.

use crate::bindings::agent::handler::log;
use crate::bindings::agent::handler::request::{Request, send};
use crate::bindings::exports::agent::handler::handler::Guest;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The handler.
pub(crate) struct Handler;

#[derive(Deserialize)]
struct Input<'i> {
    method: String,
    url: String,
    #[serde(borrow)]
    body: Option<&'i RawValue>,
}

#[derive(Serialize)]
struct Output<'o> {
    body: Body<'o>,
    status: u16,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Body<'o> {
    Json(&'o RawValue),
    Text(&'o str),
}

impl Guest for Handler {
    fn handle(input: String) -> Result<String, String> {
        let input: Input<'_> = serde_json::from_str(&input)
            .map_err(|error| format!("the input is not a request: {error}"))?;
        let mut headers = vec![("accept".to_owned(), "application/json, */*;q=0.1".to_owned())];
        if input.body.is_some() {
            headers.push(("content-type".to_owned(), "application/json".to_owned()));
        }
        log::write(&format!("{} {}", input.method, input.url));
        let response = send(&Request {
            method: input.method,
            url: input.url,
            headers,
            body: input.body.map(|body| body.get().as_bytes().to_vec()),
        });
        log::write(&format!(
            "{} {} {} bytes",
            response.status,
            response.content_type,
            response.body.len()
        ));
        let text = str::from_utf8(&response.body)
            .map_err(|_| "the body of the response is not UTF-8".to_owned())?;
        let body = match is_json(&response.content_type) && !text.is_empty() {
            true => Body::Json(serde_json::from_str(text).map_err(|error| {
                format!("the body of the response is not the JSON that its type says: {error}")
            })?),
            false => Body::Text(text),
        };
        let output = Output {
            body,
            status: response.status,
        };
        serde_json::to_string(&output).map_err(|error| error.to_string())
    }
}

/// Returns whether a media type is JSON (RFC 8259, RFC 6839).
fn is_json(content_type: &str) -> bool {
    let media_type = content_type.split(';').next().unwrap_or_default();
    let media_type = media_type.trim().to_ascii_lowercase();
    media_type == "application/json" || media_type.ends_with("+json")
}
