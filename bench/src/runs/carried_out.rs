//! Runs with their effects: in this process, and as `agent run-plan`.

use super::documents::Texts;
use agent_effects::{Effects, Resolver, Run, run_id};
use agent_evidence::Store;
use agent_host::contract::run::{Decision, Mode, Options};
use agent_host::{Engine, Zone, block_on, random};
use agent_operator::Operator;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

/// Carries out a plan in this process, with its evidence below a folder.
pub(super) fn here(engine: &Engine, texts: Texts, operator: &Operator, folder: &Path) {
    let finished = block_on(async {
        let nobody = |_: &_| Decision {
            approved: false,
            by: String::new(),
        };
        let (store, resolver) = (Store::new(folder), Resolver::system());
        let effects = Effects::new(store, Arc::new(nobody), operator, engine.clone(), resolver);
        let mut effects = effects.await?;
        let options = Options {
            run_id: run_id()?,
            random: random::<32>()?.to_vec(),
            sandbox_tier: effects.sandbox_tier().to_owned(),
            handlers: effects.handlers().listed(),
            approvals: Vec::new(),
            secrets: effects.secrets(),
            mode: Mode::CarryOut,
            asks_for_summary: false,
        };
        let mut instance = engine.instantiate()?;
        let run = Run::start(&mut instance, &texts.contract(), &options, Zone::default())?;
        run.carry_out(&mut effects).await
    });
    let finished = finished.expect("the engine answers");
    assert!(
        finished.code.is_none(),
        "the plan runs: {}",
        finished.message
    );
}

/// Returns a call of the program beside this one, in a folder.
pub(super) fn agent(folder: &Path, arguments: &[&str]) -> Command {
    let program = std::env::current_exe().expect("this program has a path");
    let mut command = Command::new(program.with_file_name("agent"));
    command.args(arguments);
    within(command, folder)
}

/// Lets a command run in a folder without streams.
pub(super) fn within(mut command: Command, folder: &Path) -> Command {
    command
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// Runs a command, which must succeed.
pub(super) fn succeed(mut command: Command) {
    let status = command.status().expect("the program starts");
    assert!(status.success(), "{command:?}: {status}");
}
