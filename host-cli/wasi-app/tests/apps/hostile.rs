//! An app that tries what it should not do, by the path of a request.

#[path = "../../../planner/services/rust/wasi.rs"]
mod wasi;
#[path = "../../../planner/services/rust/world.rs"]
mod world;

use std::sync::atomic::{AtomicU32, Ordering};
use wasi::{delete, get, keys, response, set, Request, Response};

static CALLS: AtomicU32 = AtomicU32::new(0);

fn handle(request: Request) -> Response {
    let calls = CALLS.fetch_add(1, Ordering::Relaxed);
    let text = |body: String| response(200, "text/plain", body);
    match &*request.path {
        "/calls" => text(calls.to_string()),
        "/method" => text(request.method.clone()),
        "/header" => text(request.header("X-Name").unwrap_or_default()),
        "/length" => text(format!("{:?}", request.body(64 << 20).map(|body| body.len()))),
        "/large" => response(200, "text/plain", vec![b'x'; 8 << 20]),
        "/spin" => loop {
            std::hint::black_box(calls);
        },
        "/trap" => panic!("on purpose"),
        "/bomb" => {
            let mut kept = Vec::new();
            loop {
                kept.push(std::hint::black_box(vec![1_u8; 1 << 20]));
            }
        }
        "/stack" => text(deep(u64::from(calls) + 1).to_string()),
        "/set" => text(set("key", b"value").to_string()),
        "/get" => text(String::from_utf8(get("key").unwrap_or_default()).unwrap()),
        "/delete" => text(delete("key").to_string()),
        "/fill" => {
            let fits = |number: &u32| set(&number.to_string(), &[0; 1 << 20]);
            text((0..1_000).take_while(fits).count().to_string())
        }
        "/clear" => {
            let keys = keys();
            keys.iter().for_each(|key| assert!(delete(key)));
            text(keys.len().to_string())
        }
        _ => response(404, "text/plain", ""),
    }
}

#[allow(unconditional_recursion)]
fn deep(number: u64) -> u64 {
    std::hint::black_box(deep(std::hint::black_box(number + 1)) + 1)
}
