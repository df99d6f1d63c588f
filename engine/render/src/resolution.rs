//! `agents.resolution.json` \[0, 3.2\].

use super::matching::write_requirements;
use agent_decide::{Assessment, Rejection, Resolution, TieBreak};
use agent_diagnostic::{Code, Diagnostic};
use agent_model::{Agent, Constraints, Name, Residency, Sensitivity, ServerView};
use agent_syntax::json::Writer;
use agent_text::sort::sort_by_key;

/// The largest full explanation that is written, in bytes.
pub const FULL_LIMIT: usize = 256 << 20;

/// The text of `agents.resolution.json`.
///
/// # Errors
/// [`Code::ExplanationTooLarge`] if it would pass [`FULL_LIMIT`].
pub fn resolution(resolution: &Resolution) -> Result<String, Diagnostic> {
    let manifest = resolution.manifest();
    let mut w = Writer::pretty();
    w.object(|w| {
        w.key("agent").object(|w| write_agent(w, &manifest.agent));
        w.key("constraints")
            .object(|w| write_constraints(w, &manifest.constraints));
        w.key("requirements").array(|w| {
            for number in 0..manifest.requirements.len() {
                w.object(|w| write_requirement(w, resolution, number));
                if w.len() > FULL_LIMIT {
                    return;
                }
            }
            write_requirements(w, resolution.matching());
        });
        w.key("satisfied").bool(resolution.satisfied());
    });
    if w.len() >= FULL_LIMIT {
        return Err(too_large());
    }
    Ok(w.finish())
}

/// Returns the eligible servers that were not selected, ordered by id, then version.
fn eligible<'r>(
    resolution: &'r Resolution,
    requirement: usize,
    selected: ServerView<'r>,
) -> Vec<ServerView<'r>> {
    let mut eligible: Vec<_> = resolution
        .eligible(requirement)
        .filter(|server| server.rank() != selected.rank())
        .collect();
    sort_by_key(&mut eligible, |server| (server.id(), server.version()));
    eligible
}

/// What is said instead of an explanation that would pass its limit.
pub(super) fn too_large() -> Diagnostic {
    let message = format!("the full explanation would pass {} MiB", FULL_LIMIT >> 20);
    Diagnostic::new(Code::ExplanationTooLarge, message).help(
        "use `agent resolve --explain=compact`, which writes the same in a fraction of the size",
    )
}

fn write_requirement(w: &mut Writer, resolution: &Resolution, number: usize) {
    let requirement = &resolution.manifest().requirements[number];
    let selected = resolution.selected(number);
    w.key("category")
        .string(requirement.category.value.as_str());
    w.key("eligible").array(|w| {
        let Some(selected) = selected else { return };
        for server in eligible(resolution, number, selected) {
            w.object(|w| {
                w.key("id").string(server.id());
                w.key("lostOn")
                    .string(TieBreak::between(selected, server).name());
                w.key("version").string(server.version());
            });
        }
    });
    w.key("permissions")
        .strings(requirement.permissions.iter().map(|p| p.value.as_str()));
    w.key("rejected").array(|w| {
        for server in resolution.rejected(number) {
            w.object(|w| {
                w.key("id").string(server.id());
                w.key("reasons").array(|w| {
                    if let Assessment::Rejected(reasons) = resolution.assess(number, server) {
                        let reasons = reasons.as_slice();
                        reasons.iter().for_each(|reason| write_reason(w, reason));
                    }
                });
                w.key("version").string(server.version());
            });
            if w.len() > FULL_LIMIT {
                return;
            }
        }
    });
    w.key("selected");
    match (selected, resolution.hash(number)) {
        (Some(selected), Some(hash)) => w.object(|w| {
            w.key("hash").string(&hash);
            w.key("id").string(selected.id());
            w.key("version").string(selected.version());
        }),
        _ => w.null(),
    }
}

/// The members of `agent`.
pub(super) fn write_agent(w: &mut Writer, agent: &Agent) {
    w.key("name").string(agent.name.as_str());
    w.key("version").string(agent.version.as_str());
}

/// The members of `constraints`: absent ones are null, false or empty.
pub(super) fn write_constraints(w: &mut Writer, constraints: &Constraints) {
    w.key("forbid")
        .strings(constraints.forbid.iter().map(|label| label.value.as_str()));
    w.key("requireSigned").bool(constraints.require_signed());
    w.key("residency")
        .optional(constraints.residency().map(Residency::as_str));
    w.key("sensitivity")
        .optional(constraints.sensitivity().map(Sensitivity::as_str));
}

/// A reason with the values that were compared.
pub(super) fn write_reason(w: &mut Writer, reason: &Rejection<'_>) {
    w.object(|w| {
        w.key("code").string(reason.code().name());
        match reason {
            Rejection::MissingCategory { offered } => {
                w.key("offered").strings(offered.iter().copied());
            }
            Rejection::MissingScope { missing } => {
                w.key("missing").strings(missing.iter().copied());
            }
            Rejection::ResidencyMismatch { required, offered } => {
                w.key("offered")
                    .strings(offered.iter().map(Residency::as_str));
                w.key("required").string(required.as_str());
            }
            Rejection::SensitivityExceeded { required, offered } => {
                w.key("offered").string(offered.as_str());
                w.key("required").string(required.as_str());
            }
            Rejection::UnsignedNotAllowed { publisher } => {
                w.key("publisher").string(publisher);
            }
            Rejection::MissingCapability { offered } => {
                w.key("offered").strings(offered.iter().copied());
            }
            Rejection::ConstraintUnmet { missing } => {
                w.key("missing").strings(missing.iter().copied());
            }
            Rejection::ForbiddenAction { label } => w.key("label").string(label),
            Rejection::PolicyDenied { reason } => w.key("reason").optional(*reason),
            Rejection::PolicyError { reason } => w.key("reason").string(reason.name()),
            Rejection::HealthVeto { status } => w
                .key("status")
                .optional(status.map(|status| status.as_str())),
        }
    });
}
