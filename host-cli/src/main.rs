//! `agent`: locks and explains what an AI agent may use and do.
//!
//! The program reads files, asks the engine, prints what it says and writes files. It decides
//! nothing: every yes and no, and the words for it, come out of the engine, a WebAssembly component
//! that sees nothing but what it is given. What the program itself has to say is about files and
//! limits.

mod args;
mod command;
mod diagnostics;
mod engine;
mod failure;
mod input;
mod output;
mod pages;
mod replace;
mod version;

use args::{Arguments, Color};
use clap::Parser;
use command::Answer;
use failure::Failure;
use std::panic::{self, PanicHookInfo};
use std::process::{self, ExitCode};

/// The exit code of what could not be answered. clap uses the same for wrong usage.
const UNANSWERED: u8 = 2;

fn main() -> ExitCode {
    panic::set_hook(Box::new(end_in_panic));
    let arguments = Arguments::parse();
    choose_colors(arguments.global.color);
    match command::run(&arguments) {
        Ok(Answer::Yes) => ExitCode::SUCCESS,
        Ok(Answer::No) => ExitCode::FAILURE,
        Ok(Answer::None) => UNANSWERED.into(),
        Err(failure) => {
            output::note_drawn(&diagnostics::draw_failure(&failure));
            UNANSWERED.into()
        }
    }
}

fn choose_colors(color: Color) {
    match color {
        Color::Auto => anstream::ColorChoice::Auto,
        Color::Always => anstream::ColorChoice::Always,
        Color::Never => anstream::ColorChoice::Never,
    }
    .write_global();
}

/// A panic is a defect, and must look neither like a no nor like the end of a signal.
fn end_in_panic(panic: &PanicHookInfo<'_>) {
    let failure = Failure::internal(panic);
    output::note_drawn(&diagnostics::draw_failure(&failure));
    process::exit(UNANSWERED.into());
}
