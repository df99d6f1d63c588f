//! The session of a command: an engine instance, its inputs and its output.

mod answers;
pub(super) mod documents;
mod inputs;
mod mending;
#[cfg(not(target_family = "wasm"))]
mod performing;

#[cfg(not(target_family = "wasm"))]
pub(super) use inputs::MANIFESTS;
pub(super) use inputs::{NewLock, how_to_lock, usual_manifest};
#[cfg(not(target_family = "wasm"))]
pub(super) use mending::difference;
pub(super) use mending::{mending, usual_links};

use crate::args::{Format, Global, Output};
use agent_host::contract::capability::Tenant;
use agent_host::contract::diagnostic::DocumentKind;
use agent_host::contract::policy::Policy;
use agent_host::diagnostics::Findings;
use agent_host::input::Input;
use agent_host::output::{self, Progress};
use agent_host::{COMPONENT_SHA256, Engine, Failure, Instance};
use mending::Mending;

/// One run of a command.
pub(super) struct CommandSession {
    component: Engine,
    pub(super) engine: Instance,
    pub(super) quiet: bool,
    verbose: bool,
    format: Format,
    pub(super) findings: Findings,
    /// The inputs that diagnostics may point into, in the order of reading.
    sources: Vec<(DocumentKind, Input)>,
    /// The files with fixes applied, if the command applies fixes.
    mending: Option<Mending>,
    /// Whether to say how fixes can be applied, once problems have been reported.
    hints_at_fixes: bool,
    /// Whether the last line on standard output is part of an answer for people.
    is_answered: bool,
    /// The policy and the tenant of the evaluation context, until the policy has been checked.
    policy: Option<(Policy, Option<Tenant>)>,
    /// Whether standard input has been read. It can't be read twice.
    stdin_is_read: bool,
}

impl CommandSession {
    pub(super) fn open(global: &Global, output: &Output) -> Result<Self, Failure> {
        let component = component(global)?;
        Ok(Self {
            engine: component.instantiate()?,
            component,
            quiet: global.quiet,
            verbose: global.verbose,
            format: output.format,
            findings: Findings::default(),
            sources: Vec::new(),
            mending: None,
            hints_at_fixes: false,
            is_answered: false,
            policy: None,
            stdin_is_read: false,
        })
    }
}

/// Returns an instance of the engine that the options select.
pub(super) fn engine(global: &Global) -> Result<Instance, Failure> {
    component(global)?.instantiate()
}

/// Returns the engine that the options select.
fn component(global: &Global) -> Result<Engine, Failure> {
    if global.verbose {
        match &global.engine {
            None => output::note(format_args!("engine sha256:{COMPONENT_SHA256}")),
            Some(path) => output::note(format_args!("engine {}", path.display())),
        }
    }
    match &global.engine {
        None => Engine::embedded(),
        Some(path) => {
            let _progress = Progress::of(format!("compiling {}", path.display()));
            Engine::from_file(path)
        }
    }
}
