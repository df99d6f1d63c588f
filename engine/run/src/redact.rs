//! Redaction: no value of a secret reaches evidence or a message.
//!
//! A secret is found as it is, in its percent-encoded forms and in base64. In JSON strings are
//! compared by their value, so no escape hides one. A value behind a key that names a secret is
//! redacted too.

use agent_api::text::Span;
use agent_syntax::json::{Writer, parse_strict};
use agent_syntax::{Entry, Node, Value, json_string};
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use base64::prelude::Engine;
use core::ops::Range;

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

/// The sign that a quoted text was cut off.
const CUT: char = '…';

/// A value of the secret store.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret {
    /// Its name, by which actions refer to it.
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

/// The secrets of a run, in every form that is searched for.
#[derive(Debug, Default)]
pub(crate) struct Redactor {
    /// Each form with the length of its secret, the longest form first.
    forms: Vec<(String, usize)>,
}

impl Redactor {
    pub(crate) fn new(secrets: &[Secret]) -> Self {
        let mut forms = Vec::new();
        for secret in secrets.iter().filter(|it| !it.value.is_empty()) {
            let found = forms_of(&secret.value).into_iter();
            forms.extend(found.map(|form| (form, secret.value.len())));
        }
        agent_api::text::sort::sort_by(&mut forms, |(a, _), (b, _)| {
            b.len().cmp(&a.len()).then_with(|| a.cmp(b))
        });
        forms.dedup();
        Self { forms }
    }

    /// Returns a text without the secrets.
    pub(crate) fn text(&self, text: &str) -> String {
        let mut found: Vec<(usize, usize, usize)> = Vec::new();
        for (form, len) in &self.forms {
            let matches = text.match_indices(&**form);
            found.extend(matches.map(|(at, _)| (at, at + form.len(), *len)));
        }
        if found.is_empty() {
            return text.to_owned();
        }
        agent_api::text::sort::sort_by(&mut found, |a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1)));
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
        out
    }

    /// Returns a text that was cut off, at its end or before a `…`, without the secrets, and without the
    /// beginning of one at a cut.
    pub(crate) fn cut(&self, text: &str) -> String {
        let parts = text.split_inclusive(CUT);
        let kept = parts.map(|part| match part.strip_suffix(CUT) {
            Some(part) => format!("{}{CUT}", self.without_beginning(part)),
            None => self.without_beginning(part).to_owned(),
        });
        self.text(&kept.collect::<String>())
    }

    /// Returns a text without the beginning of a secret at its end.
    fn without_beginning<'t>(&self, text: &'t str) -> &'t str {
        let begins = |at: &usize| {
            let rest = &text[*at..];
            self.forms.iter().any(|(form, _)| form.starts_with(rest))
        };
        let starts = text.char_indices().map(|(at, _)| at);
        let longest = self.forms.first().map_or(0, |(form, _)| form.len());
        let mut near = starts.skip_while(|at| at + longest < text.len());
        &text[..near.find(begins).unwrap_or(text.len())]
    }

    /// Returns the text of a log, with what is not UTF-8 replaced.
    pub(crate) fn log(&self, bytes: &[u8]) -> String {
        self.text(&String::from_utf8_lossy(bytes))
    }

    /// Returns a JSON text without the secrets, otherwise as it is written. Returns `None` for a text
    /// that is not strict JSON.
    pub(crate) fn json(&self, json: &str) -> Option<String> {
        self.rewritten(json, false)
    }

    /// As [`Redactor::json`], for a document in which `{"secret": NAME}` refers to a secret.
    pub(crate) fn document(&self, json: &str) -> Option<String> {
        self.rewritten(json, true)
    }

    fn rewritten(&self, json: &str, refers: bool) -> Option<String> {
        let root = parse_strict(json)?;
        let mut rewriting = Rewriting {
            redactor: self,
            json,
            refers,
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
    out: String,
    /// The end of what was copied.
    end: usize,
}

impl Rewriting<'_> {
    fn value(&mut self, node: &Node<'_>) {
        match &node.value {
            Value::String(text) => self.string(range(node.span), text),
            Value::Number(text) => {
                if self.redactor.forms.iter().any(|(form, _)| form == text) {
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
                        self.value(&entry.value);
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Plain(_) | Value::Refused => {}
        }
    }

    fn string(&mut self, at: Range<usize>, text: &str) {
        let redacted = self.redactor.text(text);
        if redacted == text {
            return;
        }
        let forms = &self.redactor.forms;
        let is_whole = forms.iter().find(|(form, _)| form == text);
        let is_key = self.json[at.end..].trim_start().starts_with(':');
        match is_whole {
            Some((_, len)) if !is_key => self.replace(at, &presence(*len)),
            _ => self.replace(at, &json_string(&redacted)),
        }
    }

    /// Replaces a value behind a key that names a secret, unless it is replaced already.
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

/// Returns the places of values that stand behind a key that names a secret and are not redacted. A
/// document that `refers` to secrets may have their names there.
pub fn unredacted(node: &Node<'_>, refers: bool) -> Vec<Span> {
    let mut found = Vec::new();
    collect_unredacted(node, refers, &mut found);
    found
}

fn collect_unredacted(node: &Node<'_>, refers: bool, found: &mut Vec<Span>) {
    match &node.value {
        Value::Sequence(items) => {
            let items = items.iter();
            items.for_each(|item| collect_unredacted(item, refers, found));
        }
        Value::Mapping(entries) => {
            for entry in entries {
                if !is_hidden(entry, refers) {
                    collect_unredacted(&entry.value, refers, found);
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

fn is_secret_key(key: &str) -> bool {
    let plain = key.chars().filter(|c| !matches!(c, '-' | '_' | ' '));
    let plain: String = plain.flat_map(char::to_lowercase).collect();
    SECRET_KEYS.contains(&&*plain)
}

/// Returns the object in place of a secret value.
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

/// Returns whether a value is the object in place of a secret.
pub fn is_presence(node: &Node<'_>) -> bool {
    let Value::Mapping(entries) = &node.value else {
        return false;
    };
    matches!(&entries[..], [len, present]
        if len.key == "len" && matches!(len.value.value, Value::Number(_))
            && present.key == "present" && present.value.value == Value::Bool(true))
}

fn range(span: Span) -> Range<usize> {
    span.start as usize..span.end as usize
}

/// The beginning of the text in place of a secret within a longer text.
pub const MARKER: &str = "{present, len: ";

/// Returns the text in place of a secret within a longer text.
fn marker(len: usize) -> String {
    format!("{MARKER}{len}}}")
}

/// Returns the forms of a secret that are searched for.
fn forms_of(secret: &str) -> Vec<String> {
    let quoted = json_string(secret);
    let escaped = &quoted[1..quoted.len() - 1];
    let mut forms = vec![
        secret.to_owned(),
        escaped.to_owned(),
        escaped.replace('/', "\\/"),
        ascii_escaped(secret),
    ];
    for keeps in [is_unreserved, is_url_safe] {
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

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
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
    use super::{Redactor, Secret};
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
        assert_eq!(redactor.json("{} {}"), None);
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
