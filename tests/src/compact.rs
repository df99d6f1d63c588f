//! A reader of compact explanations, which restores the full form.
//!
//! The engine only writes the compact form. It is complete if this reader restores
//! `agents.resolution.json` from it.

use crate::files::{
    Agent, Answer, Capability, Constraints, Eligible, EligibleTool, File as _, Load, LostOn,
    Preference, Reason, Rejected, RejectedTool, Requirement, Resolution, Selected, SelectedTool,
    SelectedTools, ToolRequirement,
};
use serde::Deserialize;

macro_rules! columns {
    ($($name:ident { $($field:ident: $type:ty,)* })*) => {$(
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields, rename_all = "camelCase")]
        struct $name { $($field: $type,)* }
    )*};
}

columns! {
    Compact {
        agent: Agent,
        capabilities: Option<Capabilities>,
        categories: Vec<String>,
        compact_version: u32,
        constraints: Constraints,
        failures: Vec<Vec<Reason>>,
        only: Option<Vec<String>>,
        requirements: Vec<Required>,
        satisfied: bool,
        scopes: Vec<String>,
        servers: Servers,
    }
    Required {
        category: String,
        load: Option<Load>,
        only: Option<Vec<String>>,
        permissions: Vec<String>,
        selected: Option<SelectedServer>,
        serve: Option<Vec<String>>,
    }
    SelectedServer {
        hash: String,
        server: usize,
    }
    Servers {
        categories: Vec<Vec<usize>>,
        failures: Vec<usize>,
        id: Vec<String>,
        only: Option<Vec<Vec<usize>>>,
        scopes: Vec<Vec<usize>>,
        signed: Vec<bool>,
        version: Vec<String>,
    }
    Capabilities {
        advertised: Vec<Vec<(usize, Vec<usize>)>>,
        denials: Vec<Reason>,
        pairs: Vec<String>,
        priorities: Vec<i64>,
        requirements: Vec<RequiredCapability>,
        tags: Vec<String>,
        tools: Tools,
    }
    RequiredCapability {
        capability: Capability,
        denied: Vec<(usize, usize)>,
        fallback: Option<bool>,
        load: Load,
        selected: SelectedNumbers,
        tools: Option<String>,
    }
    SelectedNumber {
        definition: String,
        hash: String,
        tool: usize,
    }
    Tools {
        advertised: Vec<usize>,
        name: Vec<String>,
        server: Vec<usize>,
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum SelectedNumbers {
    All(Vec<SelectedNumber>),
    One(Option<SelectedNumber>),
}

/// Returns the text of the full form.
///
/// # Panics
/// If the text is not a compact explanation, or selects a server that its columns reject.
#[must_use]
pub fn expand(compact: &str) -> String {
    let compact: Compact = serde_json::from_str(compact).expect("a compact explanation");
    let version = match (&compact.only, &compact.capabilities) {
        (Some(_), _) => 3,
        (None, Some(_)) => 2,
        (None, None) => 1,
    };
    assert_eq!(compact.only.is_some(), compact.servers.only.is_some());
    assert_eq!(compact.compact_version, version);
    let categories = compact.requirements.iter().map(|it| compact.category(it));
    let capabilities = compact.capabilities.iter().flat_map(|all| {
        let required = all.requirements.iter();
        required.map(|it| Answer::Capability(all.requirement(it, &compact)))
    });
    let full = Resolution {
        requirements: categories
            .map(Answer::Category)
            .chain(capabilities)
            .collect(),
        agent: compact.agent.clone(),
        constraints: compact.constraints.clone(),
        satisfied: compact.satisfied,
    };
    full.write()
}

impl Compact {
    fn category(&self, required: &Required) -> Requirement {
        let servers = &self.servers;
        let name = |server: usize| (servers.id[server].clone(), servers.version[server].clone());
        let selected = required.selected.as_ref();
        let (mut eligible, mut rejected) = (Vec::new(), Vec::new());
        for server in 0..servers.id.len() {
            let (id, version) = name(server);
            let reasons = self.reasons(required, server);
            if !reasons.is_empty() {
                rejected.push(Rejected {
                    id,
                    reasons,
                    version,
                });
                continue;
            }
            let selected = selected
                .expect("an eligible server, so one is selected")
                .server;
            if server != selected {
                let lost_on = if servers.signed[selected] && !servers.signed[server] {
                    LostOn::Signed
                } else if servers.id[server] != servers.id[selected] {
                    LostOn::Id
                } else {
                    LostOn::Version
                };
                eligible.push(Eligible {
                    id,
                    lost_on,
                    version,
                });
            }
        }
        Requirement {
            category: required.category.clone(),
            eligible,
            load: required.load,
            only: required.only.clone(),
            permissions: required.permissions.clone(),
            rejected,
            selected: selected.map(|SelectedServer { hash, server }| {
                assert!(self.reasons(required, *server).is_empty(), "not eligible");
                let (id, version) = name(*server);
                Selected {
                    hash: hash.clone(),
                    id,
                    version,
                }
            }),
            serve: required.serve.clone(),
        }
    }

    /// Returns the reasons against a server, in the order of the checks.
    fn reasons(&self, required: &Required, server: usize) -> Vec<Reason> {
        let offered = named(&self.servers.categories[server], &self.categories);
        let supported = named(&self.servers.scopes[server], &self.scopes);
        let missing = without(&required.permissions, &supported);
        let mut reasons = Vec::new();
        if !offered.contains(&required.category) {
            reasons.push(Reason::MissingCategory { offered });
        }
        if let (Some(only), Some(names), Some(own)) =
            (&required.only, &self.only, &self.servers.only)
        {
            let missing = without(only, &named(&own[server], names));
            if !missing.is_empty() {
                reasons.push(Reason::ToolMissing { missing });
            }
        }
        if !missing.is_empty() {
            reasons.push(Reason::MissingScope { missing });
        }
        reasons.extend_from_slice(&self.failures[self.servers.failures[server]]);
        reasons
    }
}

impl Capabilities {
    fn requirement(&self, required: &RequiredCapability, compact: &Compact) -> ToolRequirement {
        let (tools, servers) = (&self.tools, &compact.servers);
        let selected = match &required.selected {
            SelectedNumbers::All(tools) => &tools[..],
            SelectedNumbers::One(tool) => tool.as_slice(),
        };
        let (mut eligible, mut rejected) = (Vec::new(), Vec::new());
        let mut reject = |server: usize, tool, reasons| {
            rejected.push(RejectedTool {
                id: servers.id[server].clone(),
                reasons,
                tool,
                version: servers.version[server].clone(),
            });
        };
        for server in 0..servers.id.len() {
            let own: Vec<_> = (0..tools.name.len())
                .filter(|tool| tools.server[*tool] == server)
                .collect();
            if own.is_empty() {
                let offered = Vec::new();
                reject(server, None, vec![Reason::MissingCapability { offered }]);
            }
            for tool in own {
                let reasons = self.reasons(required, tool, compact);
                if !reasons.is_empty() {
                    reject(server, Some(tools.name[tool].clone()), reasons);
                    continue;
                }
                // They are of one server, so the first by name is the first in rank.
                let best = selected
                    .first()
                    .expect("an eligible tool, so one is selected");
                if selected.iter().all(|it| it.tool != tool) {
                    eligible.push(EligibleTool {
                        id: servers.id[server].clone(),
                        lost_on: self.lost_on(best.tool, tool, servers),
                        tool: tools.name[tool].clone(),
                        version: servers.version[server].clone(),
                    });
                }
            }
        }
        ToolRequirement {
            capability: required.capability.clone(),
            eligible,
            fallback: required.fallback,
            load: required.load,
            rejected,
            selected: {
                let mut selected = selected.iter().map(|it| {
                    let reasons = self.reasons(required, it.tool, compact);
                    assert!(reasons.is_empty(), "not eligible: {reasons:?}");
                    SelectedTool {
                        definition: it.definition.clone(),
                        hash: it.hash.clone(),
                        id: servers.id[tools.server[it.tool]].clone(),
                        tool: tools.name[it.tool].clone(),
                        version: servers.version[tools.server[it.tool]].clone(),
                    }
                });
                match &required.selected {
                    SelectedNumbers::All(_) => SelectedTools::All(selected.collect()),
                    SelectedNumbers::One(_) => SelectedTools::One(selected.next()),
                }
            },
            tools: required.tools.clone(),
        }
    }

    /// Returns the reasons against a tool, in the order of the checks.
    fn reasons(
        &self,
        required: &RequiredCapability,
        tool: usize,
        compact: &Compact,
    ) -> Vec<Reason> {
        let Capability {
            constraints,
            resource,
            verb,
        } = &required.capability;
        let pair = format!("{verb}:{resource}");
        let blocks = &self.advertised[self.tools.advertised[tool]];
        let lacking = blocks
            .iter()
            .filter(|(number, _)| self.pairs[*number] == pair)
            .map(|(_, tags)| without(constraints, &named(tags, &self.tags)))
            .min_by_key(|missing| (missing.len(), missing.clone()));
        let mut reasons = Vec::new();
        match lacking {
            None => {
                let mut offered: Vec<_> = blocks.iter().map(|(number, _)| *number).collect();
                offered.dedup();
                let offered = named(&offered, &self.pairs);
                reasons.push(Reason::MissingCapability { offered });
            }
            Some(missing) if missing.is_empty() => {}
            Some(missing) => reasons.push(Reason::ConstraintUnmet { missing }),
        }
        let server = self.tools.server[tool];
        reasons.extend_from_slice(&compact.failures[compact.servers.failures[server]]);
        let forbid = &compact.constraints.forbid;
        let labels = [&self.tools.name[tool], verb, &pair];
        if let Some(label) = labels.into_iter().find(|label| forbid.contains(label)) {
            let label = label.clone();
            reasons.push(Reason::ForbiddenAction { label });
        }
        // Policy and health apply only to candidates without these reasons.
        if reasons.is_empty() {
            let denied = required.denied.iter().filter(|(denied, _)| *denied == tool);
            reasons.extend(denied.map(|(_, denial)| self.denials[*denial].clone()));
        }
        reasons
    }

    /// Returns the rule on which an eligible tool lost.
    fn lost_on(&self, selected: usize, tool: usize, servers: &Servers) -> Preference {
        let [a, b] = [selected, tool].map(|tool| self.tools.server[tool]);
        if self.priorities[a] > self.priorities[b] {
            Preference::Priority
        } else if servers.id[a] != servers.id[b] {
            Preference::Id
        } else if a != b {
            Preference::Version
        } else {
            Preference::Tool
        }
    }
}

/// Returns the names that numbers refer to.
fn named(numbers: &[usize], names: &[String]) -> Vec<String> {
    numbers
        .iter()
        .map(|number| names[*number].clone())
        .collect()
}

/// Returns the required names that are not among the offered.
fn without(required: &[String], offered: &[String]) -> Vec<String> {
    let missing = required.iter().filter(|name| !offered.contains(name));
    missing.cloned().collect()
}
