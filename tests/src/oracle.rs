//! The rules of the resolver, written down a second time: naively, to be read beside
//! specification 0, sections 2 and 3. It shares no code with the engine.

use crate::digest::{integrity, sha256};
use crate::files::{
    Constraints, Eligible, Lock, LostOn, Reason, Rejected, Requirement, Resolution, Selected,
    Selection,
};
use crate::world::{self, SENSITIVITIES, Server, World};
use std::collections::BTreeSet;

/// 2.2: everything that speaks against a server.
pub fn reasons(world: &World, requirement: &world::Requirement, server: &Server) -> Vec<Reason> {
    let constraints = &world.constraints;
    let mut reasons = Vec::new();
    if !server.categories.contains(&requirement.category) {
        reasons.push(Reason::MissingCategory {
            offered: sorted(&server.categories),
        });
    }
    let mut missing = sorted(&requirement.permissions);
    missing.retain(|scope| !server.scopes.contains(scope));
    if !missing.is_empty() {
        reasons.push(Reason::MissingScope { missing });
    }
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

/// 3.1: `sha256(id + "@" + version + "|" + endpoint + "|" + sorted_scopes.join(","))`
fn hash(server: &Server, requirement: &world::Requirement) -> String {
    let (id, version, endpoint) = (&server.id, &server.version, &server.endpoint);
    let scopes = sorted(&requirement.permissions).join(",");
    sha256(&format!("{id}@{version}|{endpoint}|{scopes}"))
}

/// `agents.lock`, if every requirement has a server.
pub fn lock(world: &World) -> Option<Lock> {
    let selection = |requirement: &world::Requirement| {
        let server = select(world, requirement)?;
        Some(Selection {
            category: requirement.category.clone(),
            endpoint: server.endpoint.clone(),
            hash: hash(server, requirement),
            id: server.id.clone(),
            integrity: integrity(&server.entry()),
            scopes: sorted(&requirement.permissions),
            version: server.version.clone(),
        })
    };
    let selections = world.requirements.iter().map(selection);
    let mut selections: Vec<_> = selections.collect::<Option<_>>()?;
    selections.sort_by_key(|one| (one.category.clone(), one.scopes.clone(), one.id.clone()));
    Some(Lock {
        agent: world.agent.clone(),
        forbid: sorted(&world.constraints.forbid),
        lock_version: 1,
        selections,
    })
}

/// `agents.resolution.json`.
pub fn resolution(world: &World) -> Resolution {
    let answer = |asked| requirement(world, asked);
    let requirements: Vec<_> = world.requirements.iter().map(answer).collect();
    Resolution {
        agent: world.agent.clone(),
        constraints: Constraints {
            forbid: sorted(&world.constraints.forbid),
            require_signed: world.constraints.require_signed == Some(true),
            residency: world.constraints.residency.map(str::to_owned),
            sensitivity: world.constraints.sensitivity.map(str::to_owned),
        },
        satisfied: requirements.iter().all(|it| it.selected.is_some()),
        requirements,
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
        permissions: sorted(&requirement.permissions),
        rejected,
        selected: selected.map(|server| Selected {
            hash: hash(server, requirement),
            id: server.id.clone(),
            version: server.version.clone(),
        }),
    }
}

fn sorted(names: &[impl ToString]) -> Vec<String> {
    let set: BTreeSet<_> = names.iter().map(ToString::to_string).collect();
    set.into_iter().collect()
}
