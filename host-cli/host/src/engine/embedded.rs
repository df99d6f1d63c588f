//! The component that this crate embeds, compiled ahead of time by the build script.
//!
//! Copying megabytes of machine code would take most of the time of a small command. The
//! code runs in place, mapped with the rest of the program: the system reads only the used pages.

use super::TICK;
use super::ticker::Ticker;
use rustix::mm::{MprotectFlags, mprotect};
use rustix::param::page_size;
use std::ptr::NonNull;
use std::sync::{Arc, LazyLock};
use wasmtime::component::Component;
use wasmtime::{CustomCodeMemory, Engine, Error, Result};

/// The embedded component as WebAssembly, for other hosts and for tests of [`Engine::from_file`].
///
/// [`Engine::from_file`]: crate::Engine::from_file
pub const COMPONENT: &[u8] = include_bytes!(env!("AGENT_ENGINE_WASM"));

/// The SHA-256 of [`COMPONENT`], 64 hexadecimal digits.
pub const COMPONENT_SHA256: &str = env!("AGENT_ENGINE_SHA256");

/// Loads the embedded component, and starts its clock. Nothing is compiled.
///
/// It is loaded once and never dropped: wasmtime identifies code by its address, and a drop would
/// make the pages not executable under another user of the same code.
pub(super) fn component() -> Result<(Component, Ticker)> {
    static LOADED: LazyLock<std::result::Result<(Component, Ticker), String>> =
        LazyLock::new(|| started().map_err(|error| format!("{error:#}")));
    LOADED.clone().map_err(Error::msg)
}

fn started() -> Result<(Component, Ticker)> {
    let component = load()?;
    let ticker = Ticker::new(component.engine(), TICK)?;
    Ok((component, ticker))
}

/// The machine code, as wasmtime stores it.
static CODE: &Pages<[u8]> = &Pages(*include_bytes!(env!("AGENT_ENGINE")));

/// Bytes that start with a page, as large as the architecture's pages can be.
#[cfg_attr(target_arch = "x86_64", repr(C, align(4_096)))]
#[cfg_attr(not(target_arch = "x86_64"), repr(C, align(65_536)))]
struct Pages<T: ?Sized>(T);

fn load() -> Result<Component> {
    let mut config = agent_aot::config();
    config.with_custom_code_memory(Some(Arc::new(Executable)));
    let engine = Engine::new(&config)?;
    let code = NonNull::from(&CODE.0);
    if !code.addr().get().is_multiple_of(page_size()) {
        // The kernel has ignored the alignment.
        return copied(&engine, &CODE.0);
    }
    #[expect(
        unsafe_code,
        reason = "loading machine code can't be checked by the compiler"
    )]
    // SAFETY: wasmtime requires bytes that its own compilation has written, and that neither
    // change nor go away. They are the output of `agent_aot::precompile` and constant data of
    // this program: a change of them would need a change of the program. wasmtime itself
    // refuses code of another version, configuration or processor.
    unsafe {
        Component::deserialize_raw(&engine, code)
    }
}

fn copied(engine: &Engine, code: &[u8]) -> Result<Component> {
    #[expect(
        unsafe_code,
        reason = "loading machine code can't be checked by the compiler"
    )]
    // SAFETY: as in `load`.
    unsafe {
        Component::deserialize(engine, code)
    }
}

/// Memory of the program whose code becomes executable where it is.
struct Executable;

impl CustomCodeMemory for Executable {
    fn required_alignment(&self) -> usize {
        page_size()
    }

    fn publish_executable(&self, code: *const u8, len: usize) -> Result<()> {
        protect(code, len, MprotectFlags::READ | MprotectFlags::EXEC)
    }

    fn unpublish_executable(&self, code: *const u8, len: usize) -> Result<()> {
        protect(code, len, MprotectFlags::READ)
    }
}

fn protect(code: *const u8, len: usize, flags: MprotectFlags) -> Result<()> {
    #[expect(
        unsafe_code,
        reason = "the compiler can't check what memory is used for"
    )]
    // SAFETY: the range is the code of a component, whole pages with nothing else in them. It
    // stays readable. wasmtime makes it executable before the first call, and no longer so after
    // the last.
    unsafe {
        mprotect(code.cast_mut().cast(), len, flags)?;
    }
    Ok(())
}
