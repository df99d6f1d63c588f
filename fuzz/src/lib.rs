//! The properties of every fuzzed input.

pub mod reference;

use agent_diagnostic::{Diagnostic, Problems, Severity};
use agent_lower::Lowered;
use agent_render::{Format, report};

/// The separator between the texts of an input.
const BETWEEN: &str = "\n=====\n";

/// Returns the two texts of an input around a line `=====`, or `None` without such a line or UTF-8.
pub fn two_texts(input: &[u8]) -> Option<(&str, &str)> {
    str::from_utf8(input).ok()?.split_once(BETWEEN)
}

/// Returns the texts of an input between lines `=====`, or `None` if it is not UTF-8.
pub fn texts(input: &[u8]) -> Option<Vec<&str>> {
    Some(str::from_utf8(input).ok()?.split(BETWEEN).collect())
}

/// Returns the value of an accepted input. Checks the diagnostics in any case.
pub fn checked<T>(input: &[u8], lowered: Lowered<T>) -> Option<T> {
    match lowered {
        Ok(checked) => {
            let warnings = &checked.warnings;
            assert!(warnings.iter().all(|it| it.severity == Severity::Warning));
            check(input, warnings);
            Some(checked.value)
        }
        Err(found) => {
            assert!(
                found.iter().any(|it| it.severity == Severity::Error)
                    || found.len() == Problems::LIMIT
            );
            check(input, &found);
            None
        }
    }
}

/// Checks the diagnostics of one input: their number, order, messages and places.
pub fn check(input: &[u8], diagnostics: &[Diagnostic]) {
    assert!(diagnostics.len() <= Problems::LIMIT);
    let text = match str::from_utf8(input) {
        Ok(text) => text,
        // All places are before the first byte that is not UTF-8.
        Err(error) => str::from_utf8(&input[..error.valid_up_to()]).expect("it was valid"),
    };
    for diagnostic in diagnostics {
        assert!(!diagnostic.message.is_empty());
        for label in &diagnostic.labels {
            let place = label.place;
            let (start, end) = (place.span.start as usize, place.span.end as usize);
            assert!(start <= end && text.is_char_boundary(start) && text.is_char_boundary(end));
            assert!(place.start <= place.end);
            let line = 1 + text[..start].matches('\n').count();
            assert_eq!(place.start.line as usize, line);
        }
    }
    let place = |it: &Diagnostic| it.labels.first().map(|label| label.place);
    assert!(diagnostics.is_sorted_by_key(place));
    // Rendering and parsing reports takes longer than everything else.
    if !input.len().is_multiple_of(16) {
        return;
    }
    for format in [Format::Json, Format::Sarif] {
        let text = report(format, diagnostics, &[]);
        serde_json::from_str::<serde_json::Value>(&text).expect("a report is JSON");
    }
    let lines = report(Format::Github, diagnostics, &[]);
    assert_eq!(lines.lines().count(), diagnostics.len());
    assert!(lines.lines().all(|line| line.starts_with("::")));
}
