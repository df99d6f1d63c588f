//! The evidence of a run as a statement for others: in-toto Statement v1 in a DSSE envelope.
//!
//! The host signs; what is signed, and what the envelope contains, is decided here.

use super::folder::Folder;
use super::members::{number, string};
use super::recorded::SUMMARY;
use super::verification::verified;
use agent_api::diagnostic::Diagnostic;
use agent_api::schema::Library;
use agent_record::dsse::{Envelope, Signature, to_sign};
use agent_syntax::json::Writer;
use std::sync::Arc;

/// The type of the statement.
const STATEMENT: &str = "https://in-toto.io/Statement/v1";

/// The type of its predicate: facts of a run's summary.
const PREDICATE: &str = "https://agent-engine.github.io/agent/predicates/run/v1";

/// A statement about the evidence of a run.
#[derive(Debug)]
pub struct Statement {
    /// The statement as JSON that ends with a newline.
    pub json: String,
    /// The bytes to sign: DSSE's pre-authentication encoding of the statement.
    pub to_sign: Vec<u8>,
}

/// States the digests of the files of a run and the facts of its summary.
///
/// # Errors
/// The problems of evidence that does not verify. Nothing is stated about it.
pub fn state(folder: &Folder, core: Option<&Arc<Library>>) -> Result<Statement, Vec<Diagnostic>> {
    let (recorded, problems) = verified(folder, core);
    if !problems.is_empty() {
        return Err(problems);
    }
    let summary = recorded.record(SUMMARY).map(|it| &it.root);
    let text = |pointer| summary.and_then(|it| string(it, pointer));
    let mut w = Writer::pretty();
    w.object(|w| {
        w.key("_type").string(STATEMENT);
        w.key("predicate").object(|w| {
            for (key, pointer) in [
                ("authorized", "/authorized"),
                ("chain_head", "/chain/head"),
                ("code", "/code"),
            ] {
                if let Some(value) = text(pointer) {
                    w.key(key).string(value);
                }
            }
            let episodes = summary.and_then(|it| number(it, "/chain/episodes"));
            w.key("episodes").json(&episodes.unwrap_or(0).to_string());
            for (key, pointer) in [
                ("finished_at", "/finished_at"),
                ("plan_id", "/plan_id"),
                ("reason", "/reason"),
                ("request_id", "/request_id"),
                ("run_id", "/run_id"),
                ("started_at", "/started_at"),
                ("status", "/status"),
            ] {
                if let Some(value) = text(pointer) {
                    w.key(key).string(value);
                }
            }
        });
        w.key("predicateType").string(PREDICATE);
        w.key("subject").array(|w| {
            for file in folder.files() {
                w.object(|w| {
                    w.key("digest")
                        .object(|w| w.key("sha256").string(&file.sha256));
                    w.key("name").string(&file.path);
                });
            }
        });
    });
    let json = w.finish();
    let to_sign = to_sign(&json);
    Ok(Statement { json, to_sign })
}

/// Returns the DSSE envelope of a statement with one signature, as JSON that ends with a newline.
#[must_use]
pub fn envelope(statement: &str, key_id: &str, signature: &[u8]) -> String {
    let envelope = Envelope {
        payload: statement.to_owned(),
        signatures: vec![Signature {
            key_id: key_id.to_owned(),
            bytes: signature.to_owned(),
        }],
    };
    let mut w = Writer::pretty();
    envelope.write(&mut w);
    w.finish()
}
