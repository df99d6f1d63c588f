//! The engine: the WebAssembly component that makes every decision, and wasmtime that runs it.

mod bindings;
mod cache;
mod embedded;
mod instance;
mod limits;

use crate::failure::Failure;
use bindings::EnginePre;
use limits::Limits;
use std::path::Path;
use wasmtime::component::{Component, Linker};

#[cfg(test)]
pub(crate) use bindings::exports::agent::engine::diagnostic::{Place, Position};
pub(crate) use bindings::exports::agent::engine::{
    diagnostic::{Code, CodeEntry, Diagnostic, Label, Severity, Source, Span},
    lockfile::Drift,
    resolver::ExplanationForm,
    view::{File, Part, ReportFormat, Style},
};
pub(crate) use embedded::SHA256 as EMBEDDED_SHA256;
pub(crate) use instance::{Index, Instance, Lock, Manifest, Resolution};

/// An engine that is ready to be instantiated.
pub(crate) struct Engine {
    component: EnginePre<Limits>,
    limits: Limits,
}

impl Engine {
    /// The engine that this program contains.
    pub(crate) fn embedded() -> Result<Self, Failure> {
        embedded::component()
            .and_then(|component| Self::new(&component))
            .map_err(|error| {
                Failure::internal(format_args!("the engine can't be loaded: {error:#}"))
            })
    }

    /// Another component of the same world, compiled now or taken from the cache.
    pub(crate) fn from_file(path: &Path) -> Result<Self, Failure> {
        let refuse = |error: wasmtime::Error| {
            Failure::new(format_args!(
                "`{}` is not an engine: {error:#}",
                path.display()
            ))
            .help("an engine is a WebAssembly component of the world `agent:engine/engine`")
        };
        let wasm = crate::input::read_engine(path)?;
        agent_aot::engine()
            .and_then(|wasmtime| cache::compile(&wasmtime, &wasm))
            .and_then(|component| Self::new(&component))
            .map_err(refuse)
    }

    fn new(component: &Component) -> wasmtime::Result<Self> {
        // An empty linker: a component that imports anything is refused here.
        let linker = Linker::new(component.engine());
        let component = EnginePre::new(linker.instantiate_pre(component)?)?;
        Ok(Self {
            component,
            limits: Limits::STANDARD,
        })
    }

    /// A fresh instance, which remembers nothing of any other.
    pub(crate) fn instantiate(&self) -> Result<Instance, Failure> {
        Instance::new(&self.component, self.limits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure_within(limits: Limits) -> String {
        let engine = Engine {
            limits,
            ..Engine::embedded().unwrap()
        };
        let answer = engine
            .instantiate()
            .and_then(|mut instance| instance.catalogue());
        answer.err().expect("the limit is reached").message
    }

    #[test]
    fn a_call_ends_when_its_fuel_is_used_up() {
        let message = failure_within(Limits {
            fuel_per_call: 1_000,
            ..Limits::STANDARD
        });
        assert_eq!(
            message,
            "the engine reached its limit of 1000 units of fuel in one call"
        );
    }

    #[test]
    fn a_call_ends_when_its_memory_is_used_up() {
        let message = failure_within(Limits {
            memory: 1 << 16,
            ..Limits::STANDARD
        });
        assert!(
            message.starts_with("the engine reached its limit of 0 MiB"),
            "{message}"
        );
    }
}
