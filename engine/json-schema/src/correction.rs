//! Obvious corrections of values that violate a schema.
//!
//! A correction writes the only near known word, or the same value in the notation of its type. It
//! invents nothing, and never replaces a word that is known.

use super::types::Types;
use agent_syntax::json::{Reader, parse_strict, parse_value};
use agent_syntax::{Entry, Node, Value, json_string};
use agent_text::{KEYWORD, Likeness, Span};
use std::borrow::Cow;

/// Maximum length of a word that is compared with known ones, in bytes.
const WORD: usize = 64;

/// Maximum number of known words to compare with.
pub(super) const KNOWN: usize = 64;

/// A correction of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Correction {
    /// Another name for a property.
    Key {
        /// The place of the present name.
        span: Span,
        /// The present name.
        from: String,
        /// The known name.
        to: String,
    },
    /// Another value, as JSON.
    Value(String),
    /// A list with the value as its only item.
    List,
    /// The only item of the list, at this place.
    Item(Span),
}

impl Correction {
    /// Returns the replaced bytes of a text and their replacement, for a value at a place.
    pub fn edit(&self, text: &str, value: Span) -> (Span, String) {
        match self {
            Self::Key { span, to, .. } => (*span, json_string(to)),
            Self::Value(json) => (value, json.clone()),
            Self::List => (value, format!("[{}]", value.of(text))),
            Self::Item(span) => (value, span.of(text).to_owned()),
        }
    }

    /// Returns whether the correction renames one of some properties.
    pub(super) fn is_of(&self, properties: &[&str]) -> bool {
        matches!(self, Self::Key { from, .. } if properties.contains(&&**from))
    }

    /// Returns whether the correction gives a property this name.
    pub(super) fn writes(&self, name: &str) -> bool {
        matches!(self, Self::Key { to, .. } if to == name)
    }

    /// Returns the place of a renamed key.
    pub(super) fn key_span(&self) -> Option<Span> {
        match self {
            Self::Key { span, .. } => Some(*span),
            _ => None,
        }
    }

    /// Returns the correction for a value whose text begins at an offset.
    #[must_use]
    pub fn moved(mut self, offset: u32) -> Self {
        if let Self::Key { span, .. } | Self::Item(span) = &mut self {
            span.start += offset;
            span.end += offset;
        }
        self
    }

    /// Corrects a value in place.
    pub fn apply(&self, node: &mut Node<'_>) {
        match self {
            Self::Key { span, to, .. } => {
                if let Value::Mapping(entries) = &mut node.value
                    && let Some(entry) = entries.iter_mut().find(|it| it.key_span == *span)
                {
                    entry.key = Cow::Owned(to.clone());
                }
            }
            // What a string holds has no places in the text, and is checked after the correction.
            Self::Value(json) if json.starts_with(['{', '[']) => node.value = Value::Refused,
            Self::Value(json) => {
                if let Some(value) = scalar(json, &node.value) {
                    node.value = value;
                }
            }
            Self::List => {
                let item = Node {
                    value: std::mem::replace(&mut node.value, Value::Null),
                    span: node.span,
                };
                node.value = Value::Sequence(vec![item]);
            }
            Self::Item(_) => {
                if let Value::Sequence(items) = &mut node.value
                    && let Some(item) = items.pop()
                {
                    node.value = item.value;
                }
            }
        }
    }
}

/// Returns the value of a JSON scalar. A number is the text of the string that it replaces.
fn scalar<'a>(json: &str, old: &Value<'a>) -> Option<Value<'a>> {
    match (parse_value(&mut Reader::new(json)).ok()?.value, old) {
        (Value::Bool(value), _) => Some(Value::Bool(value)),
        (Value::String(text), _) => Some(Value::String(Cow::Owned(text.into_owned()))),
        (Value::Number(_), Value::String(Cow::Borrowed(text))) => Some(Value::Number(text)),
        _ => None,
    }
}

/// Returns the correction of a value whose type is not one of `types`.
pub(super) fn retyped(types: Types, node: &Node<'_>) -> Option<Correction> {
    let bare = |text: &str| match text {
        "true" | "false" => types == Types::BOOLEAN,
        _ if types == Types::INTEGER => is_decimal(text, false),
        _ => types == Types::NUMBER && is_decimal(text, true),
    };
    if let Some(json) = held(types, node) {
        return Some(Correction::Value(json.to_owned()));
    }
    match &node.value {
        Value::String(Cow::Borrowed(text)) if bare(text) => {
            Some(Correction::Value((*text).to_owned()))
        }
        Value::String(text) if types == Types::BOOLEAN => {
            let lower = text.to_ascii_lowercase();
            matches!(&*lower, "true" | "false").then_some(Correction::Value(lower))
        }
        // A text with commas or blanks may be a list itself.
        Value::String(text) if types == Types::ARRAY => {
            let is_word = !text.is_empty() && !text.contains([',', ';', ' ', '\t', '\n']);
            is_word.then_some(Correction::List)
        }
        Value::Number(number) if types == Types::STRING => {
            Some(Correction::Value(json_string(number)))
        }
        Value::Sequence(items) => match &items[..] {
            [only] if types.contains(Types::of(&only.value)) => Some(Correction::Item(only.span)),
            _ => None,
        },
        _ => None,
    }
}

/// Maximum size of a string that may hold JSON, in bytes.
pub(super) const HELD: usize = 16 << 10;

/// Returns the JSON of an object or a list, of a wanted type, that a string holds.
pub(super) fn held<'n>(types: Types, node: &'n Node<'_>) -> Option<&'n str> {
    let Value::String(text) = &node.value else {
        return None;
    };
    let json = text.trim();
    if json.len() > HELD || !json.starts_with(['{', '[']) {
        return None;
    }
    let root = parse_strict(json)?;
    types.contains(Types::of(&root.value)).then_some(json)
}

/// Returns whether a text is a decimal number that every reader keeps exactly.
fn is_decimal(text: &str, fraction: bool) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, rest) = match digits.split_once('.').filter(|_| fraction) {
        Some((whole, rest)) => (whole, Some(rest)),
        None => (digits, None),
    };
    let are_digits = |it: &str| !it.is_empty() && it.bytes().all(|b| b.is_ascii_digit());
    digits.len() <= 15
        && are_digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && rest.is_none_or(are_digits)
}

/// Returns the correction of a value that is none of the allowed ones.
pub(super) fn known(
    allowed: &Node<'_>,
    node: &Node<'_>,
    search: &mut Likeness,
) -> Option<Correction> {
    let Value::String(word) = &node.value else {
        return None;
    };
    let allowed = match &allowed.value {
        Value::Sequence(values) => values,
        _ => std::slice::from_ref(allowed),
    };
    let words = allowed.iter().take(KNOWN + 1).map(|it| match &it.value {
        Value::String(word) => Some(&**word),
        _ => None,
    });
    let words: Vec<&str> = words.collect::<Option<_>>()?;
    let meant = meant(word, &words, search)?;
    Some(Correction::Value(json_string(meant)))
}

/// Returns the texts among allowed values.
pub(super) fn texts<'n>(allowed: &'n Node<'_>) -> impl Iterator<Item = &'n str> {
    let allowed = match &allowed.value {
        Value::Sequence(values) => values,
        _ => std::slice::from_ref(allowed),
    };
    allowed.iter().filter_map(|it| match &it.value {
        Value::String(word) => Some(&**word),
        _ => None,
    })
}

/// Returns the only known word that a word is a slip or an inflection of.
pub(super) fn meant<'k>(word: &str, known: &[&'k str], search: &mut Likeness) -> Option<&'k str> {
    if word.len() > WORD || known.len() > KNOWN || known.contains(&word) {
        return None;
    }
    // Another number is another thing, such as the next version.
    let digits = |text: &str| {
        text.chars()
            .filter(char::is_ascii_digit)
            .collect::<String>()
    };
    match search.slips_from(KEYWORD, word, known.iter().copied(), 2)[..] {
        [meant] => Some(meant).filter(|meant| digits(meant) == digits(word)),
        [] => {
            let mut stems = known.iter().filter(|known| is_inflected(word, known));
            stems.next().filter(|_| stems.next().is_none()).copied()
        }
        _ => None,
    }
}

/// Returns whether a word is the past or the progressive form of a verb.
fn is_inflected(word: &str, verb: &str) -> bool {
    let stems = ["ed", "d", "ing"]
        .iter()
        .filter_map(|end| word.strip_suffix(end));
    let mut stems = stems.map(|stem| {
        stem.strip_suffix('i')
            .map_or(stem.to_owned(), |it| format!("{it}y"))
    });
    verb.len() >= 4 && stems.any(|stem| stem.eq_ignore_ascii_case(verb))
}

/// Returns the known and absent name that a property of an object was meant to have. Two properties for
/// one name are a choice.
pub(super) fn renamed<'k>(
    entry: &Entry<'_>,
    of: &[Entry<'_>],
    known: impl Iterator<Item = &'k str>,
    search: &mut Likeness,
) -> Option<Correction> {
    let known: Vec<_> = known.take(KNOWN + 1).collect();
    let to = meant(&entry.key, &known, search)?;
    let mut others = of.iter().filter(|it| it.key != entry.key);
    let is_taken = |it: &Entry<'_>, search: &mut Likeness| {
        it.key == to || !known.contains(&&*it.key) && meant(&it.key, &known, search) == Some(to)
    };
    let free = of.len() <= KNOWN && !others.any(|it| is_taken(it, search));
    free.then(|| key(entry, to))
}

/// Returns the corrections that give an object its missing properties, if undeclared ones are spelled
/// almost like them.
pub(super) fn completed(
    entries: &[Entry<'_>],
    missing: &[&str],
    search: &mut Likeness,
) -> Vec<Correction> {
    let some = entries.iter().take(KNOWN);
    let found = some.filter_map(|it| renamed(it, entries, missing.iter().copied(), search));
    found.collect()
}

fn key(entry: &Entry<'_>, to: &str) -> Correction {
    Correction::Key {
        span: entry.key_span,
        from: entry.key.clone().into_owned(),
        to: to.to_owned(),
    }
}
