//! The wasmtime configurations: of the engine, of the same with fuel, and of handlers.
//!
//! Machine code compiled ahead of time runs only under the configuration that it was compiled with:
//! settings, wasm features and the version of wasmtime. Both sides therefore take it from here: the
//! `agent-aot` program at build time, and `agent` at run time.

use wasmtime::{Config, Engine, OptLevel, Result, WasmBacktraceDetails};

/// Maximum stack of wasm code, in bytes. Ample for parsers that refuse nesting deeper than 64, and
/// half of the smallest main-thread stack of the supported systems.
pub const MAX_WASM_STACK: usize = 512 << 10;

/// The address space reserved for a linear memory, in bytes. It covers all 32-bit addresses: no
/// access needs a bounds check, and a growing memory never moves. It is not memory in use.
pub const MEMORY_RESERVATION: u64 = 1 << 32;

/// The configuration of the engine's component.
#[must_use]
pub fn config() -> Config {
    let mut config = Config::new();

    // The engine counts its own steps, the same on every machine. Should it not end all the same, the host ends
    // the call when its time is over. To count instructions as well would take a quarter of the time.
    config.epoch_interruption(true);
    config.max_wasm_stack(MAX_WASM_STACK);

    // The same result everywhere: hardware-dependent behaviour is either fixed or refused.
    config.cranelift_nan_canonicalization(true);
    config.wasm_relaxed_simd(false);

    // Features that a pure function does not need.
    config.wasm_memory64(false);
    config.wasm_multi_memory(false);
    config.wasm_tail_call(false);

    // Compiled once, run often.
    config.cranelift_opt_level(OptLevel::Speed);

    // An instance per call: its memory is a copy-on-write view of the component's data, and no page
    // is copied before its first write.
    config.memory_init_cow(true);
    config.memory_reservation(MEMORY_RESERVATION);
    config.memory_may_move(false);

    // The component is stripped, so a backtrace would show no names; the kind of a trap is known
    // without one. The code is smaller, and no environment variable has an effect.
    config.wasm_backtrace_max_frames(None);
    config.wasm_backtrace_details(WasmBacktraceDetails::Disable);
    config.generate_address_map(false);
    // Windows needs it to unwind; elsewhere only debuggers would use it.
    config.native_unwind_info(cfg!(windows));

    config
}

/// As [`config`], and each call has a budget of fuel too: it ends at the same instruction on every machine. The
/// configuration of handlers, which others may have written.
#[must_use]
pub fn metered_config() -> Config {
    let mut config = config();
    config.consume_fuel(true);
    config
}

/// Returns an engine for this machine. It compiles with all features of the processor, and loads
/// code that was compiled ahead of time.
///
/// # Errors
///
/// When wasmtime does not support this machine.
pub fn engine() -> Result<Engine> {
    Engine::new(&config())
}

/// Compiles a component under a configuration for all machines of a target, such as
/// `x86_64-unknown-linux-gnu`.
///
/// It uses only features that every processor of the target has: a program built on one machine
/// runs on the next.
///
/// # Errors
///
/// When the target is not of this machine's architecture, or `component` is not a valid component.
pub fn precompile(mut config: Config, component: &[u8], target: &str) -> Result<Vec<u8>> {
    Engine::new(config.target(target)?)?.precompile_component(component)
}

#[cfg(test)]
mod tests {
    use super::{config, metered_config, precompile};
    use std::env::consts::{ARCH, OS};
    use std::thread;
    use std::time::Duration;
    use wasmtime::component::{Component, Linker};
    use wasmtime::{Config, Engine, Result, Store, Trap};

    /// `answer` gives 42, `spin` never returns.
    const COMPONENT: &str = r#"(component
        (core module $code
            (func (export "answer") (result i32) i32.const 42)
            (func (export "spin") (loop $again br $again)))
        (core instance $it (instantiate $code))
        (func (export "answer") (result u32) (canon lift (core func $it "answer")))
        (func (export "spin") (canon lift (core func $it "spin"))))"#;

    /// The target of this machine; wasmtime looks at no more than architecture and system.
    fn here() -> String {
        format!("{ARCH}-unknown-{OS}")
    }

    fn load(engine: &Engine, config: Config) -> Component {
        let code = precompile(config, &wat::parse_str(COMPONENT).unwrap(), &here()).unwrap();
        #[expect(unsafe_code, reason = "the code was compiled in the line above")]
        // SAFETY: `deserialize` wants the unchanged output of a compilation.
        unsafe { Component::deserialize(engine, code) }.unwrap()
    }

    fn call<R>(config: &Config, name: &str, bound: impl FnOnce(&mut Store<()>)) -> Result<R>
    where
        R: wasmtime::component::ComponentNamedList + wasmtime::component::Lift + 'static,
    {
        let engine = Engine::new(config)?;
        let mut store = Store::new(&engine, ());
        store.set_epoch_deadline(1);
        bound(&mut store);
        let component = load(&engine, config.clone());
        let instance = Linker::new(&engine).instantiate(&mut store, &component)?;
        instance
            .get_typed_func::<(), R>(&mut store, name)?
            .call(&mut store, ())
    }

    #[test]
    fn code_compiled_for_the_target_runs_here() {
        let answer = call::<(u32,)>(&config(), "answer", |_| ());
        assert_eq!(answer.unwrap(), (42,));
    }

    #[test]
    fn an_epoch_ends_an_endless_call() {
        let error = call::<()>(&config(), "spin", |store| {
            let engine = store.engine().clone();
            thread::spawn(move || {
                thread::sleep(Duration::from_millis(10));
                engine.increment_epoch();
            });
        });
        let error = error.unwrap_err();
        assert_eq!(error.downcast_ref::<Trap>(), Some(&Trap::Interrupt));
    }

    #[test]
    fn fuel_ends_an_endless_call() {
        let error = call::<()>(&metered_config(), "spin", |store| {
            store.set_fuel(1_000_000).unwrap();
        });
        let error = error.unwrap_err();
        assert_eq!(error.downcast_ref::<Trap>(), Some(&Trap::OutOfFuel));
    }

    #[test]
    fn processor_dependent_instructions_are_refused() {
        let relaxed = r#"(component (core module
            (func (param v128 v128) (result v128)
                local.get 0 local.get 1 i8x16.relaxed_swizzle)))"#;
        assert!(precompile(config(), &wat::parse_str(relaxed).unwrap(), &here()).is_err());
    }

    #[test]
    fn code_of_another_configuration_is_refused() {
        let code = precompile(config(), &wat::parse_str(COMPONENT).unwrap(), &here()).unwrap();
        let without_epochs = Engine::new(config().epoch_interruption(false)).unwrap();
        for other in [without_epochs, Engine::new(&metered_config()).unwrap()] {
            #[expect(unsafe_code, reason = "the code was compiled in this test")]
            // SAFETY: `deserialize` wants the unchanged output of a compilation.
            let loaded = unsafe { Component::deserialize(&other, &code) };
            assert!(loaded.is_err());
        }
    }
}
