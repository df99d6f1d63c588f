//! What the commands that decide something share: an engine, its inputs, and how to answer.

mod answers;
mod inputs;

pub(super) use inputs::NewLock;

use crate::args::{Format, Global, Output};
use crate::diagnostics::Findings;
use crate::engine::{EMBEDDED_SHA256, Engine, Instance, Policy, Tenant};
use crate::failure::Failure;
use crate::output::{self, Progress};

/// One run of a command.
pub(super) struct Session {
    pub(super) engine: Instance,
    pub(super) quiet: bool,
    verbose: bool,
    format: Format,
    findings: Findings,
    /// An answer for people stands on standard output, and nothing below it.
    is_answered: bool,
    /// The policy of the circumstances and their tenant, until the policy has been looked at.
    policy: Option<(Policy, Option<Tenant>)>,
    /// Standard input has been read. There is no second one.
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

/// An instance of the engine that the options ask for.
pub(super) fn engine(global: &Global) -> Result<Instance, Failure> {
    if global.verbose {
        match &global.engine {
            None => output::note(format_args!("engine sha256:{EMBEDDED_SHA256}")),
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
