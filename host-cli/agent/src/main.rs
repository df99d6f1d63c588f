//! `agent`: locks and explains what an AI agent may use and do.
//!
//! The program turns its arguments into a command, and the command into calls of `agent-host`. It
//! decides nothing: every decision and its wording come from the engine, a WebAssembly component
//! that sees only its inputs. Messages of the program itself are about files, limits and wrong
//! usage. Under the name `mcp` it has the commands of `agent app`.

#[cfg(not(target_os = "linux"))]
compile_error!("apps and servers run in sandboxes of Linux: other systems are not supported yet");

mod args;
mod command;
mod groups;
mod mcp;
mod old_names;
mod pages;
mod usage;
mod version;

use agent_app::usage_envelope;
use agent_host::input::reason;
use agent_host::{Failure, diagnostics, output};
use args::{Arguments, Color};
use clap::{CommandFactory as _, FromArgMatches};
use command::CommandAnswer;
use groups::grouped;
use mcp::Mcp;
use old_names::renamed;
use std::env;
use std::ffi::OsString;
use std::panic::{self, PanicHookInfo};
use std::process::{self, ExitCode};

/// The exit code if there is no answer. clap uses the same for wrong usage.
const UNANSWERED: u8 = 2;

fn main() -> ExitCode {
    panic::set_hook(Box::new(end_in_panic));
    let line: Vec<_> = env::args_os().collect();
    let answer = match mcp::is_the_name() {
        true => mcp::run(&parsed(Mcp::command(), line)),
        false => {
            let program = grouped(Arguments::command());
            run(&parsed(program, renamed(line)))
        }
    };
    match answer {
        Ok(CommandAnswer::Yes) => ExitCode::SUCCESS,
        Ok(CommandAnswer::No) => ExitCode::FAILURE,
        Ok(CommandAnswer::None) => UNANSWERED.into(),
        Err(failure) => {
            output::note_drawn(&diagnostics::draw_failure(&failure));
            UNANSWERED.into()
        }
    }
}

fn run(arguments: &Arguments) -> Result<CommandAnswer, Failure> {
    let global = &arguments.global;
    choose_colors(global.color);
    if let Some(folder) = &global.directory {
        env::set_current_dir(folder).map_err(|error| {
            let (folder, reason) = (folder.display(), reason(&error));
            Failure::new(format_args!("`{folder}` can't be entered: {reason}"))
        })?;
    }
    command::run(arguments)
}

/// Returns the arguments of a program. Wrong usage ends it.
fn parsed<P: FromArgMatches>(program: clap::Command, line: Vec<OsString>) -> P {
    let matches = program.clone().try_get_matches_from(&line);
    let arguments = matches.and_then(|matches| P::from_arg_matches(&matches));
    arguments.unwrap_or_else(|error| {
        let is_app = mcp::is_the_name() || line.get(1).is_some_and(|it| it == "app");
        if let Some(envelope) = usage_envelope(&error).filter(|_| is_app) {
            let _ = output::print_text(&envelope);
        }
        // As a user reads them.
        let line = line.iter().map(|it| it.to_string_lossy().into_owned());
        if error.use_stderr()
            && let Some(failure) = usage::failure(program, line)
        {
            output::note_drawn(&diagnostics::draw_failure(&failure));
            process::exit(UNANSWERED.into());
        }
        error.exit()
    })
}

fn choose_colors(color: Color) {
    match color {
        Color::Auto => anstream::ColorChoice::Auto,
        Color::Always => anstream::ColorChoice::Always,
        Color::Never => anstream::ColorChoice::Never,
    }
    .write_global();
}

/// Reports a panic as a defect. Its exit code must differ from a no and from a signal.
fn end_in_panic(panic: &PanicHookInfo<'_>) {
    let failure = Failure::internal(panic);
    output::note_drawn(&diagnostics::draw_failure(&failure));
    process::exit(UNANSWERED.into());
}
