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
    let hashes: Vec<_> = (0..manifest.requirements.len())
        .map(|number| resolution.hash(number))
        .collect();
    let requirements = manifest
        .requirements
        .iter()
        .enumerate()
        .map(|(number, requirement)| {
            let selected = resolution.selected(number);
            Requirement {
                category: requirement.category.value.as_str(),
                permissions: requirement
                    .permissions
                    .iter()
                    .map(|permission| permission.value.as_str())
                    .collect(),
                selected: selected
                    .zip(hashes[number].as_deref())
                    .map(|(server, hash)| Selected {
                        id: server.id(),
                        version: server.version(),
                        hash,
                    }),
                eligible: eligible(resolution, number, selected),
                rejected: resolution.rejected(number).map(move |server| {
                    let reasons = match resolution.assess(number, server) {
                        Assessment::Rejected(reasons) => reasons.into_vec(),
                        Assessment::Eligible => Vec::new(),
                    };
                    (server.id(), server.version(), reasons)
                }),
            }
        });
    write(
        &manifest.agent,
        &manifest.constraints,
        requirements,
        |w| write_requirements(w, resolution.matching()),
        resolution.satisfied(),
    )
}

/// The eligible servers that were not selected, ordered by id, then version.
fn eligible<'r>(
    resolution: &'r Resolution,
    requirement: usize,
    selected: Option<ServerView<'r>>,
) -> Vec<(&'r str, &'r str, TieBreak)> {
    let Some(selected) = selected else {
        return Vec::new();
    };
    let mut eligible: Vec<_> = resolution
        .eligible(requirement)
        .filter(|server| server.rank() != selected.rank())
        .map(|server| {
            let lost_on = TieBreak::between(selected, server);
            (server.id(), server.version(), lost_on)
        })
        .collect();
    sort_by_key(&mut eligible, |(id, version, _)| (*id, *version));
    eligible
}

/// A requirement as the file has it. Servers are ordered by id, then version.
pub(super) struct Requirement<'e, R> {
    pub(super) category: &'e str,
    pub(super) permissions: Vec<&'e str>,
    pub(super) selected: Option<Selected<'e>>,
    pub(super) eligible: Vec<(&'e str, &'e str, TieBreak)>,
    pub(super) rejected: R,
}

pub(super) struct Selected<'e> {
    pub(super) id: &'e str,
    pub(super) version: &'e str,
    pub(super) hash: &'e str,
}

/// Write the file, from a resolution or from its compact form. `capabilities` writes the
/// requirements of capabilities behind the others.
pub(super) fn write<'e, R>(
    agent: &Agent,
    constraints: &Constraints,
    requirements: impl Iterator<Item = Requirement<'e, R>>,
    capabilities: impl FnOnce(&mut Writer),
    satisfied: bool,
) -> Result<String, Diagnostic>
where
    R: Iterator<Item = (&'e str, &'e str, Vec<Rejection<'e>>)>,
{
    let mut w = Writer::pretty();
    w.object(|w| {
        w.key("agent").object(|w| write_agent(w, agent));
        w.key("constraints")
            .object(|w| write_constraints(w, constraints));
        w.key("requirements").array(|w| {
            for requirement in requirements {
                w.object(|w| write_requirement(w, requirement));
                if w.len() > FULL_LIMIT {
                    return;
                }
            }
            capabilities(w);
        });
        w.key("satisfied").bool(satisfied);
    });
    if w.len() >= FULL_LIMIT {
        return Err(too_large());
    }
    Ok(w.finish())
}

/// What is said instead of an explanation that would pass its limit.
pub(super) fn too_large() -> Diagnostic {
    let message = format!("the full explanation would pass {} MiB", FULL_LIMIT >> 20);
    Diagnostic::new(Code::ExplanationTooLarge, message).help(
        "use `agent resolve --explain=compact`, which writes the same in a fraction of the size",
    )
}

fn write_requirement<'e, R>(w: &mut Writer, requirement: Requirement<'e, R>)
where
    R: Iterator<Item = (&'e str, &'e str, Vec<Rejection<'e>>)>,
{
    w.key("category").string(requirement.category);
    w.key("eligible").array(|w| {
        for (id, version, lost_on) in requirement.eligible {
            w.object(|w| {
                w.key("id").string(id);
                w.key("lostOn").string(lost_on.name());
                w.key("version").string(version);
            });
        }
    });
    w.key("permissions").strings(requirement.permissions);
    w.key("rejected").array(|w| {
        for (id, version, reasons) in requirement.rejected {
            w.object(|w| {
                w.key("id").string(id);
                w.key("reasons")
                    .array(|w| reasons.iter().for_each(|reason| write_reason(w, reason)));
                w.key("version").string(version);
            });
            if w.len() > FULL_LIMIT {
                return;
            }
        }
    });
    w.key("selected");
    match requirement.selected {
        None => w.null(),
        Some(selected) => w.object(|w| {
            w.key("hash").string(selected.hash);
            w.key("id").string(selected.id);
            w.key("version").string(selected.version);
        }),
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
