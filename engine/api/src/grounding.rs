//! Does a summary quote what a payload says \[1\]?

use agent_decide::{Grounding, ground};
use agent_diagnostic::Diagnostic;
use agent_explain::ungrounded;
use agent_model::{Payload, Summary};
use agent_render::{StyledSpan, grounding, grounding_json};

/// The answer to a summary.
#[derive(Debug)]
pub struct GroundingAnswer<'a>(Grounding<'a>);

impl<'a> GroundingAnswer<'a> {
    /// Looks for the evidence of every claim.
    pub fn new(summary: &'a Summary, payload: &'a Payload) -> Self {
        Self(ground(summary, payload))
    }

    /// Returns the verdict on each claim.
    pub fn grounding(&self) -> &Grounding<'a> {
        &self.0
    }

    /// Returns an error for each claim without evidence, with its fix.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        ungrounded(&self.0)
    }

    /// Returns the answer as JSON that ends with a newline.
    pub fn json(&self) -> String {
        grounding_json(&self.0)
    }

    /// Returns the answer for people.
    pub fn text(&self) -> Vec<StyledSpan> {
        grounding(&self.0)
    }
}
