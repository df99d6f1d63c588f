//! A bundle that is made.

use super::contents::{files, locked_entries};
use super::label::Label;
use super::statement::statement;
use agent_api::LockText;
use agent_api::diagnostic::{Code, Diagnostic};
use agent_api::lower;
use agent_record::dsse::{Envelope, Signature, to_sign};
use agent_session::{DecisionPoint, Documents};
use agent_syntax::json::Writer;

/// Documents that a decision point obeys, and the statement to sign about them.
#[derive(Debug)]
pub struct Draft {
    documents: Documents,
    statement: String,
}

impl Draft {
    /// Takes documents, which are those of a decision point. Of the index it keeps the locked entries; the snapshot of
    /// health is live, and left out.
    ///
    /// # Errors
    /// Why a decision point can't obey the documents.
    pub fn new(documents: Documents, label: &Label) -> Result<Self, Vec<Diagnostic>> {
        let documents = Documents {
            health: None,
            ..documents
        };
        DecisionPoint::open(documents.clone())?;
        let documents = Documents {
            index: Some(locked_index(&documents)?.into_bytes()),
            ..documents
        };
        // Nothing that decides was in the other entries.
        DecisionPoint::open(documents.clone())?;
        let statement = statement(&documents, label);
        Ok(Self {
            documents,
            statement,
        })
    }

    /// Returns the bytes to sign.
    pub fn to_sign(&self) -> Vec<u8> {
        to_sign(&self.statement)
    }

    /// Returns the file with one signature: JSON that ends with a newline.
    ///
    /// # Errors
    /// A document is not UTF-8.
    pub fn signed(&self, key_id: &str, signature: &[u8]) -> Result<String, Vec<Diagnostic>> {
        let envelope = Envelope {
            payload: self.statement.clone(),
            signatures: vec![Signature {
                key_id: key_id.to_owned(),
                bytes: signature.to_owned(),
            }],
        };
        let mut w = Writer::pretty();
        let mut undecoded = None;
        w.object(|w| {
            w.key("documents").object(|w| {
                for (name, content) in files(&self.documents) {
                    match str::from_utf8(content) {
                        Ok(text) => w.key(name).string(text),
                        Err(_) => undecoded = Some(name),
                    }
                }
            });
            w.key("envelope");
            envelope.write(w);
        });
        match undecoded {
            None => Ok(w.finish()),
            Some(name) => {
                let text = format!("`{name}` is not UTF-8");
                Err(vec![Diagnostic::new(Code::InvalidUtf8, text)])
            }
        }
    }
}

/// Returns the index with the locked entries alone.
fn locked_index(documents: &Documents) -> Result<String, Vec<Diagnostic>> {
    let lock = LockText::read(documents.lock.clone().unwrap_or_default())?;
    let index = lower::index(documents.index.clone().unwrap_or_default())?;
    Ok(locked_entries(&index.value, &lock.value.lock))
}
