//! What the typed functions of the contract say, put together to the files that it has to agree
//! with.

use super::{Instance, call};
use agent_host::ResourceAny;
use agent_host::contract::capability::{Preference, Verb};
use agent_host::contract::diagnostic::{Code, Diagnostic, Place};
use agent_host::contract::inputs::{Residency, Sensitivity, Server};
use agent_host::contract::resolver::{
    Change, Grant, HealthStatus, Load, Near, PolicyFailure, Rejection, Selection, TieBreak, Verdict,
};
use agent_tests::files;
use agent_tests::inputs::{Given, Inputs};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// How many entries are asked for at a time: few, so that pages have to be put together.
const PAGE: u32 = 3;

/// What the typed functions say of a manifest and an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Typed {
    /// From `outcomes`, `eligible`, `rejections`, `constraints`, `name`, `version`, `satisfied`.
    pub resolution: files::Resolution,
    /// From `outcomes`.
    pub selections: Vec<files::Locked>,
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
        let requirements = outcomes.iter().zip(0..).map(|(outcome, number)| {
            files::Answer::Category(files::Requirement {
                category: outcome.category.clone(),
                eligible: self.eligible(it, number),
                permissions: outcome.permissions.clone(),
                rejected: self.rejected(it, number),
                selected: outcome.selected.as_ref().map(|selection| files::Selected {
                    hash: selection.hash.clone(),
                    id: selection.id.clone(),
                    version: selection.version.clone(),
                }),
            })
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

    /// What `summary-json` says, put together from the typed functions; without the words of the
    /// fixes, which they don't have.
    pub fn typed_summary(&mut self, manifest: &[u8], index: &[u8]) -> Value {
        let typed = self.typed(manifest, index);
        let (manifest, _) = self.manifest(manifest).expect("the manifest is valid");
        let (index, _) = self.index(index).expect("the index is valid");
        let it = call!(
            self,
            agent_engine_resolver.resolution,
            call_constructor(manifest, index)
        );
        let servers = call!(
            self,
            agent_engine_inputs.index,
            call_servers(index, 0, u32::MAX)
        );
        let place_of = |id: &str, version: &str| {
            let mut found = servers.iter();
            let server = found.find(|server| server.id == id && server.version == version);
            place(&server.expect("a server of the index").place)
        };
        let outcomes = call!(self, agent_engine_resolver.resolution, call_outcomes(it));
        let asked = call!(
            self,
            agent_engine_inputs.manifest,
            call_requirements(manifest)
        );
        let mut requirements = Vec::new();
        for (number, outcome) in (0..).zip(outcomes) {
            let funnel = call!(
                self,
                agent_engine_resolver.resolution,
                call_funnel(it, number)
            );
            let funnel = funnel.expect("there is such a requirement");
            let eligible = call!(
                self,
                agent_engine_resolver.resolution,
                call_eligible(it, number, 0, 5)
            );
            let eligible = eligible.into_iter().map(|eligible| {
                json!({
                    "id": eligible.id,
                    "lostOn": lost_on(eligible.lost_on),
                    "version": eligible.version,
                })
            });
            let limit = if outcome.selected.is_none() { 5 } else { 0 };
            let nearest = call!(
                self,
                agent_engine_resolver.resolution,
                call_nearest(it, number, limit)
            );
            let nearest = nearest.into_iter().map(|near| {
                let place = place_of(&near.id, &near.version);
                near_value(near, &place)
            });
            let asked = &asked[number as usize];
            assert_eq!(asked.category, outcome.category);
            assert_eq!(asked.permissions, outcome.permissions);
            assert_eq!(place(&asked.place), place(&outcome.place));
            requirements.push(json!({
                "category": outcome.category,
                "eligibleFirst": eligible.collect::<Vec<_>>(),
                "funnel": {
                    "all": funnel.all,
                    "category": funnel.category,
                    "residency": funnel.residency,
                    "scopes": funnel.scopes,
                    "sensitivity": funnel.sensitivity,
                    "signature": funnel.signature,
                },
                "nearest": nearest.collect::<Vec<_>>(),
                "permissions": outcome.permissions,
                "place": place(&outcome.place),
                "selected": outcome.selected.map(|selected| json!({
                    "endpoint": selected.endpoint,
                    "hash": selected.hash,
                    "id": selected.id,
                    "integrity": selected.integrity,
                    "place": place_of(&selected.id, &selected.version),
                    "version": selected.version,
                })),
            }));
        }
        json!({
            "agent": typed.resolution.agent,
            "constraints": typed.resolution.constraints,
            "requirements": requirements,
            "satisfied": typed.resolution.satisfied,
        })
    }

    /// What `discover-json` says, put together from the typed functions.
    pub fn typed_discover(&mut self, index: &[u8]) -> Value {
        let (index, _) = self.index(index).expect("the index is valid");
        let categories = call!(self, agent_engine_view, call_categories(index));
        let servers = call!(
            self,
            agent_engine_inputs.index,
            call_servers(index, 0, u32::MAX)
        );
        let without = servers.iter().filter(|server| server.categories.is_empty());
        let without: Vec<_> = without.map(server).collect();
        let categories = categories.iter().map(|category| {
            let servers: Vec<_> = category.servers.iter().map(server).collect();
            json!({ "name": category.name, "servers": servers })
        });
        json!({
            "categories": categories.collect::<Vec<_>>(),
            "servers": call!(self, agent_engine_inputs.index, call_len(index)),
            "withoutCategory": without,
        })
    }

    /// The selections of a lock.
    pub fn typed_lock(&mut self, lock: &[u8]) -> Vec<files::Locked> {
        let lock = self.lock(lock).expect("the lock is valid");
        let selections = call!(self, agent_engine_lockfile.lock, call_selections(lock));
        selections.into_iter().map(selection).collect()
    }

    /// Everything about each diagnostic of a manifest, in a line.
    pub fn manifest_diagnostics(&mut self, manifest: &[u8]) -> Vec<String> {
        let read = self.manifest(manifest);
        super::found(read).iter().map(line).collect()
    }

    /// Everything about each diagnostic of an index, in a line.
    pub fn index_diagnostics(&mut self, index: &[u8]) -> Vec<String> {
        let read = self.index(index);
        super::found(read).iter().map(line).collect()
    }

    /// The line, the column and the column in UTF-16 of an offset.
    pub fn position_at(&mut self, text: &str, offset: u32) -> (u32, u32, u32) {
        let at = call!(
            self,
            agent_engine_diagnostic,
            call_position_at(text, offset)
        );
        (at.line, at.column, at.utf16_column)
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

    /// What the interface `capability` says of tools: for each requirement what `match.json` says
    /// of it, save for servers without tools, and what `summary.json` says besides, save for words
    /// and places; and the selections. All inputs have to be valid.
    ///
    /// # Panics
    /// If they are not.
    pub fn typed_tools(&mut self, inputs: &Inputs) -> (Value, Vec<files::Locked>) {
        let read = self.read(inputs).expect("the inputs are valid");
        let matching = self.decide(read.manifest, read.index, read.circumstances);
        let it = matching.expect("nothing required is forbidden");
        let outcomes = call!(self, agent_engine_capability.matching, call_outcomes(it));
        let satisfied = call!(self, agent_engine_capability.matching, call_satisfied(it));
        let mut requirements = Vec::new();
        let mut selections = Vec::new();
        for (number, outcome) in (0..).zip(outcomes) {
            let asked = outcome.requirement;
            let eligible = call!(
                self,
                agent_engine_capability.matching,
                call_eligible(it, number, 0, u32::MAX)
            );
            let first = eligible.iter().take(5).map(|it| it.tool.tool.clone());
            let first: Vec<_> = first.collect();
            let mut eligible: Vec<_> = eligible
                .into_iter()
                .map(|it| files::EligibleTool {
                    id: it.tool.id,
                    lost_on: preference(it.lost_on),
                    tool: it.tool.tool,
                    version: it.tool.version,
                })
                .collect();
            eligible.sort_by_key(|it| (it.id.clone(), it.version.clone(), it.tool.clone()));
            let mut rejected = Vec::new();
            while {
                let page = call!(
                    self,
                    agent_engine_capability.matching,
                    call_rejections(it, number, rejected.len() as u32, PAGE)
                );
                let len = page.len();
                rejected.extend(page.into_iter().map(|it| files::RejectedTool {
                    id: it.tool.id,
                    reasons: it.reasons.into_iter().map(reason).collect(),
                    tool: Some(it.tool.tool),
                    version: it.tool.version,
                }));
                len > 0
            } {}
            let funnel = call!(
                self,
                agent_engine_capability.matching,
                call_funnel(it, number)
            );
            let funnel = funnel.expect("there is such a requirement");
            let limit = if outcome.selected.is_none() { 5 } else { 0 };
            let nearest = call!(
                self,
                agent_engine_capability.matching,
                call_nearest(it, number, limit)
            );
            let nearest = nearest.into_iter().map(|near| {
                let fixes = near.fixes.into_iter().map(|fix| {
                    let changes: Vec<_> = fix.changes.into_iter().map(change).collect();
                    json!({ "changes": changes, "widening": fix.widening })
                });
                json!({
                    "fixes": fixes.collect::<Vec<_>>(),
                    "id": near.tool.id,
                    "reasons": near.reasons.into_iter().map(reason).collect::<Vec<_>>(),
                    "tool": near.tool.tool,
                    "version": near.tool.version,
                })
            });
            let nearest: Vec<_> = nearest.collect();
            let selected = outcome.selected.map(selection).map(|locked| {
                let files::Locked::Capability(selection) = locked else {
                    panic!("a category of a capability");
                };
                selection
            });
            requirements.push(json!({
                "answer": files::ToolRequirement {
                    capability: files::Capability {
                        constraints: asked.constraints,
                        resource: asked.resource,
                        verb: verb(asked.verb),
                    },
                    eligible,
                    load: load(asked.load),
                    rejected,
                    selected: selected.as_ref().map(|it| files::SelectedTool {
                        definition: it.definition.clone(),
                        hash: it.hash.clone(),
                        id: it.id.clone(),
                        tool: it.tool.clone(),
                        version: it.version.clone(),
                    }),
                },
                "eligibleFirst": first,
                "funnel": {
                    "action": funnel.action,
                    "capability": funnel.capability,
                    "constraints": funnel.constraints,
                    "health": funnel.health,
                    "policy": funnel.policy,
                    "residency": funnel.residency,
                    "sensitivity": funnel.sensitivity,
                    "servers": funnel.servers,
                    "signature": funnel.signature,
                    "tools": funnel.tools,
                },
                "nearest": nearest,
                "needsApproval": outcome.needs_approval,
                "place": place(&asked.place),
            }));
            selections.extend(selected.map(files::Locked::Capability));
        }
        let behind = requirements.len() as u32;
        for number in [behind, u32::MAX] {
            let funnel = call!(
                self,
                agent_engine_capability.matching,
                call_funnel(it, number)
            );
            assert!(funnel.is_none());
            let near = call!(
                self,
                agent_engine_capability.matching,
                call_nearest(it, number, u32::MAX)
            );
            assert!(near.is_empty());
            let rejected = call!(
                self,
                agent_engine_capability.matching,
                call_rejections(it, number, 0, u32::MAX)
            );
            assert!(rejected.is_empty());
        }
        let all = json!({ "requirements": requirements, "satisfied": satisfied });
        (all, selections)
    }

    /// Everything about each diagnostic of a task, in a line.
    pub fn task_diagnostics(&mut self, task: &Given) -> Vec<String> {
        let read = self.task(task);
        super::found(read).iter().map(line).collect()
    }

    /// Everything about each diagnostic of the configuration of a tenant, in a line.
    pub fn tenant_diagnostics(&mut self, tenant: &Given) -> Vec<String> {
        let read = self.tenant(tenant, None);
        super::found(read).iter().map(line).collect()
    }

    /// Everything about each diagnostic of a snapshot of health, in a line.
    pub fn health_diagnostics(&mut self, health: &Given) -> Vec<String> {
        let read = self.health(health);
        super::found(read).iter().map(line).collect()
    }

    /// The catalogue: name, case in the contract, severity, title and help of each code.
    pub fn catalogue(&mut self) -> Vec<[String; 5]> {
        let entries = call!(self, agent_engine_catalogue, call_codes());
        let entries = entries.into_iter().map(|entry| {
            let severity = lower_case(&entry.severity);
            [
                entry.name,
                case(entry.code),
                severity,
                entry.title,
                entry.help,
            ]
        });
        entries.collect()
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

fn near_value(near: Near, place: &Value) -> Value {
    let fixes = near.fixes.into_iter().map(|fix| {
        let changes: Vec<_> = fix.changes.into_iter().map(change).collect();
        json!({ "changes": changes, "widening": fix.widening })
    });
    let fixes: Vec<_> = fixes.collect();
    let reasons: Vec<_> = near.reasons.into_iter().map(reason).collect();
    json!({
        "fixes": fixes,
        "id": near.id,
        "place": place,
        "reasons": reasons,
        "version": near.version,
    })
}

fn change(change: Change) -> Value {
    let (kind, value) = match change {
        Change::AddCategory(category) => ("addCategory", Some(category)),
        Change::AddScope(scope) => ("addScope", Some(scope)),
        Change::AddResidency(it) => ("addResidency", Some(residency(it))),
        Change::RaiseSensitivity(level) => ("raiseSensitivity", Some(sensitivity(level))),
        Change::Sign => ("sign", None),
        Change::DropResidency => ("dropResidency", None),
        Change::LowerSensitivity(level) => ("lowerSensitivity", Some(sensitivity(level))),
        Change::AllowUnsigned => ("allowUnsigned", None),
        Change::Advertise(capability) => ("advertise", Some(capability)),
        Change::AddConstraint(tag) => ("addConstraint", Some(tag)),
        Change::Recover => ("recover", None),
        Change::DropConstraint(tag) => ("dropConstraint", Some(tag)),
        Change::AllowAction(label) => ("allowAction", Some(label)),
    };
    json!({ "kind": kind, "value": value })
}

fn server(server: &Server) -> Value {
    let residencies: Vec<_> = server.residency.iter().map(|it| residency(*it)).collect();
    json!({
        "categories": server.categories,
        "endpoint": server.endpoint,
        "id": server.id,
        "maxSensitivity": sensitivity(server.max_sensitivity),
        "place": place(&server.place),
        "publisher": server.publisher,
        "residency": residencies,
        "scopes": server.scopes,
        "signed": server.signed,
        "version": server.version,
    })
}

pub(super) fn place(place: &Place) -> Value {
    json!({
        "column": place.start.column,
        "endColumn": place.end.column,
        "endLine": place.end.line,
        "endOffset": place.span.end,
        "line": place.start.line,
        "offset": place.span.start,
        "source": lower_case(&place.span.source),
    })
}

/// Everything about a diagnostic; `agent_tests::native` has the same for the engine.
fn line(diagnostic: &Diagnostic) -> String {
    let mut line = format!(
        "{} {} {:?} {:?}",
        lower_case(&diagnostic.severity),
        case(diagnostic.code),
        diagnostic.message,
        diagnostic.help
    );
    for label in &diagnostic.labels {
        let Place { span, start, end } = &label.place;
        let _ = write!(
            line,
            " {} {}-{} {}:{}:{}-{}:{}:{} {:?}",
            lower_case(&span.source),
            span.start,
            span.end,
            start.line,
            start.column,
            start.utf16_column,
            end.line,
            end.column,
            end.utf16_column,
            label.text
        );
    }
    line
}

/// A case of an enumeration: `Severity::Error` as `error`.
fn lower_case(case: &impl std::fmt::Debug) -> String {
    let case = format!("{case:?}");
    case.rsplit("::").next().unwrap_or_default().to_lowercase()
}

fn selection(selection: Selection) -> files::Locked {
    match selection.grant {
        Grant::Category(category) => files::Locked::Category(files::Selection {
            category,
            endpoint: selection.endpoint,
            hash: selection.hash,
            id: selection.id,
            integrity: selection.integrity,
            scopes: selection.scopes,
            version: selection.version,
        }),
        Grant::Capability(grant) => {
            let (verb, resource) = grant.pair.split_once(':').expect("a pair");
            files::Locked::Capability(files::ToolSelection {
                capability: files::Capability {
                    constraints: grant.constraints,
                    resource: resource.to_owned(),
                    verb: verb.to_owned(),
                },
                definition: grant.definition,
                endpoint: selection.endpoint,
                hash: selection.hash,
                id: selection.id,
                integrity: selection.integrity,
                load: load(grant.load),
                scopes: selection.scopes,
                tool: grant.tool,
                version: selection.version,
            })
        }
    }
}

fn load(load: Load) -> files::Load {
    match load {
        Load::Essential => files::Load::Essential,
        Load::OnDemand => files::Load::OnDemand,
    }
}

fn status(status: HealthStatus) -> String {
    match status {
        HealthStatus::Healthy => "HEALTHY",
        HealthStatus::Probation => "PROBATION",
        HealthStatus::Quarantine => "QUARANTINE",
        HealthStatus::Starting => "STARTING",
        HealthStatus::Unhealthy => "UNHEALTHY",
    }
    .to_owned()
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
        Rejection::MissingCapability(offered) => files::Reason::MissingCapability { offered },
        Rejection::ConstraintUnmet(missing) => files::Reason::ConstraintUnmet { missing },
        Rejection::ForbiddenAction(label) => files::Reason::ForbiddenAction { label },
        Rejection::PolicyDenied(reason) => files::Reason::PolicyDenied { reason },
        Rejection::PolicyError(failure) => files::Reason::PolicyError {
            reason: match failure {
                PolicyFailure::Budget => "budget",
                PolicyFailure::Runtime => "runtime",
                PolicyFailure::Type => "type",
                PolicyFailure::Undefined => "undefined",
            }
            .to_owned(),
        },
        Rejection::HealthVeto(it) => files::Reason::HealthVeto {
            status: it.map(status),
        },
    }
}

fn preference(preference: Preference) -> files::Preference {
    match preference {
        Preference::Priority => files::Preference::Priority,
        Preference::Id => files::Preference::Id,
        Preference::Version => files::Preference::Version,
        Preference::Tool => files::Preference::Tool,
    }
}

fn verb(verb: Verb) -> String {
    match verb {
        Verb::Execute => "execute",
        Verb::Notify => "notify",
        Verb::Read => "read",
        Verb::Reason => "reason",
        Verb::Search => "search",
        Verb::Write => "write",
    }
    .to_owned()
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
