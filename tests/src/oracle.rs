//! The rules of the resolver, written a second time: naively, for comparison with specification 0,
//! sections 2 and 3, and specification 4. It shares no code with the engine.

use crate::digest::{integrity, sha256};
mod tools;

pub use tools::{matched, questions, ranked, tool_reasons};

use crate::files::{
    Answer, Constraints, Eligible, Load, Lock, Locked, LostOn, Reason, Rejected, Requirement,
    Resolution, Selected, Selection,
};
use crate::policy::{DIGEST, Rule};
use crate::world::{self, SENSITIVITIES, Server, World};
use std::collections::BTreeSet;

/// 2.2: returns every reason against a server.
pub fn reasons(world: &World, requirement: &world::Requirement, server: &Server) -> Vec<Reason> {
    let mut reasons = Vec::new();
    if !server.categories.contains(&requirement.category) {
        reasons.push(Reason::MissingCategory {
            offered: sorted(&server.categories),
        });
    }
    // SEMANTICS [4]: the tools named by `only`.
    let tools = server.tools.iter().flatten();
    let names: BTreeSet<&str> = tools.map(|tool| tool.name.as_str()).collect();
    let mut missing = only(requirement).unwrap_or_default();
    missing.retain(|tool| !names.contains(&**tool));
    if !missing.is_empty() {
        reasons.push(Reason::ToolMissing { missing });
    }
    let mut missing = sorted(&requirement.permissions);
    missing.retain(|scope| !server.scopes.contains(scope));
    if !missing.is_empty() {
        reasons.push(Reason::MissingScope { missing });
    }
    reasons.extend(constraint_reasons(world, server));
    reasons
}

/// 2.2: returns the reasons of the manifest's constraints against a server.
fn constraint_reasons(world: &World, server: &Server) -> Vec<Reason> {
    let constraints = &world.constraints;
    let mut reasons = Vec::new();
    let offers = |residency| server.residency.contains(&residency);
    if let Some(required) = constraints.residency
        && !(required == "any" || offers(required) || offers("any"))
    {
        let (offered, required) = (sorted(&server.residency), required.to_owned());
        reasons.push(Reason::ResidencyMismatch { offered, required });
    }
    let level = |name: &str| SENSITIVITIES.iter().position(|level| *level == name);
    if let Some(required) = constraints.sensitivity
        && level(required) > level(server.max_sensitivity)
    {
        let (offered, required) = (server.max_sensitivity.to_owned(), required.to_owned());
        reasons.push(Reason::SensitivityExceeded { offered, required });
    }
    if constraints.require_signed == Some(true) && !server.signed {
        reasons.push(Reason::UnsignedNotAllowed {
            publisher: server.publisher.clone(),
        });
    }
    reasons
}

/// 2.3: signed before unsigned, then the smallest id, then the smallest version.
fn select<'w>(world: &'w World, requirement: &world::Requirement) -> Option<&'w Server> {
    let eligible = world.servers.iter();
    let eligible = eligible.filter(|server| reasons(world, requirement, server).is_empty());
    eligible.min_by_key(|server| (!server.signed, &server.id, &server.version))
}

/// `load`, which is written only if it is not the default.
fn on_demand(requirement: &world::Requirement) -> Option<Load> {
    (requirement.load == Some("on_demand")).then_some(Load::OnDemand)
}

/// `only`, which is written only if it is there.
fn only(requirement: &world::Requirement) -> Option<Vec<String>> {
    requirement.only.as_deref().map(sorted)
}

/// `serve`, likewise.
fn serve(requirement: &world::Requirement) -> Option<Vec<String>> {
    requirement.serve.as_deref().map(sorted)
}

/// Like [`hash`], for a capability.
fn hash_without_scopes(server: &Server) -> String {
    let (id, version, endpoint) = (&server.id, &server.version, &server.endpoint);
    sha256(&format!("{id}@{version}|{endpoint}|"))
}

/// 3.1: `sha256(id + "@" + version + "|" + endpoint + "|" + sorted_scopes.join(","))`
fn hash(server: &Server, requirement: &world::Requirement) -> String {
    let (id, version, endpoint) = (&server.id, &server.version, &server.endpoint);
    let scopes = sorted(&requirement.permissions).join(",");
    sha256(&format!("{id}@{version}|{endpoint}|{scopes}"))
}

/// `agents.lock`, if every requirement has a server or a tool.
pub fn lock(world: &World, policy: Option<Rule>) -> Option<Lock> {
    let selection = |requirement: &world::Requirement| {
        let server = select(world, requirement)?;
        Some(Selection {
            category: requirement.category.clone(),
            endpoint: server.endpoint.clone(),
            hash: hash(server, requirement),
            id: server.id.clone(),
            integrity: integrity(&server.entry()),
            load: on_demand(requirement),
            only: only(requirement),
            patterns: None,
            scopes: sorted(&requirement.permissions),
            serve: serve(requirement),
            version: server.version.clone(),
        })
    };
    let selections = world.requirements.iter().map(selection);
    let mut selections: Vec<_> = selections.collect::<Option<_>>()?;
    selections.sort_by_key(|one| {
        let server = (one.id.clone(), one.version.clone());
        let rest = (one.load, one.only.clone(), one.serve.clone());
        (one.category.clone(), one.scopes.clone(), server, rest)
    });
    let selections = selections.into_iter().map(Locked::Category);
    let tools = tools::selections(world, policy)?.into_iter();
    Some(Lock {
        agent: world.agent.clone(),
        forbid: sorted(&world.constraints.forbid),
        lock_version: 1,
        policy: policy
            .filter(|_| world.all_capabilities().next().is_some())
            .map(|_| DIGEST.to_owned()),
        selections: selections.chain(tools.map(Locked::Capability)).collect(),
    })
}

/// `agents.resolution.json`.
pub fn resolution(world: &World, policy: Option<Rule>) -> Resolution {
    let categories: Vec<_> = world
        .requirements
        .iter()
        .map(|asked| requirement(world, asked))
        .collect();
    let tools = matched(world, policy);
    Resolution {
        agent: world.agent.clone(),
        constraints: tools.constraints,
        satisfied: tools.satisfied && categories.iter().all(|it| it.selected.is_some()),
        requirements: categories
            .into_iter()
            .map(Answer::Category)
            .chain(tools.requirements.into_iter().map(Answer::Capability))
            .collect(),
    }
}

fn constraints(world: &World) -> Constraints {
    Constraints {
        forbid: sorted(&world.constraints.forbid),
        require_signed: world.constraints.require_signed == Some(true),
        residency: world.constraints.residency.map(str::to_owned),
        sensitivity: world.constraints.sensitivity.map(str::to_owned),
    }
}

/// Every server is selected, eligible or rejected.
fn requirement(world: &World, requirement: &world::Requirement) -> Requirement {
    let selected = select(world, requirement);
    let mut servers: Vec<_> = world.servers.iter().collect();
    servers.sort_by_key(|server| (&server.id, &server.version));
    let (mut eligible, mut rejected) = (Vec::new(), Vec::new());
    for server in servers {
        let (id, version) = (server.id.clone(), server.version.clone());
        let reasons = reasons(world, requirement, server);
        if !reasons.is_empty() {
            rejected.push(Rejected {
                id,
                reasons,
                version,
            });
        } else if let Some(best) = selected.filter(|best| *best != server) {
            let lost_on = match () {
                () if best.signed != server.signed => LostOn::Signed,
                () if best.id != server.id => LostOn::Id,
                () => LostOn::Version,
            };
            eligible.push(Eligible {
                id,
                lost_on,
                version,
            });
        }
    }
    Requirement {
        category: requirement.category.clone(),
        eligible,
        load: on_demand(requirement),
        only: only(requirement),
        permissions: sorted(&requirement.permissions),
        rejected,
        selected: selected.map(|server| Selected {
            hash: hash(server, requirement),
            id: server.id.clone(),
            version: server.version.clone(),
        }),
        serve: serve(requirement),
    }
}

fn sorted(names: &[impl ToString]) -> Vec<String> {
    let set: BTreeSet<_> = names.iter().map(ToString::to_string).collect();
    set.into_iter().collect()
}
