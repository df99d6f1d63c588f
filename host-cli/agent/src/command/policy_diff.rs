//! `agent policy diff`: what another policy would allow and deny.

use super::CommandAnswer;
use super::session::CommandSession;
use super::session::documents::{Given, documents_under, text};
use crate::args::{EvaluationContext, PolicyDiff, PolicyOptions};
use agent_host::contract::audit::LogCompared;
use agent_host::contract::capability::Tenant;
use agent_host::contract::diagnostic::DocumentKind;
use agent_host::contract::policy::{Policy, PolicyDifference};
use agent_host::contract::session::Documents;
use agent_host::input::Input;
use agent_host::output::Progress;
use agent_host::{Failure, call};

pub(super) fn run(
    args: &PolicyDiff,
    session: &mut CommandSession,
) -> Result<CommandAnswer, Failure> {
    let Some(index) = session.index(&args.index.index)? else {
        return session.refuse();
    };
    let context = session.optional(args.policy_context.as_ref(), CommandSession::context)?;
    let old_tenant = args.old_tenant.as_ref().or(args.tenant.as_ref());
    // Problems of one side are drawn in its own text.
    let Some(before) = side(args, (&args.old, old_tenant), session)? else {
        return session.refuse();
    };
    let after = side(args, (&args.new, args.tenant.as_ref()), session)?;
    let (Some(context), Some(after)) = (context, after) else {
        return session.refuse();
    };
    let (before_tenant, after_tenant) = (before.tenant, after.tenant);
    let found = call!(
        session.engine,
        policy.difference(
            before.policy,
            before_tenant,
            after.policy,
            after_tenant,
            index,
            context
        )
    )?;
    session.note(asked(&found));
    let mut drifts = found.drifts;
    // What was not asked may be newly allowed.
    let mut is_whole = found.left_out == 0;
    if !args.log.is_empty() {
        let compared = match of_calls(args, [before.text, after.text], session)? {
            Ok(compared) => compared,
            Err(answer) => return Ok(answer),
        };
        session.add(compared.warnings);
        session.note(decided(compared.decided, compared.undecidable));
        drifts.extend(compared.drifts);
        is_whole &= compared.undecidable == 0;
    }
    let answer = session.show_differences(&args.output, &drifts)?;
    Ok(CommandAnswer::yes_if(
        is_whole && answer == CommandAnswer::Yes,
    ))
}

/// A policy with its tenant.
struct Side {
    policy: Policy,
    text: Vec<u8>,
    tenant: Option<Tenant>,
}

/// Reads a policy with its tenant.
fn side(
    args: &PolicyDiff,
    (policy, tenant): (&Input, Option<&Input>),
    session: &mut CommandSession,
) -> Result<Option<Side>, Failure> {
    let tenant = session.optional(tenant, |session, input| {
        session.tenant(input, args.tenant_id.as_deref())
    })?;
    let policy = session.policy(policy)?;
    let side = policy.zip(tenant);
    Ok(side.map(|((policy, text), tenant)| Side {
        policy,
        text,
        tenant,
    }))
}

/// Lets both policies decide the calls of the log. The error is the answer if that can't be done.
fn of_calls(
    args: &PolicyDiff,
    policies: [Vec<u8>; 2],
    session: &mut CommandSession,
) -> Result<Result<LogCompared, CommandAnswer>, Failure> {
    let [before, after] = policies;
    let context = EvaluationContext {
        policy: PolicyOptions {
            tenant: args.tenant.clone(),
            tenant_id: args.tenant_id.clone(),
            policy: None,
            policy_context: args.policy_context.clone(),
        },
        health: None,
    };
    let given = Given {
        lock: &args.lock,
        index: &args.index.index,
        task: None,
        context: &context,
    };
    let newer = documents_under(Some(after), given, session)?;
    let older = Documents {
        policy: Some(before),
        tenant: match &args.old_tenant {
            Some(tenant) => text(session, DocumentKind::Tenant, Some(tenant))?,
            None => newer.tenant.clone(),
        },
        ..newer.clone()
    };
    let log = match call!(session.engine, audit.log_comparison.open(&older, &newer))? {
        Ok(log) => log,
        Err(problems) => {
            session.refuse_for(problems)?;
            return Ok(Err(CommandAnswer::None));
        }
    };
    for (file, number) in args.log.iter().zip(0..) {
        let _progress = Progress::of(format!("deciding the calls of {file}"));
        session.name_log(file, number)?;
        file.pieces(|bytes| call!(session.engine, audit.log_comparison.feed(log, bytes)))?;
        call!(session.engine, audit.log_comparison.end_file(log))?;
    }
    match call!(session.engine, audit.log_comparison.finish(log))? {
        Ok(compared) => Ok(Ok(compared)),
        // Nothing can be said about the decisions of a log that was changed.
        Err(problems) => {
            session.add(problems);
            session.report()?;
            Ok(Err(CommandAnswer::None))
        }
    }
}

/// Returns how many calls of the log both policies decided.
fn decided(decided: u64, undecidable: u64) -> String {
    let calls = match decided {
        1 => "1 call".to_owned(),
        more => format!("{more} calls"),
    };
    match undecidable {
        0 => format!("both policies decided {calls} of the log"),
        more => format!("both policies decided {calls} of the log, and could not decide {more}"),
    }
}

/// Returns how much was asked, and which part of it is a sample.
fn asked(found: &PolicyDifference) -> String {
    let mut text = format!("asked both policies {} questions", found.asked);
    if found.left_out > 0 {
        text += &format!(", and left out {}", found.left_out);
    }
    let sampled: Vec<_> = found.sampled.iter().map(|it| format!("`{it}`")).collect();
    match &sampled[..] {
        [] => text,
        [one] => format!("{text}; of {one} a sample"),
        several => format!("{text}; of {} samples", several.join(", ")),
    }
}
