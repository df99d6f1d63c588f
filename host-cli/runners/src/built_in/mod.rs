//! Built-in runners: components under wasmtime, one for each language. \[2, 3\]
//!
//! A runner sees one folder, and asks the host for one process through [`Process`]. It decides how a command line
//! becomes a command, and what has to be there first. Fuel and memory bound each call.

mod bindings;
mod call;

use bindings::BuiltInPre;
use call::{RunnerState, perform, store};
use std::fmt;
use std::path::Path;
use wasmtime::component::{Component, HasSelf, Linker};
use wasmtime::{Engine, Result, Trap};
use wasmtime_wasi::FsPerms;

pub use bindings::agent::runner::process::Command;
pub use bindings::agent::runner::types::{Condition, ErrorCode, Failure, Started};
pub use bindings::exports::agent::runner::runner::{Applied, File, Manifest};

/// The codes with their names in answers.
const CODES: [(ErrorCode, &str); 8] = [
    (ErrorCode::Plan, "E_PLAN"),
    (ErrorCode::Fs, "E_FS"),
    (ErrorCode::Policy, "E_POLICY"),
    (ErrorCode::Build, "E_BUILD"),
    (ErrorCode::Runtime, "E_RUNTIME"),
    (ErrorCode::Timeout, "E_TIMEOUT"),
    (ErrorCode::Network, "E_NETWORK"),
    (ErrorCode::Port, "E_PORT"),
];

impl ErrorCode {
    /// Returns the name of the code in answers.
    #[must_use]
    pub fn name(self) -> &'static str {
        let mut codes = CODES.into_iter();
        codes.find(|(code, _)| *code == self).map_or("", |it| it.1)
    }

    /// Returns the code of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let mut codes = CODES.into_iter();
        codes.find(|(_, it)| *it == name).map(|it| it.0)
    }
}

/// The language of an app, and of its runner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// Python
    Python,
    /// JavaScript under Node.js
    Node,
    /// Go
    Go,
    /// Rust
    Rust,
}

impl Language {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Python, Self::Node, Self::Go, Self::Rust];

    /// Returns its name in plans.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::Node => "node",
            Self::Go => "go",
            Self::Rust => "rust",
        }
    }

    /// Returns the machine code of its runner, which the build script has compiled.
    const fn code(self) -> &'static [u8] {
        match self {
            Self::Python => include_bytes!(env!("AGENT_RUNNER_PYTHON")),
            Self::Node => include_bytes!(env!("AGENT_RUNNER_NODE")),
            Self::Go => include_bytes!(env!("AGENT_RUNNER_GO")),
            Self::Rust => include_bytes!(env!("AGENT_RUNNER_RUST")),
        }
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The process of a task's app, as the host gives it to a runner.
pub trait Process {
    /// Returns the path of a toolchain's program, whose files the app may then read; `None` if it
    /// is not found.
    fn toolchain(&self, program: &str) -> impl Future<Output = Option<String>>;

    /// Starts the app in the sandbox, and waits until it is ready.
    fn start(
        &self,
        command: Command,
    ) -> impl Future<Output = std::result::Result<Started, Failure>>;

    /// Ends the app. Nothing to end is a success.
    fn stop(&self) -> impl Future<Output = std::result::Result<(), Failure>>;

    /// Returns how the app does.
    fn check(&self) -> impl Future<Output = Condition>;
}

/// The built-in runners, ready to be called.
pub struct BuiltIn {
    engine: Engine,
    runners: Vec<(Language, BuiltInPre<RunnerState>)>,
}

impl fmt::Debug for BuiltIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BuiltIn").finish_non_exhaustive()
    }
}

impl BuiltIn {
    /// Loads the runners. Nothing is compiled.
    ///
    /// # Errors
    ///
    /// When wasmtime does not support this machine.
    pub fn load() -> std::result::Result<Self, String> {
        Self::load_all().map_err(|error| format!("the runners can't be loaded: {error:#}"))
    }

    fn load_all() -> Result<Self> {
        let engine = Engine::new(&agent_aot::metered_config())?;
        let mut linker = Linker::<RunnerState>::new(&engine);
        // The build has refused other imports than those of the world.
        wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
        bindings::agent::runner::types::add_to_linker::<_, HasSelf<_>>(&mut linker, |it| it)?;
        bindings::agent::runner::process::add_to_linker::<_, HasSelf<_>>(&mut linker, |it| it)?;
        let runners = Language::ALL.map(|language| {
            let component = component(&engine, language.code())?;
            let runner = BuiltInPre::new(linker.instantiate_pre(&component)?)?;
            Ok((language, runner))
        });
        let runners = runners.into_iter().collect::<Result<_>>()?;
        Ok(Self { engine, runners })
    }

    /// Writes files into a folder, which is empty.
    ///
    /// # Errors
    ///
    /// The runner's failure, or that it stopped.
    pub async fn apply(
        &self,
        language: Language,
        folder: &Path,
        files: &[File],
        host: &impl Process,
    ) -> std::result::Result<Applied, Failure> {
        let call = async {
            let (mut store, asked) = store(&self.engine, folder, FsPerms::ReadWrite)?;
            let guest = async {
                let runner = self.runner(language).instantiate_async(&mut store).await?;
                let runner = runner.agent_runner_runner();
                runner.call_apply(&mut store, files).await
            };
            perform(guest, asked, host).await
        };
        call.await
            .unwrap_or_else(|error| Err(stopped(language, &error)))
    }

    /// Starts the app whose files are in a folder.
    ///
    /// # Errors
    ///
    /// The runner's failure, or that it stopped.
    pub async fn start(
        &self,
        language: Language,
        folder: &Path,
        manifest: &Manifest,
        host: &impl Process,
    ) -> std::result::Result<Started, Failure> {
        let call = async {
            let (mut store, asked) = store(&self.engine, folder, FsPerms::ReadOnly)?;
            let guest = async {
                let runner = self.runner(language).instantiate_async(&mut store).await?;
                let runner = runner.agent_runner_runner();
                runner.call_start(&mut store, manifest).await
            };
            perform(guest, asked, host).await
        };
        call.await
            .unwrap_or_else(|error| Err(stopped(language, &error)))
    }

    /// Ends the app whose files are in a folder.
    ///
    /// # Errors
    ///
    /// The runner's failure, or that it stopped.
    pub async fn stop(
        &self,
        language: Language,
        folder: &Path,
        host: &impl Process,
    ) -> std::result::Result<(), Failure> {
        let call = async {
            let (mut store, asked) = store(&self.engine, folder, FsPerms::ReadOnly)?;
            let guest = async {
                let runner = self.runner(language).instantiate_async(&mut store).await?;
                runner.agent_runner_runner().call_stop(&mut store).await
            };
            perform(guest, asked, host).await
        };
        call.await
            .unwrap_or_else(|error| Err(stopped(language, &error)))
    }

    /// Returns how the app does whose files are in a folder.
    ///
    /// # Errors
    ///
    /// That the runner stopped.
    pub async fn health(
        &self,
        language: Language,
        folder: &Path,
        host: &impl Process,
    ) -> std::result::Result<Condition, Failure> {
        let call = async {
            let (mut store, asked) = store(&self.engine, folder, FsPerms::ReadOnly)?;
            let guest = async {
                let runner = self.runner(language).instantiate_async(&mut store).await?;
                runner.agent_runner_runner().call_health(&mut store).await
            };
            perform(guest, asked, host).await
        };
        call.await.map_err(|error| stopped(language, &error))
    }

    fn runner(&self, language: Language) -> &BuiltInPre<RunnerState> {
        let mut runners = self.runners.iter();
        let found = runners.find(|(it, _)| *it == language);
        &found.expect("`load_all` has one for each language").1
    }
}

/// Loads a component.
fn component(engine: &Engine, code: &'static [u8]) -> Result<Component> {
    #[expect(
        unsafe_code,
        reason = "loading machine code can't be checked by the compiler"
    )]
    // SAFETY: `deserialize` requires bytes that wasmtime's own compilation has written. They are
    // the output of `agent-aot` and constant data of this program. wasmtime itself refuses code of
    // another version, configuration or processor.
    unsafe {
        Component::deserialize(engine, code)
    }
}

/// Returns the failure of a runner that has stopped: a defect of it, or one of its limits.
fn stopped(language: Language, error: &wasmtime::Error) -> Failure {
    let reason = match error.downcast_ref::<Trap>() {
        Some(Trap::OutOfFuel) => "it reached its limit of instructions".to_owned(),
        _ => format!("{error:#}"),
    };
    Failure {
        code: ErrorCode::Runtime,
        message: format!("the runner of {language} stopped: {reason}"),
        hints: vec!["report this as a defect of the runner".to_owned()],
    }
}
