//! The built-in handlers, compiled ahead of time by the build script.

use agent_host::contract::run::DriverKind;
use wasmtime::component::Component;
use wasmtime::{Engine, Result};

/// A built-in handler.
pub(super) struct Builtin {
    pub(super) kind: DriverKind,
    code: &'static [u8],
    /// The digest of the component: `sha256-` and base64.
    pub(super) digest: &'static str,
}

macro_rules! builtin {
    ($($kind:ident $name:literal)*) => {
        &[$(Builtin {
            kind: DriverKind::$kind,
            code: include_bytes!(env!(concat!("AGENT_HANDLER_", $name))),
            digest: env!(concat!("AGENT_HANDLER_", $name, "_DIGEST")),
        },)*]
    };
}

impl Builtin {
    /// One for each kind of driver.
    pub(super) const ALL: &[Self] = builtin! {
        Noop "NOOP"
        Http "HTTP"
        McpProxy "MCP_PROXY"
        RestrictedShell "RESTRICTED_SHELL"
    };

    /// Loads the handler.
    pub(super) fn component(&self, engine: &Engine) -> Result<Component> {
        #[expect(
            unsafe_code,
            reason = "loading machine code can't be checked by the compiler"
        )]
        // SAFETY: `deserialize` requires bytes that wasmtime's own compilation has written. They are
        // the output of `agent-aot` and constant data of this program. wasmtime itself refuses code of
        // another version, configuration or processor.
        unsafe {
            Component::deserialize(engine, self.code)
        }
    }
}
