//! `agent replay`: decides a recorded run again.

use super::Answer;
use super::running::present;
use super::session::Session;
use crate::args::{INDEX, LOCK, Replay};
use agent_host::contract::diagnostic::DocumentKind;
use agent_host::contract::run::Documents;
use agent_host::input::{INDEX_MAX, Input, TEXT_MAX};
use agent_host::{Failure, call};

pub(super) fn run(args: &Replay, session: &mut Session) -> Result<Answer, Failure> {
    let rules = rules(args, session)?;
    let core = session.core(&args.mova)?;
    let folder = session.run_folder(&args.folder)?;
    let replayed = call!(
        session.engine,
        evidence.run_folder.call_replay(folder, &rules, core)
    )?;
    match replayed {
        Ok(replayed) => {
            let is_undecided = replayed.difference.is_none() && replayed.undecidable > 0;
            let is_same = replayed.difference.is_none();
            session.add(replayed.difference);
            session.show(|_| Ok(replayed.text), |_| Ok(replayed.json))?;
            Ok(match is_undecided {
                true => Answer::None,
                false => Answer::yes_if(is_same),
            })
        }
        // Nothing can be said about the decisions of a run whose evidence was changed.
        Err(problems) => {
            session.add(problems);
            session.report()?;
            Ok(Answer::None)
        }
    }
}

/// Reads the documents that replace those of the run, or that evidence does not contain.
fn rules(args: &Replay, session: &mut Session) -> Result<Documents, Failure> {
    let lock = present(&args.lock, LOCK);
    let index = present(&args.index.index, INDEX);
    let policy = session.policy_input(&args.policy)?;
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
        tenant: text(DocumentKind::Tenant, args.policy.tenant.as_ref(), TEXT_MAX)?,
        tenant_id: args.policy.tenant_id.clone(),
        policy: text(DocumentKind::Policy, policy.as_ref(), TEXT_MAX)?,
        policy_context: text(
            DocumentKind::Context,
            args.policy.policy_context.as_ref(),
            TEXT_MAX,
        )?,
        mova: session.mova(&args.mova)?,
        goal: None,
        summary: None,
    })
}
