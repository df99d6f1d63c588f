//! The version of the program and of its parts.

use agent_host::{COMPONENT_SHA256, WASMTIME_VERSION};
use std::sync::LazyLock;

/// Returns the versions of the program, the engine and wasmtime, a line each.
pub(crate) fn long() -> &'static str {
    static LONG: LazyLock<String> = LazyLock::new(|| {
        let engine = COMPONENT_SHA256.get(..12).unwrap_or(COMPONENT_SHA256);
        format!(
            "{}\nengine sha256:{engine}\nwasmtime {WASMTIME_VERSION}",
            env!("CARGO_PKG_VERSION")
        )
    });
    &LONG
}
