//! `agent replay`: decides a recorded run, or the calls of an audit log, again.

use super::CommandAnswer;
use super::session::CommandSession;
use super::session::documents::{Given, documents};
use crate::args::{Format, Replay};
use agent_host::input::Input;
use agent_host::output::Progress;
use agent_host::system::{Files as _, System};
use agent_host::{Failure, call};

pub(super) fn run(args: &Replay, session: &mut CommandSession) -> Result<CommandAnswer, Failure> {
    match &args.paths[..] {
        [Input::File(folder)] if System::is_folder(folder) => {
            #[cfg(not(target_family = "wasm"))]
            return super::performing::replay_run::run(args, folder, session);
            #[cfg(target_family = "wasm")]
            Err(
                Failure::new("a component does not decide the evidence of a run again")
                    .help("run `agent replay` natively"),
            )
        }
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
    let opened = call!(session.engine, audit.log_replay.open(&documents))?;
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
        file.pieces(|bytes| call!(session.engine, audit.log_replay.feed(log, bytes)))?;
        call!(session.engine, audit.log_replay.end_file(log))?;
    }
    let replayed = match call!(session.engine, audit.log_replay.finish(log))? {
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
pub(super) fn refuse_for(option: &str, is_given: bool, what: &str) -> Result<(), Failure> {
    match is_given {
        true => Err(Failure::new(format_args!("`{option}` is for {what}"))
            .help(format_args!("leave out `{option}`"))),
        false => Ok(()),
    }
}
