//! The types of the contract, generated from `wit/engine`.

#![allow(
    unreachable_pub,
    unused_qualifications,
    clippy::all,
    reason = "generated"
)]

wasmtime::component::bindgen!({
    path: "../wit/engine",
    world: "engine",
});
