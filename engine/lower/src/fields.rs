//! Typed fields of trees, and the diagnostics about them.

use agent_diagnostic::{Code, Problems, Report};
use agent_model::{Endpoint, EndpointError, Keyword, Name, NameError, NameRule};
use agent_syntax::{Entry, Node, Value, json_string};
use agent_text::sort::sort_by;
use agent_text::{Span, Spanned, misspelt, nearest};

/// Returns the name of a value's type, with its article.
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

/// Reports a value of another type than its field requires.
pub fn wrong_type(
    problems: &mut Problems<'_>,
    span: Span,
    path: &str,
    expected: &str,
    found: &str,
) {
    let field = field(path);
    if found == "nothing" {
        let message = format!("{field} must be {expected}, but has no value");
        problems
            .report(Code::WrongType, span, "no value", message)
            .help("write a value, or remove the key");
        return;
    }
    problems.report(
        Code::WrongType,
        span,
        format!("this is {found}"),
        format!("{field} must be {expected}, but is {found}"),
    );
}

/// Returns a field's name for a message. A description such as `the lock` has no backquotes.
pub(crate) fn field(path: &str) -> String {
    if path.is_empty() {
        "the frontmatter".to_owned()
    } else if path.starts_with("the ") {
        path.to_owned()
    } else {
        format!("`{path}`")
    }
}

/// Returns a noun with its indefinite article.
fn one(noun: &str) -> String {
    let article = if noun.starts_with(['a', 'e', 'i', 'o', 'u']) {
        "an"
    } else {
        "a"
    };
    format!("{article} {noun}")
}

/// Reports a text that violates the rule of its kind of name.
pub(crate) fn bad_name(
    problems: &mut Problems<'_>,
    span: Span,
    rule: NameRule,
    text: &str,
    error: NameError,
) {
    let noun = rule.noun;
    match error {
        NameError::Empty => {
            let help = match rule == Endpoint::RULE {
                true => "write a URL such as `https://mcp.example/reports`",
                false => "write a name",
            };
            empty(problems, span, &format!("the {noun} is empty")).help(help)
        }
        NameError::Unknown => {
            let message = format!("unknown {noun} {text:?}");
            let label = format!("unknown {noun}");
            let report = problems.report(Code::UnknownValue, span, label, message);
            did_you_mean(report, text, rule.known).help(format!(
                "use {}, or a custom {noun} that contains a dash, a dot or a colon, such as `x-{}`",
                one_of(rule.known),
                text.replace(|c: char| c.is_control(), "")
            ))
        }
        NameError::Control(_) | NameError::Reserved(_) => {
            let reserved: Vec<_> = rule.reserved.iter().map(|c| format!("`{c}`")).collect();
            let forbidden = match &reserved[..] {
                [] => String::new(),
                [only] => format!(" and {only}"),
                [others @ .., last] => format!(", {} and {last}", others.join(", ")),
            };
            let message = format!("{text:?} can't be {}: {error}", one(noun));
            let report = problems.report(Code::InvalidName, span, error.to_string(), message);
            let help = format!("write {} without control characters{forbidden}", one(noun));
            report.help(help)
        }
    };
}

/// Reports a text that is not an endpoint, without repeating it.
pub(crate) fn bad_endpoint(problems: &mut Problems<'_>, span: Span, error: EndpointError) {
    let message = format!("the endpoint can't be used: {error}");
    let code = Code::InvalidEndpoint;
    let report = problems.report(code, span, "not an endpoint", message);
    report.help("write a URL such as `https://mcp.example/reports`, or `pkg:generic/NAME@VERSION`");
}

/// Reports an empty value.
pub(crate) fn empty<'p, 't>(
    problems: &'p mut Problems<'t>,
    span: Span,
    message: &str,
) -> Report<'p, 't> {
    problems.report(Code::EmptyValue, span, "empty", message)
}

/// Suggests the most similar of the known words, if one is similar.
pub(crate) fn did_you_mean<'p, 't>(
    report: Report<'p, 't>,
    text: &str,
    known: &[&str],
) -> Report<'p, 't> {
    match nearest(text, known.iter().copied(), 1).first() {
        Some(meant) => report.help(format!("did you mean `{meant}`?")),
        None => report,
    }
}

/// Reports a value that its field does not allow.
pub(crate) fn bad_choice(
    problems: &mut Problems<'_>,
    span: Span,
    path: &str,
    text: &str,
    allowed: &[&str],
) {
    let report = problems.report(
        Code::UnknownValue,
        span,
        "not one of the allowed values",
        format!("{} can't be {text:?}", field(path)),
    );
    did_you_mean(report, text, allowed).help(format!("use {}", one_of(allowed)));
}

/// Lists the words to choose from.
pub(crate) fn one_of(words: &[&str]) -> String {
    let quoted: Vec<_> = words.iter().map(|word| format!("`{word}`")).collect();
    match &quoted[..] {
        [only] => only.clone(),
        all => format!("one of {}", all.join(", ")),
    }
}

/// Returns the first byte of a value: its opening bracket or quote.
pub fn opening(node: &Node<'_>) -> Span {
    let start = node.span.start as usize;
    Span::new(start, start + 1)
}

/// A mapping with its name and place for messages.
pub struct Object<'n, 't> {
    entries: &'n [Entry<'t>],
    /// Its name in messages, such as `constraints.data`; empty for the root.
    path: String,
    /// The place at which an absent field is reported.
    anchor: Span,
}

impl<'n, 't> Object<'n, 't> {
    /// Takes a node as a mapping. Reports any other type and returns `None`.
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

    /// Returns the mapping under another name.
    pub fn rename(self, path: &str) -> Self {
        Self {
            path: path.to_owned(),
            ..self
        }
    }

    /// Returns the path of a field.
    pub fn path(&self, key: &str) -> String {
        if self.path.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.path)
        }
    }

    /// Returns an optional field that is a mapping.
    pub fn object(&self, key: &str, problems: &mut Problems<'_>) -> Option<Self> {
        let entry = self.optional(key)?;
        Self::of(&entry.value, self.path(key), entry.key_span, problems)
    }

    /// Returns the fields in file order.
    pub fn entries(&self) -> &'n [Entry<'t>] {
        self.entries
    }

    /// Reads a required field. Reports its absence with `help`.
    pub fn read<T>(
        &self,
        key: &str,
        help: &str,
        problems: &mut Problems<'_>,
        read: impl FnOnce(&'n Node<'t>, &str, &mut Problems<'_>) -> Option<T>,
    ) -> Option<T> {
        let entry = self.required(key, help, problems)?;
        read(&entry.value, &self.path(key), problems)
    }

    /// Reads an optional field, which is `default` if it is absent.
    pub fn read_or<T>(
        &self,
        key: &str,
        default: T,
        problems: &mut Problems<'_>,
        read: impl FnOnce(&'n Node<'t>, &str, &mut Problems<'_>) -> Option<T>,
    ) -> Option<T> {
        match self.optional(key) {
            Some(entry) => read(&entry.value, &self.path(key), problems),
            None => Some(default),
        }
    }

    /// Reads an optional field. Returns `None` if it is absent or invalid.
    pub fn read_optional<T>(
        &self,
        key: &str,
        problems: &mut Problems<'_>,
        read: impl FnOnce(&'n Node<'t>, &str, &mut Problems<'_>) -> Option<T>,
    ) -> Option<T> {
        read(&self.optional(key)?.value, &self.path(key), problems)
    }

    /// Checks the optional `version` of a format that has only the version `v0.1`.
    pub fn check_version(&self, problems: &mut Problems<'_>) {
        if let Some(entry) = self.optional("version")
            && let Some(version) = text(&entry.value, "version", problems)
            && version != "v0.1"
        {
            bad_choice(problems, entry.value.span, "version", version, &["v0.1"]);
        }
    }

    /// Returns an optional field.
    pub fn optional(&self, key: &str) -> Option<&'n Entry<'t>> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// Returns a required field, or reports its absence with `help`.
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

    /// Reports an absent field, unless it is there and misspelt.
    pub fn missing(&self, key: &str, help: &str, problems: &mut Problems<'_>) {
        let is_misspelt = |entry: &Entry<'_>| {
            let is_reported = problems.has(Code::MisspeltKey, entry.key_span);
            is_reported && misspelt(&entry.key, &[key]).is_some()
        };
        if self.entries.iter().any(is_misspelt) {
            return;
        }
        let message = format!("the required field `{}` is missing", self.path(key));
        let label = format!("`{key}` is missing here");
        problems
            .report(Code::MissingField, self.anchor, label, message)
            .help(help);
    }

    /// Returns the unknown fields.
    pub(crate) fn unknown(&self, known: &[&str]) -> impl Iterator<Item = &'n Entry<'t>> {
        let entries = self.entries;
        entries
            .iter()
            .filter(move |entry| !known.contains(&&*entry.key))
    }

    /// Refuses fields that are spelled almost like a known one, which would be lost in silence.
    /// Returns the other unknown ones.
    fn refuse_misspelt(&self, known: &[&str], problems: &mut Problems<'_>) -> Vec<&'n Entry<'t>> {
        let absent = known.iter().copied();
        let absent: Vec<&str> = absent.filter(|key| self.optional(key).is_none()).collect();
        let unknown = self.unknown(known);
        let others = unknown.filter(|entry| match misspelt(&entry.key, &absent) {
            Some(meant) => {
                self.report_misspelt(entry, meant, problems);
                false
            }
            None => true,
        });
        others.collect()
    }

    /// Checks the fields: a misspelt one is refused, and an unknown one has no effect.
    pub fn check_fields(&self, known: &[&str], problems: &mut Problems<'_>) {
        for entry in self.refuse_misspelt(known, problems) {
            self.warn_of(entry, known, problems);
        }
    }

    /// Refuses misspelt fields. Others are of other programs.
    pub fn check_spelling(&self, known: &[&str], problems: &mut Problems<'_>) {
        self.refuse_misspelt(known, problems);
    }

    fn report_misspelt(&self, entry: &Entry<'_>, meant: &str, problems: &mut Problems<'_>) {
        let message = format!(
            "unknown field `{}`, almost `{meant}`",
            self.path(&entry.key)
        );
        let source = entry.key_span.of(problems.text().as_str());
        let replacement = match source.starts_with('"') {
            true => json_string(meant),
            false => meant.to_owned(),
        };
        let label = format!("did you mean `{meant}`?");
        problems
            .report(Code::MisspeltKey, entry.key_span, label, message)
            .replace(format!("write `{meant}`"), entry.key_span, replacement);
    }

    fn warn_of(&self, entry: &Entry<'_>, known: &[&str], problems: &mut Problems<'_>) {
        let message = format!("unknown field `{}`", self.path(&entry.key));
        let report = problems.report(Code::UnknownKey, entry.key_span, "has no effect", message);
        did_you_mean(report, &entry.key, known)
            .help(format!("use {}, or remove the field", one_of(known)));
    }

    /// Warns about unknown fields.
    pub fn warn_unknown(&self, known: &[&str], problems: &mut Problems<'_>) {
        for entry in self.unknown(known) {
            self.warn_of(entry, known, problems);
        }
    }
}

/// Takes a node as a string. A plain YAML scalar counts as its source text.
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

/// Returns a value with the place of its node.
pub(crate) fn placed<T>(value: T, node: &Node<'_>) -> Spanned<T> {
    Spanned {
        value,
        span: node.span,
    }
}

/// Takes a node as a name.
pub fn name<N: Name>(
    node: &Node<'_>,
    path: &str,
    problems: &mut Problems<'_>,
) -> Option<Spanned<N>> {
    let text = text(node, path, problems)?;
    match N::new(text) {
        Ok(value) => Some(placed(value, node)),
        Err(error) => {
            bad_name(problems, node.span, N::RULE, text, error);
            None
        }
    }
}

/// Takes a node as a list.
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

/// Reads each item of a list. Returns `None` if any is invalid.
pub fn each<'n, 't, T>(
    items: &'n [Node<'t>],
    path: &str,
    problems: &mut Problems<'_>,
    mut read: impl FnMut(&'n Node<'t>, &str, &mut Problems<'_>) -> Option<T>,
) -> Option<Vec<T>> {
    let numbered = items.iter().enumerate();
    let found: Vec<_> = numbered
        .filter_map(|(i, item)| read(item, &format!("{path}[{i}]"), problems))
        .collect();
    (found.len() == items.len()).then_some(found)
}

/// Takes a node as a list of names. Returns `None` if any is invalid.
pub fn names<N: Name>(
    node: &Node<'_>,
    path: &str,
    problems: &mut Problems<'_>,
) -> Option<Vec<Spanned<N>>> {
    each(list(node, path, problems)?, path, problems, name)
}

/// Takes a node as a set of names: sorted, without duplicates.
pub(crate) fn name_set<N: Name>(
    node: &Node<'_>,
    path: &str,
    problems: &mut Problems<'_>,
) -> Option<Vec<Spanned<N>>> {
    let mut names = names::<N>(node, path, problems)?;
    sort_by(&mut names, |a, b| a.value.cmp(&b.value));
    names.dedup_by(|later, earlier| later.value == earlier.value);
    Some(names)
}

/// Takes a node as one of several keywords.
pub fn keyword<T: Keyword>(
    node: &Node<'_>,
    path: &str,
    problems: &mut Problems<'_>,
) -> Option<Spanned<T>> {
    let text = text(node, path, problems)?;
    let value = T::parse(text);
    if value.is_none() {
        let allowed: Vec<_> = T::names().collect();
        bad_choice(problems, node.span, path, text, &allowed);
    }
    value.map(|value| placed(value, node))
}

/// Reads a keyword that has a default.
pub fn keyword_or<T: Keyword>(
    object: &Object<'_, '_>,
    key: &str,
    default: T,
    problems: &mut Problems<'_>,
) -> Option<T> {
    match object.optional(key) {
        Some(_) => object
            .read_optional(key, problems, keyword)
            .map(|found| found.value),
        None => Some(default),
    }
}

/// Takes a node as a whole number: decimal digits, optionally with a minus sign.
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
        problems.report(
            Code::WrongType,
            node.span,
            "not a whole number",
            format!(
                "{} must be a whole number; {text:?} is not one",
                field(path)
            ),
        );
        return None;
    }
    let value = text.parse().ok();
    if value.is_none() {
        let message = format!("{} does not fit into 64 bits", field(path));
        problems
            .report(Code::NumberOutOfRange, node.span, "too large", message)
            .help("write a smaller number");
    }
    value.map(|value| placed(value, node))
}

/// Takes a node as a boolean: plain `true` or `false`.
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
    Some(placed(value, node))
}

/// Reads a string that is not blank.
pub(super) fn words(
    node: &Node<'_>,
    path: &str,
    help: &str,
    problems: &mut Problems<'_>,
) -> Option<Spanned<String>> {
    let text = text(node, path, problems)?;
    if text.trim().is_empty() {
        empty(problems, node.span, &format!("`{path}` is empty")).help(help);
        return None;
    }
    Some(placed(text.to_owned(), node))
}
