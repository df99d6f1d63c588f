//! `agent run-plan`: carries out a plan and writes the evidence of the run.

use super::Answer;
use super::session::Session;
use crate::args::{INDEX, LOCK, RunPlan};
use agent_effects::{Effects, Run, block_on, run_id};
use agent_evidence::Store;
use agent_host::contract::diagnostic::DocumentKind;
use agent_host::contract::run::{Approval, Decision, Documents, Finished, Options, Status};
use agent_host::input::{INDEX_MAX, Input, TEXT_MAX};
use agent_host::{Failure, Instance, output};
use agent_operator::Operator;

/// The names of the tool pool, of the profile and of the request beside a plan: as evidence names
/// them, and their usual ones.
const POOLS: [&str; 2] = ["tool_pool.json", "tool-pool.json"];
const PROFILES: [&str; 2] = ["instruction_profile.json", "profile.json"];
const REQUESTS: [&str; 2] = ["request.envelope.json", "request.json"];

pub(super) fn run(args: &RunPlan, session: &mut Session) -> Result<Answer, Failure> {
    let documents = documents(args, session)?;
    let operator = match &args.servers {
        Some(path) => Operator::read(path),
        None => Operator::usual(),
    };
    let operator = operator.map_err(Failure::new)?;
    let finished = block_on(carry_out(args, &operator, &documents, &mut session.engine))?;
    // Without its evidence a run has no answer, whatever its steps did.
    if !finished.evidence_complete {
        return Err(Failure::new(finished.message)
            .help("make the folder of `--artifacts` writable, and run the plan again"));
    }
    session.add(finished.diagnostics);
    session.show(|_| Ok(finished.text), |_| Ok(finished.summary))?;
    let folder = args.artifacts.join(finished.directory);
    session.note(format_args!("evidence: {}", folder.display()));
    Ok(Answer::yes_if(finished.status == Status::Completed))
}

/// Carries out the run of a plan.
async fn carry_out(
    args: &RunPlan,
    operator: &Operator,
    documents: &Documents,
    engine: &mut Instance,
) -> Result<Finished, Failure> {
    let mut effects =
        Effects::new(Store::new(&args.artifacts), Box::new(approve), operator).await?;
    let options = Options {
        run_id: run_id()?,
        random: agent_effects::random()?,
        sandbox_tier: effects.sandbox_tier().to_owned(),
        handlers: effects.handlers().listed(),
        approvals: args.approvals.clone(),
        secrets: effects.secrets(),
    };
    let run = Run::start(engine, documents, &options)?;
    run.carry_out(&mut effects).await
}

/// Reads the documents of the run. Deciding whether they are valid is part of the run.
fn documents(args: &RunPlan, session: &mut Session) -> Result<Documents, Failure> {
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
    // A missing file that an option names is an error.
    let lock = present(&args.lock, LOCK);
    let index = present(&args.index.index, INDEX);
    let policy = session.policy_input(&args.policy)?;
    let mut text = |kind, input: Option<&Input>, limit| {
        let read = input.map(|input| session.text(kind, input, limit));
        read.transpose()
    };
    Ok(Documents {
        plan: text(DocumentKind::Plan, Some(&args.plan), TEXT_MAX)?,
        request: text(DocumentKind::Request, request.as_ref(), TEXT_MAX)?,
        tool_pool: text(DocumentKind::ToolPool, pool.as_ref(), TEXT_MAX)?,
        instruction_profile: text(DocumentKind::Profile, profile.as_ref(), TEXT_MAX)?,
        lock: text(DocumentKind::Lock, lock, TEXT_MAX)?,
        index: text(DocumentKind::Index, index, INDEX_MAX)?,
        task: None,
        tenant: text(DocumentKind::Tenant, args.policy.tenant.as_ref(), TEXT_MAX)?,
        tenant_id: args.policy.tenant_id.clone(),
        policy: text(DocumentKind::Policy, policy.as_ref(), TEXT_MAX)?,
        policy_context: text(
            DocumentKind::Context,
            args.policy.policy_context.as_ref(),
            TEXT_MAX,
        )?,
        mova: session.mova(&args.mova)?,
    })
}

/// Returns an input unless it is the usual one and absent.
pub(super) fn present<'i>(input: &'i Input, usual: &str) -> Option<&'i Input> {
    let is_absent = input.to_string() == usual && input.is_missing();
    (!is_absent).then_some(input)
}

/// Shows what is to be approved on the terminal, and asks.
fn approve(approval: &Approval) -> Decision {
    let question = format!(
        "step `{}`: {}\ndigest {}\napprove? [y/N] ",
        approval.step_id, approval.subject, approval.digest
    );
    Decision {
        approved: output::ask(&question),
        by: "terminal".to_owned(),
    }
}
