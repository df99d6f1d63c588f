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
    match &arguments.command {
        Command::Validate(it) => validate::run(it, Session::open(global, &it.output)?),
        Command::Discover(it) => discover::run(it, Session::open(global, &it.output)?),
        Command::Resolve(it) => resolve::run(it, Session::open(global, &it.output)?),
        Command::Match(it) => match_task::run(it, Session::open(global, &it.output)?),
        Command::Tools(it) => tools::run(it, Session::open(global, &it.output)?),
        Command::Expand(it) => expand::run(it, Session::open(global, &it.output)?),
        Command::Plan(Plan::Check(it)) => plan_check::run(it, Session::open(global, &it.output)?),
        Command::Schema(Schema::List(it)) => schema::list(Session::open(global, &it.output)?),
        Command::Schema(Schema::Show(it)) => schema::show(it, Session::open(global, &it.output)?),
        Command::Schema(Schema::Check(it)) => schema::check(it, Session::open(global, &it.output)?),
        Command::Policy(Policy::Check(it)) => {
            policy_check::run(it, Session::open(global, &it.output)?)
        }
        Command::Index(Index::Import(it)) => {
            index_import::run(it, Session::open(global, &it.output)?)
        }
        Command::Ground(it) => ground::run(it, Session::open(global, &it.output)?),
        Command::Why(it) => why::run(it, Session::open(global, &it.output)?),
        Command::Diff(it) => diff::run(it, Session::open(global, &it.output)?),
        Command::Verify(it) => verify::run(it, Session::open(global, &it.output)?),
        Command::Explain(it) => explain::run(it, global),
        Command::Completions(it) => completions::run(it),
        Command::Man(it) => man::run(it),
    }
}

/// Returns help for an unknown name from the known names that resemble it.
fn did_you_mean(names: &[String]) -> String {
    let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    match names.split_last() {
        Some((last, [])) => format!("did you mean {last}?"),
        Some((last, others)) => format!("did you mean {} or {last}?", others.join(", ")),
        None => String::new(),
    }
}
