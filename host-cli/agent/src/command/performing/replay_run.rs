//! `agent replay` of a recorded run.

use crate::args::{INDEX, LOCK, Replay};
use crate::command::CommandAnswer;
use crate::command::replay::refuse_for;
use crate::command::session::CommandSession;
use agent_host::contract::diagnostic::DocumentKind;
use agent_host::contract::run::Documents;
use agent_host::input::{INDEX_MAX, Input, TEXT_MAX};
use agent_host::session_files::present;
use agent_host::{Failure, call};
use std::path::Path;

/// Decides a recorded run again.
pub(in crate::command) fn run(
    args: &Replay,
    folder: &Path,
    session: &mut CommandSession,
) -> Result<CommandAnswer, Failure> {
    for (option, is_given) in [
        ("--task", args.task.is_some()),
        ("--health", args.context.health.is_some()),
    ] {
        refuse_for(option, is_given, "an audit log, which is a file")?;
    }
    let rules = rules(args, session)?;
    let core = session.core(&args.mova)?;
    let folder = session.run_folder(folder)?;
    let replayed = call!(
        session.engine,
        evidence.run_folder.replay(folder, &rules, core)
    )?;
    match replayed {
        Ok(replayed) => {
            let is_undecided = replayed.difference.is_none() && replayed.undecidable > 0;
            let is_same = replayed.difference.is_none();
            session.add(replayed.difference);
            session.show(|_| Ok(replayed.text), |_| Ok(replayed.json))?;
            Ok(match is_undecided {
                true => CommandAnswer::None,
                false => CommandAnswer::yes_if(is_same),
            })
        }
        // Nothing can be said about the decisions of a run whose evidence was changed.
        Err(problems) => {
            session.add(problems);
            session.report()?;
            Ok(CommandAnswer::None)
        }
    }
}

/// Reads the documents that replace those of the run, or that evidence does not contain.
fn rules(args: &Replay, session: &mut CommandSession) -> Result<Documents, Failure> {
    let lock = present(&args.lock, LOCK);
    let index = present(&args.index.index, INDEX);
    let policy = session.policy_input(&args.context.policy)?;
    let mut text = |kind, input: Option<&Input>, limit| {
        let read = input.map(|input| session.text(kind, input, limit));
        read.transpose()
    };
    Ok(Documents {
        plan: None,
        request: None,
        tool_pool: text(DocumentKind::ToolPool, args.tool_pool.as_ref(), TEXT_MAX)?,
        instruction_profile: text(DocumentKind::Profile, args.profile.as_ref(), TEXT_MAX)?,
        lock: text(DocumentKind::Lock, lock, TEXT_MAX)?,
        index: text(DocumentKind::Index, index, INDEX_MAX)?,
        task: None,
        tenant: text(
            DocumentKind::Tenant,
            args.context.policy.tenant.as_ref(),
            TEXT_MAX,
        )?,
        tenant_id: args.context.policy.tenant_id.clone(),
        policy: text(DocumentKind::Policy, policy.as_ref(), TEXT_MAX)?,
        policy_context: text(
            DocumentKind::Context,
            args.context.policy.policy_context.as_ref(),
            TEXT_MAX,
        )?,
        mova: session.mova(&args.mova)?,
        goal: None,
        summary: None,
    })
}
