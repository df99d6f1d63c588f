//! A handler as a third party writes it, of the kind `http`: it counts the lines of a text on the web.
//!
//! Input: `{"url": "https://..."}`. Output: `{"lines": 3}`.

#[allow(
    unsafe_code,
    missing_docs,
    clippy::all,
    unused_qualifications,
    unreachable_pub,
    reason = "generated"
)]
mod bindings {
    wit_bindgen::generate!({
        path: "../../wit/handler",
        world: "http",
    });

    export!(LineCounter);

    use super::LineCounter;
}

use bindings::agent::handler::log;
use bindings::agent::handler::request::{Request, send};
use bindings::exports::agent::handler::handler::Guest;
use serde::{Deserialize, Serialize};

struct LineCounter;

#[derive(Deserialize)]
struct Input {
    url: String,
}

#[derive(Serialize)]
struct Output {
    lines: usize,
}

impl Guest for LineCounter {
    fn handle(input: String) -> Result<String, String> {
        let input: Input = serde_json::from_str(&input)
            .map_err(|error| format!("the input has no URL: {error}"))?;
        // The host decides on the request and sends it. A refused one does not return.
        let response = send(&Request {
            method: "GET".to_owned(),
            url: input.url,
            headers: vec![("accept".to_owned(), "text/plain".to_owned())],
            body: None,
        });
        log::write(&format!("{} bytes", response.body.len()));
        let text =
            String::from_utf8(response.body).map_err(|_| "the response is not UTF-8".to_owned())?;
        let output = Output {
            lines: text.lines().count(),
        };
        serde_json::to_string(&output).map_err(|error| error.to_string())
    }
}
