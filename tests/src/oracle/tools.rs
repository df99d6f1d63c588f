//! The selection of tools for capabilities: specification 4, section 5, with the project's
//! clarifications.

use super::{constraint_reasons, constraints, hash_without_scopes, sorted};
use crate::digest::integrity;
use crate::files::{
    Capability, EligibleTool, Load, Match, Preference, Reason, RejectedTool, SelectedTool,
    SelectedTools, Task, ToolRequirement, ToolSelection,
};
use crate::policy::{Rule, Said};
use crate::text::Tree;
use crate::world::{CapabilityRequirement, Server, Tool, World};
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// A tool and its server.
type Candidate<'w> = (&'w Server, &'w Tool);

/// Returns the output of `agent match --format json`; the requirements as in
/// `agents.resolution.json`.
pub fn matched(world: &World, policy: Option<Rule>) -> Match {
    let asked = world.all_capabilities();
    let requirements: Vec<_> = asked
        .map(|asked| requirement(world, policy, asked))
        .collect();
    Match {
        constraints: constraints(world),
        satisfied: requirements.iter().all(|it| !it.selected.all().is_empty()),
        requirements,
        task: world.task.as_ref().map(|task| Task {
            id: task.id.clone(),
        }),
    }
}

/// Returns every tool of every server in the order of id, version, tool.
fn candidates(world: &World) -> Vec<Candidate<'_>> {
    let mut all: Vec<_> = world
        .servers
        .iter()
        .flat_map(|server| {
            server
                .tools
                .iter()
                .flatten()
                .map(move |tool| (server, tool))
        })
        .collect();
    all.sort_by_key(|(server, tool)| (&server.id, &server.version, &tool.name));
    all
}

/// Returns the `verb:resource` pairs that a tool advertises.
fn pairs(tool: &Tool) -> BTreeSet<String> {
    let blocks = tool.blocks.iter().flatten();
    blocks
        .map(|block| format!("{}:{}", block.verb, block.resource))
        .collect()
}

/// 5, 1 and 2, then data and trust, then forbidden names.
fn fixed(
    world: &World,
    asked: &CapabilityRequirement,
    (server, tool): Candidate<'_>,
) -> Vec<Reason> {
    let mut reasons = Vec::new();
    // The missing constraints of each block with the right verb and resource.
    let mut lacking = Vec::new();
    for block in tool.blocks.iter().flatten() {
        if block.verb == asked.verb && block.resource == asked.resource {
            let mut missing = sorted(asked.constraints.as_deref().unwrap_or_default());
            missing.retain(|tag| !block.constraints.iter().flatten().any(|own| own == tag));
            lacking.push((missing.len(), missing));
        }
    }
    match lacking.into_iter().min() {
        None => reasons.push(Reason::MissingCapability {
            offered: pairs(tool).into_iter().collect(),
        }),
        Some((0, _)) => {}
        Some((_, missing)) => reasons.push(Reason::ConstraintUnmet { missing }),
    }
    reasons.extend(constraint_reasons(world, server));
    if world.constraints.forbid.contains(&tool.name) {
        reasons.push(Reason::ForbiddenAction {
            label: tool.name.clone(),
        });
    }
    // Nothing else of a world's tools hides a character from people.
    let hides = tool.description.is_some_and(|it| it.contains('\u{200b}'));
    if reasons.is_empty() && hides {
        reasons.push(Reason::InvisibleCharacter {
            pointer: "/description".to_owned(),
        });
    }
    reasons
}

fn id((server, tool): Candidate<'_>) -> String {
    format!("{}@{}/{}", server.id, server.version, tool.name)
}

/// The input of a policy.
fn question(world: &World, asked: &CapabilityRequirement, candidates: &[Candidate<'_>]) -> Value {
    let candidates = candidates.iter().map(|(server, tool)| {
        let mut capabilities: Vec<_> = tool
            .blocks
            .iter()
            .flatten()
            .map(|block| {
                let tags = sorted(block.constraints.as_deref().unwrap_or_default());
                (block.verb, block.resource, tags)
            })
            .collect();
        capabilities
            .sort_by_key(|(verb, resource, tags)| (format!("{verb}:{resource}"), tags.clone()));
        let capabilities = capabilities.into_iter().map(|(verb, resource, constraints)| {
            json!({ "constraints": constraints, "resource": resource, "verb": verb })
        });
        json!({
            "capabilities": capabilities.collect::<Vec<_>>(),
            "class": server.class,
            "description": tool.description,
            "id": id((server, tool)),
            "maxSensitivity": server.max_sensitivity,
            "publisher": server.publisher,
            "residency": sorted(&server.residency),
            "server": server.id,
            "signed": server.signed,
            "tool": tool.name,
            "version": server.version,
        })
    });
    let tenant = world.tenants.first();
    json!({
        "arguments": null,
        "candidate_tools": candidates.collect::<Vec<_>>(),
        "context": world.context.as_ref().map(Tree::value),
        "phase": "resolve",
        "requirement": {
            "constraints": sorted(asked.constraints.as_deref().unwrap_or_default()),
            "load": asked.load.unwrap_or("essential"),
            "resource": asked.resource,
            "verb": asked.verb,
        },
        "task": world.task.as_ref().map(|task| json!({ "id": task.id })),
        "tenant_policy": tenant.map(|tenant| tenant.tree().value()),
        "subject": null,
        "user_tier": tenant.and_then(|tenant| tenant.tier),
    })
}

/// Returns the inputs of a policy, in the order of the requirements.
pub fn questions(world: &World) -> Vec<Value> {
    let mut questions = Vec::new();
    for asked in world.all_capabilities() {
        let open = candidates(world);
        let open: Vec<_> = open
            .into_iter()
            .filter(|it| fixed(world, asked, *it).is_empty())
            .collect();
        if !open.is_empty() {
            questions.push(question(world, asked, &open));
        }
    }
    questions
}

/// Returns every reason against every tool, in the order of id, version, tool.
pub fn tool_reasons<'w>(
    world: &'w World,
    policy: Option<Rule>,
    asked: &CapabilityRequirement,
) -> Vec<(Candidate<'w>, Vec<Reason>)> {
    let mut all: Vec<_> = candidates(world)
        .into_iter()
        .map(|candidate| (candidate, fixed(world, asked, candidate)))
        .collect();
    let open: Vec<_> = all
        .iter()
        .filter(|(_, reasons)| reasons.is_empty())
        .map(|(candidate, _)| *candidate)
        .collect();
    let said: Option<Said> = match policy {
        Some(rule) => Some(rule.says(&question(world, asked, &open))),
        // A tenant's policy that the host did not supply returns no decision.
        None => world
            .tenants
            .first()
            .and_then(|it| it.policy)
            .map(|_| Err("undefined")),
    };
    for (candidate, reasons) in &mut all {
        if !reasons.is_empty() {
            continue;
        }
        match &said {
            Some(Err(why)) => reasons.push(Reason::PolicyError {
                reason: (*why).to_owned(),
            }),
            Some(Ok((allowed, words))) if !allowed.contains(&id(*candidate)) => {
                reasons.push(Reason::PolicyDenied {
                    reason: words.get(&id(*candidate)).cloned(),
                });
            }
            _ => reasons.extend(veto(world, candidate.0)),
        }
    }
    all
}

/// 7.3
fn veto(world: &World, server: &Server) -> Option<Reason> {
    let snapshot = world.health.as_ref()?;
    let status = snapshot
        .iter()
        .find(|(id, _)| *id == server.id)
        .map(|(_, status)| *status);
    let well = status == Some("HEALTHY") || status == Some("PROBATION");
    (!well).then(|| Reason::HealthVeto {
        status: status.map(str::to_owned),
    })
}

/// Returns the priority of a server.
fn priority(world: &World, server: &Server) -> i64 {
    let Some(tenant) = world.tenants.first() else {
        return 0;
    };
    let own = tenant.servers.iter().find(|(id, _)| *id == server.id);
    let of_class = tenant
        .classes
        .iter()
        .find(|(class, _)| Some(*class) == server.class);
    own.or(of_class).map_or(0, |(_, priority)| *priority)
}

/// 5, 4: returns the eligible tools, best first.
pub fn ranked<'w>(
    world: &'w World,
    policy: Option<Rule>,
    asked: &CapabilityRequirement,
) -> Vec<Candidate<'w>> {
    let mut eligible: Vec<_> = tool_reasons(world, policy, asked)
        .into_iter()
        .filter(|(_, reasons)| reasons.is_empty())
        .map(|(candidate, _)| candidate)
        .collect();
    // Stable sorting keeps the order of id, version, tool.
    eligible.sort_by_key(|(server, _)| Reverse(priority(world, server)));
    eligible
}

/// Returns the digest of the tool's definition.
fn definition(tool: &Tool) -> String {
    let shown = ["description", "inputSchema", "outputSchema", "annotations"];
    let Tree::Map(mut members) = tool.entry() else {
        unreachable!("an entry is a mapping");
    };
    members.retain(|(key, _)| shown.contains(&&**key));
    members.push(("name".to_owned(), Tree::text(&tool.name)));
    integrity(&Tree::Map(members))
}

fn capability(asked: &CapabilityRequirement) -> Capability {
    Capability {
        constraints: sorted(asked.constraints.as_deref().unwrap_or_default()),
        resource: asked.resource.to_owned(),
        verb: asked.verb.to_owned(),
    }
}

fn load(asked: &CapabilityRequirement) -> Load {
    match asked.load {
        None | Some("essential") => Load::Essential,
        _ => Load::OnDemand,
    }
}

/// Returns the outcome of a requirement: every tool of every server is in exactly one place.
fn requirement(
    world: &World,
    policy: Option<Rule>,
    asked: &CapabilityRequirement,
) -> ToolRequirement {
    let ranked = ranked(world, policy, asked);
    let selected = ranked.first();
    let chosen = chosen(&ranked, asked);
    let mut eligible: Vec<_> = ranked
        .iter()
        .filter(|candidate| !chosen.contains(candidate))
        .map(|(server, tool)| {
            let best = selected.expect("there is a first");
            let lost_on = if priority(world, best.0) != priority(world, server) {
                Preference::Priority
            } else if best.0.id != server.id {
                Preference::Id
            } else if best.0.version != server.version {
                Preference::Version
            } else {
                Preference::Tool
            };
            EligibleTool {
                id: server.id.clone(),
                lost_on,
                tool: tool.name.clone(),
                version: server.version.clone(),
            }
        })
        .collect();
    eligible.sort_by_key(|it| (it.id.clone(), it.version.clone(), it.tool.clone()));
    let of_tools = tool_reasons(world, policy, asked)
        .into_iter()
        .filter(|(_, reasons)| !reasons.is_empty())
        .map(|((server, tool), reasons)| RejectedTool {
            id: server.id.clone(),
            reasons,
            tool: Some(tool.name.clone()),
            version: server.version.clone(),
        });
    let without = world
        .servers
        .iter()
        .filter(|server| server.tools.iter().flatten().next().is_none());
    let without = without.map(|server| RejectedTool {
        id: server.id.clone(),
        reasons: vec![Reason::MissingCapability {
            offered: Vec::new(),
        }],
        tool: None,
        version: server.version.clone(),
    });
    let mut rejected: Vec<_> = of_tools.chain(without).collect();
    rejected.sort_by_key(|it| (it.id.clone(), it.version.clone(), it.tool.clone()));
    let mut selected = chosen.into_iter().map(|(server, tool)| SelectedTool {
        definition: definition(tool),
        hash: hash_without_scopes(server),
        id: server.id.clone(),
        tool: tool.name.clone(),
        version: server.version.clone(),
    });
    let all = asked.tools == Some("all");
    ToolRequirement {
        capability: capability(asked),
        eligible,
        fallback: asked.fallback.filter(|it| *it),
        load: load(asked),
        rejected,
        selected: match all {
            true => SelectedTools::All(selected.collect()),
            false => SelectedTools::One(selected.next()),
        },
        tools: all.then(|| "all".to_owned()),
    }
}

/// Returns the selected tools: the first in rank, or all of its server, by name.
fn chosen<'w>(ranked: &[Candidate<'w>], asked: &CapabilityRequirement) -> Vec<Candidate<'w>> {
    let Some(first) = ranked.first() else {
        return Vec::new();
    };
    if asked.tools != Some("all") {
        return vec![*first];
    }
    let same = |it: &&Candidate<'_>| (&it.0.id, &it.0.version) == (&first.0.id, &first.0.version);
    let mut tools: Vec<_> = ranked.iter().filter(same).copied().collect();
    tools.sort_by_key(|(_, tool)| tool.name.clone());
    tools
}

/// SEMANTICS \[4\]: the next-ranked tool of another server, if the requirement asks for it.
fn fallback<'w>(ranked: &[Candidate<'w>], asked: &CapabilityRequirement) -> Option<Candidate<'w>> {
    let (first, _) = ranked.first()?;
    let mut others = ranked.iter().filter(|(server, _)| server.id != first.id);
    others
        .next()
        .copied()
        .filter(|_| asked.fallback == Some(true))
}

/// Returns the capabilities of `agents.lock`, or `None` if one has no tool.
pub(super) fn selections(world: &World, policy: Option<Rule>) -> Option<Vec<ToolSelection>> {
    let selections = world.all_capabilities().map(|asked| {
        let ranked = ranked(world, policy, asked);
        let tools = chosen(&ranked, asked).into_iter().map(|it| (it, None));
        let tools = tools.chain(fallback(&ranked, asked).map(|it| (it, Some(1))));
        let selections = tools.map(|((server, tool), fallback)| ToolSelection {
            capability: capability(asked),
            definition: definition(tool),
            endpoint: server.endpoint.clone(),
            fallback,
            hash: hash_without_scopes(server),
            id: server.id.clone(),
            integrity: integrity(&server.entry()),
            load: load(asked),
            patterns: None,
            scopes: Vec::new(),
            tool: tool.name.clone(),
            version: server.version.clone(),
        });
        let selections: Vec<_> = selections.collect();
        (!selections.is_empty()).then_some(selections)
    });
    let selections: Vec<_> = selections.collect::<Option<_>>()?;
    // A fallback goes where its first goes.
    let mut groups: Vec<Vec<ToolSelection>> = Vec::new();
    for one in selections.concat() {
        match groups.last_mut() {
            Some(group) if one.fallback.is_some() => group.push(one),
            _ => groups.push(vec![one]),
        }
    }
    let key = |one: &ToolSelection| {
        let Capability {
            constraints,
            resource,
            verb,
        } = one.capability.clone();
        let server = (one.id.clone(), one.version.clone());
        (
            verb,
            resource,
            constraints,
            server,
            one.tool.clone(),
            one.load,
        )
    };
    groups.sort_by_key(|group| group.iter().map(key).collect::<Vec<_>>());
    Some(groups.concat())
}
