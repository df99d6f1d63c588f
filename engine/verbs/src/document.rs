//! JSON documents from outside: read strictly, then checked against their schema.

use super::failure::{ErrorCode, Failure, Problems};
use super::limits::REQUEST_MAX_BYTES;
use super::schemas::SchemaOf;
use agent_diagnostic::{Diagnostic, Problems as Diagnostics};
use agent_syntax::json::parse;
use agent_syntax::members::{items, member, string};
use agent_syntax::{Node, Value};
use agent_text::{DocumentKind, Text};

/// Calls a function with a document.
///
/// # Errors
/// The document is too large, is not strict JSON or violates its schema; or those of the function.
pub(crate) fn with_document<R>(
    of: SchemaOf,
    bytes: &[u8],
    look: impl FnOnce(&Node<'_>) -> Result<R, Failure>,
) -> Result<R, Failure> {
    with_json(bytes, |_, document| {
        let mut problems = Problems::new();
        of.check(document, &mut problems);
        problems.finish(ErrorCode::Plan)?;
        look(document)
    })
}

/// Calls a function with a JSON text and its tree.
///
/// # Errors
/// The text is too large or is not strict JSON; or those of the function.
pub(crate) fn with_json<R>(
    bytes: &[u8],
    look: impl FnOnce(&str, &Node<'_>) -> Result<R, Failure>,
) -> Result<R, Failure> {
    let text = text(bytes, REQUEST_MAX_BYTES, "the document")?;
    let text = Text::new(DocumentKind::Document, text);
    let mut diagnostics = Diagnostics::new(&text);
    let document = parse(&mut diagnostics);
    match document {
        Some(document) if !diagnostics.has_errors() => look(text.as_str(), &document),
        _ => {
            let mut problems = Problems::new();
            for diagnostic in diagnostics.finish() {
                located(&diagnostic, &mut problems);
            }
            problems.finish(ErrorCode::Plan)?;
            Err(Failure::new(ErrorCode::Plan, "the document is not JSON"))
        }
    }
}

/// Returns bytes as a text.
///
/// # Errors
/// `E_PLAN`: there are too many, or they are not UTF-8.
pub(crate) fn text(bytes: &[u8], max_bytes: usize, what: &str) -> Result<String, Failure> {
    if bytes.len() > max_bytes {
        let message = format!(
            "{what} has {} bytes; at most {max_bytes} are allowed",
            bytes.len()
        );
        return Err(Failure::new(ErrorCode::Plan, message).hint("send less in one request"));
    }
    match str::from_utf8(bytes) {
        Ok(text) => Ok(text.to_owned()),
        Err(error) => {
            let message = format!("{what} is not UTF-8 at byte {}", error.valid_up_to());
            Err(Failure::new(ErrorCode::Plan, message).hint("encode the text as UTF-8"))
        }
    }
}

/// Adds a diagnostic with its line and column.
pub(crate) fn located(diagnostic: &Diagnostic, problems: &mut Problems) {
    let mut message = diagnostic.message.clone();
    if let Some(label) = diagnostic.labels.first() {
        let start = label.place.start;
        message = format!(
            "line {}, column {}: {message} ({})",
            start.line, start.column, label.text
        );
    }
    let hint = diagnostic.fixes.first().map(|fix| fix.title.clone());
    problems.add(message, hint.unwrap_or_default());
}

/// Returns the text of a member.
pub(crate) fn text_of<'n>(node: &'n Node<'_>, name: &str) -> Option<&'n str> {
    member(node, name).and_then(string)
}

/// Returns the items of a member, none if it is absent.
pub(crate) fn items_of<'n, 't>(node: &'n Node<'t>, name: &str) -> &'n [Node<'t>] {
    member(node, name).and_then(items).unwrap_or_default()
}

/// Returns the texts of a member, none if it is absent.
pub(crate) fn texts_of(node: &Node<'_>, name: &str) -> Vec<String> {
    let texts = items_of(node, name).iter().filter_map(string);
    texts.map(str::to_owned).collect()
}

/// Returns a member that a schema requires to be a whole number. JSON Schema accepts `420.0` and `4.2e2` as
/// such, which are refused.
///
/// # Errors
/// The number has a fraction, an exponent or more than 32 bits.
pub(crate) fn whole(
    node: &Node<'_>,
    name: &str,
    pointer: &str,
    problems: &mut Problems,
) -> Option<u32> {
    let Value::Number(written) = &member(node, name)?.value else {
        return None;
    };
    let number = written.parse().ok();
    if number.is_none() {
        problems.add(
            format!("`{pointer}/{name}` must be written in digits alone, and is `{written}`"),
            "write the number without a fraction and an exponent",
        );
    }
    number
}
