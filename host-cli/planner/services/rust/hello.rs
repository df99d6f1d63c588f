//! Answers every request with one text.

mod wasi;
mod world;

use wasi::{response, Request, Response};

const TEXT: &str = @TEXT@;

fn handle(_: Request) -> Response {
    response(200, "text/plain; charset=utf-8", TEXT)
}
