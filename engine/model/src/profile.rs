//! Instruction profiles: what a plan may use, and how much \[3\].

use super::Cap;
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
    /// `applies_to.envelope_ids`, if it says that it is for some envelopes only.
    pub envelopes: Option<Spanned<Vec<String>>>,
    /// The rules about tools, in their order.
    pub rules: Vec<Rule>,
    /// Where `caps` stands, if there are any.
    pub caps_span: Option<Span>,
    /// The caps that there are; without a value those that are none, which a finding says.
    pub caps: Vec<(Cap, Option<Spanned<u64>>)>,
    /// `input_policy`
    pub input_policy: Option<InputPolicy>,
}

/// A rule about tools.
#[derive(Debug, Clone)]
pub struct Rule {
    /// Which of `rules` it is.
    pub number: usize,
    /// `rule_id`
    pub id: String,
    /// Where it stands.
    pub span: Span,
    /// `effect`
    pub effect: Effect,
    /// `target.selector`
    pub selector: Selector,
}

/// What becomes of what a rule is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It is allowed, unless another rule denies it.
    Allow,
    /// It is denied, whatever others say.
    Deny,
    /// `warn`, `log_only`, `transform`: nothing is allowed or denied by it.
    Other,
}

/// Which tools a rule is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selector {
    /// `*`
    Every,
    /// `connector_id/tool_id`
    One(String),
    /// Another selector, or none: no tool.
    None,
}

/// What a query has to be before anybody plans for it \[1\].
#[derive(Debug)]
pub struct InputPolicy {
    /// How many bytes it may have.
    pub max_bytes: u64,
    /// What must not be found in it.
    pub deny: Vec<DenyPattern>,
}

/// What must not be found in a query.
#[derive(Debug)]
pub struct DenyPattern {
    /// As it stands in the profile.
    pub text: String,
    /// The same, compiled.
    pub pattern: TextPattern,
}

impl Profile {
    /// A cap, if the profile has it.
    pub fn cap(&self, cap: Cap) -> Option<Spanned<u64>> {
        let mut caps = self.caps.iter();
        caps.find(|(known, _)| *known == cap)?.1
    }

    /// Whether the profile has a cap, whatever it is.
    pub fn has_cap(&self, cap: Cap) -> bool {
        self.caps.iter().any(|(known, _)| *known == cap)
    }
}
