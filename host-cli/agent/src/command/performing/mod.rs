//! The commands that act on this machine, a file each.

mod adopt;
mod app;
mod ask;
mod check_handler;
mod client_limits;
mod clients;
pub(crate) mod completions;
mod connect;
mod doctor;
mod evidence;
mod explain_run;
pub(super) mod index_add;
pub(super) mod index_refresh;
mod init;
mod install;
mod live_servers;
mod login;
pub(crate) mod man;
mod observing;
mod open_evidence;
mod pdp;
mod plan_goal;
pub(super) mod playground;
pub(super) mod policy_new;
pub(super) mod replay_run;
mod rerun;
mod run_plan;
mod running;
mod sandbox;
mod serve;
mod status;
mod test_runner;

use super::session::CommandSession;
use super::{CommandAnswer, check_plan};
use crate::args::{Arguments, Evidence, Global, Output, Performing};
use agent_host::Failure;
use agent_host::contract::run::Mode;
use clap::CommandFactory as _;

pub(super) fn run(command: &Performing, global: &Global) -> Result<CommandAnswer, Failure> {
    let open = |output| CommandSession::open(global, output);
    match command {
        Performing::Init(it) => init::run(it, &mut open(&Output::TEXT)?),
        Performing::Plan(plan) => match &plan.command {
            Some(command) => check_plan(command, global),
            None => {
                let mode = (Mode::Decide, false);
                plan_goal::run((&plan.goal, &plan.run), mode, &mut open(&plan.run.output)?)
            }
        },
        Performing::Run(it) => {
            let mode = (Mode::CarryOut, it.explain);
            plan_goal::run((&it.goal, &it.run), mode, &mut open(&it.run.output)?)
        }
        Performing::Rerun(it) => rerun::run(it, &mut open(&it.run.output)?),
        Performing::Ask(it) => ask::run(it, &mut open(&it.run.output)?),
        Performing::RunPlan(it) => run_plan::run(it, &mut open(&it.run.output)?),
        Performing::Serve(it) => serve::run(it, global),
        Performing::Status(it) => status::run(it),
        Performing::Pdp(it) => pdp::run(None, it),
        Performing::Bundle(it) => pdp::run(Some("bundle"), it),
        Performing::Fleet(it) => pdp::run(Some("fleet"), it),
        Performing::Clients(it) => clients::run(it, &mut open(&it.output)?),
        Performing::Adopt(it) => adopt::run(it, global, &mut open(&Output::TEXT)?),
        Performing::Connect(it) => connect::connect(it, &mut open(&Output::TEXT)?),
        Performing::Disconnect(it) => connect::disconnect(it, &mut open(&Output::TEXT)?),
        Performing::Doctor(it) => doctor::run(it, &mut open(&it.output)?),
        Performing::Login(it) => login::run(it, &mut open(&Output::TEXT)?),
        Performing::Logout(it) => login::forget(it, &mut open(&Output::TEXT)?),
        Performing::Evidence(Evidence::Verify(it)) => evidence::verify(it, &mut open(&it.output)?),
        Performing::Evidence(Evidence::Export(it)) => {
            evidence::export(it, &mut open(&Output::TEXT)?)
        }
        Performing::Evidence(Evidence::Explain(it)) => explain_run::run(it, &mut open(&it.output)?),
        Performing::Evidence(Evidence::Open(it)) => open_evidence::run(it),
        Performing::Playground(it) => playground::run(it, &mut open(&Output::TEXT)?),
        Performing::CheckHandler(it) => check_handler::run(it),
        Performing::Sandbox(it) => sandbox::run(it),
        Performing::Install(it) => install::run(it, &mut open(&it.output)?),
        Performing::Completions(it) => completions::run(it, Arguments::command(), "agent"),
        Performing::Man(it) => man::run(it, Arguments::command()),
        Performing::TestRunner(it) => test_runner::run(it),
        Performing::App(it) => app::run(it, global),
        Performing::Mcpd(it) => app::serve(it, global),
    }
}
