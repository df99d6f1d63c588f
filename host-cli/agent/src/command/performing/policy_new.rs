//! `agent policy new`: write a first policy with its tests.

use crate::args::PolicyNew;
use crate::command::session::CommandSession;
use crate::command::{CommandAnswer, policy_check};
use agent_host::atomic_write::StagedFile;
use agent_host::contract::policy::{AskedTool, ToolName};
use agent_host::input::Input;
use agent_host::output::Progress;
use agent_host::{Failure, call, diagnostics, output};

/// Maximum number of characters of a description in a question.
const ABOUT_MAX: usize = 160;

pub(crate) fn run(
    args: &PolicyNew,
    session: &mut CommandSession,
) -> Result<CommandAnswer, Failure> {
    let policy = Input::File(args.policy.clone());
    let tests = policy_check::beside(&args.policy);
    for existing in [&args.policy, &tests] {
        if !Input::File(existing.clone()).is_missing() {
            let message = format!("`{}` exists, and stays as it is", existing.display());
            return Ok(refuse(&message, "name another file"));
        }
    }
    let Some(index) = session.index(&args.index.index)? else {
        return session.refuse();
    };
    let asked = call!(session.engine, policy.asked_tools(index))?;
    let (allowed, source) = match &args.log[..] {
        [] => {
            let source = format!("answers about the tools of {}", args.index.index);
            (answers(&asked)?, source)
        }
        log => {
            let Some(called) = called(log, session)? else {
                return Ok(CommandAnswer::None);
            };
            let names: Vec<_> = log.iter().map(Input::to_string).collect();
            (called, format!("calls of {}", names.join(", ")))
        }
    };
    if allowed.is_empty() {
        let help = "a policy that allows nothing is refused; allow a tool";
        return Ok(refuse("no tool is allowed, and nothing is written", help));
    }
    let written = call!(session.engine, policy.write(index, &allowed, &source))?;
    // Both are stored before one is in its place.
    let staged = StagedFile::new(&tests, written.tests.as_bytes())?;
    StagedFile::new(&args.policy, written.policy.as_bytes())?.commit()?;
    staged.commit()?;
    let (number, tests) = (allowed.len(), tests.display());
    session.note(format_args!(
        "wrote {policy} and {tests}: {number} of {} tools are allowed",
        asked.len()
    ));
    session.note(format_args!("next: `agent policy check {policy}`"));
    Ok(CommandAnswer::Yes)
}

/// Asks about each tool, and returns the allowed ones.
fn answers(asked: &[AskedTool]) -> Result<Vec<ToolName>, Failure> {
    let mut allowed = Vec::new();
    // The answer for the rest of a server.
    let mut rest: Option<(&str, bool)> = None;
    for tool in asked {
        let of_server = rest.filter(|(server, _)| *server == tool.server);
        let yes = match of_server {
            Some((_, yes)) => yes,
            None => {
                let (yes, of_all) = answer(tool)?;
                rest = of_all.then_some((&*tool.server, yes));
                yes
            }
        };
        if yes {
            allowed.push(ToolName {
                server: tool.server.clone(),
                tool: tool.tool.clone(),
            });
        }
    }
    Ok(allowed)
}

/// Asks about a tool until the answer is one. Returns it, and whether it is for the rest of the server.
fn answer(tool: &AskedTool) -> Result<(bool, bool), Failure> {
    // A name of several lines could ask for something else.
    let name = format!("{}/{}", tool.server, tool.tool);
    let name = name.escape_debug();
    let about = tool.about.lines().next().unwrap_or_default();
    let about: String = about.chars().take(ABOUT_MAX).collect();
    let about = match &*about {
        "" => String::new(),
        about => format!(": {about}"),
    };
    let question = format!(
        "{name}{about}\n  May the agent use it? [y]es, [n]o; [Y], [N] for the rest of {}: ",
        tool.server
    );
    loop {
        let Some(line) = output::answer(&question)? else {
            let failure = Failure::new(format_args!("the answers ended before `{name}`"));
            return Err(failure.help("answer about each tool; nothing was written"));
        };
        match line.trim() {
            "y" | "yes" => return Ok((true, false)),
            "n" | "no" => return Ok((false, false)),
            "Y" => return Ok((true, true)),
            "N" => return Ok((false, true)),
            _ => {}
        }
    }
}

/// Returns the tools that calls of a log were passed on to; `None` if the log is none.
fn called(log: &[Input], session: &mut CommandSession) -> Result<Option<Vec<ToolName>>, Failure> {
    let called = call!(session.engine, audit.log_called_tools.open())?;
    for (file, number) in log.iter().zip(0..) {
        let _progress = Progress::of(format!("reading the calls of {file}"));
        session.name_log(file, number)?;
        file.pieces(|bytes| call!(session.engine, audit.log_called_tools.feed(called, bytes)))?;
        call!(session.engine, audit.log_called_tools.end_file(called))?;
    }
    match call!(session.engine, audit.log_called_tools.finish(called))? {
        Ok(tools) => {
            let names = tools.into_iter().map(|it| ToolName {
                server: it.server,
                tool: it.tool,
            });
            Ok(Some(names.collect()))
        }
        // What a changed log says was not decided.
        Err(problems) => {
            session.add(problems);
            session.report()?;
            Ok(None)
        }
    }
}

/// Answers no for a reason that no input is to blame for.
fn refuse(message: &str, help: &str) -> CommandAnswer {
    let failure = Failure::new(message).help(help);
    output::note_drawn(&diagnostics::draw_failure(&failure));
    CommandAnswer::No
}
