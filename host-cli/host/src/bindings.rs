//! The contract as Rust code, generated from the world `engine` in `wit/engine`.

#![allow(
    missing_docs,
    unreachable_pub,
    unused_qualifications,
    clippy::all,
    reason = "generated"
)]

wasmtime::component::bindgen!({
    path: "../../wit/engine",
    world: "engine",
});
