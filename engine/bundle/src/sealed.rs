//! A bundle that was read.

use super::contents::{files, place};
use super::label::Label;
use super::statement::{sha256, statement};
use agent_api::diagnostic::{Code, Diagnostic};
use agent_api::lower::bytes_digest;
use agent_api::text::visible;
use agent_record::dsse::Envelope;
use agent_session::Documents;
use agent_syntax::Node;
use agent_syntax::json::parse_strict;
use agent_syntax::members::{entries, items, member, number, string};

/// Maximum size of a bundle, in bytes.
pub const BUNDLE_MAX: usize = 128 << 20;

/// A bundle whose documents are those of its statement. Nobody vouches for either before it is accepted.
#[derive(Debug)]
pub struct Bundle {
    pub(crate) label: Label,
    pub(crate) documents: Documents,
    pub(crate) envelope: Envelope,
}

impl Bundle {
    /// Reads a bundle.
    ///
    /// # Errors
    /// It is too large, has not the form of a bundle, or its documents are not those of its statement.
    pub fn read(bytes: &[u8]) -> Result<Self, Vec<Diagnostic>> {
        read(bytes).map_err(|what| {
            let text = format!("this is not a bundle: {what}");
            vec![Diagnostic::new(Code::BundleInvalid, text).help(Code::BundleInvalid.help())]
        })
    }

    /// Returns what it says about itself.
    pub fn label(&self) -> &Label {
        &self.label
    }

    /// Returns the digest of its statement, which has those of all documents: `sha256-` and base64. Other signatures
    /// leave it as it is.
    pub fn digest(&self) -> String {
        bytes_digest(self.envelope.payload.as_bytes())
    }
}

fn read(bytes: &[u8]) -> Result<Bundle, String> {
    if bytes.len() > BUNDLE_MAX {
        let len = bytes.len();
        return Err(format!("it has {len} bytes; the limit is {BUNDLE_MAX}"));
    }
    let text = str::from_utf8(bytes).map_err(|_| "it is not UTF-8")?;
    let root = parse_strict(text).ok_or("it is not strict JSON")?;
    for it in entries(&root) {
        if !["documents", "envelope"].contains(&&*it.key) {
            return Err(format!("`{}` is no member of it", visible(&it.key)));
        }
    }
    let envelope = member(&root, "envelope").ok_or("it has no `envelope`")?;
    let envelope = Envelope::read(envelope)?;
    let stated = parse_strict(&envelope.payload).ok_or("its statement is not strict JSON")?;
    let (label, tenant_id) = predicate(&stated)?;
    let given = member(&root, "documents").ok_or("it has no `documents`")?;
    let documents = Documents {
        tenant_id,
        ..documents(given)?
    };
    if let Some(name) = changed(&documents, &stated) {
        return Err(format!("`{name}` is not the document that was signed"));
    }
    // So no member of a statement is without a meaning here.
    if statement(&documents, &label) != envelope.payload {
        return Err("its statement is not the one about its documents".to_owned());
    }
    Ok(Bundle {
        label,
        documents,
        envelope,
    })
}

/// Returns the label and the tenant that a statement has.
fn predicate(stated: &Node<'_>) -> Result<(Label, Option<String>), String> {
    let predicate = member(stated, "predicate").ok_or("its statement has no `predicate`")?;
    let text = |name| member(predicate, name).and_then(string);
    let sequence = member(predicate, "sequence").and_then(number);
    let label = match (text("name"), sequence, text("not_after")) {
        (Some(name), Some(sequence), Some(end)) => Label::new(name, sequence, end).ok(),
        _ => None,
    };
    let label = label.ok_or("its statement has no `name`, `sequence` and `not_after`")?;
    Ok((label, text("tenant_id").map(str::to_owned)))
}

fn documents(given: &Node<'_>) -> Result<Documents, String> {
    let mut documents = Documents::default();
    for it in entries(given) {
        let name = visible(&it.key);
        let place = place(&mut documents, &it.key);
        let place = place.ok_or_else(|| format!("`{name}` is none of its documents"))?;
        let text = string(&it.value).ok_or_else(|| format!("`{name}` is not a text"))?;
        *place = Some(text.as_bytes().to_owned());
    }
    Ok(documents)
}

/// Returns the first document with another digest than the statement has.
fn changed(documents: &Documents, stated: &Node<'_>) -> Option<&'static str> {
    let subjects = member(stated, "subject").and_then(items).unwrap_or(&[]);
    let text = |node, name| member(node, name).and_then(string);
    let is_stated = |name: &str, digest: &str| {
        let mut subjects = subjects.iter();
        let subject = subjects.find(|it| text(it, "name") == Some(name));
        let stated = subject.and_then(|it| text(member(it, "digest")?, "sha256"));
        stated == Some(digest)
    };
    let mut files = files(documents);
    files
        .find(|(name, content)| !is_stated(name, &sha256(content)))
        .map(|(name, _)| name)
}
