//! `agent replay`: decides a recorded run, or the calls of an audit log, again.

use super::CommandAnswer;
use super::running::present;
use super::serve::{Given, documents};
use super::session::CommandSession;
use crate::args::{Format, INDEX, LOCK, Replay};
use agent_host::contract::diagnostic::DocumentKind;
use agent_host::contract::run::Documents;
use agent_host::input::{INDEX_MAX, Input, TEXT_MAX};
use agent_host::output::Progress;
use agent_host::{Failure, call};
use std::path::Path;

pub(super) fn run(args: &Replay, session: &mut CommandSession) -> Result<CommandAnswer, Failure> {
    match &args.paths[..] {
        [Input::File(folder)] if folder.is_dir() => of_run(args, folder, session),
        _ => of_log(args, session),
    }
}

/// Decides the calls of an audit log again.
fn of_log(args: &Replay, session: &mut CommandSession) -> Result<CommandAnswer, Failure> {
    for (option, is_given) in [
        ("--profile", args.profile.is_some()),
        ("--tool-pool", args.tool_pool.is_some()),
        ("--mova", args.mova.folder.is_some()),
    ] {
        refuse_for(option, is_given, "the evidence of a run, which is a folder")?;
    }
    let given = Given {
        lock: &args.lock,
        index: &args.index.index,
        task: args.task.as_ref(),
        context: &args.context,
    };
    let documents = documents(given, session)?;
    let opened = call!(session.engine, audit.log_replay.call_open(&documents))?;
    let log = match opened {
        Ok(log) => log,
        Err(problems) => {
            session.refuse_for(problems)?;
            return Ok(CommandAnswer::None);
        }
    };
    for (file, number) in args.paths.iter().zip(0..) {
        let _progress = Progress::of(format!("deciding the calls of {file}"));
        session.name_log(file, number)?;
        file.pieces(|bytes| call!(session.engine, audit.log_replay.call_feed(log, bytes)))?;
        call!(session.engine, audit.log_replay.call_end_file(log))?;
    }
    let replayed = match call!(session.engine, audit.log_replay.call_finish(log))? {
        Ok(replayed) => replayed,
        // Nothing can be said about the decisions of a log that was changed.
        Err(problems) => {
            session.add(problems);
            session.report()?;
            return Ok(CommandAnswer::None);
        }
    };
    session.add(replayed.warnings);
    // For people, and as JSON, the answer says the same.
    if matches!(args.output.format, Format::Sarif | Format::Github) {
        session.add(replayed.differences);
    }
    session.show(|_| Ok(replayed.text), |_| Ok(replayed.json))?;
    Ok(match (replayed.differing, replayed.undecidable) {
        (0, 0) => CommandAnswer::Yes,
        (0, _) => CommandAnswer::None,
        _ => CommandAnswer::No,
    })
}

/// Refuses an option that has no effect.
fn refuse_for(option: &str, is_given: bool, what: &str) -> Result<(), Failure> {
    match is_given {
        true => Err(Failure::new(format_args!("`{option}` is for {what}"))
            .help(format_args!("leave out `{option}`"))),
        false => Ok(()),
    }
}

/// Decides a recorded run again.
fn of_run(
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
        evidence.run_folder.call_replay(folder, &rules, core)
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
