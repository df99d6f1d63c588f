//! What is signed: in-toto Statement v1 about the files of a bundle.

use super::contents::files;
use super::label::Label;
use agent_session::Documents;
use agent_syntax::json::Writer;
use sha2::{Digest, Sha256};

/// The type of the statement.
const STATEMENT: &str = "https://in-toto.io/Statement/v1";

/// The type of its predicate: the label, and the tenant that decides.
const PREDICATE: &str = "https://agent-engine.github.io/agent/predicates/bundle/v1";

/// States the label and the digests of documents. Equal ones give the same bytes.
pub(crate) fn statement(documents: &Documents, label: &Label) -> String {
    let mut w = Writer::pretty();
    w.object(|w| {
        w.key("_type").string(STATEMENT);
        w.key("predicate").object(|w| {
            w.key("name").string(&label.name);
            w.key("not_after").string(&label.not_after());
            w.key("sequence").json(&label.sequence.to_string());
            if let Some(tenant) = &documents.tenant_id {
                w.key("tenant_id").string(tenant);
            }
        });
        w.key("predicateType").string(PREDICATE);
        w.key("subject").array(|w| {
            for (name, content) in files(documents) {
                w.object(|w| {
                    w.key("digest")
                        .object(|w| w.key("sha256").string(&sha256(content)));
                    w.key("name").string(name);
                });
            }
        });
    });
    w.finish()
}

/// Returns the SHA-256 of bytes in hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
