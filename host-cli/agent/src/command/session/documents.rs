//! The documents of a session with servers, as options name them.

use super::CommandSession;
use crate::args::{EvaluationContext, PolicyOptions};
use agent_host::Failure;
use agent_host::contract::diagnostic::DocumentKind;
use agent_host::contract::fixes;
use agent_host::contract::session::Documents;
use agent_host::input::{INDEX_MAX, Input, TEXT_MAX};
use agent_host::session_files::SessionFiles;

/// The documents of a session, as options name them.
pub(crate) struct Given<'a> {
    pub(crate) lock: &'a Input,
    pub(crate) index: &'a Input,
    pub(crate) task: Option<&'a Input>,
    pub(crate) context: &'a EvaluationContext,
}

/// Reads the documents of a session.
pub(crate) fn documents(
    given: Given<'_>,
    session: &mut CommandSession,
) -> Result<Documents, Failure> {
    let policy = session.policy_input(&given.context.policy)?;
    let policy = text(session, DocumentKind::Policy, policy.as_ref())?;
    documents_under(policy, given, session)
}

/// Reads the documents of a session but the policy, which is given.
pub(crate) fn documents_under(
    policy: Option<Vec<u8>>,
    given: Given<'_>,
    session: &mut CommandSession,
) -> Result<Documents, Failure> {
    let context = given.context;
    let files = SessionFiles {
        lock: given.lock,
        index: given.index,
        task: given.task,
        policy_context: context.policy.policy_context.as_ref(),
        tenant: context.policy.tenant.as_ref(),
        tenant_id: context.policy.tenant_id.as_deref(),
        health: context.health.as_ref(),
    };
    files.read(policy, |kind, input, limit| {
        session.text(kind, input, limit)
    })
}

/// The documents of a command, for the playground.
pub(crate) struct ShownDocuments<'c> {
    /// The documents but the policy, each if the command has it.
    pub(crate) inputs: Vec<(DocumentKind, Option<&'c Input>)>,
    /// The policy and its inputs.
    pub(crate) policy: &'c PolicyOptions,
}

impl ShownDocuments<'_> {
    /// Reads the documents. Invalid ones are read too: the page says what is wrong with them.
    ///
    /// # Errors
    ///
    /// When a file can't be read or is not UTF-8.
    pub(crate) fn read(
        self,
        session: &mut CommandSession,
    ) -> Result<Vec<fixes::Document>, Failure> {
        let policy = session.policy_input(self.policy)?;
        let mut inputs = self.inputs;
        inputs.extend([
            (DocumentKind::Policy, policy.as_ref()),
            (DocumentKind::Context, self.policy.policy_context.as_ref()),
            (DocumentKind::Tenant, self.policy.tenant.as_ref()),
        ]);
        let given = inputs
            .into_iter()
            .filter_map(|(kind, input)| Some((kind, input?)));
        let documents = given.map(|(kind, input)| {
            let text = session.text(kind, input, INDEX_MAX)?;
            match str::from_utf8(&text) {
                Ok(_) => Ok(fixes::Document { kind, text }),
                Err(_) => Err(Failure::new(format_args!("`{input}` is not text in UTF-8"))),
            }
        });
        documents.collect()
    }
}

/// Reads a document of a run. Deciding whether it is valid is part of the run.
///
/// # Errors
///
/// When the file can't be read.
pub(crate) fn text(
    session: &mut CommandSession,
    kind: DocumentKind,
    input: Option<&Input>,
) -> Result<Option<Vec<u8>>, Failure> {
    let read = input.map(|input| session.text(kind, input, TEXT_MAX));
    read.transpose()
}
