//! The page's questions.

use agent_answer::{Constraints, DocumentKind, Filter, ServerName};
use serde::{Deserialize, Serialize};

/// The texts that changed since the last question. They cross beside the bytes of the request, as
/// JavaScript's strings: a large one is not copied once more.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Texts {
    /// `agents.md`
    pub manifest: Option<String>,
    /// `mcp.index.json`
    pub index: Option<String>,
    /// `agents.lock`. A blank text is none, here and below.
    pub lock: Option<String>,
    /// A task.
    pub task: Option<String>,
    /// The configuration of tenants.
    pub tenant: Option<String>,
    /// The id of the tenant; blank for the only one.
    pub tenant_id: Option<String>,
    /// A health snapshot.
    pub health: Option<String>,
    /// A policy.
    pub policy: Option<String>,
    /// The context of the policy.
    pub context: Option<String>,
}

impl Texts {
    /// The number of `tenant_id`. The others have the numbers of their [`DocumentKind`].
    pub const TENANT_ID: u32 = DocumentKind::ALL.len() as u32;

    /// Sets the text of a number. A number of another text is ignored.
    pub fn set(&mut self, number: u32, text: String) {
        let fields = [
            (DocumentKind::Manifest as u32, &mut self.manifest),
            (DocumentKind::Index as u32, &mut self.index),
            (DocumentKind::Lock as u32, &mut self.lock),
            (DocumentKind::Task as u32, &mut self.task),
            (DocumentKind::Tenant as u32, &mut self.tenant),
            (DocumentKind::Health as u32, &mut self.health),
            (DocumentKind::Policy as u32, &mut self.policy),
            (DocumentKind::Context as u32, &mut self.context),
            (Self::TENANT_ID, &mut self.tenant_id),
        ];
        if let Some((_, field)) = fields.into_iter().find(|(each, _)| *each == number) {
            *field = Some(text);
        }
    }
}

/// The open views of the page. The answer has a member of the same name for each.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// A window of requirements × servers.
    pub matrix: Option<MatrixRequest>,
    /// One candidate of one requirement.
    pub explanation: Option<ExplanationRequest>,
    /// The candidates that one check of the funnel rejects.
    pub rejected: Option<RejectedRequest>,
    /// The eligible candidates of a requirement.
    pub eligible: Option<ListRequest>,
    /// Other constraints.
    pub supposed: Option<Constraints>,
    /// The text of `agents.resolution.json`.
    pub resolution: bool,
}

/// A window of the matrix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatrixRequest {
    /// The filter of the rows.
    pub filter: Filter,
    /// Number of rows before the window.
    pub offset: u32,
    /// Maximum number of rows in the window.
    pub limit: u32,
}

/// A candidate of a requirement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExplanationRequest {
    /// The number of the requirement.
    pub requirement: u32,
    /// The server.
    pub server: ServerName,
    /// The tool; without one, the best tool of the server for a capability requirement.
    pub tool: Option<String>,
}

/// The candidates that one check of the funnel rejects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RejectedRequest {
    /// The number of the requirement.
    pub requirement: u32,
    /// The number of the check in the requirement's funnel, from 0.
    pub check: u8,
    /// Maximum number of items.
    pub limit: u32,
}

/// A list of a requirement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListRequest {
    /// The number of the requirement.
    pub requirement: u32,
    /// Maximum number of items.
    pub limit: u32,
}

#[cfg(test)]
mod tests {
    use super::Texts;
    use agent_answer::DocumentKind;

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
        texts.set(DocumentKind::Payload as u32, "of another page".to_owned());
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
