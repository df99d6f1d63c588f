//! The decision on every requirement: a server for each category, a tool for each capability.

use super::assess::{Assessment, Offer, assess};
use super::constraint_failures::ConstraintFailures;
use super::counterfactual::{Counterfactual, counterfactuals, smallest};
use super::definitions::uncallable_tools;
use super::expansion::left_out_tools;
use super::failures::Failures;
use super::matching::{EvaluationContext, Matching};
use super::rejection::Rejection;
use super::selection::{hash, selection};
use agent_diagnostic::Code;
use agent_lower::{Concealed, Uncallable};
use agent_model::{
    Category, Constraints, Grant, Index, Lock, Manifest, Members, Name, NonEmpty, Rank,
    Requirement, Selection, ServerView, ToolName, lock_order, with_fallbacks,
};
use agent_text::sort::{sort_by, sort_by_key};
use std::sync::Arc;

/// The outcome of one requirement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// This server was selected.
    Selected(Rank),
    /// No server is eligible.
    Unsatisfied,
}

/// The rule on which an eligible server lost to the selected one \[0, 2.3\].
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
    /// Returns the name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Signed => "signed",
            Self::Id => "id",
            Self::Version => "version",
        }
    }

    /// Returns the rule on which `other` lost to `selected`.
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

/// Numbers of servers that pass each check and all checks before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Funnel {
    /// All servers of the index.
    pub all: u32,
    /// Servers that offer the category.
    pub category: u32,
    /// Servers that have every tool that the requirement names; all of the category if it names none.
    pub tools: u32,
    /// Servers that support every permission.
    pub scopes: u32,
    /// Servers of a matching residency.
    pub residency: u32,
    /// Servers that may hold data this sensitive.
    pub sensitivity: u32,
    /// Servers with a signature, if signatures are required: the eligible ones.
    pub signature: u32,
}

/// A rejected server and the changes that make it eligible.
#[derive(Debug, Clone)]
pub struct NearMiss<'i> {
    /// The server.
    pub server: ServerView<'i>,
    /// The reasons against it.
    pub reasons: NonEmpty<Rejection<'i>>,
    /// Alternative fixes: on the side of the server first, then on that of the manifest. Each was
    /// verified by a second decision.
    pub fixes: Vec<Counterfactual<'i>>,
}

/// The answer to every requirement of a manifest. An unsatisfied requirement has an answer too; only
/// [`Resolution::lock`] can fail.
#[derive(Debug, Clone)]
pub struct Resolution {
    manifest: Arc<Manifest>,
    index: Arc<Index>,
    constraint_failures: ConstraintFailures,
    /// A bit for each server, by rank: whether it meets the constraints.
    admitted: Box<[u64]>,
    required: Vec<Required>,
    outcomes: Vec<Outcome>,
    matching: Arc<Matching>,
}

/// A requirement in the numbers of an index, with `None` for a name that no server has.
#[derive(Debug, Clone)]
struct Required {
    category: Option<u32>,
    /// The tools that the server must have: sorted. Few requirements name any, so an index has no lists of
    /// the servers with a tool.
    only: Vec<ToolName>,
    /// The numbers of the permissions, in the order of the permissions and of the numbers.
    scopes: Vec<Option<u32>>,
}

impl Resolution {
    /// Decides \[0, 2\], by the manifest and the index alone.
    pub fn new(manifest: Arc<Manifest>, index: Arc<Index>) -> Self {
        Self::under(manifest, index, EvaluationContext::default())
    }

    /// Decides \[0, 2; 4, 5\]: servers for the categories of the manifest, and tools for its
    /// capabilities and for those of the task.
    pub fn under(
        manifest: Arc<Manifest>,
        index: Arc<Index>,
        evaluation_context: EvaluationContext,
    ) -> Self {
        let requirements = manifest.requirements.iter();
        let required = requirements.map(|it| Required::new(it, &index)).collect();
        Self::decided(manifest, index, required, evaluation_context)
    }

    /// Decides the same requirements against the same index under other constraints. They replace
    /// those of the manifest; their spans may lie anywhere in its text, or be empty. A label may
    /// forbid what is required, which lowering would refuse.
    pub fn suppose(&self, constraints: Constraints) -> Self {
        let manifest = Manifest {
            constraints,
            ..Manifest::clone(&self.manifest)
        };
        Self::decided(
            Arc::new(manifest),
            Arc::clone(&self.index),
            self.required.clone(),
            self.matching.evaluation_context().clone(),
        )
    }

    fn decided(
        manifest: Arc<Manifest>,
        index: Arc<Index>,
        required: Vec<Required>,
        evaluation_context: EvaluationContext,
    ) -> Self {
        let constraint_failures = ConstraintFailures::new(&manifest.constraints);
        let admitted: Box<[u64]> = index
            .constraint_keys()
            .chunks(64)
            .map(|chunk| {
                chunk.iter().rev().fold(0, |bits, constraint_key| {
                    bits << 1 | u64::from(constraint_failures.of(*constraint_key).is_empty())
                })
            })
            .collect();
        let selected = required
            .iter()
            .map(|required| required.eligible(&admitted, &index).next());
        let outcomes = selected
            .map(|rank| rank.map_or(Outcome::Unsatisfied, Outcome::Selected))
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
            constraint_failures,
            admitted,
            required,
            outcomes,
        }
    }

    /// Returns the manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Returns the index.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// Returns the answers to the requirements of capabilities.
    pub fn matching(&self) -> &Arc<Matching> {
        &self.matching
    }

    /// Returns the outcome of each requirement of a category, in file order.
    pub fn outcomes(&self) -> &[Outcome] {
        &self.outcomes
    }

    /// Returns whether every requirement has its server or tool.
    pub fn satisfied(&self) -> bool {
        !self.outcomes.contains(&Outcome::Unsatisfied) && self.matching.satisfied()
    }

    /// Returns the server selected for a requirement.
    pub fn selected(&self, requirement: usize) -> Option<ServerView<'_>> {
        match self.outcomes.get(requirement)? {
            Outcome::Selected(rank) => Some(self.index.server(*rank)),
            Outcome::Unsatisfied => None,
        }
    }

    fn requirement(&self, number: usize) -> &Requirement {
        &self.manifest.requirements[number]
    }

    /// Assesses one server for one requirement, with every reason.
    pub fn assess<'r>(&'r self, requirement: usize, server: ServerView<'r>) -> Assessment<'r> {
        assess(
            self.requirement(requirement),
            &self.manifest.constraints,
            &Offer::of(server),
        )
    }

    /// Returns the checks that a server fails for a requirement: the codes of
    /// [`Resolution::assess`], by numbers alone, for views of a large index.
    pub fn failures(&self, requirement: usize, server: ServerView<'_>) -> Failures {
        let required = &self.required[requirement];
        self.constraint_failures
            .refusing(server)
            .with(Code::MissingCategory, !required.category_met(server))
            .with(Code::ToolMissing, required.missing_tools(server) > 0)
            .with(Code::MissingScope, !required.scopes_met(server))
    }

    /// Returns whether a server is eligible for a requirement.
    pub fn is_eligible(&self, requirement: usize, server: ServerView<'_>) -> bool {
        let required = &self.required[requirement];
        self.constraint_failures.refusing(server).is_empty()
            && required.category_met(server)
            && required.missing_tools(server) == 0
            && required.scopes_met(server)
    }

    /// Returns the eligible servers in the order of preference: the first is selected.
    pub fn eligible(&self, requirement: usize) -> impl Iterator<Item = ServerView<'_>> {
        self.required[requirement]
            .eligible(&self.admitted, &self.index)
            .map(|rank| self.index.server(rank))
    }

    /// Returns the rejected servers, ordered by id, then version.
    pub fn rejected(&self, requirement: usize) -> impl Iterator<Item = ServerView<'_>> {
        self.index
            .by_name()
            .iter()
            .map(|rank| self.index.server(*rank))
            .filter(move |server| !self.is_eligible(requirement, *server))
    }

    /// Returns the number of servers that pass each check.
    pub fn funnel(&self, requirement: usize) -> Funnel {
        let required = &self.required[requirement];
        let mut funnel = Funnel {
            all: self.index.len() as u32,
            ..Funnel::default()
        };
        for rank in required.category(&self.index).ranks {
            let server = self.index.server(*rank);
            funnel.category += 1;
            if required.missing_tools(server) > 0 {
                continue;
            }
            funnel.tools += 1;
            if required.scopes_met(server) {
                let [residency, sensitivity, signature] = self.constraint_failures.passed(server);
                funnel.scopes += 1;
                funnel.residency += residency;
                funnel.sensitivity += sensitivity;
                funnel.signature += signature;
            }
        }
        funnel
    }

    /// Returns a rejected server with its reasons and fixes, or `None` if it is eligible.
    pub fn near<'r>(&'r self, requirement: usize, server: ServerView<'r>) -> Option<NearMiss<'r>> {
        let (requirement, offer) = (self.requirement(requirement), Offer::of(server));
        let constraints = &self.manifest.constraints;
        let Assessment::Rejected(reasons) = assess(requirement, constraints, &offer) else {
            return None;
        };
        let fixes = counterfactuals(requirement, constraints, &offer, reasons.as_slice());
        Some(NearMiss {
            server,
            reasons,
            fixes,
        })
    }

    /// Returns the rejected servers that need the fewest changes, nearest first; among equals first
    /// those of the category, then in the order of preference.
    pub fn nearest(&self, requirement: usize, limit: usize) -> Vec<NearMiss<'_>> {
        let required = &self.required[requirement];
        // Each change costs two, and one more for servers that are not of the category. The start
        // assumes that a server lacks every name; each list takes back its part.
        let lacking = 2 * (required.scopes.len() as u32 + 1) + 1;
        let cost = |key| lacking + 2 * self.constraint_failures.of(key).len() as u32;
        let keys = self.index.constraint_keys().iter().copied();
        let mut costs: Vec<u32> = keys.map(cost).collect();
        for rank in required.category(&self.index).ranks {
            costs[*rank as usize] -= 3;
        }
        for scope in required.scopes(&self.index) {
            for rank in scope.ranks {
                costs[*rank as usize] -= 2;
            }
        }
        if !required.only.is_empty() {
            for (cost, server) in costs.iter_mut().zip(self.index.servers()) {
                *cost += 2 * required.missing_tools(server) as u32;
            }
        }
        let rejected = costs.into_iter().zip(0..).filter(|(cost, _)| *cost > 0);
        let nearest = smallest(rejected, limit).into_iter();
        nearest
            .filter_map(|(_, rank)| self.near(requirement, self.index.server(rank)))
            .collect()
    }

    /// Returns the selection of a requirement, or `None` if no server is eligible.
    pub fn selection(&self, requirement: usize) -> Option<Selection> {
        let server = self.selected(requirement)?;
        let requirement = self.requirement(requirement);
        let grant = Grant::Category {
            category: Category::clone(&requirement.category.value),
            load: requirement.load,
            only: requirement.only.iter().map(|it| it.value.clone()).collect(),
            serve: requirement.serve.clone(),
        };
        let scopes = requirement.permissions.iter();
        selection(grant, scopes.map(|it| it.value.clone()).collect(), server)
    }

    /// Returns the specification's hash of a selection \[0, 3.1\], or `None` if no server is
    /// eligible.
    pub fn hash(&self, requirement: usize) -> Option<String> {
        let server = self.selected(requirement)?;
        let permissions = self.requirement(requirement).permissions.iter();
        Some(hash(server, permissions.map(|it| it.value.as_str())))
    }

    /// Returns the tools of the lock that nobody can call, because one of their schemas can't be used.
    pub fn uncallable(&self) -> Vec<Uncallable<'_>> {
        match self.lock() {
            Some(lock) => uncallable_tools(&lock, self.index()),
            None => Vec::new(),
        }
    }

    /// Returns the tools that the lock leaves out of its categories, and those that no capability selects,
    /// because people do not see all of the characters of their definitions.
    pub fn left_out(&self) -> Vec<Concealed<'_>> {
        let mut found = match self.lock() {
            Some(lock) => left_out_tools(&lock, self.index()),
            None => Vec::new(),
        };
        found.extend(self.matching.concealed());
        sort_by(&mut found, |a, b| a.tool.number().cmp(&b.tool.number()));
        found.dedup_by_key(|it| it.tool.number());
        found
    }

    /// Returns the lock, or `None` if a requirement is unsatisfied.
    pub fn lock(&self) -> Option<Lock> {
        let of_categories =
            (0..self.outcomes.len()).map(|number| Some(vec![self.selection(number)?]));
        // Each with its fallback, if it has one.
        let selections: Option<Vec<Vec<_>>> = of_categories.collect();
        let mut selections = selections?;
        let matching = &self.matching;
        for number in 0..matching.len() {
            let own = matching.selections(number)?;
            selections.extend(with_fallbacks(&own).map(<[_]>::to_vec));
        }
        sort_by(&mut selections, |a, b| lock_order(a, b));
        let forbid = self.constraints().forbid.iter();
        Some(Lock {
            agent: self.manifest.agent.clone(),
            forbid: forbid.map(|label| label.value.clone()).collect(),
            policy: matching.policy().map(|it| it.digest()),
            selections: selections.concat(),
        })
    }

    /// Returns whether the constraints admit a server that those of another answer refuse.
    pub fn admits_more_than(&self, other: &Self) -> bool {
        (self.constraint_failures).admit_more_than(&other.constraint_failures)
    }

    /// Returns the constraints of the manifest.
    pub fn constraints(&self) -> &Constraints {
        &self.manifest.constraints
    }
}

impl Required {
    fn new(requirement: &Requirement, index: &Index) -> Self {
        Self {
            category: index.category(requirement.category.value.as_str()),
            only: requirement.only.iter().map(|it| it.value.clone()).collect(),
            scopes: requirement
                .permissions
                .iter()
                .map(|permission| index.scope(permission.value.as_str()))
                .collect(),
        }
    }

    /// Returns the ranks of the eligible servers, in order.
    fn eligible<'r>(&'r self, admitted: &'r [u64], index: &'r Index) -> impl Iterator<Item = Rank> {
        Eligible::new(self, admitted, index)
            .filter(|rank| self.missing_tools(index.server(*rank)) == 0)
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

    /// Returns how many of the named tools a server lacks.
    fn missing_tools(&self, server: ServerView<'_>) -> usize {
        let tools = self.only.iter();
        tools
            .filter(|it| server.tool(it.as_str()).is_none())
            .count()
    }

    fn scopes_met(&self, server: ServerView<'_>) -> bool {
        let offered = server.scope_numbers();
        self.scopes
            .iter()
            .all(|scope| scope.is_some_and(|scope| offered.binary_search(&scope).is_ok()))
    }
}

/// The servers in every list of a requirement that meet the constraints, by rank. Whether they have the
/// named tools is not considered.
struct Eligible<'r> {
    lists: Vec<Members<'r>>,
    admitted: &'r [u64],
    by: By<'r>,
}

/// The order of the search.
enum By<'r> {
    /// By the shortest list, if it is short.
    Ranks(std::slice::Iter<'r, Rank>),
    /// By blocks of bits, if all lists are long. `left` is the block that ends before `next`, without
    /// the returned bits.
    Blocks { left: Block, next: usize },
}

impl<'r> Eligible<'r> {
    fn new(required: &Required, admitted: &'r [u64], index: &'r Index) -> Self {
        let scopes = required.scopes(index);
        let mut lists: Vec<_> = scopes.chain([required.category(index)]).collect();
        sort_by_key(&mut lists, |list| list.ranks.len());
        let by = if lists.iter().all(|list| list.bits.is_some()) {
            By::Blocks {
                left: [0; _],
                next: 0,
            }
        } else {
            // The category is always in the list.
            By::Ranks(lists.remove(0).ranks.iter())
        };
        Self {
            lists,
            admitted,
            by,
        }
    }
}

impl Iterator for Eligible<'_> {
    type Item = Rank;

    fn next(&mut self) -> Option<Rank> {
        let Self {
            lists,
            admitted,
            by,
        } = self;
        match by {
            By::Ranks(ranks) => ranks
                .find(|rank| {
                    admitted[**rank as usize / 64] >> (**rank % 64) & 1 != 0
                        && lists.iter().all(|list| list.contains(**rank))
                })
                .copied(),
            By::Blocks { left, next } => loop {
                if let Some(word) = left.iter().position(|word| *word != 0) {
                    let bit = left[word].trailing_zeros();
                    left[word] &= left[word] - 1;
                    return Some(((*next - BLOCK + word) * 64) as Rank + bit);
                }
                *left = block(admitted, *next)?;
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

/// Number of 64-bit words in a block, as in the widest vector registers.
const BLOCK: usize = 8;

type Block = [u64; BLOCK];

/// Returns the block of words that begins at `start`, with zeros behind the end, or `None` if it has
/// no word.
fn block(words: &[u64], start: usize) -> Option<Block> {
    let rest = words.get(start..).filter(|rest| !rest.is_empty())?;
    Some(rest.first_chunk().copied().unwrap_or_else(|| {
        let mut block = [0; BLOCK];
        block[..rest.len()].copy_from_slice(rest);
        block
    }))
}
