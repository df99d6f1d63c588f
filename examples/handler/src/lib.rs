//! A handler as a third party writes it, of the kind `http`: it counts the lines of a text on the web.
//!
//! Input: `{"method": "GET", "url": "https://..."}`. Output: `{"body": {"lines": 3}, "status": 200}`. The
//! feature `wasi` chooses `wasi:http` instead of `agent:handler/request`.

macro_rules! handler {
    ($world:literal, $request:item) => {
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
                world: $world,
                generate_all,
            });

            export!(LineCounter);

            use super::LineCounter;
        }

        $request
    };
}

#[cfg(not(feature = "wasi"))]
handler!("http", mod request;);
#[cfg(feature = "wasi")]
handler!("http-wasi", mod wasi;);

#[cfg(not(feature = "wasi"))]
use request::get;
#[cfg(feature = "wasi")]
use wasi::get;

use bindings::agent::handler::log;
use bindings::exports::agent::handler::handler::Guest;
use serde::{Deserialize, Serialize};

struct LineCounter;

#[derive(Deserialize)]
struct Input {
    url: String,
}

/// What every binding of the kind `http` returns.
#[derive(Serialize)]
struct Output {
    body: Counted,
    status: u16,
}

#[derive(Serialize)]
struct Counted {
    lines: usize,
}

impl Guest for LineCounter {
    fn handle(input: String) -> Result<String, String> {
        let input: Input = serde_json::from_str(&input)
            .map_err(|error| format!("the input has no URL: {error}"))?;
        let (status, body) = get(&input.url)?;
        log::write(&format!("{} bytes", body.len()));
        let text = String::from_utf8(body).map_err(|_| "the response is not UTF-8".to_owned())?;
        let body = Counted {
            lines: text.lines().count(),
        };
        let output = Output { body, status };
        serde_json::to_string(&output).map_err(|error| error.to_string())
    }
}
