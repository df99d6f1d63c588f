//! Builds the engine's component and refuses one that imports anything.
//!
//! This is a library, so that every build takes the same path: `host-cli/host/build.rs` embeds the
//! component, `cargo xtask component` prints it, and `cargo xtask dist` ships it.
//!
//! ```text
//! agent-component ── cargo, wasm32-unknown-unknown ──▶ module     (module.rs)
//! module ── wit-component ──▶ component ── wasmparser ──▶ checked (component.rs)
//! component ── agent-aot ──▶ machine code                         (aot.rs)
//! ```
//!
//! `cargo xtask setup` installs [`Toolchain`] and [`Compiler`]; this crate only finds them, or
//! reports in one sentence that they are missing.

mod aot;
mod component;
mod digest;
mod embedding;
mod environment;
mod error;
mod files;
mod module;
mod remap;
mod toolchain;
mod workspace;

pub use aot::Compiler;
pub use component::Component;
pub use digest::sha256;
pub use embedding::{CODE_LINKS, Embedding, PREBUILT, prebuilt, prebuilt_code};
pub use environment::scrub;
pub use error::{Error, Result};
pub use files::{read, write_if_changed};
pub use module::{Build, QUICK_PROFILE, build as module};
pub use remap::{Aim, reproducible};
pub use toolchain::{Source, TARGET, Toolchain};
pub use workspace::Workspace;

use std::path::Path;

/// The world of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum World {
    /// `engine`: the whole engine, built for speed.
    Engine,
    /// `resolver-only`: manifest, index, lock and explanation, built for size.
    ResolverOnly,
    /// A built-in handler, which imports what its kind may do.
    Handler(HandlerKind),
    /// A built-in runner, which sees one folder and asks for one process.
    Runner(RunnerLanguage),
    /// `examples/handler`, a handler of the kind `http`.
    ExampleHandler(ExampleApi),
}

impl World {
    /// Returns the interfaces that its components may import.
    fn imports(self) -> &'static [&'static str] {
        match self {
            Self::Engine | Self::ResolverOnly => &[],
            Self::Handler(kind) => kind.imports(),
            Self::Runner(_) => &RUNNER_IMPORTS,
            Self::ExampleHandler(ExampleApi::Own) => HandlerKind::Http.imports(),
            Self::ExampleHandler(ExampleApi::Wasi) => &WASI_IMPORTS,
        }
    }
}

/// The interface over which the example makes its request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExampleApi {
    /// `agent:handler/request`
    Own,
    /// `wasi:http/outgoing-handler`
    Wasi,
}

/// The imports of the world `http-wasi`, as far as the example uses them.
const WASI_IMPORTS: [&str; 9] = [
    "agent:handler/log@0.1.0",
    "wasi:clocks/monotonic-clock@0.2.12",
    "wasi:clocks/wall-clock@0.2.12",
    "wasi:http/outgoing-handler@0.2.12",
    "wasi:http/types@0.2.12",
    "wasi:io/error@0.2.12",
    "wasi:io/poll@0.2.12",
    "wasi:io/streams@0.2.12",
    "wasi:random/random@0.2.12",
];

/// The kind of a handler. Each has a world in `wit/handler`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandlerKind {
    /// `noop`
    Noop,
    /// `http`
    Http,
    /// `mcp-proxy`
    McpProxy,
    /// `restricted-shell`
    RestrictedShell,
}

impl HandlerKind {
    /// Every kind.
    pub const ALL: [Self; 4] = [
        Self::Noop,
        Self::Http,
        Self::McpProxy,
        Self::RestrictedShell,
    ];

    /// Returns the name of its world, which is also the feature of its package.
    #[must_use]
    pub fn world(self) -> &'static str {
        match self {
            Self::Noop => "noop",
            Self::Http => "http",
            Self::McpProxy => "mcp-proxy",
            Self::RestrictedShell => "restricted-shell",
        }
    }

    /// Returns the interfaces that its world imports.
    fn imports(self) -> &'static [&'static str] {
        match self {
            Self::Noop => &[],
            Self::Http => &["agent:handler/log@0.1.0", "agent:handler/request@0.1.0"],
            Self::McpProxy => &["agent:handler/log@0.1.0", "agent:handler/tool@0.1.0"],
            Self::RestrictedShell => &["agent:handler/log@0.1.0", "agent:handler/program@0.1.0"],
        }
    }
}

/// The imports of a built-in runner.
const RUNNER_IMPORTS: [&str; 7] = [
    "agent:runner/process@0.1.0",
    "agent:runner/types@0.1.0",
    "wasi:clocks/wall-clock@0.2.12",
    "wasi:filesystem/preopens@0.2.12",
    "wasi:filesystem/types@0.2.12",
    "wasi:io/error@0.2.12",
    "wasi:io/streams@0.2.12",
];

/// The language of a built-in runner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunnerLanguage {
    /// Python
    Python,
    /// JavaScript under Node.js
    Node,
    /// Go
    Go,
    /// Rust
    Rust,
}

impl RunnerLanguage {
    /// Every language.
    pub const ALL: [Self; 4] = [Self::Python, Self::Node, Self::Go, Self::Rust];

    /// Returns its name, which is also the feature of its package.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::Node => "node",
            Self::Go => "go",
            Self::Rust => "rust",
        }
    }
}

/// Builds the component of `workspace`, leaving cargo's files in `target_dir`.
///
/// The bytes depend on the sources, `Cargo.lock` and the toolchain only, neither on the folder nor
/// on the environment of the caller.
///
/// # Errors
///
/// When cargo fails (its messages are on standard error), or the component is invalid, or it has
/// an import that its world does not have.
pub fn pack(
    workspace: &Workspace,
    toolchain: &Toolchain,
    target_dir: &Path,
    world: World,
    build: Build,
) -> Result<Component> {
    let module = module(workspace, toolchain, target_dir, world, build)?;
    Component::with_imports(&module, world.imports())
}
