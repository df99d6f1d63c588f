//! Messages about calls that an agent makes directly, in words that it can act on.

use super::call::call_denial;
use agent_decide::CallRecord;
use agent_diagnostic::Code;
use agent_json_schema::Correction;
use agent_text::Span;

/// A reason against a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallReason {
    /// The code.
    pub code: Code,
    /// The JSON pointer to the argument that it is about, if it is about one.
    pub pointer: Option<String>,
    /// One sentence, without a final stop.
    pub text: String,
    /// What would change the decision: an imperative sentence.
    pub help: String,
}

impl CallReason {
    /// Returns a reason that is about no argument, with the usual help of its code.
    pub fn new(code: Code, text: impl Into<String>) -> Self {
        Self {
            code,
            pointer: None,
            text: text.into(),
            help: code.help().to_owned(),
        }
    }

    /// Replaces the usual help.
    #[must_use]
    pub fn help(self, help: impl Into<String>) -> Self {
        let help = help.into();
        Self { help, ..self }
    }
}

/// Returns the reasons in the record of a decision on a call of a tool.
pub fn call_reasons(records: &[CallRecord<'_>], server: &str, tool: &str) -> Vec<CallReason> {
    let nowhere = Span::default();
    let denials = records.iter().flat_map(|it| &it.denials);
    let reasons = denials.map(|denial| {
        let message = call_denial(denial, (server, nowhere), (tool, nowhere), "arguments");
        let is_of_argument = matches!(message.code, Code::ArgumentInvalid | Code::ArgumentUnknown);
        let help = match &message.correction {
            Some(Correction::Value(value)) => format!("write `{value}`"),
            _ => message.help,
        };
        CallReason {
            code: message.code,
            pointer: is_of_argument.then_some(message.pointer),
            text: message.text,
            help,
        }
    });
    reasons.collect()
}
