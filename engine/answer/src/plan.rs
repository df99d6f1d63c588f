//! The answer to a plan.

use crate::{Diagnostic, Place};
use serde::{Deserialize, Serialize};

/// The answer to a plan.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanDecision {
    /// The verdict.
    pub verdict: PlanVerdict,
    /// The id of a plan of several steps.
    pub plan: Option<String>,
    /// Errors of texts that could not be read, and warnings. Nothing is decided without a text that
    /// has errors.
    pub diagnostics: Vec<Diagnostic>,
    /// Every problem of the plan.
    pub problems: Vec<PlanProblem>,
    /// The steps, in the order of the plan. Empty if the plan has errors.
    pub steps: Vec<Step>,
    /// The authorized plan or call, if the plan may run.
    pub authorized: Option<Authorized>,
    /// The documents that were decided against.
    pub against: Vec<DecidedAgainst>,
    /// The validation report of a plan of several steps, as JSON on several lines.
    pub report: Option<String>,
}

/// The verdict on a plan.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum PlanVerdict {
    /// A text has errors.
    #[default]
    Undecided,
    /// The plan may run.
    Allowed,
    /// The plan may not run.
    Denied,
    /// The plan calls nothing, and asks the user this question.
    NeedsMoreInfo(String),
}

/// A problem of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanProblem {
    /// The problem, with its fixes.
    pub diagnostic: Diagnostic,
    /// The number of the step's check that fails, from 0.
    pub check: Option<u32>,
}

/// A step of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The id; none for the call of a one-call plan.
    pub id: Option<String>,
    /// The title.
    pub title: Option<String>,
    /// The connector, or the server of a one-call plan.
    pub connector: String,
    /// The tool.
    pub tool: String,
    /// The driver that executes the step, such as `http`.
    pub driver: Option<String>,
    /// The place of the step in the plan.
    pub place: Place,
    /// The start of the literal input, as written in the plan.
    pub input: Option<String>,
    /// The step whose output is the input.
    pub input_from: Option<InputFrom>,
    /// The checks, in order.
    pub checks: Vec<StepCheck>,
    /// The obligations before the step runs, such as `approval`.
    pub obligations: Vec<String>,
}

/// An input that is the output of another step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputFrom {
    /// The number of the step, from 0, if it comes before this one.
    pub step: Option<u32>,
    /// The id that the plan names.
    pub id: String,
    /// The JSON pointer into the output.
    pub pointer: String,
    /// The place of the reference in the plan.
    pub place: Place,
}

/// A check of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepCheck {
    /// The subject in a word.
    pub name: String,
    /// The outcome.
    pub outcome: StepOutcome,
    /// The compared values.
    pub facts: Vec<Fact>,
}

/// The outcome of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum StepOutcome {
    /// The step passed.
    Passed,
    /// The step failed.
    Failed,
    /// The check depends on an output, so that it is made during the run.
    Deferred,
    /// An earlier failure made the check impossible.
    Skipped,
}

/// A compared value in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// A sentence or a phrase.
    pub text: String,
    /// The place of the value.
    pub place: Option<Place>,
}

/// An authorized plan or call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Authorized {
    /// The digest, in the form of an integrity.
    pub digest: String,
    /// The document as JSON.
    pub json: String,
}

/// A document that a plan was decided against.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecidedAgainst {
    /// The kind of document.
    pub document: String,
    /// The id, if there can be several documents of the kind.
    pub name: Option<String>,
    /// The digest, in the form of an integrity.
    pub digest: String,
}
