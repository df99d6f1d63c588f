//! Sequential plans and the requests that they answer \[3\].

use agent_text::{Span, Spanned};

/// What another document is referred to by.
#[derive(Debug, Clone)]
pub struct DocumentRef {
    /// `pool_id` or `profile_id`
    pub id: Spanned<String>,
    /// `pool_version` or `profile_version`
    pub version: Option<Spanned<String>>,
    /// The digest of the RFC 8785 form of the whole document.
    pub digest: Option<Spanned<String>>,
}

/// `env.mova_agent_plan_v1`: steps, one after the other. There is no loop, no condition and no
/// expression.
#[derive(Debug, Clone)]
pub struct Plan {
    /// `plan_id`
    pub id: Spanned<String>,
    /// `request_id`
    pub request: Spanned<String>,
    /// `tool_pool_ref`
    pub pool: DocumentRef,
    /// `instruction_profile_ref`
    pub profile: DocumentRef,
    /// At least one.
    pub steps: Vec<PlanStep>,
}

/// One call of one tool.
#[derive(Debug, Clone)]
pub struct PlanStep {
    /// The object that it stands in.
    pub span: Span,
    /// `title`, for people: it decides nothing.
    pub title: Option<String>,
    /// `step_id`; no other step has it.
    pub id: Spanned<String>,
    /// `connector_id`
    pub connector: Spanned<String>,
    /// `tool_id`
    pub tool: Spanned<String>,
    /// What is given to the tool.
    pub input: Input,
    /// `input_schema_ref`
    pub input_schema: Option<Spanned<String>>,
    /// `output_schema_ref`
    pub output_schema: Option<Spanned<String>>,
}

/// What a step gives to its tool.
#[derive(Debug, Clone)]
pub enum Input {
    /// `input`: the value that stands there.
    Literal(Span),
    /// `input_from`: a part of what an earlier step gave.
    From {
        /// The number of that step, which is smaller than that of this one.
        step: usize,
        /// Which part, as a JSON pointer.
        pointer: Spanned<String>,
        /// Where `input_from` stands.
        span: Span,
    },
    /// It refers to no earlier step. The plan is refused; the rest of the step is looked at all
    /// the same, so that everything is told at once.
    Refused,
}

/// `env.mova_agent_request_v1`, as much of it as plans are decided by.
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
