//! The reasons to deny a plan or a step.

use super::input::InputDenial;
use super::record::StepCheck;
use crate::call_record::CallDenial;
use agent_json_schema::{OverBudget, Types};
use agent_model::Cap;
use agent_text::Span;

/// The denial of a plan or a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanDenial<'a> {
    /// The number of the step; none if the reason is about the plan.
    pub step: Option<usize>,
    /// The reason.
    pub reason: PlanReason<'a>,
}

/// A reason to deny a plan or a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanReason<'a> {
    /// The plan was made for another document.
    OtherDocument(ReferenceMismatch<'a>),
    /// The profile is not in force, by this status.
    Inactive(&'a str),
    /// The profile lists its envelopes, without that of plans.
    OtherEnvelopes,
    /// The profile does not set this cap.
    CapMissing(Cap),
    /// The plan has more steps than the cap.
    TooManySteps {
        /// The cap.
        cap: u64,
    },
    /// The pool has no such connector.
    NoConnector {
        /// Similar names.
        nearest: Vec<&'a str>,
    },
    /// The connector has no such tool.
    NoTool {
        /// Similar names.
        nearest: Vec<&'a str>,
    },
    /// No rule allows the tool.
    NoRule,
    /// The rule of this number, among the profile's rules about tools, denies the tool.
    RuleDenies(usize),
    /// A limit of the binding is above the cap.
    AboveCap {
        /// The number of the binding in the pool's text.
        binding: usize,
        /// The name of the limit.
        limit: &'static str,
        /// The limit.
        value: u64,
        /// The place of the limit in the pool.
        span: Span,
        /// The cap.
        cap: Cap,
        /// The value of the cap.
        most: u64,
    },
    /// There is no index, which must contain the locked server.
    NoIndex,
    /// The lock, the index, the catalogue or a schema of the tool denies the call.
    Server(CallDenial<'a>),
    /// The lock has several versions of the server, and the binding names none.
    SeveralVersions {
        /// The number of the binding in the pool's text.
        binding: usize,
        /// The versions.
        versions: Vec<&'a str>,
    },
    /// The server's endpoint is not among the destinations.
    ServerElsewhere {
        /// The endpoint.
        endpoint: &'a str,
    },
    /// A literal input is refused.
    Input(InputDenial<'a>),
    /// The output of an earlier step can't be the input.
    Flow(FlowMismatch<'a>),
    /// The step names an unknown schema.
    NoSchema {
        /// `input_schema_ref` or `output_schema_ref`.
        member: &'static str,
        /// The name.
        name: &'a str,
        /// The place of the name.
        span: Span,
    },
}

impl PlanReason<'_> {
    /// Returns the check of a step that this reason fails.
    pub fn check(&self) -> Option<StepCheck> {
        Some(match self {
            Self::NoConnector { .. } | Self::NoTool { .. } => StepCheck::Pool,
            Self::NoRule | Self::RuleDenies(_) => StepCheck::Rules,
            Self::Server(
                CallDenial::OtherPolicy(_)
                | CallDenial::Policy(_)
                | CallDenial::PolicyNotAsked
                | CallDenial::HistoryUnknown,
            ) => StepCheck::Policy,
            Self::NoIndex | Self::Server(_) | Self::SeveralVersions { .. } => StepCheck::Lock,
            Self::ServerElsewhere { .. } | Self::Input(InputDenial::Destination { .. }) => {
                StepCheck::Destination
            }
            Self::AboveCap { .. } => StepCheck::Limits,
            Self::Input(_) | Self::Flow(_) | Self::NoSchema { .. } => StepCheck::Input,
            Self::OtherDocument(_)
            | Self::Inactive(_)
            | Self::OtherEnvelopes
            | Self::CapMissing(_)
            | Self::TooManySteps { .. } => return None,
        })
    }
}

/// A reason why a part of an output can't be the input of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FlowMismatch<'a> {
    /// The output has no such part.
    NoSuchPart {
        /// The step with the output.
        step: &'a str,
        /// The pointer to the part.
        pointer: &'a str,
        /// The only pointer to a declared part that it is a slip of.
        nearest: Option<String>,
        /// The place of the pointer.
        span: Span,
    },
    /// The part has another type.
    Type {
        /// The step with the output.
        step: &'a str,
        /// The types of the part.
        is: Types,
        /// The types of the input.
        wanted: Types,
        /// The place of `input_from`.
        span: Span,
    },
    /// The part lacks a required property of the input.
    NoProperty {
        /// The step with the output.
        step: &'a str,
        /// The name of the property.
        name: String,
        /// The place of `input_from`.
        span: Span,
    },
    /// The part is a literal that the consumer refuses.
    Input {
        /// The step with the output.
        step: &'a str,
        /// The reason.
        denial: InputDenial<'a>,
        /// The place of `input_from`.
        span: Span,
    },
    /// The comparison exceeds the budget.
    OverBudget {
        /// The exceeded limit.
        over: OverBudget,
        /// The place of `input_from`.
        span: Span,
    },
}

/// A member of a plan or a request that names another document than the given one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReferenceMismatch<'a> {
    /// The kind of document.
    pub document: Referred,
    /// The member.
    pub member: &'static str,
    /// The place of its value.
    pub span: Span,
    /// Its value.
    pub said: &'a str,
    /// The required value; none if the document has no such member.
    pub is: Option<&'a str>,
    /// The documents that disagree.
    pub between: Between,
}

/// Two documents that disagree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Between {
    /// The plan and the named document.
    PlanAndDocument,
    /// The plan and its request.
    PlanAndRequest,
    /// The request and the named document. The request counts even where the plan is silent, because
    /// the plan comes from an untrusted planner.
    RequestAndDocument,
}

/// A document that a plan names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Referred {
    /// The request.
    Request,
    /// The tool pool.
    ToolPool,
    /// The instruction profile.
    Profile,
}

impl Referred {
    /// Returns the member of a plan that names the document.
    pub fn member(self) -> &'static str {
        match self {
            Self::Request => "request_id",
            Self::ToolPool => "tool_pool_ref",
            Self::Profile => "instruction_profile_ref",
        }
    }

    /// Returns the submembers for the id and the version.
    pub(super) fn members(self) -> (&'static str, &'static str) {
        match self {
            Self::ToolPool => ("pool_id", "pool_version"),
            Self::Request | Self::Profile => ("profile_id", "profile_version"),
        }
    }
}
