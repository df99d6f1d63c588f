//! Redaction: no value of a secret reaches evidence or a message.
//!
//! A secret is found as it is, in its percent-encoded forms and in base64. In JSON strings are
//! compared by their value, so no escape hides one. A value behind a key that names a secret is
//! redacted too, and so is a part of an input or output that a schema marks.
//!
//! Such a value comes from a plan or a peer, who must not be able to remove what evidence says. It is
//! therefore searched only where text is free: in messages, logs, and what handlers got and returned.

use agent_syntax::json::{Kind, Reader, SyntaxError, Writer, parse_strict};
use agent_syntax::{Entry, Node, Value, json_string};
use agent_text::Span;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use base64::prelude::Engine;
use core::cell::RefCell;
use core::ops::Range;
use std::borrow::Cow;

/// Keys whose values are secrets, in lower case without `-`, `_` and blanks.
const SECRET_KEYS: [&str; 22] = [
    "accesskey",
    "accesstoken",
    "apikey",
    "authorization",
    "authtoken",
    "bearertoken",
    "clientsecret",
    "cookie",
    "credential",
    "credentials",
    "idtoken",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "proxyauthorization",
    "refreshtoken",
    "secret",
    "secretkey",
    "sessiontoken",
    "setcookie",
    "xapikey",
];

/// Size of the shortest of [`SECRET_KEYS`], in bytes.
const SECRET_KEY_MIN_BYTES: usize = "cookie".len();

/// Size of the longest of [`SECRET_KEYS`], in bytes.
const SECRET_KEY_BYTES: usize = "proxyauthorization".len();

/// Members of evidence with free text, in which a value is searched that a plan or a peer marked as secret.
const FREE_TEXT: [&str; 13] = [
    "arguments",
    "by",
    "content_type",
    "help",
    "message",
    "path",
    "protocol",
    "result_summary",
    "rule",
    "target",
    "text",
    "url",
    "value",
];

/// Minimum size of a marked value that is searched elsewhere, in bytes.
const MARKED_MIN_BYTES: usize = 4;

/// The sign that a quoted text was cut off.
const CUT: char = '…';

/// A value of the secret store.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret {
    /// Its name, which actions refer to.
    pub name: String,
    /// Its value.
    pub value: String,
}

impl core::fmt::Debug for Secret {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Secret")
            .field("name", &self.name)
            .field("len", &self.value.len())
            .finish()
    }
}

/// The secrets of a run or a session, in every form that is searched for.
#[derive(Debug, Default)]
pub struct Redactor {
    /// The forms of the secret store.
    forms: Forms,
    /// The forms of marked values, and those of the secret store.
    all: RefCell<Forms>,
}

/// Each form with the length of its secret, the longest form first.
type Forms = Vec<(String, usize)>;

impl Redactor {
    /// Returns a redactor of the values of a secret store.
    pub fn new(secrets: &[Secret]) -> Self {
        let values = secrets.iter().map(|secret| &*secret.value);
        let forms = ordered(
            values
                .filter(|it| !it.is_empty())
                .flat_map(sized_forms)
                .collect(),
        );
        Self {
            all: RefCell::new(forms.clone()),
            forms,
        }
    }

    /// Returns whether a JSON text holds a secret, in any form and however it is escaped. A text that is
    /// not strict JSON is searched as it is.
    pub fn is_in(&self, json: &str) -> bool {
        let all = self.all.borrow();
        let is_in = |text: &str| all.iter().any(|(form, _)| text.contains(&**form));
        !all.is_empty()
            && (is_in(json) || parse_strict(json).is_some_and(|root| any_text(&root, &is_in)))
    }

    /// Takes the marked parts of a JSON text, and the values behind keys that name secrets, as secrets.
    pub fn learn(&self, json: &str, marked: &[Span]) {
        let Some(root) = parse_strict(json) else {
            return;
        };
        let mut found = Vec::new();
        secrets_of(&root, marked, false, &mut found);
        found.retain(|(value, _)| value.len() >= MARKED_MIN_BYTES);
        if !found.is_empty() {
            let mut all = self.all.borrow_mut();
            let forms = found.iter().flat_map(|(value, _)| sized_forms(value));
            let forms = all.drain(..).chain(forms).collect();
            *all = ordered(forms);
        }
    }

    /// Returns the places of secrets in a text, in order.
    pub fn places(&self, text: &str) -> Vec<Range<usize>> {
        let places = found_in(text, &self.all.borrow());
        places.into_iter().map(|(from, to, _)| from..to).collect()
    }

    /// Returns the places of values behind keys that name secrets in a JSON text.
    pub fn behind_keys(&self, json: &str) -> Vec<Range<usize>> {
        let Some(root) = parse_strict(json) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        secrets_of(&root, &[], false, &mut found);
        found.into_iter().map(|(_, span)| range(span)).collect()
    }

    /// Returns a text without the secrets.
    pub fn text(&self, text: &str) -> String {
        without(text, &self.all.borrow()).into_owned()
    }

    /// Returns a text that was cut off, at its end or before a `…`, without the secrets, and without the
    /// beginning of one at a cut.
    pub fn cut(&self, text: &str) -> String {
        let parts = text.split_inclusive(CUT);
        let kept = parts.map(|part| match part.strip_suffix(CUT) {
            Some(part) => format!("{}{CUT}", self.without_beginning(part)),
            None => self.without_beginning(part).to_owned(),
        });
        self.text(&kept.collect::<String>())
    }

    /// Returns a text without the beginning of a secret at its end.
    fn without_beginning<'t>(&self, text: &'t str) -> &'t str {
        let all = self.all.borrow();
        let begins = |at: &usize| {
            let rest = &text[*at..];
            all.iter().any(|(form, _)| form.starts_with(rest))
        };
        let starts = text.char_indices().map(|(at, _)| at);
        let longest = all.first().map_or(0, |(form, _)| form.len());
        let mut near = starts.skip_while(|at| at + longest < text.len());
        &text[..near.find(begins).unwrap_or(text.len())]
    }

    /// Returns the text of a log, with what is not UTF-8 replaced.
    pub fn log(&self, bytes: &[u8]) -> String {
        self.text(&String::from_utf8_lossy(bytes))
    }

    /// Returns a JSON text without the secrets, otherwise as it is written. Returns `None` for a text
    /// that is not strict JSON.
    pub fn json(&self, json: &str) -> Option<String> {
        self.rewritten(json, false, &[])
    }

    /// As [`Redactor::json`], without the marked parts, which are places in the text.
    pub fn marked(&self, json: &str, marked: &[Span]) -> Option<String> {
        self.rewritten(json, false, marked)
    }

    /// As [`Redactor::json`], for a document in which `{"secret": NAME}` refers to a secret.
    pub fn document(&self, json: &str) -> Option<String> {
        self.rewritten(json, true, &[])
    }

    fn rewritten(&self, json: &str, refers: bool, marked: &[Span]) -> Option<String> {
        if marked.is_empty() && !may_hold(json, &self.all.borrow())? {
            return Some(json.to_owned());
        }
        let root = parse_strict(json)?;
        let mut rewriting = Rewriting {
            redactor: self,
            json,
            refers,
            marked,
            is_free: false,
            out: String::new(),
            end: 0,
        };
        rewriting.value(&root);
        rewriting.out.push_str(&json[rewriting.end..]);
        Some(rewriting.out)
    }
}

/// A JSON text while it is copied without its secrets.
struct Rewriting<'r> {
    redactor: &'r Redactor,
    json: &'r str,
    refers: bool,
    marked: &'r [Span],
    /// Whether the present value is free text.
    is_free: bool,
    out: String,
    /// The end of what was copied.
    end: usize,
}

impl Rewriting<'_> {
    fn value(&mut self, node: &Node<'_>) {
        if self.marked.contains(&node.span) {
            return self.hide(node);
        }
        match &node.value {
            Value::String(text) => self.string(range(node.span), text),
            Value::Number(text) => {
                if self.with_forms(|forms| forms.iter().any(|(form, _)| form == text)) {
                    self.replace(range(node.span), &presence(text.len()));
                }
            }
            Value::Sequence(items) => items.iter().for_each(|item| self.value(item)),
            Value::Mapping(entries) => {
                for entry in entries {
                    self.string(range(entry.key_span), &entry.key);
                    if is_hidden(entry, self.refers) {
                        self.hide(&entry.value);
                    } else {
                        let is_free = self.is_free;
                        self.is_free |= FREE_TEXT.contains(&&*entry.key);
                        self.value(&entry.value);
                        self.is_free = is_free;
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Plain(_) | Value::Refused => {}
        }
    }

    fn string(&mut self, at: Range<usize>, text: &str) {
        let Cow::Owned(redacted) = self.with_forms(|forms| without(text, forms)) else {
            return;
        };
        let whole = |forms: &Forms| {
            let found = forms.iter().find(|(form, _)| form == text);
            found.map(|(_, len)| *len)
        };
        let is_whole = self.with_forms(whole);
        let is_key = self.json[at.end..].trim_start().starts_with(':');
        match is_whole {
            Some(len) if !is_key => self.replace(at, &presence(len)),
            _ => self.replace(at, &json_string(&redacted)),
        }
    }

    /// Calls a function with the forms that are searched in the present value.
    fn with_forms<R>(&self, look: impl FnOnce(&Forms) -> R) -> R {
        match self.is_free {
            true => look(&self.redactor.all.borrow()),
            false => look(&self.redactor.forms),
        }
    }

    /// Replaces a value that is secret as a whole, unless it is replaced already.
    fn hide(&mut self, node: &Node<'_>) {
        if !needs_redaction(node) {
            return;
        }
        let len = match &node.value {
            Value::String(text) => text.len(),
            _ => node.span.of(self.json).len(),
        };
        self.replace(range(node.span), &presence(len));
    }

    fn replace(&mut self, at: Range<usize>, replacement: &str) {
        self.out.push_str(&self.json[self.end..at.start]);
        self.out.push_str(replacement);
        self.end = at.end;
    }
}

/// Returns whether a JSON text has a key that names a secret, or a form of one; `None` if it is not strict JSON. Builds
/// no tree, because few texts hold a secret.
fn may_hold(json: &str, forms: &Forms) -> Option<bool> {
    let mut reader = Reader::new(json);
    match holds(&mut reader, forms).ok()? {
        true => Some(true),
        false => reader.ends_strictly().then_some(false),
    }
}

/// Returns whether the next value of a reader holds a secret. The depth limit bounds the recursion.
fn holds(reader: &mut Reader<'_>, forms: &Forms) -> Result<bool, Box<SyntaxError>> {
    let is_in = |text: &str| forms.iter().any(|(form, _)| text.contains(&**form));
    match reader.kind()? {
        Kind::Null | Kind::Bool => reader.skip()?,
        Kind::Number => return Ok(is_in(&reader.number()?.value)),
        Kind::String => return Ok(is_in(&reader.string()?.value)),
        Kind::Array => {
            reader.enter_array()?;
            let mut first = true;
            while reader.element(&mut first)? {
                if holds(reader, forms)? {
                    return Ok(true);
                }
            }
        }
        Kind::Object => {
            reader.enter_object()?;
            let (begun, mut first) = (reader.begin_keys(), true);
            while let Some(key) = reader.key(&mut first)? {
                if is_secret_key(&key.value) || is_in(&key.value) {
                    return Ok(true);
                }
                reader.note_key(&key);
                if holds(reader, forms)? {
                    return Ok(true);
                }
            }
            reader.end_keys(begun);
        }
    }
    Ok(false)
}

/// Returns whether a string or a key of a value has a property.
fn any_text(node: &Node<'_>, has: &impl Fn(&str) -> bool) -> bool {
    match &node.value {
        Value::String(text) => has(text),
        Value::Sequence(items) => items.iter().any(|item| any_text(item, has)),
        Value::Mapping(entries) => {
            let mut entries = entries.iter();
            entries.any(|entry| has(&entry.key) || any_text(&entry.value, has))
        }
        _ => false,
    }
}

/// Orders forms, each once.
fn ordered(mut forms: Forms) -> Forms {
    agent_text::sort::sort_by(&mut forms, |(a, _), (b, _)| {
        b.len().cmp(&a.len()).then_with(|| a.cmp(b))
    });
    forms.dedup();
    forms
}

/// Returns the forms of a secret with its length.
fn sized_forms(secret: &str) -> impl Iterator<Item = (String, usize)> {
    let len = secret.len();
    forms_of(secret).into_iter().map(move |form| (form, len))
}

/// Returns the places of secrets in a text, in order, and the length of each secret.
fn found_in(text: &str, forms: &Forms) -> Vec<(usize, usize, usize)> {
    let mut found: Vec<(usize, usize, usize)> = Vec::new();
    for (form, len) in forms {
        let matches = text.match_indices(&**form);
        found.extend(matches.map(|(at, _)| (at, at + form.len(), *len)));
    }
    agent_text::sort::sort_by(&mut found, |a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1)));
    found
}

/// Returns a text without secrets, borrowed if it contains none.
fn without<'t>(text: &'t str, forms: &Forms) -> Cow<'t, str> {
    let found = found_in(text, forms);
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut end = 0;
    for (from, to, len) in found {
        // Two secrets may overlap: nothing of either may stay.
        if from >= end {
            out.push_str(&text[end..from]);
            out.push_str(&marker(len));
        }
        end = end.max(to);
    }
    out.push_str(&text[end..]);
    Cow::Owned(out)
}

/// Adds the texts and numbers in marked parts of a value and behind keys that name secrets.
fn secrets_of<'n, 't>(
    node: &'n Node<'t>,
    marked: &[Span],
    is_secret: bool,
    found: &mut Vec<(&'n str, Span)>,
) {
    let is_secret = is_secret || marked.contains(&node.span);
    match &node.value {
        Value::String(text) if is_secret => found.push((text, node.span)),
        Value::Number(text) if is_secret => found.push((text, node.span)),
        Value::Sequence(items) => {
            for item in items {
                secrets_of(item, marked, is_secret, found);
            }
        }
        Value::Mapping(entries) => {
            for entry in entries {
                let is_named = is_secret_key(&entry.key) && !is_reference(&entry.key, &entry.value);
                secrets_of(&entry.value, marked, is_secret || is_named, found);
            }
        }
        _ => {}
    }
}

/// Returns whether a member refers to a secret of the operator: `"secret": NAME`, or a value that is
/// `{"secret": NAME}`.
fn is_reference(key: &str, value: &Node<'_>) -> bool {
    match &value.value {
        Value::String(_) => key == "secret",
        Value::Mapping(entries) => match &entries[..] {
            [only] => only.key == "secret" && matches!(only.value.value, Value::String(_)),
            _ => false,
        },
        _ => false,
    }
}

/// Returns the places of values that are behind a key that names a secret, or that are marked, and that are
/// not redacted. A document that `refers` to secrets may have their names there.
pub fn unredacted(node: &Node<'_>, refers: bool, marked: &[Span]) -> Vec<Span> {
    let mut found = Vec::new();
    collect_unredacted(node, refers, marked, &mut found);
    found
}

fn collect_unredacted(node: &Node<'_>, refers: bool, marked: &[Span], found: &mut Vec<Span>) {
    if marked.contains(&node.span) {
        found.extend(needs_redaction(node).then_some(node.span));
        return;
    }
    match &node.value {
        Value::Sequence(items) => {
            let items = items.iter();
            items.for_each(|item| collect_unredacted(item, refers, marked, found));
        }
        Value::Mapping(entries) => {
            for entry in entries {
                if !is_hidden(entry, refers) {
                    collect_unredacted(&entry.value, refers, marked, found);
                } else if needs_redaction(&entry.value) {
                    found.push(entry.value.span);
                }
            }
        }
        _ => {}
    }
}

/// Returns whether the value of a member is hidden for its key.
fn is_hidden(entry: &Entry<'_>, refers: bool) -> bool {
    is_secret_key(&entry.key) && !(refers && is_reference(&entry.key, &entry.value))
}

/// Returns whether a value behind a key that names a secret is still to be replaced.
fn needs_redaction(node: &Node<'_>) -> bool {
    !matches!(node.value, Value::Null | Value::Bool(_)) && !is_presence(node)
}

/// Compares without an allocation, because a record has many keys.
fn is_secret_key(key: &str) -> bool {
    if key.len() < SECRET_KEY_MIN_BYTES {
        return false;
    }
    let mut plain = [0; SECRET_KEY_BYTES];
    let mut len = 0;
    for c in key.chars().filter(|c| !matches!(c, '-' | '_' | ' ')) {
        // The Kelvin sign is a `k` in lower case.
        let lower = match c.is_ascii() {
            true => Some(c.to_ascii_lowercase()),
            false => Some(c.to_lowercase())
                .filter(|all| all.len() == 1)
                .and_then(|mut all| all.next()),
        };
        let byte = lower.and_then(|lower| u8::try_from(lower).ok());
        let (Some(byte), Some(place)) = (byte, plain.get_mut(len)) else {
            return false;
        };
        // Most keys begin otherwise.
        if len == 0 && !SECRET_KEYS.iter().any(|it| it.as_bytes()[0] == byte) {
            return false;
        }
        *place = byte;
        len += 1;
    }
    let mut known = SECRET_KEYS.iter();
    known.any(|known| known.as_bytes() == &plain[..len])
}

/// Returns the object that replaces a secret value.
fn presence(len: usize) -> String {
    let mut w = Writer::dense();
    w.object(|w| {
        w.key("len").json(&len.to_string());
        w.key("present").bool(true);
    });
    let mut text = w.finish();
    text.pop();
    text
}

/// Returns whether a value is the object that replaces a secret.
pub fn is_presence(node: &Node<'_>) -> bool {
    let Value::Mapping(entries) = &node.value else {
        return false;
    };
    matches!(&entries[..], [len, present]
        if len.key == "len" && matches!(len.value.value, Value::Number(_))
            && present.key == "present" && present.value.value == Value::Bool(true))
}

/// Returns the place of the first value or key with the mark of a secret.
pub fn mark_in(node: &Node<'_>) -> Option<Span> {
    match &node.value {
        Value::String(text) => text.contains(MARKER).then_some(node.span),
        Value::Sequence(items) => items.iter().find_map(mark_in),
        Value::Mapping(_) if is_presence(node) => Some(node.span),
        Value::Mapping(entries) => entries.iter().find_map(|it| {
            let in_key = it.key.contains(MARKER).then_some(it.key_span);
            in_key.or_else(|| mark_in(&it.value))
        }),
        _ => None,
    }
}

fn range(span: Span) -> Range<usize> {
    span.start as usize..span.end as usize
}

/// The beginning of the text that replaces a secret within a longer text.
pub const MARKER: &str = "{present, len: ";

/// Returns the text that replaces a secret within a longer text.
fn marker(len: usize) -> String {
    format!("{MARKER}{len}}}")
}

/// Returns the forms of a secret that are searched for: as it is, percent-encoded, escaped in JSON, and in base64.
pub fn forms_of(secret: &str) -> Vec<String> {
    let quoted = json_string(secret);
    let escaped = &quoted[1..quoted.len() - 1];
    let mut forms = vec![
        secret.to_owned(),
        escaped.to_owned(),
        escaped.replace('/', "\\/"),
        ascii_escaped(secret),
        all_escaped(secret, char::to_ascii_lowercase),
        all_escaped(secret, char::to_ascii_uppercase),
    ];
    for keeps in [is_unreserved, is_path_safe, is_url_safe, is_never_safe] {
        let upper = percent_encoded(secret, keeps, char::to_ascii_uppercase);
        forms.push(percent_encoded(secret, keeps, char::to_ascii_lowercase));
        // A form of `application/x-www-form-urlencoded`.
        forms.push(upper.replace("%20", "+"));
        forms.push(upper);
    }
    forms.extend(base64_forms(secret.as_bytes()));
    forms
}

/// Returns the text of a JSON string in which every character outside ASCII is escaped.
fn ascii_escaped(text: &str) -> String {
    let quoted = json_string(text);
    let mut out = String::new();
    for c in quoted[1..quoted.len() - 1].chars() {
        match c {
            ' '..='~' => out.push(c),
            _ => {
                let mut units = [0; 2];
                for unit in c.encode_utf16(&mut units) {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
    out
}

/// Returns the text of a JSON string in which every character is escaped.
fn all_escaped(text: &str, case: fn(&char) -> char) -> String {
    let units = text.encode_utf16().map(|unit| {
        let digits: String = format!("{unit:04x}").chars().map(|c| case(&c)).collect();
        format!("\\u{digits}")
    });
    units.collect()
}

/// Whoever hides a text encodes every byte.
fn is_never_safe(_: u8) -> bool {
    false
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

/// What Python's `quote` leaves as it is.
fn is_path_safe(byte: u8) -> bool {
    is_unreserved(byte) || byte == b'/'
}

/// What `encodeURI` leaves as it is.
fn is_url_safe(byte: u8) -> bool {
    is_unreserved(byte) || b"!*'();:@&=+$,/?#".contains(&byte)
}

fn percent_encoded(text: &str, keeps: fn(u8) -> bool, case: fn(&char) -> char) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if keeps(byte) {
            out.push(char::from(byte));
        } else {
            out.extend(format!("%{byte:02x}").chars().map(|c| case(&c)));
        }
    }
    out
}

/// Returns the base64 of a secret at each of the three offsets that it can have in a longer text,
/// without the characters that also depend on its neighbours.
fn base64_forms(secret: &[u8]) -> Vec<String> {
    let mut forms = Vec::new();
    for offset in 0..3 {
        let mut bytes = vec![0; offset];
        bytes.extend_from_slice(secret);
        // The first characters contain bits of the bytes before, the last one those of bytes behind.
        let first = [0, 2, 3][offset];
        let whole = bytes.len() * 8 / 6;
        if whole < first + 8 {
            continue;
        }
        for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
            forms.push(engine.encode(&bytes)[first..whole].to_owned());
        }
    }
    forms
}

#[cfg(test)]
mod tests {
    use super::{Redactor, SECRET_KEYS, Secret, is_secret_key};
    use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE, Engine};

    const VALUE: &str = "s3cr/t é\"key\u{1F511}?";

    fn redactor() -> Redactor {
        Redactor::new(&[Secret {
            name: "KEY".to_owned(),
            value: VALUE.to_owned(),
        }])
    }

    #[test]
    fn every_form_is_found_in_a_text() {
        let redactor = redactor();
        for form in [
            VALUE.to_owned(),
            r#"s3cr/t é\"key🔑?"#.to_owned(),
            r#"s3cr\/t é\"key🔑?"#.to_owned(),
            r#"s3cr/t \u00e9\"key\ud83d\udd11?"#.to_owned(),
            "s3cr%2Ft%20%C3%A9%22key%F0%9F%94%91%3F".to_owned(),
            "s3cr%2ft%20%c3%a9%22key%f0%9f%94%91%3f".to_owned(),
            "s3cr%2Ft+%C3%A9%22key%F0%9F%94%91%3F".to_owned(),
            "s3cr/t%20%C3%A9%22key%F0%9F%94%91?".to_owned(),
            "%73%33%63%72%2f%74%20%c3%a9%22%6b%65%79%f0%9f%94%91%3f".to_owned(),
            "%73%33%63%72%2F%74%20%C3%A9%22%6B%65%79%F0%9F%94%91%3F".to_owned(),
            concat!(
                r"\u0073\u0033\u0063\u0072\u002f\u0074\u0020\u00e9\u0022",
                r"\u006b\u0065\u0079\ud83d\udd11\u003f"
            )
            .to_owned(),
            concat!(
                r"\u0073\u0033\u0063\u0072\u002F\u0074\u0020\u00E9\u0022",
                r"\u006B\u0065\u0079\uD83D\uDD11\u003F"
            )
            .to_owned(),
        ] {
            let text = redactor.text(&format!("before {form} after"));
            assert_eq!(text, "before {present, len: 18} after", "{form}");
        }
        for before in ["", "a", "ab", "user:"] {
            let long = format!("{before}{VALUE}after");
            for text in [BASE64_STANDARD.encode(&long), BASE64_URL_SAFE.encode(&long)] {
                let redacted = redactor.text(&text);
                assert!(redacted.contains("{present, len: 18}"), "{redacted}");
                assert!(redacted.len() < text.len(), "{redacted}");
            }
        }
    }

    #[test]
    fn json_is_kept_but_for_secrets() {
        let redactor = redactor();
        let json = concat!(
            "{ \"a\" : \"s3cr\\/t \\u00e9\\\"key\\uD83D\\uDD11?\", \"b\":[1.50, \"x s3cr/t é\\\"key🔑? y\"],\n",
            " \"Pass-Word\": {\"deep\": [1]}, \"token\": \"page 2\", \"secret\": \"NAME\" }"
        );
        assert_eq!(
            redactor.json(json).unwrap(),
            concat!(
                "{ \"a\" : {\"len\":18,\"present\":true}, \"b\":[1.50, \"x {present, len: 18} y\"],\n",
                " \"Pass-Word\": {\"len\":13,\"present\":true}, \"token\": \"page 2\", ",
                "\"secret\": {\"len\":4,\"present\":true} }"
            )
        );
        for wrong in [
            "{} {}",
            "{\"a\":1,\"a\":2}",
            "[{\"a\":[],\"b\":1,\"a\":2}]",
            "[1,]",
            "",
        ] {
            assert_eq!(redactor.json(wrong), None, "{wrong}");
        }
        let plain = "[{\"a\":\"\\u0041\", \"b\" : null},true, 1.50e3 ]";
        assert_eq!(redactor.json(plain).unwrap(), plain);
    }

    #[test]
    fn keys_of_secrets_are_known_however_they_are_written() {
        for known in SECRET_KEYS {
            assert!(is_secret_key(known), "{known}");
            assert!(is_secret_key(&format!("-{}_ ", known.to_uppercase())));
            assert!(!is_secret_key(&format!("{known}s2")), "{known}");
        }
        assert!(is_secret_key("Set-Coo\u{212a}ie"));
        for other in ["", "_", "token", "pass", "\u{e9}password", "cook\u{130}e"] {
            assert!(!is_secret_key(other), "{other}");
        }
    }

    #[test]
    fn a_document_keeps_names_of_secrets() {
        let json = r#"{"headers":{"Authorization":{"secret":"NAME"},"Cookie":"a=b"}}"#;
        assert_eq!(
            redactor().document(json).unwrap(),
            r#"{"headers":{"Authorization":{"secret":"NAME"},"Cookie":{"len":3,"present":true}}}"#
        );
    }

    #[test]
    fn a_cut_text_ends_before_the_beginning_of_a_secret() {
        let redactor = redactor();
        assert_eq!(redactor.cut("log s3cr/t"), "log ");
        assert_eq!(redactor.cut("log s"), "log ");
        assert_eq!(redactor.cut("log x"), "log x");
        assert_eq!(
            redactor.cut("quoted s3cr/t…, and more"),
            "quoted …, and more"
        );
        assert_eq!(redactor.cut(""), "");
    }

    #[test]
    fn of_overlapping_secrets_nothing_stays() {
        let secrets = ["abcdefgh", "efghijkl"].map(|value| Secret {
            name: "N".to_owned(),
            value: value.to_owned(),
        });
        let text = Redactor::new(&secrets).text("<abcdefghijkl>");
        assert_eq!(text, "<{present, len: 8}>");
    }
}
