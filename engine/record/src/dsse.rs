//! Envelopes of DSSE v1 around statements of in-toto.
//!
//! A host signs and verifies; what is signed, and what an envelope contains, is decided here.

use agent_syntax::Node;
use agent_syntax::json::Writer;
use agent_syntax::members::{items, member, string};
use base64::prelude::{BASE64_STANDARD, Engine};

/// The type of the payload of an envelope.
const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";

/// Maximum number of signatures of an envelope.
pub const SIGNATURES_MAX: usize = 16;

/// Maximum size of a statement, in bytes.
pub const STATEMENT_MAX: usize = 64 << 10;

/// Maximum size of a signature and of the name of its key, in bytes.
const SIGNATURE_MAX: usize = 1 << 10;

/// A signature of an envelope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// Names the key, which is not authenticated.
    pub key_id: String,
    /// The signature.
    pub bytes: Vec<u8>,
}

/// An envelope that was read. Nothing of it is verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    /// The statement.
    pub payload: String,
    /// The signatures.
    pub signatures: Vec<Signature>,
}

impl Envelope {
    /// Reads the JSON object of an envelope.
    ///
    /// # Errors
    /// What it has to be, as the end of a sentence.
    pub fn read(node: &Node<'_>) -> Result<Self, &'static str> {
        let text = |name| member(node, name).and_then(string);
        if text("payloadType") != Some(PAYLOAD_TYPE) {
            return Err("`payloadType` is not `application/vnd.in-toto+json`");
        }
        let payload = text("payload").and_then(|it| BASE64_STANDARD.decode(it).ok());
        let payload = payload.and_then(|it| String::from_utf8(it).ok());
        let payload = payload.ok_or("`payload` is not the base64 of a text")?;
        if payload.len() > STATEMENT_MAX {
            return Err("`payload` is larger than 64 KiB");
        }
        let signatures = member(node, "signatures").and_then(items);
        let signatures = signatures.ok_or("`signatures` is not an array")?;
        if signatures.len() > SIGNATURES_MAX {
            return Err("there are more than 16 `signatures`");
        }
        let signature = |node: &Node<'_>| {
            let text = |name| member(node, name).and_then(string);
            let key_id = text("keyid").unwrap_or_default();
            let bytes = BASE64_STANDARD.decode(text("sig")?).ok()?;
            let is_small = key_id.len() <= SIGNATURE_MAX && bytes.len() <= SIGNATURE_MAX;
            is_small.then(|| Signature {
                key_id: key_id.to_owned(),
                bytes,
            })
        };
        let signatures: Option<_> = signatures.iter().map(signature).collect();
        Ok(Self {
            payload,
            signatures: signatures.ok_or("a signature has no `sig` of up to 1 KiB in base64")?,
        })
    }

    /// Returns the bytes that each signature is of.
    pub fn signed_bytes(&self) -> Vec<u8> {
        to_sign(&self.payload)
    }

    /// Writes the envelope.
    pub fn write(&self, w: &mut Writer) {
        w.object(|w| {
            w.key("payload")
                .string(&BASE64_STANDARD.encode(&self.payload));
            w.key("payloadType").string(PAYLOAD_TYPE);
            w.key("signatures").array(|w| {
                for signature in &self.signatures {
                    w.object(|w| {
                        w.key("keyid").string(&signature.key_id);
                        w.key("sig")
                            .string(&BASE64_STANDARD.encode(&signature.bytes));
                    });
                }
            });
        });
    }
}

/// Returns the bytes to sign for the envelope of a statement: its pre-authentication encoding.
pub fn to_sign(statement: &str) -> Vec<u8> {
    let (kind, len) = (PAYLOAD_TYPE.len(), statement.len());
    format!("DSSEv1 {kind} {PAYLOAD_TYPE} {len} {statement}").into_bytes()
}
