//! The commands, a file each.

mod audit;
mod diff;
mod discover;
mod expand;
mod explain;
mod ground;
mod index_import;
mod match_task;
#[cfg(not(target_family = "wasm"))]
pub(crate) mod performing;
mod plan_check;
mod policy_check;
mod policy_diff;
mod policy_explain;
mod replay;
mod resolve;
mod schema;
mod session;
mod share;
mod tools;
mod validate;
mod verify;
mod why;

use crate::args::{
    Arguments, Command, Deciding, Global, Index, Output, PlanCommand, Policy, Schema,
};
use agent_host::Failure;
use session::{CommandSession, mending};

/// The answer of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommandAnswer {
    Yes,
    No,
    /// Neither; the printed problems contain the reasons. Anything else that prevents an answer is
    /// a [`Failure`].
    None,
}

impl CommandAnswer {
    pub(crate) fn yes_if(yes: bool) -> Self {
        if yes { Self::Yes } else { Self::No }
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<CommandAnswer, Failure> {
    let global = &arguments.global;
    match &arguments.command {
        Command::Deciding(it) => {
            #[cfg(target_family = "wasm")]
            refuse_open(match &**it {
                Deciding::Resolve(it) => it.open,
                Deciding::Replay(it) => it.open,
                _ => false,
            })?;
            let answer = decide(it, global)?;
            #[cfg(not(target_family = "wasm"))]
            performing::playground::after(it, answer, global)?;
            Ok(answer)
        }
        #[cfg(not(target_family = "wasm"))]
        Command::Performing(it) => performing::run(it, global),
        #[cfg(target_family = "wasm")]
        Command::Plan(it) => check_plan(it, global),
    }
}

fn decide(command: &Deciding, global: &Global) -> Result<CommandAnswer, Failure> {
    let open = |output| CommandSession::open(global, output);
    match command {
        Deciding::Validate(it) => mending(&it.report, global, |to| validate::run(it, to)),
        Deciding::Discover(it) => mending(&it.report, global, |to| discover::run(it, to)),
        Deciding::Resolve(it) => mending(&it.report, global, |to| resolve::run(it, to)),
        Deciding::Match(it) => mending(&it.report, global, |to| match_task::run(it, to)),
        Deciding::Tools(it) => mending(&it.report, global, |to| tools::run(it, to)),
        Deciding::Expand(it) => mending(&it.report, global, |to| expand::run(it, to)),
        Deciding::Ground(it) => mending(&it.report, global, |to| ground::run(it, to)),
        Deciding::Why(it) => mending(&it.report, global, |to| why::run(it, to)),
        Deciding::Diff(it) => mending(&it.output.report(), global, |to| diff::run(it, to)),
        Deciding::Verify(it) => mending(&it.report, global, |to| verify::run(it, to)),
        Deciding::Schema(Schema::List(it)) => schema::list(&mut open(&it.output)?),
        Deciding::Schema(Schema::Show(it)) => schema::show(it, &mut open(&it.output)?),
        Deciding::Schema(Schema::Check(it)) => {
            mending(&it.report, global, |to| schema::check(it, to))
        }
        Deciding::Policy(Policy::Check(it)) => {
            mending(&it.report, global, |to| policy_check::run(it, to))
        }
        #[cfg(not(target_family = "wasm"))]
        Deciding::Policy(Policy::New(it)) => {
            performing::policy_new::run(it, &mut open(&Output::TEXT)?)
        }
        Deciding::Policy(Policy::Explain(it)) => {
            mending(&it.report, global, |to| policy_explain::run(it, to))
        }
        Deciding::Policy(Policy::Diff(it)) => {
            mending(&it.output.report(), global, |to| policy_diff::run(it, to))
        }
        Deciding::Index(Index::Import(it)) => {
            mending(&it.report, global, |to| index_import::run(it, to))
        }
        #[cfg(not(target_family = "wasm"))]
        Deciding::Index(Index::Add(it)) => performing::index_add::run(it, &mut open(&it.output)?),
        #[cfg(not(target_family = "wasm"))]
        Deciding::Index(Index::Refresh(it)) => {
            performing::index_refresh::run(it, &mut open(&it.output)?)
        }
        Deciding::Audit(it) => audit::run(it, &mut open(&it.output)?),
        Deciding::Replay(it) => replay::run(it, &mut open(&it.output)?),
        Deciding::Share(it) => share::run(it, &mut open(&Output::TEXT)?),
        Deciding::Explain(it) => explain::run(it, global),
    }
}

fn check_plan(command: &PlanCommand, global: &Global) -> Result<CommandAnswer, Failure> {
    let PlanCommand::Check(it) = command;
    #[cfg(target_family = "wasm")]
    refuse_open(it.open)?;
    let answer = mending(&it.report, global, |to| plan_check::run(it, to))?;
    #[cfg(not(target_family = "wasm"))]
    performing::playground::after_plan(it, answer, global)?;
    Ok(answer)
}

/// Refuses the option `--open`, which needs a server.
#[cfg(target_family = "wasm")]
fn refuse_open(is_wanted: bool) -> Result<(), Failure> {
    if is_wanted {
        let failure = Failure::new("a component does not open the playground");
        return Err(failure.help("run this command natively"));
    }
    Ok(())
}

/// Adds help about an unknown name: the known names that resemble it, or else how to list all.
fn suggest(failure: Failure, names: &[String], list_all: &str) -> Failure {
    let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    failure.help(match names.split_last() {
        Some((last, [])) => format!("did you mean {last}?"),
        Some((last, others)) => format!("did you mean {} or {last}?", others.join(", ")),
        None => list_all.to_owned(),
    })
}
