//! `agent`: locks and explains what an AI agent may use and do.
//!
//! The program turns its arguments into a command, and the command into calls of `agent-host`. It
//! decides nothing: every decision and its wording come from the engine, a WebAssembly component
//! that sees only its inputs. Messages of the program itself are about files, limits and wrong
//! usage. Under the name `mcp` it has the commands of `agent app`.

#[cfg(not(any(target_os = "linux", target_family = "wasm")))]
compile_error!("apps and servers run in sandboxes of Linux: other systems are not supported yet");

mod args;
mod command;
mod groups;
mod link;
#[cfg(not(target_family = "wasm"))]
mod mcp;
mod old_names;
mod pages;
mod usage;
mod version;

use agent_host::input::reason;
use agent_host::system::{Files, System, Terminal};
use agent_host::{Failure, diagnostics, output};
use args::{Arguments, Color};
use clap::{CommandFactory as _, FromArgMatches};
use command::CommandAnswer;
use groups::grouped;
use old_names::renamed;
use std::ffi::OsString;
use std::panic::{self, PanicHookInfo};

/// The exit code if there is no answer. clap uses the same for wrong usage.
const UNANSWERED: u8 = 2;

/// Runs the command of the command line. Returns the exit code.
#[must_use]
pub fn main() -> u8 {
    panic::set_hook(Box::new(end_in_panic));
    match answer(System::arguments()) {
        Ok(CommandAnswer::Yes) => 0,
        Ok(CommandAnswer::No) => 1,
        Ok(CommandAnswer::None) => UNANSWERED,
        Err(failure) => {
            output::note_drawn(&diagnostics::draw_failure(&failure));
            UNANSWERED
        }
    }
}

fn answer(line: Vec<OsString>) -> Result<CommandAnswer, Failure> {
    #[cfg(not(target_family = "wasm"))]
    if mcp::is_the_name() {
        return mcp::run(&parsed(mcp::Mcp::command(), line));
    }
    run(&parsed(grouped(Arguments::command()), renamed(line)))
}

fn run(arguments: &Arguments) -> Result<CommandAnswer, Failure> {
    let global = &arguments.global;
    choose_colors(global.color);
    if let Some(folder) = &global.directory {
        System::enter(folder).map_err(|error| {
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
        #[cfg(not(target_family = "wasm"))]
        mcp::answer_wrong_usage(&error, &line);
        // As a user reads them.
        let line = line.iter().map(|it| it.to_string_lossy().into_owned());
        if error.use_stderr()
            && let Some(failure) = usage::failure(program, line)
        {
            output::note_drawn(&diagnostics::draw_failure(&failure));
            System::exit(UNANSWERED)
        }
        let text = error.render().ansi().to_string();
        if error.use_stderr() {
            output::note_drawn(&text);
            System::exit(UNANSWERED)
        }
        match output::print_drawn(&text) {
            Ok(()) => System::exit(0),
            Err(_) => System::exit(UNANSWERED),
        }
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
    System::exit(UNANSWERED)
}

#[cfg(target_family = "wasm")]
mod wasi {
    //! The program as a command of WASI.

    use agent_host::system::{System, Terminal};
    use wasip2::exports::cli::run::Guest;

    struct Program;

    impl Guest for Program {
        fn run() -> Result<(), ()> {
            System::exit(super::main())
        }
    }

    wasip2::cli::command::export!(Program);
}
