//! `agent validate`: check the manifest and the index.

use super::CommandAnswer;
use super::session::CommandSession;
use crate::args::{INDEX, Validate};
use agent_host::Failure;
use agent_host::contract::diagnostic::Severity;
use agent_host::diagnostics::Findings;
use agent_host::input::Input;

pub(super) fn run(args: &Validate, session: &mut CommandSession) -> Result<CommandAnswer, Failure> {
    session.manifest(args.manifest.manifest.as_ref())?;
    let usual = Some(Input::from(INDEX)).filter(|index| !index.is_missing());
    if let Some(index) = args.index.as_ref().or(usual.as_ref()) {
        session.checked_index(index)?;
    }
    session.report()?;
    session.note(conclusion(&session.findings));
    let errors = session.findings.count(Severity::Error);
    Ok(CommandAnswer::yes_if(errors == 0))
}

/// Returns the names of the inputs and the numbers of their problems.
fn conclusion(findings: &Findings) -> String {
    let names: Vec<_> = findings.files().into_iter().map(|file| file.path).collect();
    let counts: Vec<_> = [(Severity::Error, "error"), (Severity::Warning, "warning")]
        .into_iter()
        .filter_map(|(severity, name)| match findings.count(severity) {
            0 => None,
            1 => Some(format!("1 {name}")),
            many => Some(format!("{many} {name}s")),
        })
        .collect();
    let problems = if counts.is_empty() {
        "no problems".to_owned()
    } else {
        counts.join(", ")
    };
    format!("checked {}: {problems}", names.join(" and "))
}
