//! The world of `wit/runner` as Rust code.

#![allow(
    missing_docs,
    unreachable_pub,
    unused_qualifications,
    clippy::all,
    reason = "generated"
)]

wasmtime::component::bindgen!({
    path: ["../../wit/handler/deps/io.wit", "../../wit/handler/deps/clocks.wit", "../../wit/runner"],
    world: "agent:runner/built-in",
    imports: { default: async | trappable },
    exports: { default: async },
    with: {
        "wasi:clocks": wasmtime_wasi::p2::bindings::clocks,
        "wasi:filesystem": wasmtime_wasi::p2::bindings::filesystem,
        "wasi:io": wasmtime_wasi::p2::bindings::io,
    },
});
