//! `agent:engine/bundles`

use crate::Component;
use crate::bindings::exports::agent::engine::bundles::{
    self, AcceptedBundle, BundleLabel, Clock, Diagnostic, Documents, Guest, GuestBundle,
    GuestDraft, GuestTrustedKeys, HighestBundle, SignatureCheck, TrustedKeysBorrow,
};
use crate::convert::all;
use agent_bundle::Label;

/// A bundle that is made.
pub(crate) struct Draft(agent_bundle::Draft);

/// The keys whose signatures count.
pub(crate) struct TrustedKeys(agent_bundle::TrustedKeys);

/// A bundle that was read.
pub(crate) struct Bundle(agent_bundle::Bundle);

impl Guest for Component {
    type Draft = Draft;
    type TrustedKeys = TrustedKeys;
    type Bundle = Bundle;
}

impl GuestDraft for Draft {
    fn make(documents: Documents, label: BundleLabel) -> Result<bundles::Draft, Vec<Diagnostic>> {
        let label = Label::new(&label.name, label.sequence, &label.not_after).map_err(all)?;
        let draft = agent_bundle::Draft::new(documents.into(), &label).map_err(all)?;
        Ok(bundles::Draft::new(Self(draft)))
    }

    fn to_sign(&self) -> Vec<u8> {
        self.0.to_sign()
    }

    fn signed(&self, key_id: String, signature: Vec<u8>) -> Result<String, Vec<Diagnostic>> {
        self.0.signed(&key_id, &signature).map_err(all)
    }
}

impl GuestTrustedKeys for TrustedKeys {
    fn read(bytes: Vec<u8>) -> Result<bundles::TrustedKeys, Vec<Diagnostic>> {
        let keys = agent_bundle::TrustedKeys::read(bytes).map_err(all)?;
        Ok(bundles::TrustedKeys::new(Self(keys)))
    }
}

impl GuestBundle for Bundle {
    fn read(bytes: Vec<u8>) -> Result<bundles::Bundle, Vec<Diagnostic>> {
        let bundle = agent_bundle::Bundle::read(&bytes).map_err(all)?;
        Ok(bundles::Bundle::new(Self(bundle)))
    }

    fn label(&self) -> BundleLabel {
        let label = self.0.label();
        BundleLabel {
            name: label.name.clone(),
            sequence: label.sequence,
            not_after: label.not_after(),
        }
    }

    fn digest(&self) -> String {
        self.0.digest()
    }

    fn signed_bytes(&self) -> Vec<u8> {
        self.0.signed_bytes()
    }

    fn checks(&self, keys: TrustedKeysBorrow<'_>) -> Vec<SignatureCheck> {
        all(self.0.checks(&keys.get::<TrustedKeys>().0))
    }

    fn accept(
        &self,
        keys: TrustedKeysBorrow<'_>,
        verified: Vec<bool>,
        name: String,
        highest: Option<HighestBundle>,
        now: Clock,
    ) -> Result<AcceptedBundle, Vec<Diagnostic>> {
        let keys = &keys.get::<TrustedKeys>().0;
        let highest = highest.map(Into::into);
        let accepted = self
            .0
            .accept(keys, &verified, &name, highest.as_ref(), now.into());
        accepted.map(Into::into).map_err(all)
    }
}

impl From<agent_bundle::SignatureCheck> for SignatureCheck {
    fn from(check: agent_bundle::SignatureCheck) -> Self {
        Self {
            public_key: check.public_key,
            signature: check.signature,
        }
    }
}

impl From<HighestBundle> for agent_bundle::Highest {
    fn from(highest: HighestBundle) -> Self {
        Self {
            sequence: highest.sequence,
            digest: highest.digest,
        }
    }
}

impl From<agent_bundle::Accepted> for AcceptedBundle {
    fn from(accepted: agent_bundle::Accepted) -> Self {
        Self {
            documents: accepted.documents.into(),
            digest: accepted.digest,
            until_unix_ms: accepted.until_ms,
            until: accepted.until,
        }
    }
}
