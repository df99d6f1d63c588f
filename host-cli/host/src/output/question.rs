//! Questions on the terminal.

use super::{note_drawn, visible};
use crate::failure::Failure;
use rustix::termios::{QueueSelector, tcflush};
use std::io::{self, BufRead as _, IsTerminal, Read as _};

/// Maximum number of bytes of an answer.
const ANSWER_MAX: u64 = 4_096;

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

/// Asks a question, and returns the line of standard input that answers it, which need not be a terminal; `None` at its end.
///
/// # Errors
///
/// When standard input can't be read as text.
pub fn answer(question: &str) -> Result<Option<String>, Failure> {
    if is_terminal() {
        discard_typed();
    }
    note_drawn(&visible(question));
    let mut answer = String::new();
    let read = io::stdin().lock().take(ANSWER_MAX).read_line(&mut answer);
    let failed = |error| Failure::new(format_args!("standard input can't be read: {error}"));
    Ok((read.map_err(failed)? > 0).then_some(answer))
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
