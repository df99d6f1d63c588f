//! Which server each requirement gets.

use super::assess::{Assessment, Offer, Rejection, assess, constraint_failures};
use super::counterfactual::{Counterfactual, counterfactuals};
use crate::lower::integrity;
use crate::model::{
    Category, Constraints, Endpoint, Gate, Index, Lock, Manifest, Name, NonEmpty, Rank,
    Requirement, Selection, ServerId, ServerVersion, ServerView, selection_hash,
};
use std::collections::BinaryHeap;
use std::sync::Arc;

/// What became of one requirement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// This server was selected.
    Selected(Rank),
    /// No server is eligible.
    Unsatisfied,
}

/// The rule on which an eligible server lost against the selected one \[0, 2.3\].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TieBreak {
    /// The selected one is signed, this one is not.
    Signed,
    /// The selected one has the smaller id.
    Id,
    /// The selected one has the smaller version.
    Version,
}

impl TieBreak {
    /// The word for it in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Signed => "signed",
            Self::Id => "id",
            Self::Version => "version",
        }
    }

    /// The rule on which `other` lost against `selected`.
    pub fn between(selected: ServerView<'_>, other: ServerView<'_>) -> Self {
        if selected.gate().signed() != other.gate().signed() {
            Self::Signed
        } else if selected.id() != other.id() {
            Self::Id
        } else {
            Self::Version
        }
    }
}

/// How many servers are left after each check, each counted among those that passed all checks
/// before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Funnel {
    /// All servers of the index.
    pub all: u32,
    /// Those that offer the category.
    pub category: u32,
    /// Of these, those that support every permission.
    pub scopes: u32,
    /// Of these, those of a fitting residency.
    pub residency: u32,
    /// Of these, those that may hold data so sensitive.
    pub sensitivity: u32,
    /// Of these, those signed where signatures are required: the eligible ones.
    pub signature: u32,
}

/// A rejected server and what would make it eligible.
#[derive(Debug, Clone)]
pub struct Near<'i> {
    /// The server.
    pub server: ServerView<'i>,
    /// Why it is rejected.
    pub reasons: NonEmpty<Rejection<'i>>,
    /// What would change that; see [`counterfactuals`].
    pub fixes: Vec<Counterfactual<'i>>,
}

/// The answer to every requirement of a manifest. There is one on failure too; only
/// [`Resolution::lock`] can fail.
#[derive(Debug, Clone)]
pub struct Resolution {
    manifest: Arc<Manifest>,
    index: Arc<Index>,
    /// For each [`Gate`] whether the constraints let it through.
    open: [bool; Gate::COUNT],
    asked: Vec<Asked>,
    outcomes: Vec<Outcome>,
}

/// A requirement in the numbers of an index. None: no server has it.
#[derive(Debug, Clone)]
struct Asked {
    category: Option<u32>,
    /// For each permission its number: in the order of the permissions, which is that of the
    /// numbers as well.
    scopes: Vec<Option<u32>>,
}

impl Resolution {
    /// Decide \[0, 2\].
    pub fn new(manifest: Arc<Manifest>, index: Arc<Index>) -> Self {
        let open = std::array::from_fn(|number| {
            Gate::from_number(number).is_some_and(|gate| {
                constraint_failures(&manifest.constraints, gate, "")
                    .next()
                    .is_none()
            })
        });
        let asked: Vec<_> = manifest
            .requirements
            .iter()
            .map(|requirement| Asked::new(requirement, &index))
            .collect();
        let outcomes = asked
            .iter()
            .map(|asked| {
                match candidates(asked, &index).find(|rank| eligible(asked, &open, &index, *rank)) {
                    Some(rank) => Outcome::Selected(rank),
                    None => Outcome::Unsatisfied,
                }
            })
            .collect();
        Self {
            manifest,
            index,
            open,
            asked,
            outcomes,
        }
    }

    /// The manifest that was resolved.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The index that it was resolved against.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// What became of each requirement, in file order.
    pub fn outcomes(&self) -> &[Outcome] {
        &self.outcomes
    }

    /// Whether every requirement has a server.
    pub fn satisfied(&self) -> bool {
        !self.outcomes.contains(&Outcome::Unsatisfied)
    }

    /// The server selected for a requirement.
    pub fn selected(&self, requirement: usize) -> Option<ServerView<'_>> {
        match self.outcomes.get(requirement)? {
            Outcome::Selected(rank) => Some(self.index.server(*rank)),
            Outcome::Unsatisfied => None,
        }
    }

    /// The requirement of a number.
    fn requirement(&self, number: usize) -> &Requirement {
        &self.manifest.requirements[number]
    }

    /// Decide on one server for one requirement, with every reason.
    pub fn assess<'r>(&'r self, requirement: usize, server: ServerView<'r>) -> Assessment<'r> {
        assess(
            self.requirement(requirement),
            &self.manifest.constraints,
            &Offer::of(server),
        )
    }

    /// Whether a server is eligible for a requirement.
    pub fn is_eligible(&self, requirement: usize, server: ServerView<'_>) -> bool {
        eligible(
            &self.asked[requirement],
            &self.open,
            &self.index,
            server.rank(),
        )
    }

    /// The eligible servers, in the order of preference: the first is the selected one.
    pub fn eligible(&self, requirement: usize) -> impl Iterator<Item = ServerView<'_>> {
        let asked = &self.asked[requirement];
        candidates(asked, &self.index)
            .filter(|rank| eligible(asked, &self.open, &self.index, *rank))
            .map(|rank| self.index.server(rank))
    }

    /// The rejected servers, ordered by id, then version.
    pub fn rejected(&self, requirement: usize) -> impl Iterator<Item = ServerView<'_>> {
        self.index
            .by_name()
            .iter()
            .map(|rank| self.index.server(*rank))
            .filter(move |server| !self.is_eligible(requirement, *server))
    }

    /// How many servers each check lets through.
    pub fn funnel(&self, requirement: usize) -> Funnel {
        let asked = &self.asked[requirement];
        let mut funnel = Funnel {
            all: self.index.len() as u32,
            ..Funnel::default()
        };
        let constraints = &self.manifest.constraints;
        for rank in asked
            .category
            .map_or(&[][..], |category| self.index.with_category(category))
        {
            let server = self.index.server(*rank);
            funnel.category += 1;
            if !asked.scopes_met(server) {
                continue;
            }
            funnel.scopes += 1;
            // Each check by itself, so that the counts say where a server fell first.
            let failures = |code| {
                constraint_failures(constraints, server.gate(), "")
                    .any(|failure| failure.code() == code)
            };
            if failures(crate::diagnostic::Code::ResidencyMismatch) {
                continue;
            }
            funnel.residency += 1;
            if failures(crate::diagnostic::Code::SensitivityExceeded) {
                continue;
            }
            funnel.sensitivity += 1;
            funnel.signature += u32::from(self.open[server.gate().number()]);
        }
        funnel
    }

    /// A rejected server with its reasons and what would change them. None if it is eligible.
    pub fn near<'r>(&'r self, requirement: usize, server: ServerView<'r>) -> Option<Near<'r>> {
        let Assessment::Rejected(reasons) = self.assess(requirement, server) else {
            return None;
        };
        Some(Near {
            server,
            reasons,
            fixes: counterfactuals(
                self.requirement(requirement),
                &self.manifest.constraints,
                &Offer::of(server),
            ),
        })
    }

    /// The rejected servers that need the fewest changes, nearest first; among equals first
    /// those of the category, then in the order of preference.
    pub fn nearest(&self, requirement: usize, limit: usize) -> Vec<Near<'_>> {
        let asked = &self.asked[requirement];
        let gate_cost: [u32; Gate::COUNT] = std::array::from_fn(|number| {
            Gate::from_number(number).map_or(0, |gate| {
                constraint_failures(&self.manifest.constraints, gate, "").count() as u32
            })
        });
        let mut nearest = BinaryHeap::with_capacity(limit + 1);
        for server in self.index.servers() {
            let elsewhere = !asked.category_met(server);
            let cost =
                u32::from(elsewhere) + asked.missing(server) + gate_cost[server.gate().number()];
            if cost == 0 {
                continue;
            }
            nearest.push((cost, elsewhere, server.rank()));
            if nearest.len() > limit {
                nearest.pop();
            }
        }
        nearest
            .into_sorted_vec()
            .into_iter()
            .filter_map(|(_, _, rank)| self.near(requirement, self.index.server(rank)))
            .collect()
    }

    /// What a lock holds of a requirement. None if no server is eligible.
    pub fn selection(&self, requirement: usize) -> Option<Selection> {
        let server = self.selected(requirement)?;
        let Requirement {
            category,
            permissions,
            ..
        } = self.requirement(requirement);
        Some(Selection {
            category: Category::clone(&category.value),
            scopes: permissions.iter().map(|p| p.value.clone()).collect(),
            id: checked(ServerId::new(server.id()))?,
            version: checked(ServerVersion::new(server.version()))?,
            endpoint: checked(Endpoint::new(server.endpoint()))?,
            hash: self.hash(requirement)?,
            integrity: integrity(server),
        })
    }

    /// The specification's hash of a selection \[0, 3.1\]. None if no server is eligible.
    pub fn hash(&self, requirement: usize) -> Option<String> {
        let server = self.selected(requirement)?;
        let permissions = &self.requirement(requirement).permissions;
        Some(selection_hash(
            server.id(),
            server.version(),
            server.endpoint(),
            permissions.iter().map(|p| p.value.as_str()),
        ))
    }

    /// The lock. None if a requirement has no server.
    pub fn lock(&self) -> Option<Lock> {
        let mut selections = (0..self.outcomes.len())
            .map(|requirement| self.selection(requirement))
            .collect::<Option<Vec<_>>>()?;
        selections.sort_by(|a, b| a.order().cmp(&b.order()));
        Some(Lock {
            agent: self.manifest.agent.clone(),
            forbid: self
                .constraints()
                .forbid
                .iter()
                .map(|label| label.value.clone())
                .collect(),
            selections,
        })
    }

    /// The constraints that it was decided under.
    pub fn constraints(&self) -> &Constraints {
        &self.manifest.constraints
    }
}

/// A name of an index, which was checked when the index was loaded.
fn checked<N, E>(name: Result<N, E>) -> Option<N> {
    debug_assert!(name.is_ok());
    name.ok()
}

impl Asked {
    fn new(requirement: &Requirement, index: &Index) -> Self {
        Self {
            category: index.category(requirement.category.value.as_str()),
            scopes: requirement
                .permissions
                .iter()
                .map(|permission| index.scope(permission.value.as_str()))
                .collect(),
        }
    }

    fn category_met(&self, server: ServerView<'_>) -> bool {
        self.category
            .is_some_and(|category| server.category_numbers().binary_search(&category).is_ok())
    }

    fn scopes_met(&self, server: ServerView<'_>) -> bool {
        self.missing(server) == 0
    }

    /// How many permissions a server does not support.
    fn missing(&self, server: ServerView<'_>) -> u32 {
        let offered = server.scope_numbers();
        self.scopes
            .iter()
            .filter(|scope| scope.is_none_or(|scope| offered.binary_search(&scope).is_err()))
            .count() as u32
    }
}

/// The servers among which the eligible ones are, in the order of preference: the shortest of
/// the lists that a requirement names.
fn candidates<'i>(asked: &Asked, index: &'i Index) -> impl Iterator<Item = Rank> + use<'i> {
    let mut shortest = asked
        .category
        .map_or(&[][..], |category| index.with_category(category));
    for scope in &asked.scopes {
        let list = scope.map_or(&[][..], |scope| index.with_scope(scope));
        if list.len() < shortest.len() {
            shortest = list;
        }
    }
    shortest.iter().copied()
}

fn eligible(asked: &Asked, open: &[bool; Gate::COUNT], index: &Index, rank: Rank) -> bool {
    let server = index.server(rank);
    open[server.gate().number()] && asked.category_met(server) && asked.scopes_met(server)
}
