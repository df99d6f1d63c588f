//! Whether a bundle decides: by whose signature, until when, and in place of which.

use super::keys::{TrustedKey, TrustedKeys};
use super::label::{Label, shown};
use super::sealed::Bundle;
use agent_api::diagnostic::{Code, Diagnostic};
use agent_session::{Clock, Documents};

/// A signature to verify with a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignatureCheck {
    /// The Ed25519 public key: 32 bytes.
    pub public_key: Vec<u8>,
    /// The signature.
    pub signature: Vec<u8>,
}

/// What was accepted before under a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Highest {
    /// The highest sequence.
    pub sequence: u64,
    /// The digest of the bundle with it. Without one, every bundle with the sequence may follow.
    pub digest: Option<String>,
}

/// A bundle that decides.
#[derive(Debug)]
pub struct Accepted {
    /// Its documents.
    pub documents: Documents,
    /// The digest of its statement.
    pub digest: String,
    /// The last millisecond at which it decides, since 1970-01-01T00:00:00Z: its own end, or that of the key.
    pub until_ms: u64,
    /// The same as RFC 3339 in UTC with milliseconds.
    pub until: String,
}

impl Bundle {
    /// Returns the checks of its signatures that a host makes: each with each key, in order.
    pub fn checks(&self, keys: &TrustedKeys) -> Vec<SignatureCheck> {
        let signatures = self.envelope.signatures.iter();
        let with_keys = signatures.flat_map(|signature| {
            keys.0.iter().map(|key| SignatureCheck {
                public_key: key.public.to_vec(),
                signature: signature.bytes.clone(),
            })
        });
        with_keys.collect()
    }

    /// Returns the bytes that the signatures are of.
    pub fn signed_bytes(&self) -> Vec<u8> {
        self.envelope.signed_bytes()
    }

    /// Accepts the bundle for a name. `verified` has the outcomes of [`Self::checks`] with the same keys.
    ///
    /// # Errors
    /// Every reason against it.
    pub fn accept(
        &self,
        keys: &TrustedKeys,
        verified: &[bool],
        name: &str,
        highest: Option<&Highest>,
        now: Clock,
    ) -> Result<Accepted, Vec<Diagnostic>> {
        let mut problems = Vec::new();
        let mut refuse = |code: Code, text: String| {
            problems.push(Diagnostic::new(code, text).help(code.help()));
        };
        let Label {
            name: own,
            sequence,
            not_after_ms,
        } = &self.label;
        if own != name {
            let text = format!("the bundle is `{own}`, and only `{name}` decides here");
            refuse(Code::BundleUntrusted, text);
        }
        let until_ms = match self.signed_until(keys, verified, now) {
            Ok(until_ms) => until_ms,
            Err(reasons) => {
                for text in reasons {
                    refuse(Code::BundleUntrusted, text);
                }
                0
            }
        };
        if now.unix_ms > *not_after_ms {
            let text = format!("the bundle ended at {}", self.label.not_after());
            refuse(Code::BundleExpired, text);
        }
        let digest = self.digest();
        if let Some(highest) = highest {
            let before = highest.sequence;
            if *sequence < before {
                let text =
                    format!("the bundle has the sequence {sequence}, and {before} was accepted");
                refuse(Code::BundleOlder, text);
            } else if *sequence == before && highest.digest.as_ref().is_some_and(|it| *it != digest)
            {
                let text = format!("another bundle was accepted with the sequence {sequence}");
                refuse(Code::BundleOlder, text);
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let until_ms = until_ms.min(*not_after_ms);
        Ok(Accepted {
            documents: self.documents.clone(),
            digest,
            until_ms,
            until: shown(until_ms),
        })
    }

    /// Returns the last moment at which a signature counts.
    ///
    /// # Errors
    /// Why none counts: of each key that signed, or that none did.
    fn signed_until(
        &self,
        keys: &TrustedKeys,
        verified: &[bool],
        now: Clock,
    ) -> Result<u64, Vec<String>> {
        let signed = verified.chunks(keys.0.len().max(1));
        let signed = |number: usize| signed.clone().any(|of| of.get(number) == Some(&true));
        let numbered = keys.0.iter().enumerate();
        let signers: Vec<_> = numbered.filter(|(number, _)| signed(*number)).collect();
        if signers.is_empty() {
            return Err(vec!["no trusted key signed the bundle".to_owned()]);
        }
        let mut reasons = Vec::new();
        let mut until = None;
        for (_, key) in signers {
            match key.objection(&self.label.name, now.unix_ms) {
                None => until = until.max(Some(key.not_after_ms)),
                Some(reason) => reasons.push(reason),
            }
        }
        until.ok_or(reasons)
    }
}

impl TrustedKey {
    /// Returns why its signature of a bundle does not count.
    fn objection(&self, bundle: &str, now_ms: u64) -> Option<String> {
        let name = &self.name;
        if self.is_revoked {
            Some(format!("the key `{name}` is revoked"))
        } else if !self.bundles.iter().any(|it| it == bundle) {
            Some(format!(
                "the key `{name}` may not sign the bundle `{bundle}`"
            ))
        } else if now_ms < self.not_before_ms {
            let begin = shown(self.not_before_ms);
            Some(format!("the key `{name}` counts from {begin}"))
        } else if now_ms > self.not_after_ms {
            let end = shown(self.not_after_ms);
            Some(format!("the key `{name}` counted until {end}"))
        } else {
            None
        }
    }
}
