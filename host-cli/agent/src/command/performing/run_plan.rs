//! `agent run-plan`: carries out a plan and writes the evidence of the run.

use super::running::{Running, shared_documents};
use crate::args::RunPlan;
use crate::command::CommandAnswer;
use crate::command::session::CommandSession;
use crate::command::session::documents::text;
use agent_host::Failure;
use agent_host::contract::diagnostic::DocumentKind;
use agent_host::contract::run::{Documents, Finished, Mode};
use agent_host::input::Input;

/// The names of the tool pool, of the profile and of the request in the folder of a plan: as
/// evidence names them, and their usual ones.
const POOLS: [&str; 2] = ["tool_pool.json", "tool-pool.json"];
const PROFILES: [&str; 2] = ["instruction_profile.json", "profile.json"];
const REQUESTS: [&str; 2] = ["request.envelope.json", "request.json"];

pub(super) fn run(args: &RunPlan, session: &mut CommandSession) -> Result<CommandAnswer, Failure> {
    let documents = documents(args, session)?;
    let running = match args.dry_run {
        true => Running {
            mode: Mode::Preview,
            ..Running::of_plan(&args.run)
        },
        false => Running::of_plan(&args.run),
    };
    let finished = running.carry_out(&documents, session)?;
    let json = |finished: &Finished| match args.dry_run {
        true => finished.answer.clone(),
        false => finished.summary.clone(),
    };
    running.show(finished, json, session)
}

fn documents(args: &RunPlan, session: &mut CommandSession) -> Result<Documents, Failure> {
    let beside = |names: [&str; 2]| {
        let Input::File(plan) = &args.plan else {
            return None;
        };
        let inputs = names.map(|name| Input::File(plan.with_file_name(name)));
        inputs.into_iter().find(|input| !input.is_missing())
    };
    let pool = args.tool_pool.clone().or_else(|| beside(POOLS));
    let profile = args.profile.clone().or_else(|| beside(PROFILES));
    let request = args.request.clone().or_else(|| beside(REQUESTS));
    let shared = shared_documents(&args.run, session)?;
    Ok(Documents {
        plan: text(session, DocumentKind::Plan, Some(&args.plan))?,
        request: text(session, DocumentKind::Request, request.as_ref())?,
        tool_pool: text(session, DocumentKind::ToolPool, pool.as_ref())?,
        instruction_profile: text(session, DocumentKind::Profile, profile.as_ref())?,
        ..shared
    })
}
