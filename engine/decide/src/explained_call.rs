//! The answer of a policy to one call, explained.

use super::policy_decision::{PolicyDecision, PolicyFact};
use agent_text::Place;

/// The answer of a policy to a call, for one requirement that its tool may be locked for.
#[derive(Debug, Clone)]
pub struct ExplainedCall {
    /// The id of the tool: `server@version/tool`.
    pub tool: String,
    /// The requirement, such as `read:fs`.
    pub requirement: String,
    /// The answer.
    pub decision: PolicyDecision,
    /// Every definition of a rule with a body, in the order of the text.
    pub rules: Vec<ExplainedRule>,
    /// The comparisons that decided against the tool.
    pub facts: Vec<PolicyFact>,
    /// The input, as JSON.
    pub input: String,
}

/// A definition of a rule in an answer.
#[derive(Debug, Clone)]
pub struct ExplainedRule {
    /// The name.
    pub name: String,
    /// The place of the name.
    pub place: Place,
    /// Whether it is a function, which has no value of its own.
    pub is_function: bool,
    /// The value of the rule as JSON, with all of its definitions. `None` if it is undefined, or a function.
    pub value: Option<String>,
    /// Whether a body of this definition held.
    pub holds: bool,
    /// Whether it allows or denies the tool.
    pub decides: bool,
}

impl ExplainedCall {
    /// Returns whether the tool is allowed.
    pub fn is_allowed(&self) -> bool {
        self.decision.allows(&self.tool)
    }

    /// Returns why the tool is denied.
    pub fn reason(&self) -> Option<String> {
        self.decision.denial(&self.tool)
    }
}
