//! Instruction profiles: the tools that a plan may use, and its limits \[3\].

use super::tool_pool::Cap;
use agent_json_schema::TextPattern;
use agent_text::{Span, Spanned};

/// MOVA's `ds.instruction_profile_core_v1`, with `caps` and `input_policy`.
#[derive(Debug)]
pub struct Profile {
    /// `profile_id`
    pub id: String,
    /// `profile_version`
    pub version: Option<String>,
    /// The digest of its RFC 8785 form.
    pub digest: String,
    /// `status`; only `active` counts.
    pub status: Spanned<String>,
    /// `applies_to.envelope_ids`, if the profile applies to some envelopes only.
    pub envelopes: Option<Spanned<Vec<String>>>,
    /// The rules about tools, in their order.
    pub rules: Vec<Rule>,
    /// The place of `caps`, if the profile has it.
    pub caps_span: Option<Span>,
    /// The caps; without a value if it is invalid, which a finding reports.
    pub caps: Vec<(Cap, Option<Spanned<u64>>)>,
    /// `input_policy`
    pub input_policy: Option<InputPolicy>,
}

/// A rule about tools.
#[derive(Debug, Clone)]
pub struct Rule {
    /// The position in `rules`.
    pub number: usize,
    /// `rule_id`
    pub id: String,
    /// The place of the rule.
    pub span: Span,
    /// `effect`
    pub effect: Effect,
    /// `target.selector`
    pub selector: Selector,
}

/// The effect of a rule on its tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Allowed, unless another rule denies.
    Allow,
    /// Denied, whatever other rules have.
    Deny,
    /// `warn`, `log_only`, `transform`, which neither allow nor deny.
    Other,
}

/// The tools that a rule covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selector {
    /// `*`
    Every,
    /// `connector_id/tool_id`
    One(String),
    /// No tool, because the selector is another one or absent.
    None,
}

/// The conditions for queries to plan for \[1\].
#[derive(Debug)]
pub struct InputPolicy {
    /// Maximum size of a query, in bytes.
    pub max_bytes: u64,
    /// Patterns that must not match a query.
    pub deny: Vec<DenyPattern>,
}

/// A pattern that must not match a query.
#[derive(Debug)]
pub struct DenyPattern {
    /// The pattern as written.
    pub text: String,
    /// The compiled pattern.
    pub pattern: TextPattern,
}

impl Profile {
    /// Returns a cap, if the profile has a valid one.
    pub fn cap(&self, cap: Cap) -> Option<Spanned<u64>> {
        let mut caps = self.caps.iter();
        caps.find(|(known, _)| *known == cap)?.1
    }

    /// Returns whether the profile has a cap, valid or not.
    pub fn has_cap(&self, cap: Cap) -> bool {
        self.caps.iter().any(|(known, _)| *known == cap)
    }
}
