//! Drawing of a diagnostic: message, excerpts and help.

use super::Document;
use super::excerpt::{Excerpt, excerpts};
use crate::contract::diagnostic::{Code, Diagnostic, Label, Severity};
use crate::failure::Failure;
use crate::output::visible;
use crate::system::{System, Terminal as _};
use annotate_snippets::renderer::DEFAULT_TERM_WIDTH;
use annotate_snippets::{
    Annotation, AnnotationKind, Group, Level, Origin, Padding, Renderer, Snippet,
};
use std::borrow::Cow;

/// Draws `diagnostic`; `name` returns the name of a code, such as `MISSING_SCOPE`.
pub(super) fn diagnostic<'n>(
    diagnostic: &Diagnostic,
    name: impl Fn(Code) -> &'n str,
    documents: &[Document],
) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let title = level
        .clone()
        .primary_title(visible(&diagnostic.message))
        .id(name(diagnostic.code).to_owned());
    let mut groups = vec![Group::with_title(title)];
    for document in by_first_label(documents, &diagnostic.labels) {
        let path = visible(&document.name).into_owned();
        let labels: Vec<_> = diagnostic
            .labels
            .iter()
            .enumerate()
            .filter(|(_, label)| document.contains(label))
            .collect();
        // A line with a secret is as secret.
        if !document.may_be_shown() || diagnostic.code == Code::SecretInLink {
            let last = groups.pop().expect("there is always a group");
            let origins = labels.iter().map(|(_, label)| {
                let start = label.place.start;
                Origin::path(path.clone())
                    .line(start.line as usize)
                    .char_column(start.column as usize)
            });
            groups.push(last.elements(origins));
            continue;
        }
        for excerpt in excerpts(&document.text, &labels) {
            let last = groups.pop().expect("there is always a group");
            let snippet = snippet(&excerpt, &diagnostic.labels);
            if excerpt.starts_within_line {
                // The library counts columns from the start of the excerpt. A separate group is the
                // only other place for the column.
                let place = diagnostic.labels[excerpt.first_label()].place.start;
                let origin = Origin::path(path.clone())
                    .line(place.line as usize)
                    .char_column(place.column as usize);
                groups.push(last.element(origin));
                groups.push(
                    Group::with_level(level.clone())
                        .element(snippet)
                        .element(Padding),
                );
            } else {
                groups.push(last.element(snippet.path(path.clone())));
            }
        }
    }
    let footer = footer(diagnostic, diagnostic.reason.map(name));
    if diagnostic.labels.is_empty() {
        return without_place(&groups, footer);
    }
    let last = groups.pop().expect("there is always a group");
    groups.push(last.elements(footer.map(|(level, text)| level.message(text))));
    rendered(&groups)
}

/// Returns the lines below the excerpts: facts, then fixes.
fn footer<'d>(
    diagnostic: &'d Diagnostic,
    reason: Option<&str>,
) -> impl Iterator<Item = (Level<'static>, Cow<'d, str>)> {
    let reason = reason.map(|reason| format!("reason: {reason}"));
    let rule = diagnostic.rule.as_ref().map(|rule| format!("rule: {rule}"));
    let exact = [reason, rule].into_iter().flatten();
    let exact = exact.map(|text| (Level::NOTE, Cow::Owned(visible(&text).into_owned())));
    let notes = diagnostic.notes.iter();
    let notes = notes.map(|note| (Level::NOTE, visible(note)));
    let fixes = diagnostic.fixes.iter();
    let fixes = fixes.map(|fix| (Level::HELP, visible(&fix.title)));
    exact.chain(notes).chain(fixes)
}

/// Draws a failure of the program.
#[must_use]
pub fn failure(failure: &Failure) -> String {
    let title = Level::ERROR.primary_title(visible(&failure.message));
    without_place(
        &[Group::with_title(title)],
        failure
            .help
            .as_deref()
            .map(|help| (Level::HELP, visible(help))),
    )
}

/// Draws a report without an excerpt: its footer can't align with line numbers.
fn without_place<'a>(
    report: &[Group<'a>],
    footer: impl IntoIterator<Item = (Level<'static>, Cow<'a, str>)>,
) -> String {
    let mut drawn = rendered(report);
    for (level, text) in footer {
        drawn += &rendered(&[Group::with_title(level.secondary_title(text))]);
    }
    drawn
}

/// Renders with styles. The output streams remove them if colours are off.
fn rendered(report: &[Group<'_>]) -> String {
    let width = System::width().unwrap_or(DEFAULT_TERM_WIDTH);
    Renderer::styled().term_width(width).render(report) + "\n"
}

/// Returns the documents that the labels point into, that of the first label first.
fn by_first_label<'a>(documents: &'a [Document], labels: &[Label]) -> Vec<&'a Document> {
    let first = |document: &&Document| labels.iter().position(|label| document.contains(label));
    let mut pointed_into: Vec<_> = documents
        .iter()
        .filter(|document| first(document).is_some())
        .collect();
    pointed_into.sort_by_key(first);
    pointed_into
}

fn snippet<'a>(excerpt: &Excerpt, labels: &'a [Label]) -> Snippet<'a, Annotation<'a>> {
    let annotations = excerpt.marks.iter().map(|mark| {
        let kind = if mark.label == 0 {
            AnnotationKind::Primary
        } else {
            AnnotationKind::Context
        };
        let text = &labels[mark.label].text;
        kind.span(mark.range.clone())
            .label((!text.is_empty()).then(|| visible(text)))
    });
    Snippet::source(excerpt.text.clone())
        .line_start(excerpt.first_line)
        .annotations(annotations)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::diagnostic::{Applicability, DocumentKind, Fix, Place, Position, Span};

    fn position(before: &[u8]) -> Position {
        let before = String::from_utf8_lossy(before);
        let line = before.rsplit('\n').next().unwrap_or_default();
        let column = u32::try_from(line.chars().count() + 1).unwrap();
        Position {
            line: u32::try_from(before.matches('\n').count() + 1).unwrap(),
            column,
            utf16_column: column,
        }
    }

    /// Draws an error in `input`, with labels at the first occurrences of the given pieces. The
    /// empty piece is the end.
    fn drawn(input: impl AsRef<[u8]>, pieces: &[(&str, &str)]) -> String {
        let input = input.as_ref();
        let label = |&(piece, text): &(&str, &str)| {
            let start = (0..input.len())
                .find(|&at| !piece.is_empty() && input[at..].starts_with(piece.as_bytes()))
                .unwrap_or(input.len());
            let end = start + piece.len();
            let place = Place {
                span: Span {
                    source: DocumentKind::Index,
                    number: 0,
                    start: u32::try_from(start).unwrap(),
                    end: u32::try_from(end).unwrap(),
                },
                start: position(&input[..start]),
                end: position(&input[..end]),
            };
            Label {
                place,
                pointer: None,
                text: text.to_owned(),
            }
        };
        let problem = Diagnostic {
            code: Code::WrongType,
            severity: Severity::Error,
            message: "it is wrong".to_owned(),
            labels: pieces.iter().map(label).collect(),
            reason: None,
            rule: None,
            step: None,
            notes: vec!["a fact".to_owned()],
            fixes: ["do this", "or that:\nfirst\n  second"]
                .map(|title| Fix {
                    title: title.to_owned(),
                    applicability: Applicability::Display,
                    edits: Vec::new(),
                })
                .into(),
            belongs_in: None,
        };
        let document = Document {
            source: DocumentKind::Index,
            number: 0,
            name: "a.json".to_owned(),
            text: input.to_owned(),
        };
        let drawn = diagnostic(&problem, |_| "WRONG_TYPE", &[document]);
        let drawn = anstream::adapter::strip_str(&drawn).to_string();
        drawn
            .strip_prefix("error[WRONG_TYPE]: it is wrong\n")
            .and_then(|drawn| {
                drawn.strip_suffix(
                    "
  = note: a fact
  = help: do this
  = help: or that:
          first
            second
",
                )
            })
            .unwrap_or_else(|| panic!("{drawn}"))
            .to_owned()
    }

    #[test]
    fn labels_appear_under_their_places() {
        let input = "[\n  {\n    \"id\": 1\n  }\n]\n";
        assert_eq!(
            drawn(input, &[("1", "a number"), ("{", "in this server")]),
            " --> a.json:3:11
  |
2 |   {
  |   - in this server
3 |     \"id\": 1
  |           ^ a number
  |"
        );
    }

    #[test]
    fn a_place_may_have_several_lines() {
        let input = "[\r\n  {\r\n\t\"id\": 1\r\n  }\r\n]\r\n";
        assert_eq!(
            drawn(input, &[("{\r\n\t\"id\": 1\r\n  }", "this server")]),
            " --> a.json:2:3
  |
2 | /   {
3 | |     \"id\": 1
4 | |   }
  | |___^ this server
  |"
        );
    }

    #[test]
    fn distant_places_are_shown_apart() {
        let between = format!("{}\n", "x".repeat(100)).repeat(7);
        let input = format!("first\n{between}last\n");
        assert_eq!(
            drawn(input, &[("last", "here"), ("first", "and there")]),
            " --> a.json:9:1
  |
9 | last
  | ^^^^ here
  |
 ::: a.json:1:1
  |
1 | first
  | ----- and there
  |"
        );
    }

    #[test]
    fn the_end_can_be_pointed_at() {
        assert_eq!(
            drawn("[\n", &[("", "here")]),
            " --> a.json:2:1\n  |\n2 |\n  | ^ here\n  |"
        );
        assert_eq!(
            drawn("", &[("", "here")]),
            " --> a.json:1:1\n  |\n1 |\n  | ^ here\n  |"
        );
    }

    #[test]
    fn nothing_reaches_the_terminal_raw() {
        let input = b"[ \"a\x1b[2J\x07\xc2\x9b\xff\xe2\x80\xaeb\", 1 ]";
        assert_eq!(
            drawn(input, &[("1", "\x1b[1m")]),
            " --> a.json:1:17
  |
1 | [ \"a␛[2J␇\u{fffd}\u{fffd}\u{fffd}b\", 1 ]
  |                 ^ <U+001B>[1m
  |"
        );
    }

    #[test]
    fn of_a_long_line_only_a_piece_is_shown() {
        let many = r#"{"id":"x"},"#.repeat(100_000);
        let input = format!(r#"[{many}{{"id":"é","signed":1}},{many}]"#);
        let drawn = drawn(input, &[("1}", "a number")]);
        assert!(drawn.len() < 500, "{drawn}");
        assert!(drawn.starts_with(" --> a.json:1:1100021\n"), "{drawn}");
        assert!(
            drawn.contains(r#"{"id":"é","signed":1},{"id":"x"},"#),
            "{drawn}"
        );
        assert!(drawn.contains(" ^^ a number"), "{drawn}");
    }

    #[test]
    fn of_a_large_place_only_the_first_line_is_shown() {
        let input = format!("[\n{}]", "  1,\n".repeat(2_000));
        assert_eq!(
            drawn(&input, &[(&input, "this list")]),
            " --> a.json:1:1\n  |\n1 | [\n  | ^ this list\n  |"
        );
    }
}
