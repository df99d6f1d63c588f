//! Reading typed fields from trees, and saying what is wrong with them.

use agent_diagnostic::{Code, Problems};
use agent_model::{Name, NameError, NameRule, Vocabulary};
use agent_syntax::{Entry, Node, Value};
use agent_text::{Span, Spanned, nearest};

/// What a value is called when it is not what its field takes.
pub fn describe(value: &Value<'_>) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) | Value::Plain(_) | Value::Refused => "a string",
        Value::Sequence(_) => "a list",
        Value::Mapping(_) => "a mapping",
    }
}

/// Report that a field takes another type.
pub fn wrong_type(
    problems: &mut Problems<'_>,
    span: Span,
    path: &str,
    expected: &str,
    found: &str,
) {
    let report = problems.report(
        Code::WrongType,
        span,
        format!("this is {found}"),
        format!("{} must be {expected}, and is {found}", field(path)),
    );
    if found == "nothing" {
        report.help("write a value, or remove the key");
    }
}

/// How a field is named in a sentence. What is no field, such as `the lock`, is named as it is.
pub(crate) fn field(path: &str) -> String {
    if path.is_empty() {
        "the frontmatter".to_owned()
    } else if path.starts_with("the ") {
        path.to_owned()
    } else {
        format!("`{path}`")
    }
}

/// A noun with its article.
fn one(noun: &str) -> String {
    let article = if noun.starts_with(['a', 'e', 'i', 'o', 'u']) {
        "an"
    } else {
        "a"
    };
    format!("{article} {noun}")
}

/// Report that a text is no name of its kind.
pub(crate) fn bad_name(
    problems: &mut Problems<'_>,
    span: Span,
    rule: NameRule,
    text: &str,
    error: NameError,
) {
    match error {
        NameError::Empty => {
            problems
                .report(
                    Code::EmptyValue,
                    span,
                    "empty",
                    format!("the {} is empty", rule.noun),
                )
                .help("write a name");
        }
        NameError::Control(_) | NameError::Reserved(_) | NameError::Unknown => {
            let reserved: Vec<_> = rule.reserved.iter().map(|c| format!("`{c}`")).collect();
            let also = if reserved.is_empty() {
                String::new()
            } else {
                format!(" and no {}", reserved.join(" or "))
            };
            problems
                .report(
                    Code::InvalidName,
                    span,
                    error.to_string(),
                    format!("{text:?} can't be {}: {error}", one(rule.noun)),
                )
                .help(format!(
                    "{} holds no control character{also}",
                    one(rule.noun)
                ));
        }
    }
}

/// Report that a word is none that everybody knows, and none of one's own.
pub(crate) fn bad_word(
    problems: &mut Problems<'_>,
    span: Span,
    vocabulary: Vocabulary,
    text: &str,
) {
    let noun = vocabulary.noun;
    let mut report = problems.report(
        Code::UnknownValue,
        span,
        format!("no {noun} that is known"),
        format!("{text:?} is no known {noun}"),
    );
    if let Some(meant) = nearest(text, vocabulary.known.iter().copied(), 1).first() {
        report = report.help(format!("did you mean `{meant}`?"));
    }
    report.help(format!(
        "known are {}; a {noun} of one's own has a dash, a dot or a colon in it, such as `x-{}`",
        quoted(vocabulary.known, ", "),
        text.replace(|c: char| c.is_control(), "")
    ));
}

/// Report that a field does not allow a value.
pub(crate) fn bad_choice(
    problems: &mut Problems<'_>,
    span: Span,
    path: &str,
    text: &str,
    allowed: &[&str],
) {
    let mut report = problems.report(
        Code::UnknownValue,
        span,
        "not one of the allowed values",
        format!("{} can't be {text:?}", field(path)),
    );
    if let Some(meant) = nearest(text, allowed.iter().copied(), 1).first() {
        report = report.help(format!("did you mean `{meant}`?"));
    }
    report.help(format!("allowed are {}", quoted(allowed, ", ")));
}

/// Words in backquotes.
pub(crate) fn quoted(words: &[&str], between: &str) -> String {
    let words: Vec<_> = words.iter().map(|word| format!("`{word}`")).collect();
    words.join(between)
}

/// A mapping whose fields are being read.
pub struct Object<'n, 't> {
    entries: &'n [Entry<'t>],
    /// Its name in messages, such as `constraints.data`; empty for the whole.
    path: String,
    /// Where an absent field is missed.
    anchor: Span,
}

impl<'n, 't> Object<'n, 't> {
    /// A node as a mapping. None if it is none, which is reported.
    pub fn of(
        node: &'n Node<'t>,
        path: impl Into<String>,
        anchor: Span,
        problems: &mut Problems<'_>,
    ) -> Option<Self> {
        let path = path.into();
        match &node.value {
            Value::Mapping(entries) => Some(Self {
                entries,
                path,
                anchor,
            }),
            Value::Refused => None,
            other => {
                wrong_type(problems, node.span, &path, "a mapping", describe(other));
                None
            }
        }
    }

    /// The same under another name.
    pub fn rename(self, path: &str) -> Self {
        Self {
            path: path.to_owned(),
            ..self
        }
    }

    /// The path of a field.
    pub fn path(&self, key: &str) -> String {
        if self.path.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.path)
        }
    }

    /// A mapping among the fields, which may be absent.
    pub fn object(&self, key: &str, problems: &mut Problems<'_>) -> Option<Self> {
        let entry = self.optional(key)?;
        Self::of(&entry.value, self.path(key), entry.key_span, problems)
    }

    /// A mapping among the fields, which must be there.
    pub fn required_object(
        &self,
        key: &str,
        help: &str,
        problems: &mut Problems<'_>,
    ) -> Option<Self> {
        self.required(key, help, problems)?;
        self.object(key, problems)
    }

    /// A field that may be absent.
    pub fn optional(&self, key: &str) -> Option<&'n Entry<'t>> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// A field that must be there; `help` is what to do where it is not.
    pub fn required(
        &self,
        key: &str,
        help: &str,
        problems: &mut Problems<'_>,
    ) -> Option<&'n Entry<'t>> {
        let entry = self.optional(key);
        if entry.is_none() {
            self.missing(key, help, problems);
        }
        entry
    }

    /// Report that a field is absent.
    pub fn missing(&self, key: &str, help: &str, problems: &mut Problems<'_>) {
        problems
            .report(
                Code::MissingField,
                self.anchor,
                format!("`{key}` is missing here"),
                format!("the required field `{}` is missing", self.path(key)),
            )
            .help(help);
    }

    /// The fields that have no meaning.
    pub(crate) fn unknown(&self, known: &[&str]) -> impl Iterator<Item = &'n Entry<'t>> {
        let entries = self.entries;
        entries
            .iter()
            .filter(move |entry| !known.contains(&&*entry.key))
    }

    /// Warn of fields that have no meaning.
    pub fn warn_unknown(&self, known: &[&str], problems: &mut Problems<'_>) {
        for entry in self.unknown(known) {
            let mut report = problems.report(
                Code::UnknownKey,
                entry.key_span,
                "has no effect",
                format!("`{}` is no known field", self.path(&entry.key)),
            );
            if let Some(meant) = nearest(&entry.key, known.iter().copied(), 1).first() {
                report = report.help(format!("did you mean `{meant}`?"));
            }
            let known: Vec<_> = known.iter().map(|key| format!("`{key}`")).collect();
            report.help(format!("known are {}", known.join(", ")));
        }
    }
}

/// A node as a string: a plain scalar counts by its source text.
pub fn text<'n>(node: &'n Node<'_>, path: &str, problems: &mut Problems<'_>) -> Option<&'n str> {
    match &node.value {
        Value::String(text) | Value::Plain(text) => Some(text),
        Value::Refused => None,
        other => {
            wrong_type(problems, node.span, path, "a string", describe(other));
            None
        }
    }
}

/// A node as a name.
pub fn name<N: Name>(
    node: &Node<'_>,
    path: &str,
    problems: &mut Problems<'_>,
) -> Option<Spanned<N>> {
    let text = text(node, path, problems)?;
    match N::new(text) {
        Ok(value) => Some(Spanned {
            value,
            span: node.span,
        }),
        Err(error) => {
            bad_name(problems, node.span, N::RULE, text, error);
            None
        }
    }
}

/// A node as a list.
pub fn list<'n, 't>(
    node: &'n Node<'t>,
    path: &str,
    problems: &mut Problems<'_>,
) -> Option<&'n [Node<'t>]> {
    match &node.value {
        Value::Sequence(items) => Some(items),
        Value::Refused => None,
        other => {
            wrong_type(problems, node.span, path, "a list", describe(other));
            None
        }
    }
}

/// A node as a list of names. None if any is invalid.
pub fn names<N: Name>(
    node: &Node<'_>,
    path: &str,
    problems: &mut Problems<'_>,
) -> Option<Vec<Spanned<N>>> {
    let items = list(node, path, problems)?;
    let names: Vec<_> = items
        .iter()
        .enumerate()
        .filter_map(|(i, item)| name(item, &format!("{path}[{i}]"), problems))
        .collect();
    (names.len() == items.len()).then_some(names)
}

/// A node as one of some values.
pub fn choice<'c, T>(
    node: &Node<'_>,
    path: &str,
    parse: fn(&str) -> Option<T>,
    allowed: impl Iterator<Item = &'c str>,
    problems: &mut Problems<'_>,
) -> Option<Spanned<T>> {
    let text = text(node, path, problems)?;
    let value = parse(text);
    if value.is_none() {
        bad_choice(
            problems,
            node.span,
            path,
            text,
            &allowed.collect::<Vec<_>>(),
        );
    }
    value.map(|value| Spanned {
        value,
        span: node.span,
    })
}

/// A node as a word of a vocabulary.
pub(crate) fn word<N: Name>(
    node: &Node<'_>,
    path: &str,
    vocabulary: Vocabulary,
    problems: &mut Problems<'_>,
) -> Option<Spanned<N>> {
    let text = text(node, path, problems)?;
    match N::new(text) {
        Ok(value) => {
            return Some(Spanned {
                value,
                span: node.span,
            });
        }
        Err(NameError::Unknown) => bad_word(problems, node.span, vocabulary, text),
        Err(error) => bad_name(problems, node.span, N::RULE, text, error),
    }
    None
}

/// A node as a whole number: plain digits, with a sign or without.
pub fn integer(node: &Node<'_>, path: &str, problems: &mut Problems<'_>) -> Option<Spanned<i64>> {
    let text: &str = match &node.value {
        Value::Number(text) => text,
        Value::Plain(text) => text,
        Value::Refused => return None,
        other => {
            wrong_type(problems, node.span, path, "a whole number", describe(other));
            return None;
        }
    };
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        wrong_type(problems, node.span, path, "a whole number", "none");
        return None;
    }
    let value = text.parse().ok();
    if value.is_none() {
        problems
            .report(
                Code::NumberOutOfRange,
                node.span,
                "too large",
                format!("{} is beyond 64 bits", field(path)),
            )
            .help("write a smaller number");
    }
    value.map(|value| Spanned {
        value,
        span: node.span,
    })
}

/// A node as a boolean: plain `true` or `false`.
pub fn boolean(node: &Node<'_>, path: &str, problems: &mut Problems<'_>) -> Option<Spanned<bool>> {
    let value = match &node.value {
        Value::Bool(value) => *value,
        Value::Plain(text) if text == "true" => true,
        Value::Plain(text) if text == "false" => false,
        Value::Refused => return None,
        Value::Plain(text) => {
            bad_choice(problems, node.span, path, text, &["true", "false"]);
            return None;
        }
        other => {
            wrong_type(problems, node.span, path, "a boolean", describe(other));
            return None;
        }
    };
    Some(Spanned {
        value,
        span: node.span,
    })
}
