//! Progress on standard error, in the style of cargo.

use std::fmt::Display;
use std::io::{IsTerminal as _, stderr};

const GREEN: &str = "\x1b[1;32m";
const RED: &str = "\x1b[1;31m";
const PLAIN: &str = "\x1b[0m";

/// Prints the present action: a verb and its object.
pub(crate) fn doing(verb: &str, what: impl Display) {
    let (colour, plain) = colours(GREEN);
    eprintln!("{colour}{verb:>12}{plain} {what}");
}

/// Prints the error of the command.
pub(crate) fn error(error: &anyhow::Error) {
    let (colour, plain) = colours(RED);
    eprintln!("{colour}error{plain}: {error:#}");
}

fn colours(colour: &'static str) -> (&'static str, &'static str) {
    // The convention of no-color.org: set and not empty.
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if refused || !stderr().is_terminal() {
        ("", "")
    } else {
        (colour, PLAIN)
    }
}
