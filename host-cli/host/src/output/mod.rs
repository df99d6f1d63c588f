//! Standard output and standard error. Nothing else prints.

mod progress;
mod style;
mod visible;

pub use progress::Progress;
pub use visible::visible;

use crate::contract::view::StyledSpan;
use crate::failure::Failure;
use crate::input;
use rustix::termios::{QueueSelector, tcflush};
use std::fmt::{Display, Write as _};
use std::io::{self, IsTerminal, Write};

/// Prints a text of the engine for people on standard output.
///
/// # Errors
///
/// When it can't be written. A closed pipe is not an error, here and below.
pub fn print_parts(parts: &[StyledSpan]) -> Result<(), Failure> {
    written(anstream::stdout().write_all(styled(parts).as_bytes()))
}

/// Prints a text of the engine for people on standard error.
pub fn note_parts(parts: &[StyledSpan]) {
    note_drawn(&styled(parts));
}

/// Prints a text of the program, such as a documentation page, on standard output.
///
/// # Errors
///
/// When it can't be written.
pub fn print_text(text: &str) -> Result<(), Failure> {
    written(io::stdout().write_all(text.as_bytes()))
}

/// Prints data for programs on standard output. A terminal gets it without control characters,
/// everything else byte for byte.
///
/// # Errors
///
/// When it can't be written.
pub fn print_data(data: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    written(if stdout.is_terminal() {
        stdout.write_all(visible(data).as_bytes())
    } else {
        stdout.write_all(data.as_bytes())
    })
}

/// Separates the lines that follow on standard error from an answer on standard output, if a
/// terminal shows both.
pub fn set_apart() {
    if io::stdout().is_terminal() && io::stderr().is_terminal() {
        note_drawn("\n");
    }
}

/// Prints a line on standard error.
pub fn note(line: impl Display) {
    note_drawn(&format!("{}\n", visible(&line.to_string())));
}

/// Returns whether a question can be asked: standard input and standard error are a terminal.
#[must_use]
pub fn is_terminal() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks a question on the terminal. Returns whether the answer is yes; without a terminal it is no.
#[must_use]
pub fn ask(question: &str) -> bool {
    if !is_terminal() {
        return false;
    }
    discard_typed();
    note_drawn(&visible(question));
    let mut answer = String::new();
    let read = io::stdin().read_line(&mut answer);
    if !answer.ends_with('\n') {
        end_question();
    }
    read.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
}

/// Discards what was typed before a question: it is no answer to it.
fn discard_typed() {
    // Of a terminal, the standard library keeps at most the rest of a line that was read.
    let _ = tcflush(io::stdin(), QueueSelector::IFlush);
}

/// Ends the line of a question whose answer is no longer awaited.
pub fn end_question() {
    if is_terminal() {
        note_drawn("\n");
    }
}

/// Prints a drawn text, with its styles, on standard error.
pub fn note_drawn(text: &str) {
    // A failed write to standard error can't be reported anywhere.
    let _ = anstream::stderr().write_all(text.as_bytes());
}

fn styled(parts: &[StyledSpan]) -> String {
    let mut text = String::new();
    for part in parts {
        let style = style::of(part.style);
        write!(text, "{style}{}{style:#}", visible(&part.text)).expect("a string takes everything");
    }
    text
}

/// Turns every error into a failure, except for a closed pipe: its reader has seen enough.
fn written(result: io::Result<()>) -> Result<(), Failure> {
    match result.and_then(|()| io::stdout().flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::new(format_args!(
            "can't write to standard output: {}",
            input::reason(&error)
        ))),
        _ => Ok(()),
    }
}
