//! Summaries of a tool's result \[1\].

use super::fields::{Object, describe, each, empty, list, words, wrong_type};
use super::payload::payload;
use super::read::{Checked, Lowered, SUMMARY_LIMIT, read};
use agent_diagnostic::{Code, Problems};
use agent_model::{Claim, NonEmpty, Payload, Summary};
use agent_syntax::{Node, Value, json};
use agent_text::{DocumentKind, Span};

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
    read((DocumentKind::Summary, bytes, SUMMARY_LIMIT), |problems| {
        let items = items(&json::parse(problems)?, problems)?;
        Some(|text| Summary { text, items })
    })
}

fn items(root: &Node<'_>, problems: &mut Problems<'_>) -> Option<NonEmpty<Claim>> {
    let (node, path) = match &root.value {
        Value::Sequence(_) => (root, ""),
        Value::Mapping(_) => {
            let start = root.span.start as usize;
            let whole = Object::of(root, "", Span::new(start, start), problems)?;
            whole.check_own_fields(&["items"], problems);
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
        let message = "the summary has no items, so nothing proves it";
        empty(problems, node.span, message).help(EXAMPLE);
    }
    let count = nodes.len();
    if count > ITEM_LIMIT {
        let message = format!("the summary has {count} items; the limit is {ITEM_LIMIT}");
        let span = nodes[ITEM_LIMIT].span;
        problems
            .report(Code::InputTooLarge, span, "one too many", message)
            .help("shorten the summary, or split it");
        return None;
    }
    NonEmpty::new(each(nodes, path, problems, item)?)
}

fn item(node: &Node<'_>, path: &str, problems: &mut Problems<'_>) -> Option<Claim> {
    let start = node.span.start as usize;
    let object = Object::of(node, path, Span::new(start, start), problems)?;
    object.check_own_fields(&["claim", "evidence"], problems);
    let help = "add the claim: \"claim\": \"…\"";
    let claim = object.read("claim", help, problems, |node, path, problems| {
        words(node, path, "write the claim", problems)
    });
    let help = "add its proof, quoted from the payload: \"evidence\": \"…\"";
    let evidence = object.read("evidence", help, problems, |node, path, problems| {
        words(node, path, "quote a text of the payload", problems)
    });
    Some(Claim {
        claim: claim?,
        evidence: evidence?,
        span: node.span,
    })
}
