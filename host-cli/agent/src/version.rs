//! The version of the program and of its parts.

use agent_host::COMPONENT_SHA256;
use std::sync::LazyLock;

/// Returns the versions of the program, the engine and wasmtime, a line each.
pub(crate) fn long() -> &'static str {
    static LONG: LazyLock<String> = LazyLock::new(|| {
        let engine = COMPONENT_SHA256.get(..12).unwrap_or(COMPONENT_SHA256);
        let program = env!("CARGO_PKG_VERSION");
        format!("{program}\nengine sha256:{engine}{}", host())
    });
    &LONG
}

/// Returns the line about what runs the engine. Below a component, that is its host.
fn host() -> String {
    #[cfg(not(target_family = "wasm"))]
    return format!("\nwasmtime {}", agent_host::WASMTIME_VERSION);
    #[cfg(target_family = "wasm")]
    String::new()
}
