//! The commands, a file each.

mod completions;
mod diff;
mod discover;
mod expand;
mod explain;
mod ground;
mod index_import;
mod man;
mod match_task;
mod plan_check;
mod policy_check;
mod resolve;
mod schema;
mod session;
mod tools;
mod validate;
mod verify;
mod why;

use crate::args::{Arguments, Command, Index, Plan, Policy, Schema};
use agent_host::Failure;
use session::Session;

/// The answer of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Yes,
    No,
    /// Neither; the printed problems contain the reasons. Anything else that prevents an answer is
    /// a [`Failure`].
    None,
}

impl Answer {
    fn yes_if(yes: bool) -> Self {
        if yes { Self::Yes } else { Self::No }
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let global = &arguments.global;
    let open = |output| Session::open(global, output);
    match &arguments.command {
        Command::Validate(it) => validate::run(it, open(&it.output)?),
        Command::Discover(it) => discover::run(it, open(&it.output)?),
        Command::Resolve(it) => resolve::run(it, open(&it.output)?),
        Command::Match(it) => match_task::run(it, open(&it.output)?),
        Command::Tools(it) => tools::run(it, open(&it.output)?),
        Command::Expand(it) => expand::run(it, open(&it.output)?),
        Command::Plan(Plan::Check(it)) => plan_check::run(it, open(&it.output)?),
        Command::Schema(Schema::List(it)) => schema::list(open(&it.output)?),
        Command::Schema(Schema::Show(it)) => schema::show(it, open(&it.output)?),
        Command::Schema(Schema::Check(it)) => schema::check(it, open(&it.output)?),
        Command::Policy(Policy::Check(it)) => policy_check::run(it, open(&it.output)?),
        Command::Index(Index::Import(it)) => index_import::run(it, open(&it.output)?),
        Command::Ground(it) => ground::run(it, open(&it.output)?),
        Command::Why(it) => why::run(it, open(&it.output)?),
        Command::Diff(it) => diff::run(it, open(&it.output)?),
        Command::Verify(it) => verify::run(it, open(&it.output)?),
        Command::Explain(it) => explain::run(it, global),
        Command::Completions(it) => completions::run(it),
        Command::Man(it) => man::run(it),
    }
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
