//! Typed fields of trees, and the diagnostics about them.

use super::{capability, format, misplaced, shape};
use agent_diagnostic::{Code, Problems, Report};
use agent_model::{Endpoint, EndpointError, Keyword, Name, NameError, NameRule};
use agent_syntax::{Entry, Node, Value, json_string, written_as};
use agent_text::sort::sort_by;
use agent_text::{
    DocumentKind, KEYWORD, Likeness, Span, Spanned, Text, hidden_difference, is_part, misspelt,
    nearest, visible,
};
use std::cell::RefCell;

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

/// Reports a value of another type than its field requires, with a fix if the text of the value contains
/// one of that type.
pub fn wrong_type(
    problems: &mut Problems<'_>,
    span: Span,
    path: &str,
    expected: &str,
    found: &str,
) {
    let text = problems.text();
    let list = path.rsplit('.').next().unwrap_or_default();
    // A list of mappings.
    let of_mappings = shape::item_fields(list).is_some();
    let retyped = match of_mappings {
        true => None,
        false => retyped(span.of(text.as_str()), expected, found),
    };
    // A list of lines begins on a new line.
    let is_alone = indentation(text, span).is_some();
    let retyped = retyped.filter(|it| is_alone || !it.starts_with("- "));
    let reshaped = shape::suggestion(text, span, path, expected, found);
    let field = field(path);
    if found == "nothing" {
        let (label, is) = match span.of(text.as_str()) {
            "null" => ("null", "is null"),
            _ => ("no value", "has no value"),
        };
        let whole = if path.ends_with(']') { "item" } else { "key" };
        let message = format!("{field} must be {expected}, but {is}");
        problems
            .report(Code::WrongType, span, label, message)
            .help(format!("write a value, or remove the {whole}"));
        return;
    }
    let report = problems.report(
        Code::WrongType,
        span,
        format!("this is {found}"),
        format!("{field} must be {expected}, but is {found}"),
    );
    if let Some(object) = shape::held_object(span.of(text.as_str()), expected) {
        let report = report.note(Some("this string holds the JSON of an object".to_owned()));
        report.replace("write the object without quotes".to_owned(), span, object);
    } else if let Some((title, replacement)) = reshaped {
        match replacement {
            Some((span, replacement)) => report.replace(title, span, replacement),
            None => report.help(title),
        };
    } else if let Some(retyped) = retyped {
        let title = match retyped.contains('\n') {
            true => "write a blank behind each dash".to_owned(),
            false => format!("write `{retyped}`"),
        };
        report.replace(title, span, retyped);
    } else {
        report.help(format!("write {expected}"));
    }
}

/// Returns the number of characters between the start of a line and a span, if only blanks are between
/// them.
fn indentation(text: &Text, span: Span) -> Option<usize> {
    let before = &text.as_str()[..span.start as usize];
    let line = before.rsplit('\n').next().unwrap_or_default();
    line.bytes().all(|b| b == b' ').then_some(line.len())
}

/// Returns a value in the notation of another type, if only one value of that type can be meant.
fn retyped(written: &str, expected: &str, found: &str) -> Option<String> {
    let quoted = written.strip_prefix(['"', '\'']);
    let quoted = quoted.and_then(|it| it.strip_suffix(['"', '\'']));
    let bare = quoted.unwrap_or(written);
    let is_flow = written.starts_with(['{', '[']);
    let is_line = !written.contains('\n');
    match expected {
        "a list" | "a list of strings" => {
            let plain = !bare.contains(['[', ']', '{', '}', '#', '|', '>', '\\']);
            // A dash without a blank behind it begins a string.
            if written.starts_with('-') {
                let item = |line: &str| {
                    let (blanks, item) = line.split_once('-')?;
                    let is_item = blanks.trim().is_empty() && !item.starts_with(['-', ' ']);
                    is_item.then(|| format!("{blanks}- {item}"))
                };
                let items: Option<Vec<_>> = written.lines().map(item).collect();
                return items.map(|items| items.join("\n"));
            }
            // No item of such a list has a blank or a comma.
            let words = bare.split([' ', ',']).filter(|word| !word.is_empty());
            let quote = &written[..usize::from(quoted.is_some())];
            let words: Vec<_> = words.map(|it| format!("{quote}{it}{quote}")).collect();
            (is_line && !is_flow && plain && !has_key(written) && !words.is_empty())
                .then(|| format!("[{}]", words.join(", ")))
        }
        // A blank is missing behind the colon of the only key.
        #[cfg(feature = "repair")]
        "a mapping" => {
            let (key, value) = written.split_once([':', '='])?;
            let is_key = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
            let is_one = is_line && !value.trim().is_empty() && !value.starts_with('/');
            (is_one && key.trim_end().bytes().all(is_key))
                .then(|| format!("{}: {}", key.trim_end(), value.trim_start()))
        }
        "a boolean" => boolean_word(bare).map(|value| value.to_string()),
        "a whole number" | "a number" => {
            let digits = bare.strip_prefix('-').unwrap_or(bare);
            let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
            (quoted.is_some() && is_number && (digits == "0" || !digits.starts_with('0')))
                .then(|| bare.to_owned())
        }
        "a string" => {
            let only = written
                .strip_prefix('[')
                .and_then(|it| it.strip_suffix(']'));
            let only = only.map(str::trim).filter(|it| {
                !it.is_empty() && is_line && !it.contains([',', '[', ']', '{', '}', '#'])
            });
            let number = || (found == "a number").then(|| json_string(written));
            // A blank behind a colon makes a mapping of a scope.
            let pair = || {
                let (key, value) = written.split_once(": ").filter(|_| is_line && !is_flow)?;
                let is_word =
                    |word: &str| !word.is_empty() && !word.contains([':', ' ', '"', '\'', '#']);
                (is_word(key) && is_word(value)).then(|| format!("{key}:{value}"))
            };
            only.map(str::to_owned).or_else(number).or_else(pair)
        }
        _ => None,
    }
}

/// Returns whether the first line of a block begins a mapping.
fn has_key(block: &str) -> bool {
    let line = block.lines().next().unwrap_or_default().trim_end();
    line.ends_with(':') || line.contains(": ")
}

/// Returns the value of a word for a boolean, in any of the spellings of YAML.
fn boolean_word(word: &str) -> Option<bool> {
    let is = |words: [&str; 3]| words.iter().any(|it| it.eq_ignore_ascii_case(word));
    match (is(["true", "yes", "on"]), is(["false", "no", "off"])) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    }
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
        NameError::Placeholder => {
            let message = format!("{text:?} is a placeholder for {}", one(noun));
            let report = problems.report(Code::EmptyValue, span, "a placeholder", message);
            report.help(format!("write {} in its place", one(noun)))
        }
        NameError::Unknown => {
            let message = format!("unknown {noun} {text:?}");
            let label = format!("unknown {noun}");
            let near = !nearest(text, rule.known.iter().copied(), 1).is_empty();
            let written = span.of(problems.text().as_str()).to_owned();
            let report = problems.report(Code::UnknownValue, span, label, message);
            // A custom name, but for its dashes.
            let dashed = text.replace('_', "-");
            let is_dashed = cfg!(feature = "repair") && !near && rule.check(&dashed).is_ok();
            let report = match is_dashed {
                true => written_for(report, (span, &written), text, &dashed),
                false => meant(report, (span, &written), text, rule.known),
            };
            let other = other_word(text).filter(|it| rule.known.contains(it));
            let report = match other {
                Some(word) => report.help(format!("did you mean `{word}`?")),
                None => report,
            };
            let mut help = format!("use {}", one_of(rule.known));
            // A typo must not become a custom name.
            if !near {
                let name = text.replace(|c: char| c.is_control(), "");
                help.push_str(&format!(
                    ", or a custom {noun} that contains a dash, a dot or a colon, such as `x-{name}`"
                ));
            }
            report.help(help)
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
    let written = span.of(problems.text().as_str()).trim_matches(['"', '\'']);
    let is_host = written.contains('.') && !written.contains([':', '@', ' ', '<']);
    let meant = is_host.then(|| format!("did you mean `https://{written}`?"));
    let report = problems.report(code, span, "not an endpoint", message);
    let report = match meant {
        Some(meant) => report.help(meant),
        None => report,
    };
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
        Some(meant) => report
            .note(hidden_difference(text, meant))
            .help(format!("did you mean `{meant}`?")),
        None => report,
    }
}

/// Writes the only known word that a word is a slip of, or suggests similar ones. `written` is the text
/// of the span.
pub(crate) fn meant<'p, 't>(
    report: Report<'p, 't>,
    (span, written): (Span, &str),
    text: &str,
    known: &[&str],
) -> Report<'p, 't> {
    match Likeness::new().slips(text, known.iter().copied(), 2)[..] {
        [meant] => written_for(report, (span, written), text, meant),
        _ => {
            // The first word of a value stands for it: `eu` for `eu-only`.
            let begins = |known: &&&str| {
                let rest = known
                    .get(text.len()..)
                    .filter(|rest| rest.starts_with(['-', '.']));
                rest.is_some() && known[..text.len()].eq_ignore_ascii_case(text)
            };
            let mut begun = known.iter().filter(begins);
            match (begun.next(), begun.next()) {
                (Some(meant), None) => {
                    report.replace(format!("write `{meant}`"), span, written_as(written, meant))
                }
                (Some(_), Some(_)) => {
                    let all: Vec<_> = known.iter().filter(begins).copied().collect();
                    report.help(format!("did you mean {}?", one_of(&all)))
                }
                _ => did_you_mean(report, text, known),
            }
        }
    }
}

/// Writes a known word for a slip of it.
fn written_for<'p, 't>(
    report: Report<'p, 't>,
    (span, written): (Span, &str),
    text: &str,
    meant: &str,
) -> Report<'p, 't> {
    let title = format!("write `{meant}`");
    let report = report.note(hidden_difference(text, meant));
    report.replace(title, span, written_as(written, meant))
}

/// Reports a value that its field does not allow.
pub(crate) fn bad_choice(
    problems: &mut Problems<'_>,
    span: Span,
    path: &str,
    text: &str,
    allowed: &[&str],
) {
    let written = span.of(problems.text().as_str()).to_owned();
    let report = problems.report(
        Code::UnknownValue,
        span,
        "not one of the allowed values",
        format!("{} can't be {text:?}", field(path)),
    );
    let report = match boolean_word(text).filter(|_| allowed == ["true", "false"]) {
        Some(value) => report.replace(format!("write `{value}`"), span, value.to_string()),
        None => {
            let near = Likeness::new().slips_from(KEYWORD, text, allowed.iter().copied(), 2);
            match near[..] {
                [only] => written_for(report, (span, &written), text, only),
                _ => meant(report, (span, &written), text, allowed),
            }
        }
    };
    let listed = |word: &&'static str| allowed.contains(word);
    let verb = capability::verb_of(text).filter(listed);
    let word = other_word(text).filter(listed);
    let report = match (verb, word) {
        (Some(verb), _) => report.help(format!("the verb for `{text}` is `{verb}`")),
        (None, Some(word)) => report.help(format!("did you mean `{word}`?")),
        (None, None) => report,
    };
    report.help(format!("use {}", one_of(allowed)));
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
    /// The known fields whose keys were reported as misspelt: their values are read all the same, so that
    /// a misspelt key hides no problem below it.
    misspelt: RefCell<Vec<(String, &'n Entry<'t>)>>,
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
                misspelt: RefCell::default(),
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
            let span = entry.value.span;
            // The same version, in another notation.
            if cfg!(feature = "repair") && matches!(version, "0.1" | "0.1.0" | "v0.1.0" | "V0.1") {
                let written = written_as(span.of(problems.text().as_str()), "v0.1");
                let message = format!("`version` can't be {version:?}");
                let label = "not one of the allowed values";
                problems
                    .report(Code::UnknownValue, span, label, message)
                    .replace("write `v0.1`".to_owned(), span, written);
                return;
            }
            bad_choice(problems, span, "version", version, &["v0.1"]);
        }
    }

    /// Returns an optional field.
    pub fn optional(&self, key: &str) -> Option<&'n Entry<'t>> {
        let misspelt = self.misspelt.borrow();
        let meant = || misspelt.iter().find(|(meant, _)| meant == key);
        let found = self.entries.iter().find(|entry| entry.key == key);
        found.or_else(|| meant().map(|(_, entry)| *entry))
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
            is_reported
                && (misspelt(&entry.key, &[key]).is_some() || glued(entry, &[key]).is_some())
        };
        if self.entries.iter().any(is_misspelt) {
            return;
        }
        let message = format!("the required field `{}` is missing", self.path(key));
        let is_slip = |name, key| {
            let known = Likeness::new().slips_from(KEYWORD, name, [key], 1);
            !known.is_empty()
        };
        let is_ignored = |entry: &&Entry<'_>| problems.has(Code::UnknownKey, entry.key_span);
        let mut ignored = self.entries.iter().filter(is_ignored);
        let alone = match (ignored.next(), ignored.next()) {
            (Some(entry), None) => Some(entry),
            _ => None,
        };
        let alone = alone.filter(|it| is_part(&it.key, key) || is_slip(&it.key, key));
        let mut others = self.entries.iter().filter(|it| is_synonym(&it.key, key));
        let other = others.next().filter(|_| others.next().is_none());
        let fits = |entry: &&Entry<'_>| could_be(&entry.value, key);
        if let Some(entry) = alone.or(other).filter(fits) {
            let span = entry.key_span;
            let replacement = written_as(span.of(problems.text().as_str()), key);
            problems.retract(Code::UnknownKey, span);
            problems
                .report(
                    Code::MissingField,
                    span,
                    format!("did you mean `{key}`?"),
                    message,
                )
                .replace(format!("write `{key}`"), span, replacement);
            return;
        }
        let label = format!("`{key}` is missing here");
        // A field of a file is written at its beginning, another one behind its neighbours.
        let place = match self.entries.last() {
            Some(last) if !self.path.is_empty() => Span {
                start: last.value.span.end,
                end: last.value.span.end,
            },
            _ => self.anchor,
        };
        problems
            .report(Code::MissingField, place, label, message)
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
    pub(crate) fn refuse_misspelt(
        &self,
        known: &[&str],
        problems: &mut Problems<'_>,
    ) -> Vec<&'n Entry<'t>> {
        let absent = known.iter().copied();
        let absent: Vec<&str> = absent.filter(|key| self.optional(key).is_none()).collect();
        let unknown = self.unknown(known);
        let others = unknown.filter(|entry| match misspelt(&entry.key, &absent) {
            Some(meant) => {
                self.take_as(entry, meant, problems);
                false
            }
            None => match glued(entry, &absent) {
                Some((meant, value)) => {
                    let written = format!("{meant}: {value}");
                    let message = format!("a colon and a blank are missing behind `{meant}`");
                    let label = format!("did you mean `{written}`?");
                    problems
                        .report(Code::MisspeltKey, entry.key_span, label, message)
                        .replace(format!("write `{written}`"), entry.key_span, written);
                    false
                }
                None => true,
            },
        });
        others.collect()
    }

    /// Refuses a field whose name stands for a known one, and reads it as that.
    pub(crate) fn take_as(&self, entry: &'n Entry<'t>, meant: &str, problems: &mut Problems<'_>) {
        self.report_misspelt(entry, meant, problems);
        self.misspelt.borrow_mut().push((meant.to_owned(), entry));
    }

    /// Refuses misspelt and unknown fields, except those that begin with `x-`.
    pub fn check_fields(&self, known: &[&str], problems: &mut Problems<'_>) {
        for entry in self.refuse_misspelt(known, problems) {
            if !entry.key.starts_with("x-") {
                self.refuse_unknown(entry, known, problems);
            }
        }
    }

    /// Refuses misspelt fields. Others are of other programs.
    pub fn check_spelling(&self, known: &[&str], problems: &mut Problems<'_>) {
        self.refuse_misspelt(known, problems);
    }

    fn report_misspelt(&self, entry: &Entry<'_>, meant: &str, problems: &mut Problems<'_>) {
        let message = format!(
            "unknown field `{}`, almost `{meant}`",
            visible(&self.path(&entry.key))
        );
        let source = entry.key_span.of(problems.text().as_str());
        let replacement = written_as(source, meant);
        let label = format!("did you mean `{meant}`?");
        problems
            .report(Code::MisspeltKey, entry.key_span, label, message)
            .note(hidden_difference(&entry.key, meant))
            .replace(format!("write `{meant}`"), entry.key_span, replacement);
    }

    /// Refuses misspelt fields, and warns of unknown ones.
    pub(crate) fn check_own_fields(&self, known: &[&str], problems: &mut Problems<'_>) {
        for entry in self.refuse_misspelt(known, problems) {
            let report = problems.warn(
                Code::UnknownKey,
                entry.key_span,
                "has no effect",
                self.unknown_field(entry),
            );
            known_instead(report, entry, known);
        }
    }

    fn refuse_unknown(&self, entry: &Entry<'_>, known: &[&str], problems: &mut Problems<'_>) {
        let source = problems.text().source();
        let message = self.unknown_field(entry);
        let report = problems.report(Code::UnknownKey, entry.key_span, "has no effect", message);
        // A constraint in a wrong place would be lost.
        match (source, misplaced::home(&entry.key)) {
            (DocumentKind::Manifest, Some(home)) => report.help(misplaced::belongs(home)),
            // A task has constraints of its own, which are tags.
            (DocumentKind::Task, Some(home)) if !home.is_empty() => {
                report.help(format!("{} of `agents.md`", misplaced::belongs(home)))
            }
            _ => known_instead(report, entry, known),
        };
    }

    fn unknown_field(&self, entry: &Entry<'_>) -> String {
        format!("unknown field `{}`", visible(&self.path(&entry.key)))
    }
}

/// Adds which known field may be meant, and which there are.
fn known_instead<'p, 't>(
    report: Report<'p, 't>,
    entry: &Entry<'_>,
    known: &[&str],
) -> Report<'p, 't> {
    did_you_mean(report, &entry.key, known)
        .help(format!("use {}, or remove the field", one_of(known)))
}

/// Returns whether a value has the form of a field, so that another key of it may be a slip: `dependencies` of a
/// package is no `requires`.
fn could_be(value: &Node<'_>, field: &str) -> bool {
    match (field, &value.value) {
        ("requires", Value::Mapping(entries)) => entries
            .iter()
            .any(|entry| format::REQUIRES.names.contains(&&*entry.key)),
        ("requires", _) => false,
        ("mcp" | "capabilities" | "required_capabilities" | "items" | "servers", value) => {
            matches!(value, Value::Sequence(_))
        }
        _ => true,
    }
}

/// Returns whether a key is the name that other formats have for a field.
#[cfg(feature = "repair")]
pub(crate) fn is_synonym(key: &str, field: &str) -> bool {
    let names: &[&str] = match field {
        "claim" => &["statement", "text"],
        "endpoint" => &["url", "uri", "address"],
        "evidence" => &["proof", "quote", "source"],
        "id" => &["name", "server"],
        "mcp" => &["mcpServers", "servers"],
        "items" => &["claims", "facts", "statements", "summary"],
        "permissions" => &["scopes", "scope"],
        "required_capabilities" => &["requires", "requirements"],
        "requires" => &["dependencies", "needs"],
        "resource" => &["target", "object"],
        "scopes" => &["permissions"],
        "task_id" => &["id", "task", "name"],
        "verb" => &["action", "operation"],
        _ => &[],
    };
    names.contains(&key)
}

/// Returns the known word that another word may mean. A person has to choose it.
#[cfg(feature = "repair")]
fn other_word(word: &str) -> Option<&'static str> {
    Some(match &*word.to_ascii_lowercase() {
        "code" | "git" | "repo" | "repository" | "source" => "codebase",
        "disk" | "file" | "files" | "filesystem" => "fs",
        "browser" | "http" | "web" | "www" => "internet",
        "docs" | "kb" | "knowledge" | "wiki" => "knowledge_graph",
        "chat" | "messages" => "slack",
        "green" | "ok" | "online" | "running" | "up" => "HEALTHY",
        "dead" | "down" | "error" | "failed" | "offline" | "red" => "UNHEALTHY",
        "booting" | "pending" => "STARTING",
        "secret" | "restricted" => "confidential",
        "pii" => "pii.high",
        "ro" | "read" | "safe" => "readonly",
        "approval" | "hitl" | "human" => "human_in_the_loop",
        "lazy" | "ondemand" => "on_demand",
        "always" | "eager" | "required" => "essential",
        _ => return None,
    })
}

#[cfg(not(feature = "repair"))]
fn other_word(_: &str) -> Option<&'static str> {
    None
}

/// Recognises nothing.
#[cfg(not(feature = "repair"))]
pub(crate) fn is_synonym(_: &str, _: &str) -> bool {
    false
}

/// Returns the known key with which a key without a value begins, and what follows it: `verb:search`,
/// `verb= search` and `verb search` in a mapping on one line.
#[cfg(feature = "repair")]
fn glued<'k, 'e>(entry: &'e Entry<'_>, known: &[&'k str]) -> Option<(&'k str, &'e str)> {
    if !matches!(entry.value.value, Value::Null) {
        return None;
    }
    let mut known = known.iter();
    known.find_map(|known| {
        let rest = entry.key.strip_prefix(known)?;
        let value = rest.trim_start_matches([' ', ':', '=']);
        (value.len() < rest.len() && !value.is_empty()).then_some((*known, value))
    })
}

#[cfg(not(feature = "repair"))]
fn glued<'k, 'e>(_: &'e Entry<'_>, _: &[&'k str]) -> Option<(&'k str, &'e str)> {
    None
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

/// Takes a node as a set of keywords: sorted, without duplicates.
pub(crate) fn keyword_set<T: Keyword + Ord + Copy>(
    node: &Node<'_>,
    path: &str,
    problems: &mut Problems<'_>,
) -> Option<Vec<T>> {
    let found = each(list(node, path, problems)?, path, problems, keyword)?;
    let mut values: Vec<T> = found.into_iter().map(|it| it.value).collect();
    sort_by(&mut values, Ord::cmp);
    values.dedup();
    Some(values)
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
        let message = format!(
            "{} must be a whole number; {text:?} is not one",
            field(path)
        );
        problems
            .report(Code::WrongType, node.span, "not a whole number", message)
            .help(match thousands(text) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => "write decimal digits alone, such as `4000`".to_owned(),
            });
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

/// Returns the digits of a number with separators or a `k`.
#[cfg(feature = "repair")]
fn thousands(text: &str) -> Option<String> {
    let (number, zeros) = match text.strip_suffix(['k', 'K']) {
        Some(number) => (number, "000"),
        None => (text, ""),
    };
    let groups: Vec<_> = number.split([',', '_', ' ', '\'']).collect();
    let digits = |group: &&str| group.bytes().all(|b| b.is_ascii_digit());
    let in_threes = groups[1..].iter().all(|group| group.len() == 3);
    (groups.iter().all(digits) && in_threes && !groups[0].is_empty() && groups[0].len() < 10)
        .then(|| format!("{}{zeros}", groups.concat()))
}

#[cfg(not(feature = "repair"))]
fn thousands(_: &str) -> Option<String> {
    None
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
