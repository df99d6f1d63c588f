//! What the typed functions of the contract say, put together to the files that it has to agree
//! with.

use super::bindings::exports::agent::engine::diagnostic::Code;
use super::bindings::exports::agent::engine::inputs::{Residency, Sensitivity};
use super::bindings::exports::agent::engine::resolver::{Rejection, Selection, TieBreak, Verdict};
use super::{Instance, call};
use crate::files;
use wasmtime::component::ResourceAny;

/// How many entries are asked for at a time: few, so that pages have to be put together.
const PAGE: u32 = 3;

/// What the typed functions say of a manifest and an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Typed {
    /// From `outcomes`, `eligible`, `rejections`, `constraints`, `name`, `version`, `satisfied`.
    pub resolution: files::Resolution,
    /// From `outcomes`.
    pub selections: Vec<files::Selection>,
    /// For each requirement and server, ordered by id and version, from `why`.
    pub verdicts: Vec<Vec<String>>,
}

impl Instance {
    /// Ask the typed functions. Both inputs have to be valid.
    pub fn typed(&mut self, manifest: &[u8], index: &[u8]) -> Typed {
        let (manifest, _) = self.manifest(manifest).expect("the manifest is valid");
        let (index, _) = self.index(index).expect("the index is valid");
        let it = call!(
            self,
            agent_engine_resolver.resolution,
            call_constructor(manifest, index)
        );
        let constraints = call!(
            self,
            agent_engine_inputs.manifest,
            call_constraints(manifest)
        );
        let outcomes = call!(self, agent_engine_resolver.resolution, call_outcomes(it));
        let requirements = outcomes
            .iter()
            .zip(0..)
            .map(|(outcome, number)| files::Requirement {
                category: outcome.category.clone(),
                eligible: self.eligible(it, number),
                permissions: outcome.permissions.clone(),
                rejected: self.rejected(it, number),
                selected: outcome.selected.as_ref().map(|selection| files::Selected {
                    hash: selection.hash.clone(),
                    id: selection.id.clone(),
                    version: selection.version.clone(),
                }),
            });
        let requirements: Vec<_> = requirements.collect();
        Typed {
            resolution: files::Resolution {
                agent: files::Agent {
                    name: call!(self, agent_engine_inputs.manifest, call_name(manifest)),
                    version: call!(self, agent_engine_inputs.manifest, call_version(manifest)),
                },
                constraints: files::Constraints {
                    forbid: constraints.forbid,
                    require_signed: constraints.require_signed,
                    residency: constraints.residency.map(residency),
                    sensitivity: constraints.sensitivity.map(sensitivity),
                },
                requirements,
                satisfied: call!(self, agent_engine_resolver.resolution, call_satisfied(it)),
            },
            selections: outcomes
                .into_iter()
                .filter_map(|o| o.selected.map(selection))
                .collect(),
            verdicts: self.verdicts(index, it),
        }
    }

    /// Ask for what is not there, and for more than there is: the answers are empty, or all.
    pub fn out_of_range(&mut self, manifest: &[u8], index: &[u8]) -> Vec<String> {
        let (manifest, _) = self.manifest(manifest).expect("the manifest is valid");
        let (index, _) = self.index(index).expect("the index is valid");
        let it = call!(
            self,
            agent_engine_resolver.resolution,
            call_constructor(manifest, index)
        );
        let mut found = Vec::new();
        for requirement in [99, u32::MAX] {
            let funnel = call!(
                self,
                agent_engine_resolver.resolution,
                call_funnel(it, requirement)
            );
            found.extend(funnel.map(|funnel| format!("{funnel:?}")));
            let eligible = call!(
                self,
                agent_engine_resolver.resolution,
                call_eligible(it, requirement, 0, u32::MAX)
            );
            found.extend(eligible.iter().map(|eligible| format!("{eligible:?}")));
            let rejections = call!(
                self,
                agent_engine_resolver.resolution,
                call_rejections(it, requirement, 0, u32::MAX)
            );
            found.extend(rejections.iter().map(|rejected| format!("{rejected:?}")));
            let nearest = call!(
                self,
                agent_engine_resolver.resolution,
                call_nearest(it, requirement, u32::MAX)
            );
            found.extend(nearest.iter().map(|near| format!("{near:?}")));
        }
        let behind = call!(
            self,
            agent_engine_resolver.resolution,
            call_rejections(it, 0, u32::MAX, u32::MAX)
        );
        found.extend(behind.iter().map(|rejected| format!("{rejected:?}")));
        let none = call!(
            self,
            agent_engine_resolver.resolution,
            call_nearest(it, 0, 0)
        );
        found.extend(none.iter().map(|near| format!("{near:?}")));
        let unknown = call!(
            self,
            agent_engine_resolver.resolution,
            call_why(it, "nobody", None)
        );
        found.extend(unknown.iter().map(|story| format!("{story:?}")));
        let all = call!(
            self,
            agent_engine_resolver.resolution,
            call_nearest(it, 0, u32::MAX)
        );
        let rejected = self.rejected(it, 0).len();
        if all.len() != rejected {
            found.push(format!(
                "{} of {rejected} rejected servers are near",
                all.len()
            ));
        }
        found
    }

    /// The stable name of each code, from `catalogue`, beside its case in the contract.
    pub fn catalogue(&mut self) -> Vec<(String, String)> {
        let entries = call!(self, agent_engine_diagnostic, call_catalogue());
        let entries = entries.into_iter();
        entries
            .map(|entry| (entry.name, case(entry.code)))
            .collect()
    }

    fn eligible(&mut self, it: ResourceAny, requirement: u32) -> Vec<files::Eligible> {
        let mut all = Vec::new();
        while {
            let offset = all.len() as u32;
            let page = call!(
                self,
                agent_engine_resolver.resolution,
                call_eligible(it, requirement, offset, PAGE)
            );
            let len = page.len();
            all.extend(page);
            len > 0
        } {}
        // In order of preference here, by name in the file.
        all.sort_by(|a, b| (&a.id, &a.version).cmp(&(&b.id, &b.version)));
        let all = all.into_iter().map(|eligible| files::Eligible {
            id: eligible.id,
            lost_on: lost_on(eligible.lost_on),
            version: eligible.version,
        });
        all.collect()
    }

    fn rejected(&mut self, it: ResourceAny, requirement: u32) -> Vec<files::Rejected> {
        let mut all = Vec::new();
        while {
            let offset = all.len() as u32;
            let page = call!(
                self,
                agent_engine_resolver.resolution,
                call_rejections(it, requirement, offset, PAGE)
            );
            let len = page.len();
            all.extend(page.into_iter().map(|rejected| files::Rejected {
                id: rejected.id,
                reasons: rejected.reasons.into_iter().map(reason).collect(),
                version: rejected.version,
            }));
            len > 0
        } {}
        all
    }

    /// For each server what became of it, requirement by requirement.
    fn verdicts(&mut self, index: ResourceAny, it: ResourceAny) -> Vec<Vec<String>> {
        let len = call!(self, agent_engine_inputs.index, call_len(index));
        let servers = call!(self, agent_engine_inputs.index, call_servers(index, 0, len));
        let mut all = Vec::new();
        for server in servers {
            let stories = call!(
                self,
                agent_engine_resolver.resolution,
                call_why(it, &server.id, Some(&server.version))
            );
            let verdicts = stories.into_iter().map(|story| match story.verdict {
                Verdict::Selected(_) => "selected".to_owned(),
                Verdict::Eligible(tie) => format!("{:?}", lost_on(tie)),
                Verdict::Rejected(near) => {
                    let reasons = near.reasons.into_iter().map(reason);
                    reasons
                        .map(|reason| reason.code())
                        .collect::<Vec<_>>()
                        .join(" ")
                }
            });
            all.push(verdicts.collect());
        }
        all
    }
}

fn selection(selection: Selection) -> files::Selection {
    files::Selection {
        category: selection.category,
        endpoint: selection.endpoint,
        hash: selection.hash,
        id: selection.id,
        integrity: selection.integrity,
        scopes: selection.scopes,
        version: selection.version,
    }
}

fn reason(rejection: Rejection) -> files::Reason {
    match rejection {
        Rejection::MissingCategory(offered) => files::Reason::MissingCategory { offered },
        Rejection::MissingScope(missing) => files::Reason::MissingScope { missing },
        Rejection::ResidencyMismatch(it) => files::Reason::ResidencyMismatch {
            offered: it.offered.into_iter().map(residency).collect(),
            required: residency(it.required),
        },
        Rejection::SensitivityExceeded(it) => files::Reason::SensitivityExceeded {
            offered: sensitivity(it.offered),
            required: sensitivity(it.required),
        },
        Rejection::UnsignedNotAllowed(publisher) => files::Reason::UnsignedNotAllowed { publisher },
    }
}

fn lost_on(tie: TieBreak) -> files::LostOn {
    match tie {
        TieBreak::Signed => files::LostOn::Signed,
        TieBreak::Id => files::LostOn::Id,
        TieBreak::Version => files::LostOn::Version,
    }
}

fn residency(residency: Residency) -> String {
    match residency {
        Residency::Any => "any",
        Residency::EuOnly => "eu-only",
        Residency::UsOnly => "us-only",
    }
    .to_owned()
}

fn sensitivity(sensitivity: Sensitivity) -> String {
    match sensitivity {
        Sensitivity::Public => "public",
        Sensitivity::Internal => "internal",
        Sensitivity::Confidential => "confidential",
        Sensitivity::PiiLow => "pii.low",
        Sensitivity::PiiModerate => "pii.moderate",
        Sensitivity::PiiHigh => "pii.high",
    }
    .to_owned()
}

/// The case of a code as the contract spells it, in upper case with underscores.
fn case(code: Code) -> String {
    let name = format!("{code:?}");
    let mut out = String::new();
    for (i, c) in name.trim_start_matches("Code::").chars().enumerate() {
        if i > 0 && c.is_uppercase() {
            out.push('_');
        }
        out.extend(c.to_uppercase());
    }
    out
}
