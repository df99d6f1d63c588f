//! The documents of a plan, from untrusted JSON \[3\]. Each is read strictly and checked against its
//! schema before it is lowered.

use super::corrected::{conform, predicate};
use super::fields::placed;
use super::integrity::digest;
use super::read::{DOCUMENT_LIMIT, decode};
use super::recovery;
use agent_diagnostic::{Change, ChangeKind, Code, Diagnostic, Finding, Findings, Problems};
use agent_json_schema::{Library, Violation};
use agent_syntax::{Node, Value, canonical_node, json};
use agent_text::{DocumentKind, Span, Spanned, Text};

/// A document with its findings, and its value if it could be read.
///
/// Both may be present, so that one answer reports everything that is wrong with a plan.
#[derive(Debug)]
pub struct Validated<T> {
    /// The text; empty if it is not UTF-8 or too large.
    pub text: Text,
    /// The value.
    pub value: Option<T>,
    /// The findings, ordered by place.
    pub findings: Vec<Finding>,
}

impl<T> Validated<T> {
    /// Returns the value of a document without findings.
    pub fn sound(&self) -> Option<&T> {
        self.value.as_ref().filter(|_| self.findings.is_empty())
    }

    /// Returns the value of a document that was read as it is written, without corrections.
    pub fn as_written(&self) -> Option<&T> {
        let mut findings = self.findings.iter();
        let is_corrected = findings.any(|it| it.is_corrected());
        self.value.as_ref().filter(|_| !is_corrected)
    }
}

/// Reads a document, checks it against the named schema of each library, and lowers its tree.
///
/// `lower` receives the findings so far and may add more.
pub(super) fn validate<T>(
    (source, bytes, limit): (DocumentKind, Vec<u8>, usize),
    (schema, libraries): (&str, &[&Library]),
    lower: impl Fn(&mut Node<'_>, &mut Findings<'_>) -> Option<T>,
) -> Validated<T> {
    let text = match decode(source, bytes, limit) {
        Ok(text) => text,
        Err(found) => return unreadable(Text::new(source, String::new()), found),
    };
    let check = |text: &Text| -> (Option<T>, Result<Vec<Finding>, Vec<Diagnostic>>) {
        let mut problems = Problems::new(text);
        let root = json::parse(&mut problems);
        let found = problems.finish();
        let Some(mut root) = root.filter(|_| found.is_empty()) else {
            return (None, Err(found));
        };
        let mut findings = Findings::new(text);
        for (number, library) in libraries.iter().enumerate() {
            let mut before = libraries[..number].iter();
            if findings.are_corrected() && !before.any(|it| std::ptr::eq(*it, *library)) {
                conform(&mut root, "", (schema, library), |_| true, &mut findings);
            }
        }
        let value = lower(&mut root, &mut findings);
        let mut findings = findings.finish();
        agent_text::sort::sort_by_key(&mut findings, |finding| finding.diagnostic.place().copied());
        (value, Ok(findings))
    };
    let (value, read) = check(&text);
    match read {
        Ok(findings) => match (findings.first()).and_then(|_| recovery::of_kind(&text)) {
            Some(problem) => unreadable(text, vec![problem]),
            None => Validated {
                text,
                value,
                findings,
            },
        },
        Err(found) => {
            let found = recovery::explain(&text, found, &mut |repaired| match check(repaired).1 {
                Ok(findings) => findings.into_iter().map(|it| it.diagnostic).collect(),
                Err(found) => found,
            });
            unreadable(text, found)
        }
    }
}

/// Returns every violation of the named schema in a document, ordered by place.
pub fn conformity(schema: &str, document: Vec<u8>, library: &Library) -> Vec<Finding> {
    let read = (DocumentKind::Document, document, DOCUMENT_LIMIT);
    validate(read, (schema, &[library]), |_, _| Some(())).findings
}

fn unreadable<T>(text: Text, found: Vec<Diagnostic>) -> Validated<T> {
    Validated {
        text,
        value: None,
        findings: found
            .into_iter()
            .map(|it| match it.code {
                // What a repaired text violates has its rule already.
                Code::MovaValidationFailed => it.into(),
                _ => Finding::unreadable(it),
            })
            .collect(),
    }
}

/// Reports a violation of the named schema, in a value at the pointer `at`.
pub(super) fn report_violation(
    violation: &Violation,
    at: &str,
    schema: &str,
    findings: &mut Findings<'_>,
) {
    // A failed `then` or `else` has causes that say more than the condition itself.
    if matches!(violation.keyword, "then" | "else") && !violation.causes.is_empty() {
        for cause in &violation.causes {
            report_violation(cause, at, schema, findings);
        }
        return;
    }
    let pointer = format!("{at}{}", violation.instance);
    let what = if pointer.is_empty() {
        "the document".to_owned()
    } else {
        format!("`{pointer}`")
    };
    let causes = violation.causes.first().map(|cause| {
        format!(
            "; in the nearest alternative `{at}{}` {}",
            cause.instance, cause.message
        )
    });
    let rule = rule(violation, schema);
    let help = match violation.keyword {
        "required" | "dependentRequired" => "add what is missing",
        "additionalProperties" | "unevaluatedProperties" => "write a known property, or remove it",
        "anyOf" | "oneOf" if !violation.expected.is_empty() => "write exactly one of them",
        "anyOf" | "oneOf" => "change it as the nearest alternative requires",
        "type" if pointer.ends_with("/input_from") => {
            "write the output of an earlier step: { \"step\": \"<step id>\", \"pointer\": \"\" }"
        }
        "type" => &type_to_write(&violation.message),
        _ => "write a value that the schema allows",
    };
    findings.add(
        (violation.span, &pointer),
        &rule,
        "violates the schema",
        format!(
            "{what} {}{}",
            predicate(violation),
            causes.unwrap_or_default()
        ),
        help,
    );
    // Removing an unknown member resolves its violation.
    if matches!(
        violation.keyword,
        "additionalProperties" | "unevaluatedProperties"
    ) {
        let source = findings.text().source();
        findings.propose(vec![Change {
            source,
            pointer,
            kind: ChangeKind::Remove,
            widens: source != DocumentKind::Plan,
        }]);
    }
}

/// Returns the help for a value of another type.
fn type_to_write(message: &str) -> String {
    let types = message.strip_prefix("must be ");
    let types = types
        .and_then(|it| it.split_once(", and is "))
        .map(|(types, _)| types);
    format!("write {}", types.unwrap_or("a value of another type"))
}

/// Returns the name of a schema's keyword: its document and the pointer in it.
pub fn rule(violation: &Violation, schema: &str) -> String {
    let document = violation.document.as_deref().map_or(schema, |uri| {
        let name = uri.rsplit('/').next().unwrap_or(uri);
        name.strip_suffix(".schema.json").unwrap_or(name)
    });
    format!("{document}#{}", violation.schema)
}

/// Returns the digest of a value's RFC 8785 form.
pub(super) fn digest_of(node: &Node<'_>) -> String {
    let mut canonical = String::new();
    canonical_node(node, &mut canonical);
    digest(&canonical)
}

/// Returns a member of an object whose schema was checked.
pub(super) fn member<'n, 'a>(node: &'n Node<'a>, name: &str) -> Option<&'n Node<'a>> {
    match &node.value {
        Value::Mapping(entries) => entries
            .iter()
            .find(|entry| entry.key == name)
            .map(|entry| &entry.value),
        _ => None,
    }
}

/// Returns a member of an object, to be corrected.
pub(super) fn member_mut<'n, 'a>(node: &'n mut Node<'a>, name: &str) -> Option<&'n mut Node<'a>> {
    match &mut node.value {
        Value::Mapping(entries) => entries
            .iter_mut()
            .find(|entry| entry.key == name)
            .map(|entry| &mut entry.value),
        _ => None,
    }
}

/// Returns the string of a value.
pub(super) fn string<'n>(node: &'n Node<'_>) -> Option<&'n str> {
    match &node.value {
        Value::String(text) => Some(text),
        _ => None,
    }
}

/// Returns a string member of an object, with its place.
pub(super) fn spanned(node: &Node<'_>, name: &str) -> Option<Spanned<String>> {
    let member = member(node, name)?;
    Some(placed(string(member)?.to_owned(), member))
}

/// Returns the items of a member of an object; empty if it is not a list.
pub(super) fn items<'n, 'a>(node: &'n Node<'a>, name: &str) -> &'n [Node<'a>] {
    match member(node, name).map(|member| &member.value) {
        Some(Value::Sequence(items)) => items,
        _ => &[],
    }
}

/// Returns a member that is a non-negative whole number.
pub(super) fn whole_number(node: &Node<'_>, name: &str) -> Option<Spanned<u64>> {
    let member = member(node, name)?;
    let Value::Number(number) = &member.value else {
        return None;
    };
    // JSON Schema counts `1e3` and `1000.0` as whole numbers.
    let value = number.parse().ok().or_else(|| {
        let value = number.parse::<f64>().ok()?;
        (value >= 0.0 && value.fract() == 0.0).then_some(value as u64)
    })?;
    Some(placed(value, member))
}

/// Reports a repeated value that must be unique.
pub(super) fn report_duplicate(
    (span, pointer): (Span, &str),
    first: Span,
    what: &str,
    rule: &str,
    findings: &mut Findings<'_>,
) {
    findings.add(
        (span, pointer),
        rule,
        "repeated here",
        format!("{what} appears twice"),
        "remove or rename one of the two",
    );
    findings.also(first, "first here");
}
