//! The engine: the component that makes every decision, and wasmtime that runs it.

mod cache;
mod embedded;
mod instance;
mod limits;
mod ticker;

pub use cache::{Shelf, compile};
pub use embedded::{COMPONENT, COMPONENT_SHA256};
pub use instance::Instance;
pub use limits::{Limits, Usage};
pub use ticker::{Running, Ticker};
/// The version of the wasmtime that runs the component.
pub use wasmtime_environ::VERSION as WASMTIME_VERSION;

use crate::bindings::EnginePre;
use crate::failure::Failure;
use crate::input::{Input, WASM_MAGIC};
use std::path::Path;
use std::time::Duration;
use wasmtime::component::{Component, Linker};

/// Maximum number of bytes of a component given by `--engine`.
const ENGINE_MAX: u64 = 64 << 20;

/// The time in which an engine's epoch ends: how precisely the time of a call is kept.
const TICK: Duration = Duration::from_millis(100);

/// An engine that is ready to be instantiated.
#[derive(Clone)]
pub struct Engine {
    component: EnginePre<Usage>,
    ticker: Ticker,
    limits: Limits,
}

impl Engine {
    /// Returns the engine that this crate embeds, which is loaded once for the whole process.
    ///
    /// # Errors
    ///
    /// When wasmtime does not support this machine.
    pub fn embedded() -> Result<Self, Failure> {
        embedded::component()
            .and_then(|(component, ticker)| Self::new(&component, ticker))
            .map_err(|error| {
                Failure::internal(format_args!("the engine can't be loaded: {error:#}"))
            })
    }

    /// Compiles another component of the same world, or takes it from the user's cache.
    ///
    /// # Errors
    ///
    /// When the file can't be read, or is not a component of the world `agent:engine/engine`.
    pub fn from_file(path: &Path) -> Result<Self, Failure> {
        let refuse = |reason: String| {
            Failure::new(format_args!(
                "`{}` is not an engine: {reason}",
                path.display()
            ))
            .help("an engine is a WebAssembly component of the world `agent:engine/engine`")
        };
        let wasm = read(path)?;
        if !wasm.starts_with(WASM_MAGIC) {
            return Err(refuse("it is not WebAssembly".to_owned()));
        }
        agent_aot::engine()
            .and_then(|wasmtime| {
                let component = compile(&wasmtime, Shelf::Engines, &wasm)?;
                Self::new(&component, Ticker::new(&wasmtime, TICK)?)
            })
            .map_err(|error| refuse(format!("{error:#}")))
    }

    fn new(component: &Component, ticker: Ticker) -> wasmtime::Result<Self> {
        // An empty linker refuses a component that imports anything.
        let linker = Linker::new(component.engine());
        let component = EnginePre::new(linker.instantiate_pre(component)?)?;
        Ok(Self {
            component,
            ticker,
            limits: Limits::STANDARD,
        })
    }

    /// Creates an instance, which shares no state with any other.
    ///
    /// # Errors
    ///
    /// When the system refuses the address space of an instance.
    pub fn instantiate(&self) -> Result<Instance, Failure> {
        Instance::new(&self.component, self.ticker.clone(), self.limits)
    }
}

/// Reads a component that replaces the embedded one.
fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let input = Input::File(path.to_owned());
    let wasm = input.read(ENGINE_MAX)?;
    if wasm.len() as u64 > ENGINE_MAX {
        return Err(Failure::new(format_args!(
            "`{input}` is not an engine: it is larger than {} MiB",
            ENGINE_MAX >> 20
        )));
    }
    Ok(wasm)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limited(limits: Limits) -> Engine {
        Engine {
            limits,
            ..Engine::embedded().unwrap()
        }
    }

    fn failure_of(instance: &mut Instance) -> String {
        let answer = instance.catalogue();
        answer.expect_err("the call fails").message
    }

    #[test]
    fn a_call_ends_when_its_time_is_over() {
        let engine = limited(Limits {
            time_per_call: Duration::from_millis(1),
            ..Limits::STANDARD
        });
        let mut instance = engine.instantiate().unwrap();
        // A second clock shortens the test.
        let wasmtime = engine.component.engine();
        let ticker = Ticker::new(wasmtime, Duration::from_millis(1)).unwrap();
        let _running = ticker.run();
        let index = format!("{{\"agents\":[{}", "[],".repeat(8 << 20));
        let answer = instance.call(|engine, store| {
            let inputs = engine.agent_engine_inputs();
            inputs.index().call_load(store, index.as_bytes())
        });
        assert_eq!(
            answer.expect_err("the call fails").message,
            "a call of the engine exceeded its limit of 0.001 seconds"
        );
        assert_eq!(
            failure_of(&mut instance),
            "internal error: the engine was called again after a failure"
        );
    }

    #[test]
    fn a_call_ends_when_its_memory_is_used_up() {
        let engine = limited(Limits {
            memory: 1 << 20,
            ..Limits::STANDARD
        });
        let answer = engine
            .instantiate()
            .and_then(|mut instance| instance.catalogue().map(<[_]>::len));
        assert_eq!(
            answer.expect_err("the limit is reached").message,
            "the engine exceeded its memory limit of 1 MiB"
        );
    }

    #[test]
    fn an_instance_tells_how_much_memory_it_has() {
        let mut instance = Engine::embedded().unwrap().instantiate().unwrap();
        let before = instance.memory();
        assert!(before >= 1 << 16, "{before}");
        let text = " ".repeat(8 << 20);
        let envelope = instance.call(|engine, store| {
            let evidence = engine.agent_engine_evidence();
            evidence.call_envelope(store, &text, "key", &[])
        });
        assert!(envelope.unwrap().len() > text.len());
        assert!(instance.memory() >= before + text.len());
    }

    #[test]
    fn engines_of_one_process_run_beside_each_other() {
        let engines = [Engine::embedded().unwrap(), Engine::embedded().unwrap()];
        let [mut first, mut second] = engines.each_ref().map(|it| it.instantiate().unwrap());
        let codes = second.catalogue().unwrap().len();
        drop(second);
        drop(engines);
        assert_eq!(first.catalogue().unwrap().len(), codes);
    }
}
