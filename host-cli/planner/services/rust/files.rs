//! Serves the files of the folder `public`, which are part of the component.

mod wasi;
mod world;

use wasi::{response, Request, Response};

/// The files by their paths, with their types.
const FILES: [(&str, &str, &[u8]); 1] = [(
    "/index.html",
    "text/html; charset=utf-8",
    include_bytes!("../public/index.html"),
)];

fn handle(request: Request) -> Response {
    let path = request.path.split('?').next().unwrap_or_default();
    let path = match path.ends_with('/') {
        true => format!("{path}index.html"),
        false => path.to_owned(),
    };
    match FILES.iter().find(|(name, ..)| *name == path) {
        Some((_, content_type, content)) => response(200, content_type, *content),
        None => response(404, "text/plain", "not found"),
    }
}
