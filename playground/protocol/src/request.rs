//! What the page asks.

use crate::{DocumentKind, ServerName};
use serde::{Deserialize, Serialize};
#[cfg(feature = "javascript")]
use tsify::Tsify;

/// A question. What it leaves out stays as it was.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// The answer has the same, so that a stale one is known.
    pub revision: u32,
    /// The texts that were changed. They stand beside the bytes of a question, as JavaScript's
    /// strings: a large one is not to be copied once more.
    #[serde(skip)]
    pub texts: Texts,
    /// The views that are open.
    pub wanted: Wanted,
}

/// Texts that were changed since the last question.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Texts {
    /// `agents.md`
    pub manifest: Option<String>,
    /// `mcp.index.json`
    pub index: Option<String>,
    /// `agents.lock`; a blank text is none, and so are those below.
    pub lock: Option<String>,
    /// A task.
    pub task: Option<String>,
    /// The configuration of tenants.
    pub tenant: Option<String>,
    /// Which of its tenants is meant; blank: the only one.
    pub tenant_id: Option<String>,
    /// A snapshot of health.
    pub health: Option<String>,
    /// A policy.
    pub policy: Option<String>,
    /// The context of a policy.
    pub context: Option<String>,
}

impl Texts {
    /// The number of `tenant_id`. The others have the numbers of their [`DocumentKind`].
    pub const TENANT_ID: u32 = DocumentKind::ALL.len() as u32;

    /// Puts in the text of a number, of which there are nine.
    pub fn set(&mut self, number: u32, text: String) {
        let place = match DocumentKind::ALL.get(number as usize) {
            Some(DocumentKind::Manifest) => &mut self.manifest,
            Some(DocumentKind::Index) => &mut self.index,
            Some(DocumentKind::Lock) => &mut self.lock,
            Some(DocumentKind::Task) => &mut self.task,
            Some(DocumentKind::Tenant) => &mut self.tenant,
            Some(DocumentKind::Health) => &mut self.health,
            Some(DocumentKind::Policy) => &mut self.policy,
            Some(DocumentKind::Context) => &mut self.context,
            None if number == Self::TENANT_ID => &mut self.tenant_id,
            _ => return,
        };
        *place = Some(text);
    }
}

/// The views that are open. Each is answered with the part of the same name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wanted {
    /// A window of requirements × servers.
    pub matrix: Option<MatrixRequest>,
    /// One server and one requirement.
    pub explanation: Option<ExplanationRequest>,
    /// The servers that one check of the funnel holds back.
    pub rejected: Option<RejectedRequest>,
    /// The eligible servers of a requirement.
    pub eligible: Option<ListRequest>,
    /// Other constraints.
    pub supposed: Option<Constraints>,
    /// The text of `agents.resolution.json`.
    pub resolution: bool,
}

/// A window of the matrix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatrixRequest {
    /// Which servers have a row.
    pub filter: Filter,
    /// How many rows to pass over.
    pub offset: u32,
    /// How many rows to show.
    pub limit: u32,
}

/// Which servers or tools have a row in the matrix: those for which all that is set holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filter {
    /// A part of the id.
    pub id: String,
    /// A row for each tool in place of one for each server.
    pub tools: bool,
    /// A cell of the row has one of these bits (see [`crate::MatrixRow::cells`]); 0 for any.
    pub bits: u16,
    /// Only the cell of this requirement counts.
    pub requirement: Option<u32>,
}

/// Which explanation to give.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExplanationRequest {
    /// The number of the requirement.
    pub requirement: u32,
    /// The server.
    pub server: ServerName,
    /// Which of its tools; none, of a requirement of a capability, for the best of them.
    pub tool: Option<String>,
}

/// Whom to list of those that fell at a stage of the funnel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RejectedRequest {
    /// The number of the requirement.
    pub requirement: u32,
    /// The number of the check in the requirement's funnel, from 0.
    pub check: u8,
    /// How many to show.
    pub limit: u32,
}

/// A list of a requirement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListRequest {
    /// The number of the requirement.
    pub requirement: u32,
    /// How many to show.
    pub limit: u32,
}

/// The constraints of a manifest that decide about servers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "javascript", derive(Tsify), tsify(missing_as_null))]
#[serde(rename_all = "camelCase")]
pub struct Constraints {
    /// `data.residency`, in words of the file; null where it is absent.
    pub residency: Option<String>,
    /// `data.sensitivity`, in words of the file; null where it is absent.
    pub sensitivity: Option<String>,
    /// `trust.requireSigned`; false where it is absent.
    pub require_signed: bool,
}

#[cfg(test)]
mod tests {
    use super::Texts;
    use crate::DocumentKind;

    #[test]
    fn texts_are_put_in_by_their_numbers() {
        let text = |text: &str| Some(text.to_owned());
        let mut texts = Texts::default();
        for (source, name) in [
            (DocumentKind::Manifest, "manifest"),
            (DocumentKind::Index, "index"),
            (DocumentKind::Lock, "lock"),
            (DocumentKind::Task, "task"),
            (DocumentKind::Tenant, "tenant"),
            (DocumentKind::Health, "health"),
            (DocumentKind::Policy, "policy"),
            (DocumentKind::Context, "context"),
        ] {
            texts.set(source as u32, name.to_owned());
        }
        texts.set(Texts::TENANT_ID, "acme".to_owned());
        texts.set(
            DocumentKind::Payload as u32,
            "of another conversation".to_owned(),
        );
        texts.set(Texts::TENANT_ID + 1, "nothing".to_owned());
        let expected = Texts {
            manifest: text("manifest"),
            index: text("index"),
            lock: text("lock"),
            task: text("task"),
            tenant: text("tenant"),
            tenant_id: text("acme"),
            health: text("health"),
            policy: text("policy"),
            context: text("context"),
        };
        assert_eq!(texts, expected);
    }
}
