//! What this program is made of.

use crate::engine::EMBEDDED_SHA256;
use std::sync::LazyLock;

/// The version, the engine and what runs it, a line each.
pub(crate) fn long() -> &'static str {
    static LONG: LazyLock<String> = LazyLock::new(|| {
        let engine = EMBEDDED_SHA256.get(..12).unwrap_or(EMBEDDED_SHA256);
        format!(
            "{}\nengine sha256:{engine}\nwasmtime {}",
            env!("CARGO_PKG_VERSION"),
            wasmtime_environ::VERSION
        )
    });
    &LONG
}
