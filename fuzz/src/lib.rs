//! What must hold for whatever is thrown at the engine.

pub mod reference;

use agent_diagnostic::{Diagnostic, Problems, Severity};
use agent_lower::Lowered;
use agent_render::{Format, report};

/// What is between the texts of an input.
const BETWEEN: &str = "\n=====\n";

/// The two texts of an input, around a line `=====`. None: it has no such line, or is not UTF-8.
pub fn two_texts(input: &[u8]) -> Option<(&str, &str)> {
    str::from_utf8(input).ok()?.split_once(BETWEEN)
}

/// The texts of an input, with lines `=====` between them. None: it is not UTF-8.
pub fn texts(input: &[u8]) -> Option<Vec<&str>> {
    Some(str::from_utf8(input).ok()?.split(BETWEEN).collect())
}

/// A value, if the input was accepted. Either way what was said about it is checked.
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

/// Diagnostics of one input: not too many, in order, in words, at places that are in the input.
pub fn check(input: &[u8], diagnostics: &[Diagnostic]) {
    assert!(diagnostics.len() <= Problems::LIMIT);
    let text = match str::from_utf8(input) {
        Ok(text) => text,
        // Places before the first byte that is no UTF-8 are all that there are.
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
    // Writing and reading reports takes longer than all else together.
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
