//! The documents that the command line names.

use super::args::Files;
use agent_host::contract::diagnostic::DocumentKind;
use agent_host::contract::session::Documents;
use agent_host::diagnostics::{Document, Findings};
use agent_host::input::{Input, TEXT_MAX};
use agent_host::session_files::{SessionFiles, beside, notation};
use agent_host::{Failure, Instance, call};
use std::path::PathBuf;

/// Reads the documents, and keeps them for diagnostics.
///
/// # Errors
///
/// When a file can't be read.
pub(crate) fn read(
    args: &Files,
    health: Option<&PathBuf>,
    engine: &mut Instance,
) -> Result<(Documents, Findings), Failure> {
    let file = |path: &Option<PathBuf>| path.clone().map(Input::File);
    let (lock, index) = (&args.lock, &args.index);
    let (lock, index) = (Input::File(lock.clone()), Input::File(index.clone()));
    let (tenant, task) = (file(&args.tenant), file(&args.task));
    let health = health.cloned().map(Input::File);
    let policy_context = file(&args.policy_context);
    let tenant_id = args.tenant_id.as_deref();
    let policy = match (file(&args.policy), &tenant) {
        (None, Some(tenant)) => {
            let (text, notation) = (tenant.read(TEXT_MAX)?, notation(tenant));
            let parsed = call!(engine, capability.tenant.parse(&text, notation, tenant_id))?;
            match parsed {
                Ok(parsed) => {
                    let policy = call!(engine, capability.tenant.policy(parsed))?;
                    policy.and_then(|policy| beside(tenant, &policy))
                }
                // Its problems are reported with those of the other documents.
                Err(_) => None,
            }
        }
        (policy, _) => policy,
    };
    let mut findings = Findings::default();
    let mut read = |source, input: &Input, limit| {
        let text = input.read(limit)?;
        findings.add_document(Document {
            source,
            number: 0,
            name: input.to_string(),
            text: text.clone(),
        });
        Ok::<_, Failure>(text)
    };
    let policy = policy.map(|it| read(DocumentKind::Policy, &it, TEXT_MAX));
    let files = SessionFiles {
        lock: &lock,
        index: &index,
        task: task.as_ref(),
        policy_context: policy_context.as_ref(),
        tenant: tenant.as_ref(),
        tenant_id,
        health: health.as_ref(),
    };
    let documents = files.read(policy.transpose()?, read)?;
    Ok((documents, findings))
}
