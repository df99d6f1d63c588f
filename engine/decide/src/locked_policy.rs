//! The policy on tools that a lock has \[4\].
//!
//! What was locked under a policy is decided under the same policy later, once for each requirement
//! that a tool was locked for.

use super::call_record::CallDenial;
use super::locked_tool::CallContext;
use super::matching::EvaluationContext;
use super::policy_decision::{
    PolicyDecision, PolicyEngine, PolicyError, PolicyErrorKind, ResultDecision, ResultRuling,
};
use super::rejection::Rejection;
use agent_lower::{
    Candidate, PolicyHistory, PolicyInput, PolicyOccasion, PolicyPhase, PolicyQuestion,
    PolicyRequirement, tool_id,
};
use agent_model::{Grant, Load, Lock, Name, Selection, ServerView, ToolView};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The given policy is not the one that the lock was made under.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyMismatch {
    /// The digest in the lock.
    pub locked: String,
    /// The digest of the given policy; none if no policy is given.
    pub given: Option<String>,
}

impl PolicyMismatch {
    /// Compares the policy of a lock, if it has one, with the given one.
    pub fn find(lock: &Lock, evaluation_context: Option<&EvaluationContext>) -> Option<Self> {
        let locked = lock.policy.as_ref()?;
        let policy = evaluation_context.and_then(|it| it.policy.as_ref());
        let given = policy.map(|policy| policy.digest_for(Some(locked)));
        (given.as_ref() != Some(locked)).then(|| Self {
            locked: locked.clone(),
            given,
        })
    }
}

/// A denial of a locked tool by a policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockedDenial {
    /// The `server@version/tool`.
    pub id: String,
    /// The decision that denies it.
    pub decision: Arc<PolicyDecision>,
}

impl LockedDenial {
    /// Returns the reason of the policy.
    pub fn rejection(&self) -> Option<Rejection<'_>> {
        Rejection::by_policy(&self.decision, &self.id)
    }
}

/// The questions to a policy about tools of one server: one for each requirement that some of them
/// were locked for, about these.
#[derive(Debug, Clone, Default)]
pub(super) struct LockedQuestions {
    /// Whether they are about calls.
    of_calls: bool,
    policy: Option<Arc<dyn PolicyEngine>>,
    questions: Vec<(PolicyInput, Vec<String>)>,
    /// The answer for a policy that is named and not given.
    missing: Option<Arc<PolicyDecision>>,
}

impl LockedQuestions {
    /// Prepares the questions about tools, which are ordered by name, by selections among which are those of the server.
    pub(super) fn new<'l>(
        phase: PolicyPhase,
        selections: impl Iterator<Item = &'l Selection>,
        server: ServerView<'_>,
        tools: &[ToolView<'_>],
        evaluation_context: &EvaluationContext,
    ) -> Self {
        let missing = evaluation_context.missing_policy();
        if evaluation_context.policy.is_none() && missing.is_none() {
            return Self::default();
        }
        let questions = requirements(selections, server, tools).into_iter().map(
            |(requirement, load, tools)| {
                let candidates: Vec<_> = tools.iter().copied().map(Candidate::of).collect();
                let question = PolicyQuestion {
                    phase,
                    requirement,
                    load,
                };
                let ids = tools.into_iter().map(tool_id).collect();
                (evaluation_context.input(question, &candidates), ids)
            },
        );
        Self {
            of_calls: matches!(phase, PolicyPhase::Call | PolicyPhase::Result),
            policy: evaluation_context.policy.clone(),
            questions: questions.collect(),
            missing,
        }
    }

    /// Asks every question on an occasion. Returns the first denial of each tool, ordered by id.
    pub(super) fn denials(&self, occasion: PolicyOccasion<'_>) -> Vec<LockedDenial> {
        let mut denials: BTreeMap<&str, LockedDenial> = BTreeMap::new();
        for (input, ids) in &self.questions {
            let decision = match (&self.policy, &self.missing) {
                (Some(policy), _) => Arc::new(match self.unknown(&**policy, occasion) {
                    Some(error) => PolicyDecision {
                        answer: Err(error),
                        lines: Vec::new(),
                    },
                    None => policy.ask(&input.text(occasion)),
                }),
                (None, Some(missing)) => Arc::clone(missing),
                (None, None) => continue,
            };
            for id in ids {
                let denial = LockedDenial {
                    id: id.clone(),
                    decision: Arc::clone(&decision),
                };
                if denial.rejection().is_some() {
                    denials.entry(id).or_insert(denial);
                }
            }
        }
        denials.into_values().collect()
    }

    /// Asks for the fate of a result, once for each question.
    fn results(&self, occasion: PolicyOccasion<'_>) -> Vec<ResultDecision> {
        let Some(policy) = &self.policy else {
            return Vec::new();
        };
        let asked =
            self.questions
                .iter()
                .map(|(input, _)| match self.unknown(&**policy, occasion) {
                    Some(error) => ResultDecision {
                        answer: Err(error),
                        lines: Vec::new(),
                    },
                    None => policy.ask_result(&input.text(occasion)),
                });
        asked.collect()
    }

    /// Returns the error of a policy that reads of the history what is not known.
    fn unknown(
        &self,
        policy: &dyn PolicyEngine,
        occasion: PolicyOccasion<'_>,
    ) -> Option<PolicyError> {
        let error = || unknown_history(policy, occasion.history);
        self.of_calls.then(error).flatten()
    }
}

/// Returns the error of a policy that decides about a call and reads of its history what is not known.
pub fn unknown_history(
    policy: &dyn PolicyEngine,
    history: Option<&PolicyHistory>,
) -> Option<PolicyError> {
    let reads = policy.history_use();
    if !reads.reads {
        return None;
    }
    let (detail, place) = match (history, reads.ignores_folded) {
        (None, _) => ("no history of calls is kept here".to_owned(), None),
        (Some(history), Some(place)) if history.folded > 0 => {
            let folded = history.folded;
            let text = format!(
                "{folded} calls were folded, and a rule reads `input.history.calls` without \
                 `input.history.folded`"
            );
            (text, Some(place))
        }
        _ => return None,
    };
    Some(PolicyError {
        kind: PolicyErrorKind::History,
        detail,
        place,
    })
}

/// The selections that grant a tool, and the tool in each locked entry.
pub(super) type Granted<'s, 'l> = (&'s [&'l Selection], &'s [ToolView<'l>]);

/// The policy on one tool.
#[derive(Debug, Clone)]
pub(super) enum CallPolicy {
    /// The given policy is not the locked one.
    Other(PolicyMismatch),
    /// The questions about the tool in each locked entry. Without an entry for the tool there is no
    /// question, and every call is denied.
    Questions(Vec<LockedQuestions>),
}

impl CallPolicy {
    /// Returns the policy that decides on a tool in a phase, given in each locked entry. `None` if
    /// neither the lock nor the caller has a policy.
    pub(super) fn new(
        phase: PolicyPhase,
        context: CallContext<'_>,
        (selections, tools): Granted<'_, '_>,
    ) -> Option<Self> {
        let lock = context.lock?;
        if let Some(mismatch) = PolicyMismatch::find(lock, context.evaluation_context) {
            return Some(Self::Other(mismatch));
        }
        let evaluation_context = context.evaluation_context.filter(|it| it.has_policy())?;
        let questions = tools.iter().map(|tool| {
            let own = selections.iter().copied();
            LockedQuestions::new(phase, own, tool.server(), &[*tool], evaluation_context)
        });
        Some(Self::Questions(questions.collect()))
    }

    /// Returns the policy that decides about results of a tool, if one does.
    pub(super) fn of_results(context: CallContext<'_>, granted: Granted<'_, '_>) -> Option<Self> {
        let policy = context.evaluation_context?.policy.as_ref()?;
        policy
            .rules_results()
            .then(|| Self::new(PolicyPhase::Result, context, granted))?
    }

    /// Returns the fate of a result of the tool: the strictest of the answers, with all that is to be redacted.
    pub(super) fn result(&self, occasion: PolicyOccasion<'_>) -> Result<ResultRuling, PolicyError> {
        let Self::Questions(questions) = self else {
            return Ok(ResultRuling::default());
        };
        let asked = questions.iter().flat_map(|it| it.results(occasion));
        asked
            .map(|it| it.answer)
            .reduce(|a, b| {
                let (mut a, mut b) = (a?, b?);
                if b.action > a.action {
                    core::mem::swap(&mut a, &mut b);
                }
                a.pointers.extend(b.pointers);
                a.patterns.extend(b.patterns);
                Ok(a)
            })
            .unwrap_or_else(|| Ok(ResultRuling::default()))
    }

    /// Returns the reasons of the policy against the tool on an occasion.
    pub(super) fn denials(&self, occasion: PolicyOccasion<'_>) -> Vec<CallDenial<'static>> {
        match self {
            Self::Other(mismatch) => vec![CallDenial::OtherPolicy(mismatch.clone())],
            Self::Questions(questions) if questions.is_empty() => {
                vec![CallDenial::PolicyNotAsked]
            }
            Self::Questions(questions) => {
                let denials = questions.iter();
                let denials = denials.flat_map(|it| it.denials(occasion));
                denials.map(CallDenial::Policy).collect()
            }
        }
    }
}

type Asked<'l, 'i> = (PolicyRequirement<'l>, Load, Vec<ToolView<'i>>);

/// Returns the requirements that tools of a server were locked for, in the order of selections, each
/// with its tools.
fn requirements<'l, 'i>(
    selections: impl Iterator<Item = &'l Selection>,
    server: ServerView<'i>,
    tools: &[ToolView<'i>],
) -> Vec<Asked<'l, 'i>> {
    let mut asked: Vec<Asked<'l, 'i>> = Vec::new();
    let own = selections.filter(|selection| {
        let (id, version) = (selection.id.as_str(), selection.version.as_str());
        (id, version) == (server.id(), server.version())
    });
    for selection in own {
        let (requirement, load) = match &selection.grant {
            Grant::Category { category, load, .. } => {
                let requirement = PolicyRequirement::Category(category, &selection.scopes);
                (requirement, *load)
            }
            Grant::Capability {
                capability, load, ..
            } => (PolicyRequirement::Capability(capability), *load),
        };
        let covered = |tool: &&ToolView<'_>| selection.grant.covers(tool.name());
        for tool in tools.iter().filter(covered) {
            let known = asked
                .iter_mut()
                .find(|known| (known.0, known.1) == (requirement, load));
            match known {
                Some(known) if known.2.iter().any(|it| it.number() == tool.number()) => {}
                Some(known) => known.2.push(*tool),
                None => asked.push((requirement, load, vec![*tool])),
            }
        }
    }
    asked
}
