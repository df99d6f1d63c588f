//! Standard output and standard error. Nothing else in the program prints.

mod progress;
pub(crate) mod style;
mod visible;

pub(crate) use progress::Progress;
pub(crate) use visible::{visible, visible_char};

use crate::engine::Part;
use crate::failure::Failure;
use crate::input;
use std::fmt::{Display, Write as _};
use std::io::{self, IsTerminal, Write};

/// Prints a text that the engine has written for people.
pub(crate) fn print_parts(parts: &[Part]) -> Result<(), Failure> {
    written(anstream::stdout().write_all(styled(parts).as_bytes()))
}

/// As [`print_parts`], on standard error.
pub(crate) fn note_parts(parts: &[Part]) {
    note_drawn(&styled(parts));
}

/// Prints a text that this program contains, such as a page of its documentation.
pub(crate) fn print_text(text: &str) -> Result<(), Failure> {
    written(io::stdout().write_all(text.as_bytes()))
}

/// Prints what is meant for programs. A terminal gets it without control characters, everything
/// else byte for byte.
pub(crate) fn print_data(data: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    written(if stdout.is_terminal() {
        stdout.write_all(visible(data).as_bytes())
    } else {
        stdout.write_all(data.as_bytes())
    })
}

/// Sets what follows on standard error apart from an answer that stands above it, if both are seen
/// in one place.
pub(crate) fn set_apart() {
    if io::stdout().is_terminal() && io::stderr().is_terminal() {
        note_drawn("\n");
    }
}

/// Says what is done, in a line on standard error.
pub(crate) fn note(line: impl Display) {
    note_drawn(&format!("{}\n", visible(&line.to_string())));
}

/// Prints what was drawn, in this program's own styles, on standard error.
pub(crate) fn note_drawn(text: &str) {
    // There is nowhere to complain to if it can't be written.
    let _ = anstream::stderr().write_all(text.as_bytes());
}

fn styled(parts: &[Part]) -> String {
    let mut text = String::new();
    for part in parts {
        let style = style::of(part.style);
        write!(text, "{style}{}{style:#}", visible(&part.text)).expect("a string takes everything");
    }
    text
}

/// A reader that has gone away has seen enough. Everything else that keeps an answer from being
/// printed is a failure.
fn written(result: io::Result<()>) -> Result<(), Failure> {
    match result.and_then(|()| io::stdout().flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::new(format_args!(
            "can't write to standard output: {}",
            input::reason(&error)
        ))),
        _ => Ok(()),
    }
}
