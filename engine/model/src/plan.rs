//! Sequential plans and their requests \[3\].

use agent_text::{Span, Spanned};

/// A reference to another document.
#[derive(Debug, Clone)]
pub struct DocumentRef {
    /// `pool_id` or `profile_id`
    pub id: Spanned<String>,
    /// `pool_version` or `profile_version`
    pub version: Option<Spanned<String>>,
    /// The digest of the RFC 8785 form of the whole document.
    pub digest: Option<Spanned<String>>,
}

/// `env.mova_agent_plan_v1`: consecutive steps, without loops, conditions and expressions.
#[derive(Debug, Clone)]
pub struct Plan {
    /// `plan_id`; `None` if a finding reports it.
    pub id: Option<Spanned<String>>,
    /// `request_id`; `None` if a finding reports it.
    pub request: Option<Spanned<String>>,
    /// `tool_pool_ref`; `None` if a finding reports it.
    pub pool: Option<DocumentRef>,
    /// `instruction_profile_ref`; `None` if a finding reports it.
    pub profile: Option<DocumentRef>,
    /// The steps; a plan without any has a finding.
    pub steps: Vec<PlanStep>,
}

/// One call of one tool.
#[derive(Debug, Clone)]
pub struct PlanStep {
    /// The place of its object.
    pub span: Span,
    /// `title`, for people: it decides nothing.
    pub title: Option<String>,
    /// `step_id`, unique in the plan; empty if a finding reports it.
    pub id: Spanned<String>,
    /// `connector_id`; empty if a finding reports it.
    pub connector: Spanned<String>,
    /// `tool_id`; empty if a finding reports it.
    pub tool: Spanned<String>,
    /// Whether a finding reports the connector or the tool. No binding is sought then.
    pub is_refused: bool,
    /// The input of the tool.
    pub input: Input,
    /// `input_schema_ref`
    pub input_schema: Option<Spanned<String>>,
    /// `output_schema_ref`
    pub output_schema: Option<Spanned<String>>,
}

/// The input of a step.
#[derive(Debug, Clone)]
pub enum Input {
    /// `input`: a literal value, by its place.
    Literal(Span),
    /// `input_from`: a part of an earlier step's output.
    From {
        /// The number of that step, smaller than the number of this one.
        step: usize,
        /// The part, as a JSON pointer.
        pointer: Spanned<String>,
        /// The place of `input_from`.
        span: Span,
    },
    /// It does not refer to an earlier step. The plan is refused, but the rest of the step is still
    /// checked, so that one answer reports everything.
    Refused,
}

/// `env.mova_agent_request_v1`: the members that influence decisions about plans.
#[derive(Debug, Clone)]
pub struct Request {
    /// `request_id`
    pub id: Spanned<String>,
    /// `tool_pool_ref`
    pub pool: DocumentRef,
    /// `instruction_profile_ref`
    pub profile: DocumentRef,
    /// The digest of its RFC 8785 form.
    pub digest: String,
}
