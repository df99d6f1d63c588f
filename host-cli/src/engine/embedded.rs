//! The engine that this program contains, compiled ahead of time by the build script.

use wasmtime::component::Component;

/// The SHA-256 of the component that [`CODE`] was compiled from, 64 hexadecimal digits.
pub(crate) const SHA256: &str = env!("AGENT_ENGINE_SHA256");

/// Machine code, as wasmtime stores it.
static CODE: &[u8] = include_bytes!(env!("AGENT_ENGINE_CWASM"));

/// Loads the embedded component. Nothing is compiled.
pub(super) fn component(engine: &wasmtime::Engine) -> wasmtime::Result<Component> {
    #[expect(
        unsafe_code,
        reason = "loading machine code can't be checked by the compiler"
    )]
    // SAFETY: `deserialize` asks for bytes that wasmtime's own compilation has written and nobody
    // has changed since. `CODE` is the output of `agent_aot::precompile` and part of this
    // executable: whoever can change it can change the rest of the program as well. wasmtime itself
    // refuses code of another version, configuration or processor.
    unsafe {
        Component::deserialize(engine, CODE)
    }
}
