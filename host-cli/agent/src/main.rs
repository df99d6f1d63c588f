//! `agent`: locks and explains what an AI agent may use and do.
//!
//! The program turns its arguments into a command, and the command into calls of `agent-host`. It
//! decides nothing: every decision and its wording come from the engine, a WebAssembly component
//! that sees only its inputs. Messages of the program itself are about files, limits and wrong
//! usage.

#[cfg(not(target_os = "linux"))]
compile_error!("apps and servers run in sandboxes of Linux: other systems are not supported yet");

mod args;
mod command;
mod pages;
mod usage;
mod version;

use agent_app::usage_envelope;
use agent_host::{Failure, diagnostics, output};
use args::{Arguments, Color};
use clap::{CommandFactory as _, Parser};
use command::CommandAnswer;
use std::env;
use std::panic::{self, PanicHookInfo};
use std::process::{self, ExitCode};

/// The exit code if there is no answer. clap uses the same for wrong usage.
const UNANSWERED: u8 = 2;

fn main() -> ExitCode {
    panic::set_hook(Box::new(end_in_panic));
    let arguments = Arguments::try_parse().unwrap_or_else(|error| {
        let is_app = env::args_os().nth(1).is_some_and(|it| it == "app");
        if let Some(envelope) = usage_envelope(&error).filter(|_| is_app) {
            let _ = output::print_text(&envelope);
        }
        if error.use_stderr()
            && let Some(failure) = usage::failure(Arguments::command(), arguments())
        {
            output::note_drawn(&diagnostics::draw_failure(&failure));
            process::exit(UNANSWERED.into());
        }
        error.exit()
    });
    choose_colors(arguments.global.color);
    match command::run(&arguments) {
        Ok(CommandAnswer::Yes) => ExitCode::SUCCESS,
        Ok(CommandAnswer::No) => ExitCode::FAILURE,
        Ok(CommandAnswer::None) => UNANSWERED.into(),
        Err(failure) => {
            output::note_drawn(&diagnostics::draw_failure(&failure));
            UNANSWERED.into()
        }
    }
}

/// Returns the arguments as a user reads them.
fn arguments() -> impl Iterator<Item = String> {
    env::args_os().map(|it| it.to_string_lossy().into_owned())
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
