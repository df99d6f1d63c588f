//! The colours of the engine's texts.

use crate::contract::view::Style;
use anstyle::{AnsiColor, Effects};

/// Returns the terminal style of a span's meaning.
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
