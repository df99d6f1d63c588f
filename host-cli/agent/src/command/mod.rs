//! The commands, a file each.

mod adopt;
mod app;
mod ask;
mod audit;
mod check_handler;
mod clients;
pub(crate) mod completions;
mod connect;
mod diff;
mod discover;
mod doctor;
mod evidence;
mod expand;
mod explain;
mod explain_run;
mod ground;
mod index_add;
mod index_import;
mod index_refresh;
mod init;
mod install;
mod live_servers;
mod login;
pub(crate) mod man;
mod match_task;
mod observing;
mod open_evidence;
mod plan_check;
mod plan_goal;
mod policy_check;
mod replay;
mod rerun;
mod resolve;
mod run_plan;
mod running;
mod sandbox;
mod schema;
mod serve;
mod session;
mod status;
mod test_runner;
mod tools;
mod validate;
mod verify;
mod why;

use crate::args::{Arguments, Command, Evidence, Index, Output, PlanCommand, Policy, Schema};
use agent_host::Failure;
use agent_host::contract::run::Mode;
use clap::CommandFactory as _;
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
    let open = |output| CommandSession::open(global, output);
    match &arguments.command {
        Command::Init(it) => init::run(it, &mut open(&Output::TEXT)?),
        Command::Validate(it) => mending(&it.report, global, |to| validate::run(it, to)),
        Command::Discover(it) => mending(&it.report, global, |to| discover::run(it, to)),
        Command::Resolve(it) => mending(&it.report, global, |to| resolve::run(it, to)),
        Command::Match(it) => mending(&it.report, global, |to| match_task::run(it, to)),
        Command::Tools(it) => mending(&it.report, global, |to| tools::run(it, to)),
        Command::Expand(it) => mending(&it.report, global, |to| expand::run(it, to)),
        Command::Plan(plan) => match &plan.command {
            Some(PlanCommand::Check(it)) => {
                mending(&it.report, global, |to| plan_check::run(it, to))
            }
            None => {
                let mode = (Mode::Decide, false);
                plan_goal::run((&plan.goal, &plan.run), mode, &mut open(&plan.run.output)?)
            }
        },
        Command::Run(it) => {
            let mode = (Mode::CarryOut, it.explain);
            plan_goal::run((&it.goal, &it.run), mode, &mut open(&it.run.output)?)
        }
        Command::Rerun(it) => rerun::run(it, &mut open(&it.run.output)?),
        Command::Ask(it) => ask::run(it, &mut open(&it.run.output)?),
        Command::RunPlan(it) => run_plan::run(it, &mut open(&it.run.output)?),
        Command::Serve(it) => serve::run(it, global),
        Command::Status(it) => status::run(it),
        Command::Clients(it) => clients::run(it, &mut open(&it.output)?),
        Command::Adopt(it) => adopt::run(it, global, &mut open(&Output::TEXT)?),
        Command::Connect(it) => connect::connect(it, &mut open(&Output::TEXT)?),
        Command::Disconnect(it) => connect::disconnect(it, &mut open(&Output::TEXT)?),
        Command::Doctor(it) => doctor::run(it, &mut open(&it.output)?),
        Command::Login(it) => login::run(it, &mut open(&Output::TEXT)?),
        Command::Logout(it) => login::forget(it, &mut open(&Output::TEXT)?),
        Command::Audit(it) => audit::run(it, &mut open(&it.output)?),
        Command::Evidence(Evidence::Verify(it)) => evidence::verify(it, &mut open(&it.output)?),
        Command::Evidence(Evidence::Export(it)) => evidence::export(it, &mut open(&Output::TEXT)?),
        Command::Evidence(Evidence::Explain(it)) => explain_run::run(it, &mut open(&it.output)?),
        Command::Evidence(Evidence::Open(it)) => open_evidence::run(it),
        Command::Replay(it) => replay::run(it, &mut open(&it.output)?),
        Command::CheckHandler(it) => check_handler::run(it),
        Command::Sandbox(it) => sandbox::run(it),
        Command::Install(it) => install::run(it, &mut open(&it.output)?),
        Command::Schema(Schema::List(it)) => schema::list(&mut open(&it.output)?),
        Command::Schema(Schema::Show(it)) => schema::show(it, &mut open(&it.output)?),
        Command::Schema(Schema::Check(it)) => {
            mending(&it.report, global, |to| schema::check(it, to))
        }
        Command::Policy(Policy::Check(it)) => {
            mending(&it.report, global, |to| policy_check::run(it, to))
        }
        Command::Index(Index::Import(it)) => {
            mending(&it.report, global, |to| index_import::run(it, to))
        }
        Command::Index(Index::Add(it)) => index_add::run(it, &mut open(&it.output)?),
        Command::Index(Index::Refresh(it)) => index_refresh::run(it, &mut open(&it.output)?),
        Command::Ground(it) => mending(&it.report, global, |to| ground::run(it, to)),
        Command::Why(it) => mending(&it.report, global, |to| why::run(it, to)),
        Command::Diff(it) => mending(&it.report(), global, |to| diff::run(it, to)),
        Command::Verify(it) => mending(&it.report, global, |to| verify::run(it, to)),
        Command::Explain(it) => explain::run(it, global),
        Command::Completions(it) => completions::run(it, Arguments::command(), "agent"),
        Command::Man(it) => man::run(it, Arguments::command()),
        Command::TestRunner(it) => test_runner::run(it),
        Command::App(it) => app::run(it, global),
        Command::Mcpd(it) => app::serve(it, global),
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
