//! Whose signatures count.

use super::label::{MOMENT_HELP, NAME_HELP, is_name, moment};
use agent_api::diagnostic::{Code, Diagnostic, Problems};
use agent_api::text::{DocumentKind, Span};
use agent_lower::fields::{Object, boolean, each, list, text};
use agent_lower::{CONTEXT_LIMIT, decode};
use agent_syntax::{Node, json};
use base64::prelude::{BASE64_STANDARD, Engine};

/// Maximum number of keys.
const KEYS_MAX: usize = 64;

/// What precedes the bytes of an Ed25519 public key in its DER form (RFC 8410).
const DER: [u8; 12] = [
    0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00,
];

/// The keys whose signatures count, and for which bundles.
#[derive(Debug)]
pub struct TrustedKeys(pub(crate) Vec<TrustedKey>);

/// An Ed25519 public key.
#[derive(Debug)]
pub(crate) struct TrustedKey {
    pub(crate) name: String,
    pub(crate) public: [u8; 32],
    /// The names of the bundles that it may sign.
    pub(crate) bundles: Vec<String>,
    /// The first millisecond at which its signatures count.
    pub(crate) not_before_ms: u64,
    /// The last one.
    pub(crate) not_after_ms: u64,
    pub(crate) is_revoked: bool,
}

impl TrustedKeys {
    /// Reads the keys: a JSON object with the list `keys`.
    ///
    /// # Errors
    /// Every problem of the text, ordered by place.
    pub fn read(bytes: Vec<u8>) -> Result<Self, Vec<Diagnostic>> {
        let text = decode(DocumentKind::Document, bytes, CONTEXT_LIMIT)?;
        let mut problems = Problems::new(&text);
        let root = json::parse(&mut problems);
        let keys = root.and_then(|root| keys(&root, &mut problems));
        let has_errors = problems.has_errors();
        match keys {
            Some(keys) if !has_errors => Ok(Self(keys)),
            _ => Err(problems.finish()),
        }
    }
}

fn keys(root: &Node<'_>, problems: &mut Problems<'_>) -> Option<Vec<TrustedKey>> {
    let start = root.span.start as usize;
    let whole = Object::of(root, "", Span::new(start, start), problems)?;
    whole.check_fields(&["keys"], problems);
    let entry = whole.required("keys", "add a list: \"keys\": []", problems)?;
    let nodes = list(&entry.value, "keys", problems)?;
    let found = each(nodes, "keys", problems, key)?;
    if found.len() > KEYS_MAX {
        let (span, count) = (entry.value.span, found.len());
        let message = format!("there are {count} keys; the limit is {KEYS_MAX}");
        let report = problems.report(Code::InputTooLarge, span, "too many", message);
        report.help("remove the keys that sign no longer");
    }
    for (number, key) in found.iter().enumerate() {
        let mut before = found[..number].iter();
        let Some(first) = before.find(|it| it.name == key.name || it.public == key.public) else {
            continue;
        };
        let (name, first) = (&key.name, &first.name);
        let message = format!("the key `{name}` repeats the name or the public key of `{first}`");
        let span = nodes[number].span;
        let report = problems.report(Code::DuplicateKey, span, "repeated here", message);
        report.help("keep one of the two");
    }
    Some(found)
}

fn key(node: &Node<'_>, path: &str, problems: &mut Problems<'_>) -> Option<TrustedKey> {
    let anchor = node.span;
    let key = Object::of(
        node,
        path,
        Span::new(anchor.start as usize, anchor.start as usize + 1),
        problems,
    )?;
    let known = [
        "bundles",
        "name",
        "not_after",
        "not_before",
        "public_key",
        "revoked",
    ];
    key.check_fields(&known, problems);
    let name = key.read("name", "name the key", problems, label);
    let help = "add the base64 of the public key: what `openssl pkey -in KEY -pubout` prints between its lines";
    let public = key.read("public_key", help, problems, public);
    let help = "name the bundles that it may sign: \"bundles\": [\"NAME\"]";
    let bundles = key.read("bundles", help, problems, |node, path, problems| {
        each(list(node, path, problems)?, path, problems, label)
    });
    let not_before_ms = key.read_or("not_before", 0, problems, time);
    let not_after_ms = key.read_or("not_after", u64::MAX, problems, time);
    let is_revoked = key.read_or("revoked", false, problems, |node, path, problems| {
        Some(boolean(node, path, problems)?.value)
    });
    Some(TrustedKey {
        name: name?,
        public: public?,
        bundles: bundles?,
        not_before_ms: not_before_ms?,
        not_after_ms: not_after_ms?,
        is_revoked: is_revoked?,
    })
}

/// Reads the name of a key or a bundle.
fn label(node: &Node<'_>, path: &str, problems: &mut Problems<'_>) -> Option<String> {
    let name = text(node, path, problems)?;
    if !is_name(name) {
        let message = format!("`{path}` is not the name of a key or a bundle");
        let report = problems.report(Code::InvalidName, node.span, "not a name", message);
        report.help(NAME_HELP);
        return None;
    }
    Some(name.to_owned())
}

/// Reads an Ed25519 public key: the base64 of its DER form.
fn public(node: &Node<'_>, path: &str, problems: &mut Problems<'_>) -> Option<[u8; 32]> {
    let given = text(node, path, problems)?;
    let der = BASE64_STANDARD.decode(given).ok();
    let key = der.and_then(|der| der.strip_prefix(&DER)?.try_into().ok());
    if key.is_none() {
        let message = format!("`{path}` is not the base64 of an Ed25519 public key in DER");
        let report = problems.report(Code::UnknownValue, node.span, "not such a key", message);
        report.help("take what `openssl pkey -in KEY -pubout` prints between its lines");
    }
    key
}

fn time(node: &Node<'_>, path: &str, problems: &mut Problems<'_>) -> Option<u64> {
    let found = moment(text(node, path, problems)?);
    if found.is_none() {
        let message = format!("`{path}` is not a time");
        let report = problems.report(Code::UnknownValue, node.span, "not a time", message);
        report.help(MOMENT_HELP);
    }
    found
}
