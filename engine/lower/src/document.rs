//! The documents of a plan, from JSON that nobody trusts: read strictly, and checked against the
//! schema of their kind before anything is made of them \[3\].

use agent_diagnostic::{Change, ChangeKind, Code, Diagnostic, Finding, Findings, Problems};
use agent_json_schema::{Budget, JsonText, Library, Violation};
use agent_syntax::{Node, Value, canonical_node, json};
use agent_text::{Source, Span, Spanned, Text};
use std::collections::BTreeSet;

/// What became of a document: what it says, if it can be read that far, and what is wrong with it.
/// There may be both, so that all that is wrong with a plan is told at once.
#[derive(Debug)]
pub struct Examined<T> {
    /// The text; of one that is not UTF-8, what is before the first bad byte is not kept.
    pub text: Text,
    /// What it says.
    pub value: Option<T>,
    /// What is wrong with it, ordered by place.
    pub findings: Vec<Finding>,
}

impl<T> Examined<T> {
    /// The value, if nothing is wrong with it.
    pub fn sound(&self) -> Option<&T> {
        self.value.as_ref().filter(|_| self.findings.is_empty())
    }
}

/// Examine a document: read it, check it against the schema of a name in each of some libraries, and
/// make of the tree what `lower` makes of it, which is told what was found and may find more.
pub(super) fn examine<T>(
    (source, bytes, limit): (Source, Vec<u8>, usize),
    (schema, libraries): (&str, &[&Library]),
    lower: impl FnOnce(&Node<'_>, &mut Findings<'_>) -> Option<T>,
) -> Examined<T> {
    let text = match super::decode(source, bytes, limit) {
        Ok(text) => text,
        Err(found) => return unreadable(Text::new(source, String::new()), found),
    };
    let mut problems = Problems::new(&text);
    let root = json::parse(&mut problems);
    let found = problems.finish();
    let Some(root) = root.filter(|_| found.is_empty()) else {
        return unreadable(text, found);
    };
    let mut findings = Findings::new(&text);
    for (number, library) in libraries.iter().enumerate() {
        let mut before = libraries[..number].iter();
        if findings.is_empty() && !before.any(|it| std::ptr::eq(*it, *library)) {
            conform(&root, "", (schema, library), |_| true, &mut findings);
        }
    }
    let value = lower(&root, &mut findings);
    let mut findings = findings.finish();
    agent_text::sort::sort_by_key(&mut findings, |finding| finding.diagnostic.place().copied());
    Examined {
        text,
        value,
        findings,
    }
}

/// All in which a document is not as the schema of a name asks, ordered by place.
pub fn conformity(schema: &str, document: Vec<u8>, library: &Library) -> Vec<Finding> {
    let read = (Source::Document, document, super::DOCUMENT_LIMIT);
    examine(read, (schema, &[library]), |_, _| Some(())).findings
}

fn unreadable<T>(text: Text, found: Vec<Diagnostic>) -> Examined<T> {
    Examined {
        text,
        value: None,
        findings: found.into_iter().map(Finding::unreadable).collect(),
    }
}

/// Find everything in which a value, which stands at a pointer of its document, is not as the
/// schema of a name asks, save for what the caller tells otherwise.
pub(super) fn conform(
    node: &Node<'_>,
    at: &str,
    (schema, library): (&str, &Library),
    tell: impl Fn(&Violation) -> bool,
    findings: &mut Findings<'_>,
) {
    let mut budget = Budget::new();
    match library.check(schema, node, &mut budget) {
        Some(Ok(violations)) => {
            let of_type = violations.iter().filter(|it| it.keyword == "type");
            let of_type: BTreeSet<_> = of_type.map(|it| &*it.instance).collect();
            for violation in violations.iter().filter(|it| tell(it)) {
                // A value of the wrong type is nothing else either.
                if violation.keyword == "type" || !of_type.contains(&*violation.instance) {
                    violated(violation, at, schema, findings);
                }
            }
        }
        Some(Err(over)) => findings.reasoned(
            Some(Code::SchemaBudget),
            (node.span, at),
            schema,
            "not decided",
            format!("the document can't be checked: {}", over.reason()),
            Code::SchemaBudget.help(),
        ),
        None => debug_assert!(false, "no schema {schema}"),
    }
}

fn violated(violation: &Violation, at: &str, schema: &str, findings: &mut Findings<'_>) {
    // A condition holds for what it is about; what it asks for is what is wrong.
    if matches!(violation.keyword, "then" | "else") && !violation.causes.is_empty() {
        for cause in &violation.causes {
            violated(cause, at, schema, findings);
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
            "; nearest is the one by which `{at}{}` {}",
            cause.instance, cause.message
        )
    });
    let rule = rule(violation, schema);
    findings.add(
        (violation.span, &pointer),
        &rule,
        "not what the schema says",
        format!("{what} {}{}", violation.message, causes.unwrap_or_default()),
        &format!("the schema says so at `{rule}`"),
    );
    // An unknown member is gone once it is removed.
    if matches!(
        violation.keyword,
        "additionalProperties" | "unevaluatedProperties"
    ) {
        let source = findings.text().source();
        findings.propose(vec![Change {
            source,
            pointer,
            kind: ChangeKind::Remove,
            widens: source != Source::Plan,
        }]);
    }
}

/// The name of a keyword of a schema: that of the document it stands in, and the pointer there.
pub fn rule(violation: &Violation, schema: &str) -> String {
    let document = violation.document.as_deref().map_or(schema, |uri| {
        let name = uri.rsplit('/').next().unwrap_or(uri);
        name.strip_suffix(".schema.json").unwrap_or(name)
    });
    format!("{document}#{}", violation.schema)
}

/// A text as strict JSON: one value, and nothing around it. None if it is not.
pub fn strict(text: &str) -> Option<JsonText<'_>> {
    let whole = Text::new(Source::Document, text.to_owned());
    let mut problems = Problems::new(&whole);
    json::parse(&mut problems)?;
    if problems.has_errors() {
        return None;
    }
    JsonText::read(text)
}

/// The digest of the RFC 8785 form of a value.
pub(super) fn digest_of(node: &Node<'_>) -> String {
    let mut canonical = String::new();
    canonical_node(node, &mut canonical);
    super::digest(&canonical)
}

/// A member of an object, of which the schema has been checked.
pub(super) fn member<'n, 'a>(node: &'n Node<'a>, name: &str) -> Option<&'n Node<'a>> {
    match &node.value {
        Value::Mapping(entries) => entries
            .iter()
            .find(|entry| entry.key == name)
            .map(|entry| &entry.value),
        _ => None,
    }
}

/// The string that a value is.
pub(super) fn string<'n>(node: &'n Node<'_>) -> Option<&'n str> {
    match &node.value {
        Value::String(text) => Some(text),
        _ => None,
    }
}

/// A member of an object that is a string, and where it stands.
pub(super) fn spanned(node: &Node<'_>, name: &str) -> Option<Spanned<String>> {
    let member = member(node, name)?;
    Some(Spanned {
        value: string(member)?.to_owned(),
        span: member.span,
    })
}

/// The items of a member of an object; none if it is no list.
pub(super) fn items<'n, 'a>(node: &'n Node<'a>, name: &str) -> &'n [Node<'a>] {
    match member(node, name).map(|member| &member.value) {
        Some(Value::Sequence(items)) => items,
        _ => &[],
    }
}

/// A member that is a whole number, and not a negative one.
pub(super) fn whole_number(node: &Node<'_>, name: &str) -> Option<Spanned<u64>> {
    let member = member(node, name)?;
    let Value::Number(number) = &member.value else {
        return None;
    };
    // `1e3` and `1000.0` are whole numbers to a schema.
    let value = number.parse().ok().or_else(|| {
        let value = number.parse::<f64>().ok()?;
        (value >= 0.0 && value.fract() == 0.0).then_some(value as u64)
    })?;
    Some(Spanned {
        value,
        span: member.span,
    })
}

/// Report a value that may stand once and stands again.
pub(super) fn again(
    (span, pointer): (Span, &str),
    first: Span,
    what: &str,
    rule: &str,
    findings: &mut Findings<'_>,
) {
    findings.add(
        (span, pointer),
        rule,
        "again here",
        format!("{what} stands twice"),
        "give one of the two another name, or remove it",
    );
    findings.also(first, "first here");
}
