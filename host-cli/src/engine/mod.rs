//! The engine: the WebAssembly component that makes every decision, and wasmtime that runs it.

pub(crate) mod bindings;
mod cache;
mod embedded;
mod instance;
mod limits;

use crate::failure::Failure;
use bindings::EnginePre;
use limits::Limits;
use std::path::Path;
use wasmtime::component::{Component, Linker};

pub(crate) use bindings::exports::agent::engine::{
    capability::Notation,
    catalogue::CodeEntry,
    diagnostic::{Code, Diagnostic, Label, Severity, Source, Span},
    expansion::Refusal,
    grounding::Grounding,
    importer::{Imported, Overlay},
    lockfile::Drift,
    plan::{CallVerdict, PlanAnswer, PlanVerdict},
    policy::{TestOutcome, TestVerdict},
    schemas::NamedText,
    view::{File, Part, ReportFormat, Style},
};
pub(crate) use embedded::SHA256 as EMBEDDED_SHA256;
pub(crate) use instance::{
    CallPlan, Circumstances, Context, Core, Health, Index, Instance, Lock, Manifest, Matching,
    PlanRules, Policy, Resolution, Task, Tenant, ToolCatalogue,
};

/// What every WebAssembly file starts with.
const WASM_MAGIC: &[u8] = b"\0asm";

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
        let refuse = |reason: String| {
            Failure::new(format_args!(
                "`{}` is not an engine: {reason}",
                path.display()
            ))
            .help("an engine is a WebAssembly component of the world `agent:engine/engine`")
        };
        let wasm = crate::input::read_engine(path)?;
        if !wasm.starts_with(WASM_MAGIC) {
            return Err(refuse("it is not WebAssembly".to_owned()));
        }
        agent_aot::engine()
            .and_then(|wasmtime| cache::compile(&wasmtime, &wasm))
            .and_then(|component| Self::new(&component))
            .map_err(|error| refuse(format!("{error:#}")))
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
        answer.expect_err("the limit is reached").message
    }

    #[test]
    fn a_call_ends_when_its_fuel_is_used_up() {
        let message = failure_within(Limits {
            fuel_per_call: 1_000,
            ..Limits::STANDARD
        });
        assert_eq!(
            message,
            "the engine has used up the 1000 units of fuel of a call"
        );
    }

    #[test]
    fn a_call_ends_when_its_memory_is_used_up() {
        let message = failure_within(Limits {
            memory: 1 << 20,
            ..Limits::STANDARD
        });
        assert_eq!(
            message,
            "the engine has run out of memory, of which it may use 1 MiB"
        );
    }
}
