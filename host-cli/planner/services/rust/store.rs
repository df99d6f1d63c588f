//! Keeps values by their keys: PUT, GET and DELETE of /<key>.

mod wasi;
mod world;

use wasi::{delete, exists, get, keys, response, set, Request, Response};

const VALUE_BYTES: usize = 1 << 20;
const VALUES: usize = 10_000;

fn handle(request: Request) -> Response {
    let key = &*request.path;
    match &*request.method {
        "GET" if key == "/" => answer(200, keys().join("\n")),
        "GET" => match get(key) {
            Some(value) => answer(200, value),
            None => answer(404, ""),
        },
        "PUT" => {
            let Some(value) = request.body(VALUE_BYTES) else {
                return answer(413, "");
            };
            let is_full = !exists(key) && keys().len() >= VALUES;
            match !is_full && set(key, &value) {
                true => answer(204, ""),
                false => answer(507, ""),
            }
        }
        "DELETE" if delete(key) => answer(204, ""),
        "DELETE" => answer(404, ""),
        _ => answer(405, ""),
    }
}

fn answer(status: u16, body: impl Into<Vec<u8>>) -> Response {
    response(status, "application/octet-stream", body)
}
