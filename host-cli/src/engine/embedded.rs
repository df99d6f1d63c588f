//! The engine that this program contains, compiled ahead of time by the build script.
//!
//! To copy the megabytes of its machine code would take most of the time of a small command. On
//! Linux it is run where the system has mapped it together with the rest of the program: only the
//! pages that are used are ever read.

use wasmtime::component::Component;
use wasmtime::{Engine, Result};

/// The SHA-256 of the component that the code was compiled from, 64 hexadecimal digits.
pub(crate) const SHA256: &str = env!("AGENT_ENGINE_SHA256");

/// Loads the embedded component. Nothing is compiled.
#[cfg(target_os = "linux")]
pub(super) fn component() -> Result<Component> {
    in_place::component()
}

/// Loads the embedded component. Nothing is compiled.
#[cfg(not(target_os = "linux"))]
pub(super) fn component() -> Result<Component> {
    copied(
        &agent_aot::engine()?,
        include_bytes!(env!("AGENT_ENGINE_CWASM")),
    )
}

fn copied(engine: &Engine, code: &[u8]) -> Result<Component> {
    #[expect(
        unsafe_code,
        reason = "loading machine code can't be checked by the compiler"
    )]
    // SAFETY: as in `in_place::component`.
    unsafe {
        Component::deserialize(engine, code)
    }
}

#[cfg(target_os = "linux")]
mod in_place {
    use rustix::mm::{MprotectFlags, mprotect};
    use rustix::param::page_size;
    use std::ptr::NonNull;
    use std::sync::Arc;
    use wasmtime::component::Component;
    use wasmtime::{CustomCodeMemory, Engine, Result};

    /// Machine code, as wasmtime stores it.
    static CODE: &Pages<[u8]> = &Pages(*include_bytes!(env!("AGENT_ENGINE_CWASM")));

    /// Starts with a page, as large as the architecture's pages can be.
    #[cfg_attr(target_arch = "x86_64", repr(C, align(4_096)))]
    #[cfg_attr(not(target_arch = "x86_64"), repr(C, align(65_536)))]
    struct Pages<T: ?Sized>(T);

    pub(super) fn component() -> Result<Component> {
        let mut config = agent_aot::config();
        config.with_custom_code_memory(Some(Arc::new(Executable)));
        let engine = Engine::new(&config)?;
        let code = NonNull::from(&CODE.0);
        if !code.addr().get().is_multiple_of(page_size()) {
            // The kernel has not heeded the alignment.
            return super::copied(&engine, &CODE.0);
        }
        #[expect(
            unsafe_code,
            reason = "loading machine code can't be checked by the compiler"
        )]
        // SAFETY: wasmtime asks for bytes that its own compilation has written, and that neither
        // change nor go away. They are the output of `agent_aot::precompile` and constant data of
        // this program: whoever could change them could change all of the program. wasmtime itself
        // refuses code of another version, configuration or processor.
        unsafe {
            Component::deserialize_raw(&engine, code)
        }
    }

    /// Makes code executable where it is.
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
            reason = "what memory may be used for is up to the system"
        )]
        // SAFETY: the range is the code of a component, whole pages with nothing else in them. It
        // stays readable, and becomes executable before the first call and stops to be after the
        // last. wasmtime sees to all of that.
        unsafe {
            mprotect(code.cast_mut().cast(), len, flags)?;
        }
        Ok(())
    }
}
