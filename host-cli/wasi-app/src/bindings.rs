//! `wasi:keyvalue/store` as Rust code. `wasmtime_wasi` has the other interfaces.

#![allow(
    missing_docs,
    unreachable_pub,
    unused_qualifications,
    clippy::all,
    reason = "generated"
)]

wasmtime::component::bindgen!({
    path: "../../wit/app",
    world: "stateful",
    imports: { default: trappable },
    with: { "wasi:keyvalue/store.bucket": crate::store::Bucket },
});
