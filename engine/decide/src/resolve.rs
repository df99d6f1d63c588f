//! Which server each requirement gets.

use super::assess::{Assessment, Offer, Rejection, assess};
use super::constraint_failures::ConstraintFailures;
use super::counterfactual::{Counterfactual, counterfactuals};
use super::failures::Failures;
use super::matching::{EvaluationContext, Matching};
use agent_diagnostic::Code;
use agent_lower::integrity;
use agent_model::{
    Category, Constraints, Endpoint, Grant, Index, Lock, Manifest, Members, Name, NonEmpty, Rank,
    Requirement, Selection, ServerId, ServerVersion, ServerView, selection_hash,
};
use agent_text::sort::{sort_by, sort_by_key};
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
        if selected.constraint_key().signed() != other.constraint_key().signed() {
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
pub struct NearMiss<'i> {
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
    constraint_keys: ConstraintFailures,
    /// A bit for each server that the constraints let through, by rank.
    open: Box<[u64]>,
    asked: Vec<Asked>,
    outcomes: Vec<Outcome>,
    matching: Arc<Matching>,
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
    /// Decide \[0, 2\], with nothing but the manifest and the index.
    pub fn new(manifest: Arc<Manifest>, index: Arc<Index>) -> Self {
        Self::under(manifest, index, EvaluationContext::default())
    }

    /// Decide \[0, 2; 4, 5\]: servers for the categories of the manifest, and under the
    /// evaluation context tools for its capabilities and for those of the task.
    pub fn under(
        manifest: Arc<Manifest>,
        index: Arc<Index>,
        evaluation_context: EvaluationContext,
    ) -> Self {
        let asked = manifest
            .requirements
            .iter()
            .map(|requirement| Asked::new(requirement, &index))
            .collect();
        Self::decided(manifest, index, asked, evaluation_context)
    }

    /// Decide the same requirements against the same index under other constraints. The answer
    /// is that to a manifest which says them, and its manifest is this one with them in place of
    /// its own; they may stand anywhere or, with an empty span, nowhere in its text. Nobody
    /// checks here that they forbid nothing that is required.
    pub fn suppose(&self, constraints: Constraints) -> Self {
        let manifest = Manifest {
            constraints,
            ..Manifest::clone(&self.manifest)
        };
        // What is asked for has the same numbers in the same index.
        Self::decided(
            Arc::new(manifest),
            Arc::clone(&self.index),
            self.asked.clone(),
            self.matching.evaluation_context().clone(),
        )
    }

    fn decided(
        manifest: Arc<Manifest>,
        index: Arc<Index>,
        asked: Vec<Asked>,
        evaluation_context: EvaluationContext,
    ) -> Self {
        let constraint_keys = ConstraintFailures::new(&manifest.constraints);
        let open: Box<[u64]> = index
            .constraint_keys()
            .chunks(64)
            .map(|chunk| {
                chunk.iter().rev().fold(0, |bits, constraint_key| {
                    bits << 1 | u64::from(constraint_keys.of(*constraint_key).is_empty())
                })
            })
            .collect();
        let outcomes = asked
            .iter()
            .map(|asked| match Eligible::new(asked, &open, &index).next() {
                Some(rank) => Outcome::Selected(rank),
                None => Outcome::Unsatisfied,
            })
            .collect();
        let matching = Arc::new(Matching::new(
            Some(Arc::clone(&manifest)),
            Arc::clone(&index),
            evaluation_context,
        ));
        Self {
            matching,
            manifest,
            index,
            constraint_keys,
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

    /// What became of the requirements of capabilities.
    pub fn matching(&self) -> &Arc<Matching> {
        &self.matching
    }

    /// What became of each requirement of a category, in file order.
    pub fn outcomes(&self) -> &[Outcome] {
        &self.outcomes
    }

    /// Whether every requirement has a server, and a tool where it is of a capability.
    pub fn satisfied(&self) -> bool {
        !self.outcomes.contains(&Outcome::Unsatisfied) && self.matching.satisfied()
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

    /// The checks that a server fails for a requirement: the codes of [`Resolution::assess`],
    /// found by numbers alone, so that it can be asked of every server of a large index.
    pub fn failures(&self, requirement: usize, server: ServerView<'_>) -> Failures {
        let asked = &self.asked[requirement];
        self.refused(server)
            .with(Code::MissingCategory, !asked.category_met(server))
            .with(Code::MissingScope, !asked.scopes_met(server))
    }

    /// The constraints that don't let a server through.
    fn refused(&self, server: ServerView<'_>) -> Failures {
        self.constraint_keys.refusing(server)
    }

    /// Whether a server is eligible for a requirement.
    pub fn is_eligible(&self, requirement: usize, server: ServerView<'_>) -> bool {
        let asked = &self.asked[requirement];
        self.refused(server).is_empty() && asked.category_met(server) && asked.scopes_met(server)
    }

    /// The eligible servers, in the order of preference: the first is the selected one.
    pub fn eligible(&self, requirement: usize) -> impl Iterator<Item = ServerView<'_>> {
        Eligible::new(&self.asked[requirement], &self.open, &self.index)
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
        for rank in asked.category(&self.index).ranks {
            let server = self.index.server(*rank);
            funnel.category += 1;
            if asked.scopes_met(server) {
                let refused = self.refused(server);
                let passes = |code| u32::from(refused.passes_up_to(code));
                funnel.scopes += 1;
                funnel.residency += passes(Code::ResidencyMismatch);
                funnel.sensitivity += passes(Code::SensitivityExceeded);
                funnel.signature += passes(Code::UnsignedNotAllowed);
            }
        }
        funnel
    }

    /// A rejected server with its reasons and what would change them. None if it is eligible.
    pub fn near<'r>(&'r self, requirement: usize, server: ServerView<'r>) -> Option<NearMiss<'r>> {
        let Assessment::Rejected(reasons) = self.assess(requirement, server) else {
            return None;
        };
        Some(NearMiss {
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
    pub fn nearest(&self, requirement: usize, limit: usize) -> Vec<NearMiss<'_>> {
        let asked = &self.asked[requirement];
        // Two for each change, and one more for servers that are not of the category. All are
        // taken to lack everything that is asked for; then each list takes back its part.
        let lacking = 2 * (asked.scopes.len() as u32 + 1) + 1;
        let mut costs: Vec<u32> = self
            .index
            .constraint_keys()
            .iter()
            .map(|constraint_key| {
                lacking + 2 * self.constraint_keys.of(*constraint_key).len() as u32
            })
            .collect();
        for rank in asked.category(&self.index).ranks {
            costs[*rank as usize] -= 3;
        }
        for scope in asked.scopes(&self.index) {
            for rank in scope.ranks {
                costs[*rank as usize] -= 2;
            }
        }
        // As many as there are, whatever a host asks for.
        let limit = limit.min(self.index.len());
        let mut nearest = BinaryHeap::with_capacity(limit + 1);
        let mut bound = u32::MAX;
        for (rank, cost) in (0..).zip(costs) {
            // Later ones of the same cost are less preferred.
            if cost == 0 || cost >= bound {
                continue;
            }
            nearest.push((cost, rank));
            if nearest.len() > limit {
                nearest.pop();
            }
            if nearest.len() == limit {
                bound = nearest.peek().map_or(0, |(cost, _)| *cost);
            }
        }
        nearest
            .into_sorted_vec()
            .into_iter()
            .filter_map(|(_, rank)| self.near(requirement, self.index.server(rank)))
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
            grant: Grant::Category(Category::clone(&category.value)),
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
            .chain(self.matching.selections())
            .collect::<Option<Vec<_>>>()?;
        sort_by(&mut selections, |a, b| a.order().cmp(&b.order()));
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
pub(super) fn checked<N, E>(name: Result<N, E>) -> Option<N> {
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

    fn category<'i>(&self, index: &'i Index) -> Members<'i> {
        self.category
            .map_or(Members::NONE, |number| index.with_category(number))
    }

    fn scopes<'i>(&self, index: &'i Index) -> impl Iterator<Item = Members<'i>> {
        self.scopes
            .iter()
            .map(|scope| scope.map_or(Members::NONE, |number| index.with_scope(number)))
    }

    fn category_met(&self, server: ServerView<'_>) -> bool {
        self.category
            .is_some_and(|category| server.category_numbers().binary_search(&category).is_ok())
    }

    fn scopes_met(&self, server: ServerView<'_>) -> bool {
        let offered = server.scope_numbers();
        self.scopes
            .iter()
            .all(|scope| scope.is_some_and(|scope| offered.binary_search(&scope).is_ok()))
    }
}

/// The eligible servers of a requirement by rank: those that are in all of the lists it names
/// and that the constraints let through.
struct Eligible<'r> {
    lists: Vec<Members<'r>>,
    open: &'r [u64],
    by: By<'r>,
}

/// What is gone through.
enum By<'r> {
    /// The shortest list, where it is short.
    Ranks(std::slice::Iter<'r, Rank>),
    /// All bits, a block at a time, where all lists are long: the block that begins before
    /// `next`, without the bits that have been given out.
    Blocks { left: Block, next: usize },
}

impl<'r> Eligible<'r> {
    fn new(asked: &Asked, open: &'r [u64], index: &'r Index) -> Self {
        let mut lists: Vec<_> = asked.scopes(index).chain([asked.category(index)]).collect();
        sort_by_key(&mut lists, |list| list.ranks.len());
        let by = if lists.iter().all(|list| list.bits.is_some()) {
            By::Blocks {
                left: [0; _],
                next: 0,
            }
        } else {
            // The category is always there, so that there is a first.
            By::Ranks(lists.remove(0).ranks.iter())
        };
        Self { lists, open, by }
    }
}

impl Iterator for Eligible<'_> {
    type Item = Rank;

    fn next(&mut self) -> Option<Rank> {
        let Self { lists, open, by } = self;
        match by {
            By::Ranks(ranks) => ranks
                .find(|rank| {
                    open[**rank as usize / 64] >> (**rank % 64) & 1 != 0
                        && lists.iter().all(|list| list.contains(**rank))
                })
                .copied(),
            By::Blocks { left, next } => loop {
                if let Some(word) = left.iter().position(|word| *word != 0) {
                    let bit = left[word].trailing_zeros();
                    left[word] &= left[word] - 1;
                    return Some(((*next - BLOCK + word) * 64) as Rank + bit);
                }
                *left = block(open, *next)?;
                for list in &*lists {
                    let other = block(list.bits?, *next)?;
                    for (word, other) in left.iter_mut().zip(other) {
                        *word &= other;
                    }
                }
                *next += BLOCK;
            },
        }
    }
}

/// How many words of bits are looked at together: what the widest vector registers hold.
const BLOCK: usize = 8;

type Block = [u64; BLOCK];

/// The block of words that begins at `start`; zeros behind the end. None if it has no word.
fn block(words: &[u64], start: usize) -> Option<Block> {
    let rest = words.get(start..).filter(|rest| !rest.is_empty())?;
    Some(match rest.first_chunk() {
        Some(block) => *block,
        None => {
            let mut block = [0; BLOCK];
            block[..rest.len()].copy_from_slice(rest);
            block
        }
    })
}
