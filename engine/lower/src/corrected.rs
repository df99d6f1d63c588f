//! Documents that violate their schema, read as if their obvious mistakes were corrected.
//!
//! A correction is a finding with a safe fix, so a document with one is never decided to be valid. Reading
//! on with the corrected value reports every other cause in the same run, and no follow-ups: the property
//! that a misspelt key stands for is not missing as well.

use super::document::{report_violation, rule};
use agent_diagnostic::{Code, Findings};
use agent_json_schema::{
    Budget, Correction, Library, OverBudget, Violation, at_pointer, token, unescaped,
};
use agent_syntax::{Entry, Node, Value, json_string};
use agent_text::{Span, hidden_difference, misspelt, visible};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Maximum number of rounds. What a corrected key contains is checked in the next one.
const ROUNDS: usize = 4;

/// Maximum number of corrections of one document.
const CORRECTIONS: usize = 100;

/// Reports every violation of a schema in a value at the pointer `at`, and corrects the value where only
/// one thing can be meant. The caller reports the violations that `is_reported` excludes.
pub(super) fn conform(
    node: &mut Node<'_>,
    at: &str,
    (schema, library): (&str, &Library),
    is_reported: impl Fn(&Violation) -> bool,
    findings: &mut Findings<'_>,
) {
    let mut corrected = BTreeSet::new();
    for round in 1.. {
        let mut budget = Budget::new();
        let found = match library.check(schema, node, &mut budget) {
            Some(Ok(found)) => found,
            Some(Err(over)) => return over_budget(node.span, at, schema, over, findings),
            None => return debug_assert!(false, "no schema {schema}"),
        };
        let mut corrections = Vec::new();
        if round < ROUNDS {
            exact(&found, &mut |violation| {
                of_violation(violation, node, &mut corrections)
            });
        }
        if corrections.is_empty() && round < ROUNDS {
            let mut all = Vec::new();
            exact(&found, &mut |it| all.push(it));
            corrections.extend(all.iter().filter_map(|it| guessed(it, &all, node)));
        }
        corrections.retain(|it| corrected.len() < CORRECTIONS && corrected.insert(it.edited()));
        if corrections.is_empty() {
            // What a corrected string holds is not read here.
            let is_held = |it: &Violation| it.keyword == "type" && corrected.contains(&it.span);
            let is_reported = |it: &Violation| !is_held(it) && is_reported(it);
            return report(&found, at, schema, is_reported, findings);
        }
        for it in &corrections {
            it.report(at, schema, findings);
            if let Some(node) = at_pointer_mut(node, it.pointer()) {
                it.correction.apply(node);
            }
        }
    }
}

fn over_budget(span: Span, at: &str, schema: &str, over: OverBudget, findings: &mut Findings<'_>) {
    findings.reasoned(
        Some(Code::SchemaBudget),
        (span, at),
        schema,
        "not checked",
        format!("the document can't be checked: {}", over.reason()),
        Code::SchemaBudget.help(),
    );
}

fn report(
    found: &[Violation],
    at: &str,
    schema: &str,
    is_reported: impl Fn(&Violation) -> bool,
    findings: &mut Findings<'_>,
) {
    let of_type = found.iter().filter(|it| it.keyword == "type");
    let of_type: BTreeSet<_> = of_type.map(|it| &*it.instance).collect();
    for violation in found.iter().filter(|it| is_reported(it)) {
        if is_follow_up(violation, found) {
            continue;
        }
        // A value of the wrong type violates nearly every other keyword too.
        if violation.keyword == "type" || !of_type.contains(&*violation.instance) {
            report_violation(violation, at, schema, findings);
        }
    }
}

/// Returns whether a declared property is refused only because something else of its object is.
fn is_follow_up(violation: &Violation, found: &[Violation]) -> bool {
    let Some(object) = declaring(violation) else {
        return false;
    };
    let within = |it: &Violation| {
        let rest = it.instance.strip_prefix(object);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let mut others = found.iter().filter(|it| declaring(it).is_none());
    others.any(within)
}

/// Returns the object of a property that is declared, and refused as if it were not: the part of the
/// schema that declares it does not apply.
fn declaring(violation: &Violation) -> Option<&str> {
    let (object, key) = violation.instance.rsplit_once('/')?;
    let is_declared = violation.expected.iter().any(|it| it == key);
    (violation.keyword == "unevaluatedProperties" && is_declared).then_some(object)
}

/// Visits violations, and the causes of a failed condition instead of the condition.
fn exact<'v>(found: &'v [Violation], visit: &mut dyn FnMut(&'v Violation)) {
    for violation in found {
        match violation.keyword {
            "then" | "else" => exact(&violation.causes, visit),
            _ => visit(violation),
        }
    }
}

/// A violation with its correction.
struct Corrected<'v> {
    violation: &'v Violation,
    correction: Correction,
    /// Why a person has to decide, although no follow-ups are to be reported.
    choice: Option<&'static str>,
}

/// Collects the corrections of a violation. Those of keys come last, since they move what is below.
fn of_violation<'v>(
    violation: &'v Violation,
    root: &Node<'_>,
    corrections: &mut Vec<Corrected<'v>>,
) {
    let named = || {
        let value = (violation.keyword == "pattern").then(|| at_pointer(root, &violation.instance));
        let Value::String(text) = &value??.value else {
            return None;
        };
        let name = in_form(violation.instance.rsplit('/').next()?, text)?;
        Some(Correction::Value(json_string(&name)))
    };
    for correction in violation.corrections.iter().cloned().chain(named()) {
        let found = Corrected {
            violation,
            choice: allows_all(violation, &correction, root).then_some("it would allow every tool"),
            correction,
        };
        match found.correction {
            Correction::Key { .. } => corrections.push(found),
            _ => corrections.insert(0, found),
        }
    }
}

/// Returns whether a correction makes a rule of an instruction profile allow every tool.
fn allows_all(violation: &Violation, correction: &Correction, root: &Node<'_>) -> bool {
    let rule = violation.instance.strip_suffix("/effect");
    let selector = rule.and_then(|rule| at_pointer(root, &format!("{rule}/target/selector")));
    let is_all = selector.is_some_and(|it| matches!(&it.value, Value::String(text) if text == "*"));
    is_all && matches!(correction, Correction::Value(json) if json == "\"allow\"")
}

/// Names that other protocols have for members of steps.
const ALIASES: [(&str, &str); 10] = [
    ("args", "input"),
    ("arguments", "input"),
    ("from", "step"),
    ("parameters", "input"),
    ("params", "input"),
    ("path", "pointer"),
    ("objective", "goal"),
    ("query", "goal"),
    ("question", "goal"),
    ("task", "goal"),
];

/// Returns the correction of a word that shares its words with only one that is possible: of a key with
/// one missing property, of a value with one allowed text.
fn guessed<'v>(
    violation: &'v Violation,
    found: &[&'v Violation],
    root: &Node<'_>,
) -> Option<Corrected<'v>> {
    let mut choice = None;
    let correction = match violation.keyword {
        "enum" => {
            let Value::String(word) = &at_pointer(root, &violation.instance)?.value else {
                return None;
            };
            let words = violation.expected.iter().map(String::as_str);
            Correction::Value(json_string(alike(word, words)?.0))
        }
        "additionalProperties" | "unevaluatedProperties" if declaring(violation).is_none() => {
            let (object, key) = violation.instance.rsplit_once('/')?;
            let key = unescaped(key)?;
            let of_object = |keyword: &'static str| {
                let found = found.iter();
                found
                    .filter(move |it| it.keyword == keyword && it.instance == object)
                    .copied()
            };
            let missing = of_object("required").flat_map(|it| &it.expected);
            let missing: Vec<_> = missing.map(String::as_str).collect();
            let needs_input = of_object("oneOf").next().is_some();
            let named = ALIASES.iter().filter(|(alias, _)| *alias == key);
            let mut named = named.map(|(_, name)| *name);
            let is_needed = |name: &str| missing.contains(&name) || name == "input" && needs_input;
            let to = alike(&key, missing.iter().copied());
            let named = || named.find(|name| is_needed(name)).map(|it| (it, false));
            let (to, other_unit) = to.or_else(named)?;
            choice = other_unit.then_some("mind the unit");
            // Two keys for one property are a choice.
            let unknown = of_object_keys(found, object);
            let same = unknown.filter(|it| alike(it, [to].into_iter()).is_some());
            if same.count() > 1 {
                return None;
            }
            Correction::Key {
                span: violation.span,
                from: key,
                to: to.to_owned(),
            }
        }
        _ => return None,
    };
    Some(Corrected {
        violation,
        correction,
        choice,
    })
}

/// Returns the unknown keys of an object.
fn of_object_keys<'v>(found: &[&'v Violation], object: &str) -> impl Iterator<Item = &'v str> {
    let unknown = found.iter().filter(|it| it.keyword.ends_with("Properties"));
    let unknown = unknown.filter(|it| declaring(it).is_none());
    unknown.filter_map(move |it| {
        let (parent, key) = it.instance.rsplit_once('/')?;
        (parent == object).then_some(key)
    })
}

/// Returns the only word that contains all parts of another, or whose parts all are in it, and whether
/// they differ in a unit, which is a choice: `timeout` may count seconds.
fn alike<'k>(word: &str, known: impl Iterator<Item = &'k str>) -> Option<(&'k str, bool)> {
    let parts = |word: &str| -> Vec<String> {
        let mut parts = vec![String::new()];
        let mut was_lower = false;
        for c in word.chars() {
            let is_break = matches!(c, '_' | '-' | '.' | ' ') || was_lower && c.is_uppercase();
            if is_break {
                parts.push(String::new());
            }
            was_lower = c.is_lowercase();
            if c.is_alphanumeric()
                && let Some(last) = parts.last_mut()
            {
                last.extend(c.to_lowercase());
            }
        }
        parts.retain(|part| !part.is_empty());
        parts
    };
    let own = parts(word);
    if own.is_empty() || word.len() > 64 {
        return None;
    }
    let mut near = known.filter_map(|known| {
        let other = parts(known);
        let other_unit = ["ms", "bytes"].iter().any(|unit| {
            let has = |parts: &[String]| parts.last().is_some_and(|it| it == unit);
            has(&own) != has(&other)
        });
        let within = |few: &[String], many: &[String]| few.iter().all(|part| many.contains(part));
        let is_near = !other.is_empty() && (within(&own, &other) || within(&other, &own));
        is_near.then_some((known, other_unit))
    });
    near.next().filter(|_| near.next().is_none())
}

impl Corrected<'_> {
    /// Returns the place of the replaced text.
    fn edited(&self) -> Span {
        match &self.correction {
            Correction::Key { span, .. } => *span,
            _ => self.violation.span,
        }
    }

    /// Returns the pointer to the corrected value: for a key its object.
    fn pointer(&self) -> &str {
        let instance = &*self.violation.instance;
        match (&self.correction, self.violation.keyword) {
            (Correction::Key { .. }, "required")
            | (Correction::Value(_) | Correction::List | Correction::Item(_), _) => instance,
            _ => instance.rsplit_once('/').map_or("", |(object, _)| object),
        }
    }

    fn report(&self, at: &str, schema: &str, findings: &mut Findings<'_>) {
        let violation = self.violation;
        let (reason, label) = match (&self.correction, violation.keyword) {
            (Correction::Key { .. }, _) => (Code::MisspeltKey, "misspelt"),
            (_, "type") => (Code::WrongType, "another type"),
            (_, "pattern") => (Code::InvalidName, "another form"),
            _ => (Code::UnknownValue, "not an allowed value"),
        };
        let text = findings.text().as_str();
        let (pointer, message, difference) = match &self.correction {
            Correction::Key { from, to, .. } => {
                let pointer = format!("{at}{}/{}", self.pointer(), token(from));
                let message = format!("unknown property `{}`, almost `{to}`", visible(&pointer));
                (pointer, message, hidden_difference(from, to))
            }
            correction => {
                let pointer = format!("{at}{}", violation.instance);
                let (_, new) = correction.edit(text, violation.span);
                let what = match &*pointer {
                    "" => "the document".to_owned(),
                    pointer => format!("`{pointer}`"),
                };
                let message = format!("{what} {}", visible(&predicate(violation)));
                (
                    pointer,
                    message,
                    hidden_difference(bare(violation.span.of(text)), bare(&new)),
                )
            }
        };
        let edit = self.correction.edit(text, violation.span);
        let at = (self.edited(), &*pointer);
        let rule = rule(violation, schema);
        if let Some(why) = self.choice {
            let help = format!("did you mean `{}`? {why}", bare(&edit.1));
            findings.reasoned(Some(reason), at, &rule, label, message, &help);
        } else {
            findings.corrected(Some(reason), at, &rule, label, message, edit);
            findings.note(difference);
        }
    }
}

/// Returns the text of a JSON string without escapes.
fn bare(json: &str) -> &str {
    json.trim_matches('"')
}

/// Corrects keys of an object whose schema allows any, and which are spelled almost like a known one that
/// is absent: otherwise the property would be lost in silence.
pub(super) fn correct_keys(
    object: &mut Node<'_>,
    at: &str,
    (known, rule): (&[&str], &str),
    findings: &mut Findings<'_>,
) {
    let Value::Mapping(entries) = &mut object.value else {
        return;
    };
    let has = |entries: &[Entry<'_>], name: &str| entries.iter().any(|it| it.key == name);
    let absent = known.iter().copied();
    let absent: Vec<_> = absent.filter(|it| !has(entries, it)).collect();
    if absent.is_empty() {
        return;
    }
    for number in 0..entries.len() {
        let entry = &entries[number];
        let meant = misspelt(&entry.key, &absent).filter(|_| !known.contains(&&*entry.key));
        let Some(meant) = meant else {
            continue;
        };
        let pointer = format!("{at}/{}", token(&entry.key));
        let message = format!("unknown property `{}`, almost `{meant}`", visible(&pointer));
        let (reason, at) = (Some(Code::MisspeltKey), (entry.key_span, &*pointer));
        if has(entries, meant) {
            let help = format!("did you mean `{meant}`, which is there already?");
            findings.reasoned(reason, at, rule, "misspelt", message, &help);
        } else {
            let edit = (entry.key_span, json_string(meant));
            findings.corrected(reason, at, rule, "misspelt", message, edit);
            findings.note(hidden_difference(&entry.key, meant));
            entries[number].key = Cow::Owned(meant.to_owned());
        }
    }
}

/// Corrects a word of an open vocabulary that is spelled almost like a known one.
pub(super) fn correct_word(
    node: &mut Node<'_>,
    pointer: &str,
    (known, rule): (&str, &str),
    findings: &mut Findings<'_>,
) {
    let Value::String(word) = &node.value else {
        return;
    };
    if word == known || misspelt(word, &[known]).is_none() {
        return;
    }
    let message = format!("`{pointer}` is `{}`, almost `{known}`", visible(word));
    let difference = hidden_difference(word, known);
    let (at, edit) = ((node.span, pointer), (node.span, json_string(known)));
    let label = "not a known kind";
    findings.corrected(Some(Code::UnknownValue), at, rule, label, message, edit);
    findings.note(difference);
    node.value = Value::String(Cow::Owned(known.to_owned()));
}

/// The patterns of the project's schemas, in words.
const FORMS: &[(&str, &str)] = &[
    (
        r"^(/([^/~]|~[01])*)*$",
        "must be a JSON pointer: empty, or begin with `/`",
    ),
    (
        r"^[a-z0-9][a-z0-9_-]{0,63}$",
        "must be 1 to 64 small letters, digits, `-` and `_`",
    ),
    (
        r"^[^*/\u0000-\u001f\u007f-\u009f]+$",
        "must be a name without `*`, `/` and control characters",
    ),
    (
        r"^[^/\u0000-\u001f\u007f-\u009f]+$",
        "must be a name without `/` and control characters",
    ),
    (
        r"^[^\u0000-\u001f\u007f-\u009f]+$",
        "must be a text without control characters",
    ),
    (
        r"^(/[^/\u0000-\u001f\u007f-\u009f]+)+$",
        "must be an absolute path, such as `/usr/bin/git`",
    ),
    (
        r"^https?://[^/?#@\\\u0000-\u0020]+/?$",
        "must be `http://` or `https://` with a host, and nothing behind its port",
    ),
    (r"^[a-z][a-z0-9+.-]*:[!-~]+$", "must be an absolute URI"),
    (
        r"^sha256-[A-Za-z0-9+/]{43}=$",
        "must be `sha256-` and 43 characters of Base64 with a final `=`",
    ),
    (
        r"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$",
        "must be the name of a header: letters, digits and `-`",
    ),
    (
        r"^([!-~]([ -~]*[!-~])?)?$",
        "must be visible ASCII characters, with blanks only between them",
    ),
    (
        r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$",
        "must be the name of a secret: letters, digits, `_`, `.` and `-`",
    ),
    (r"^[0-9A-Fa-f:.]+$", "must be an IP address"),
    (
        r"^[A-Z][A-Z0-9_]*$",
        "must be a code, such as `POLICY_DENIED`",
    ),
];

/// Returns the predicate about a violating value, a pattern of the project's schemas in words.
pub(super) fn predicate(violation: &Violation) -> String {
    let words = || {
        let (written, value) = violation.message.rsplit_once(", and is ")?;
        let pattern = written.strip_prefix("must match the pattern `")?;
        let pattern = pattern.strip_suffix('`')?;
        let (_, form) = FORMS.iter().find(|(known, _)| *known == pattern)?;
        Some(format!("{form}, and is {value}"))
    };
    words().unwrap_or_else(|| violation.message.clone())
}

/// Returns a text in the form of its member, if it says the same in another one.
fn in_form(member: &str, text: &str) -> Option<String> {
    let shown: String = text
        .chars()
        .filter(|c| visible(c.encode_utf8(&mut [0; 4])) == c.to_string())
        .collect();
    let name = match member {
        "pointer" => pointer(&shown)?,
        "step" | "step_id" | "plan_id" | "request_id" => {
            let name = shown.trim().to_ascii_lowercase().replace(' ', "-");
            let is_id = |name: &str| {
                let inner = |b: u8| {
                    b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_')
                };
                name.bytes().all(inner)
                    && !name.starts_with(['-', '_'])
                    && (1..=64).contains(&name.len())
            };
            Some(name).filter(|name| is_id(name))?
        }
        _ => return None,
    };
    (name != text).then_some(name)
}

/// Returns the JSON pointer that was meant by a name, a path of JSONPath, or a fragment of a URI.
fn pointer(text: &str) -> Option<String> {
    let text = text.trim();
    if text.contains('~') {
        return None;
    }
    if let Some(pointer) = text.strip_prefix('#').filter(|it| it.starts_with('/')) {
        return Some(pointer.to_owned());
    }
    if text == "$" {
        return Some(String::new());
    }
    let is_word = |part: &str| {
        let inner = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
        !part.is_empty() && part.chars().all(inner)
    };
    let path = match text.strip_prefix("$.") {
        Some(path) => path.replace('[', ".").replace(']', "").replace('.', "/"),
        None if text.starts_with('/') => return None,
        None => text.to_owned(),
    };
    path.split('/').all(is_word).then(|| format!("/{path}"))
}

/// Returns the value at a JSON pointer.
fn at_pointer_mut<'n, 'a>(node: &'n mut Node<'a>, pointer: &str) -> Option<&'n mut Node<'a>> {
    let mut node = node;
    for part in pointer.split('/').skip(1) {
        let part = unescaped(part)?;
        node = match &mut node.value {
            Value::Mapping(entries) => {
                let mut entries = entries.iter_mut();
                &mut entries.find(|entry| entry.key == part)?.value
            }
            Value::Sequence(items) => items.get_mut(part.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    Some(node)
}
