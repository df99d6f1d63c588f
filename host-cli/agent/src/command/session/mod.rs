//! The session of a command: an engine instance, its inputs and its output.

mod answers;
mod inputs;

pub(super) use inputs::{DEFINITIONS, NewLock};

use crate::args::{Format, Global, Output};
use agent_host::contract::capability::Tenant;
use agent_host::contract::policy::Policy;
use agent_host::diagnostics::Findings;
use agent_host::output::{self, Progress};
use agent_host::{COMPONENT_SHA256, Engine, Failure, Instance};

/// One run of a command.
pub(super) struct Session {
    pub(super) engine: Instance,
    pub(super) quiet: bool,
    verbose: bool,
    format: Format,
    pub(super) findings: Findings,
    /// Whether the last line on standard output is part of an answer for people.
    is_answered: bool,
    /// The policy and the tenant of the evaluation context, until the policy has been checked.
    policy: Option<(Policy, Option<Tenant>)>,
    /// Whether standard input has been read. It can't be read twice.
    stdin_is_read: bool,
}

impl Session {
    pub(super) fn open(global: &Global, output: &Output) -> Result<Self, Failure> {
        Ok(Self {
            engine: engine(global)?,
            quiet: global.quiet,
            verbose: global.verbose,
            format: output.format,
            findings: Findings::default(),
            is_answered: false,
            policy: None,
            stdin_is_read: false,
        })
    }
}

/// Returns an instance of the engine that the options select.
pub(super) fn engine(global: &Global) -> Result<Instance, Failure> {
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
    }?
    .instantiate()
}
