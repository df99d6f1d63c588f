//! Standard output and standard error. Nothing else prints.

mod progress;
#[cfg(not(target_family = "wasm"))]
mod question;
mod style;
mod visible;

pub use progress::Progress;
#[cfg(not(target_family = "wasm"))]
pub use question::{answer, ask, end_question, is_terminal};
pub use visible::visible;

use crate::contract::view::StyledSpan;
use crate::failure::Failure;
use crate::input;
use crate::system::{Stream, System, Terminal};
use anstream::adapter::strip_str;
use anstream::{AutoStream, ColorChoice};
use std::borrow::Cow;
use std::fmt::{Display, Write as _};
use std::io;

/// Prints a text of the engine for people on standard output.
///
/// # Errors
///
/// When it can't be written. A closed pipe is not an error, here and below.
pub fn print_parts(parts: &[StyledSpan]) -> Result<(), Failure> {
    print_drawn(&styled(parts))
}

/// Prints a drawn text, with its styles, on standard output.
///
/// # Errors
///
/// When it can't be written.
pub fn print_drawn(text: &str) -> Result<(), Failure> {
    let choice = AutoStream::choice(&io::stdout());
    written(System::write(
        Stream::Output,
        shown(text, choice).as_bytes(),
    ))
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
    written(System::write(Stream::Output, text.as_bytes()))
}

/// Prints data for programs on standard output. A terminal gets it without control characters,
/// everything else byte for byte.
///
/// # Errors
///
/// When it can't be written.
pub fn print_data(data: &str) -> Result<(), Failure> {
    let is_terminal = System::is_terminal(Stream::Output);
    let shown = if is_terminal {
        visible(data)
    } else {
        data.into()
    };
    written(System::write(Stream::Output, shown.as_bytes()))
}

/// Separates the lines that follow on standard error from an answer on standard output, if a
/// terminal shows both.
pub fn set_apart() {
    if [Stream::Output, Stream::Error].map(System::is_terminal) == [true; 2] {
        note_drawn("\n");
    }
}

/// Prints a line on standard error.
pub fn note(line: impl Display) {
    note_drawn(&format!("{}\n", visible(&line.to_string())));
}

/// Prints a drawn text, with its styles, on standard error.
pub fn note_drawn(text: &str) {
    let choice = AutoStream::choice(&io::stderr());
    // A failed write to standard error can't be reported anywhere.
    let _ = System::write(Stream::Error, shown(text, choice).as_bytes());
}

/// Returns a text with or without its styles.
fn shown(text: &str, choice: ColorChoice) -> Cow<'_, str> {
    match choice {
        ColorChoice::Never => strip_str(text).to_string().into(),
        _ => text.into(),
    }
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
    match result {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::new(format_args!(
            "can't write to standard output: {}",
            input::reason(&error)
        ))),
        _ => Ok(()),
    }
}
