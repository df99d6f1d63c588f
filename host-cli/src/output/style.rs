//! The colours of the program.

use crate::engine::Style;
use anstyle::{AnsiColor, Effects};
use clap::builder::Styles;

/// The colour of a part of a text, by what the part means.
pub(super) fn of(style: Style) -> anstyle::Style {
    match style {
        Style::Plain => anstyle::Style::new(),
        Style::Heading => anstyle::Style::new().effects(Effects::BOLD),
        Style::Name => AnsiColor::Cyan.on_default(),
        Style::Accepted => AnsiColor::Green.on_default(),
        Style::Rejected => AnsiColor::Red.on_default(),
        Style::Warning => AnsiColor::Yellow.on_default(),
        Style::Code => AnsiColor::Magenta.on_default(),
        Style::Dim => anstyle::Style::new().effects(Effects::DIMMED),
    }
}

/// The colours of `--help` and of wrong usage.
pub(crate) const HELP: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().effects(Effects::BOLD))
    .usage(AnsiColor::Green.on_default().effects(Effects::BOLD))
    .literal(AnsiColor::Cyan.on_default().effects(Effects::BOLD))
    .placeholder(AnsiColor::Cyan.on_default());
