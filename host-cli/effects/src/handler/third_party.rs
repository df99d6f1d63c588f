//! Handlers of third parties, which the operator admits by their digests.

use super::bindings::HandlersPre;
use super::call::HandlerState;
use super::{effect_interface, link, linker, wasi};
use agent_host::contract::run::DriverKind;
use agent_host::input::{self, Input};
use agent_host::{Failure, Shelf};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use sha2::{Digest, Sha256};
use std::path::Path;
use wasmtime::Engine;
use wasmtime::component::Component;

/// Maximum number of bytes of the component of a handler.
pub const COMPONENT_BYTES: u64 = 64 << 20;

/// Reads the component of a handler with its digest: `sha256-` and base64.
pub(super) fn read(path: &Path) -> Result<(Vec<u8>, String), Failure> {
    let wasm = Input::File(path.to_owned()).read(COMPONENT_BYTES)?;
    if wasm.len() as u64 > COMPONENT_BYTES {
        return Err(Failure::new(format_args!(
            "`{}` is larger than {} MiB",
            path.display(),
            COMPONENT_BYTES >> 20
        )));
    }
    let digest = format!("sha256-{}", BASE64_STANDARD.encode(Sha256::digest(&wasm)));
    Ok((wasm, digest))
}

/// Compiles a component, or takes its code from the user's cache, and links it with what its kind may
/// import.
pub(super) fn prepare(
    engine: &Engine,
    kind: DriverKind,
    path: &Path,
    wasm: &[u8],
) -> Result<HandlersPre<HandlerState>, Failure> {
    let refused = |reason: &str| {
        let name = kind.name();
        let path = path.display();
        Failure::new(format_args!(
            "`{path}` is not a handler of the kind `{name}`: {reason}"
        ))
        .help("build a component of the kind's world in `wit/handler`")
    };
    if !wasm.starts_with(input::WASM_MAGIC) {
        return Err(refused("it is not WebAssembly"));
    }
    let component = agent_host::compile(engine, Shelf::Handlers, wasm)
        .map_err(|error| refused(&format!("{error:#}")))?;
    let others = imports_beyond(engine, kind, &component);
    if !others.is_empty() {
        return Err(refused(&format!("it imports {}", others.join(", "))));
    }
    linked(engine, kind, &component).map_err(|error| refused(&format!("{error:#}")))
}

/// Links a component with what its kind may import. One of the kind `http` may also use `wasi:http`.
fn linked(
    engine: &Engine,
    kind: DriverKind,
    component: &Component,
) -> wasmtime::Result<HandlersPre<HandlerState>> {
    let mut linker = linker(engine, kind)?;
    if kind == DriverKind::Http {
        wasi::add_to_linker(&mut linker)?;
    }
    link(&linker, component)
}

/// Lists the imports of a component that the worlds of its kind do not have.
fn imports_beyond(engine: &Engine, kind: DriverKind, component: &Component) -> Vec<String> {
    let own = effect_interface(kind).map(|(effect, _)| ["agent:handler/log@0.1.0", effect]);
    let is_allowed = |name: &str| {
        // Releases of one series are compatible; the linker looks for a matching one.
        let interface = name.split('@').next().unwrap_or(name);
        let is_wasi = kind == DriverKind::Http && wasi::INTERFACES.contains(&interface);
        own.is_some_and(|own| own.contains(&name)) || is_wasi
    };
    let component = component.component_type();
    let names = component.imports(engine).map(|(name, _)| name);
    let others = names.filter(|name| !is_allowed(name));
    others.map(|name| format!("`{name}`")).collect()
}
