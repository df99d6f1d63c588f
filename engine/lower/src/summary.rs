//! Summaries of a tool's result \[1\].

use super::fields::{Object, describe, list, text, wrong_type};
use super::payload::payload;
use super::{Checked, Lowered, SUMMARY_LIMIT, decode};
use agent_diagnostic::{Code, Problems};
use agent_model::{Claim, NonEmpty, Payload, Summary};
use agent_syntax::{Entry, Node, Value, json};
use agent_text::{DocumentKind, Span, Spanned};

/// Maximum number of items of a summary. Each costs a search of the payload.
pub const ITEM_LIMIT: usize = 256;

/// The help for a summary without items.
const EXAMPLE: &str = "write a claim and the text that proves it:\n\
                       { \"claim\": \"…\", \"evidence\": \"…\" }";

/// Reads a summary and its payload.
///
/// # Errors
/// Every problem of both texts, those of the summary first.
pub fn summarised(summary: Vec<u8>, payload: Vec<u8>) -> Lowered<(Summary, Payload)> {
    match (self::summary(summary), self::payload(payload)) {
        (Ok(summary), Ok(payload)) => Ok(Checked {
            value: (summary.value, payload.value),
            warnings: [summary.warnings, payload.warnings].concat(),
        }),
        (summary, payload) => {
            let summary = summary.map_or_else(|found| found, |checked| checked.warnings);
            let payload = payload.map_or_else(|found| found, |checked| checked.warnings);
            Err([summary, payload].concat())
        }
    }
}

/// Reads a summary: strict JSON, a list of items, or an object that contains it as `items`.
///
/// # Errors
/// Every problem of the text, ordered by place.
pub fn summary(bytes: Vec<u8>) -> Lowered<Summary> {
    let text = decode(DocumentKind::Summary, bytes, SUMMARY_LIMIT)?;
    let mut problems = Problems::new(&text);
    let items = json::parse(&mut problems).and_then(|root| items(&root, &mut problems));
    let errors = problems.has_errors();
    let found = problems.finish();
    match items {
        Some(items) if !errors => Ok(Checked {
            value: Summary { text, items },
            warnings: found,
        }),
        _ => Err(found),
    }
}

fn items(root: &Node<'_>, problems: &mut Problems<'_>) -> Option<NonEmpty<Claim>> {
    let (node, path) = match &root.value {
        Value::Sequence(_) => (root, ""),
        Value::Mapping(_) => {
            let start = root.span.start as usize;
            let whole = Object::of(root, "", Span::new(start, start), problems)?;
            whole.warn_unknown(&["items"], problems);
            let help = "add a list: \"items\": []";
            (&whole.required("items", help, problems)?.value, "items")
        }
        other => {
            let expected = "a list of items, or an object with `items`";
            let found = describe(other);
            wrong_type(problems, root.span, "the summary", expected, found);
            return None;
        }
    };
    let nodes = list(
        node,
        if path.is_empty() { "the summary" } else { path },
        problems,
    )?;
    if nodes.is_empty() {
        problems
            .report(
                Code::EmptyValue,
                node.span,
                "empty",
                "the summary has no items, so nothing proves it",
            )
            .help(EXAMPLE);
    }
    if nodes.len() > ITEM_LIMIT {
        problems
            .report(
                Code::InputTooLarge,
                nodes[ITEM_LIMIT].span,
                "one too many",
                format!(
                    "the summary has {} items; the limit is {ITEM_LIMIT}",
                    nodes.len()
                ),
            )
            .help("shorten the summary, or split it");
        return None;
    }
    let items = nodes.iter().enumerate();
    let items = items.filter_map(|(i, node)| item(node, format!("{path}[{i}]"), problems));
    NonEmpty::new(items.collect())
}

fn item(node: &Node<'_>, path: String, problems: &mut Problems<'_>) -> Option<Claim> {
    let start = node.span.start as usize;
    let object = Object::of(node, path, Span::new(start, start), problems)?;
    object.warn_unknown(&["claim", "evidence"], problems);
    let claim = object.required("claim", "add the claim: \"claim\": \"…\"", problems);
    let claim = claim.and_then(|entry| words(&object, entry, problems));
    let help = "add its proof, quoted from the payload: \"evidence\": \"…\"";
    let evidence = object.required("evidence", help, problems);
    let evidence = evidence.and_then(|entry| words(&object, entry, problems));
    Some(Claim {
        claim: claim?,
        evidence: evidence?,
        span: node.span,
    })
}

/// Reads a string that is not blank.
fn words(
    object: &Object<'_, '_>,
    entry: &Entry<'_>,
    problems: &mut Problems<'_>,
) -> Option<Spanned<String>> {
    let path = object.path(&entry.key);
    let text = text(&entry.value, &path, problems)?;
    if text.trim().is_empty() {
        let help = match &*entry.key {
            "claim" => "write the claim",
            _ => "quote a text of the payload",
        };
        problems
            .report(
                Code::EmptyValue,
                entry.value.span,
                "empty",
                format!("`{path}` is empty"),
            )
            .help(help);
        return None;
    }
    Some(Spanned {
        value: text.to_owned(),
        span: entry.value.span,
    })
}
