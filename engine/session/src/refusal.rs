//! Refusals: results of tools that a model can act on, and that say the same for programs.

use super::client::Generation;
use super::elicitation;
use agent_api::diagnostic::Code;
use agent_api::explain::CallReason;
use agent_record::Redactor;
use agent_syntax::json::Writer;

/// The key of `_meta` of a result that a session gives instead of a server's. Its value:
///
/// | member | value |
/// |---|---|
/// | `approval` | the id of the approval that the call needs, if it needs one |
/// | `code` | the code of the first reason |
/// | `instead` | names that may be called instead |
/// | `reasons` | all reasons: `{code, help, text}`, and `pointer` to an argument if one is about it |
/// | `retryAfterMs` | when to try again, if time alone changes the decision |
pub const REFUSAL_KEY: &str = "io.github.agent-engine/refusal";

/// The key of `_meta` of every answer to a call: whether the call had an effect, as far as the session knows. Its values
/// are `none`, `done` and `unknown`.
pub const EFFECT_KEY: &str = "io.github.agent-engine/effect";

/// The key of `_meta` of a result in place of a server's error of JSON-RPC: `{code, data?, message}`.
pub const ERROR_KEY: &str = "io.github.agent-engine/error";

/// Whether a call had an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// It was not sent.
    None,
    /// A result without an error came, also where a client does not get it.
    Done,
    /// There is no answer, or one with an error.
    Unknown,
}

impl Effect {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Done => "done",
            Self::Unknown => "unknown",
        }
    }
}

/// The key of `_meta` of a server's result in a session that only observes: `{codes}`, the reasons that
/// would have refused the call.
pub const OBSERVED_KEY: &str = "io.github.agent-engine/observed";

/// The prefix of the keys above, which no server may use.
pub(crate) const OWN_PREFIX: &str = "io.github.agent-engine/";

/// A refusal of a call or of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// What is refused, such as `the call of ...`.
    pub(crate) what: String,
    /// At least one.
    pub(crate) reasons: Vec<CallReason>,
    /// Names that may be called instead.
    pub(crate) instead: Vec<String>,
    pub(crate) retry_after_ms: Option<u64>,
    /// The id of the approval that is needed.
    pub(crate) approval: Option<String>,
    /// The definition of a tool that was called with invalid arguments.
    pub(crate) definition: Option<String>,
    pub(crate) effect: Effect,
    /// The server's error of JSON-RPC, as JSON.
    pub(crate) error: Option<String>,
}

impl Refusal {
    pub(crate) fn new(what: String, reasons: Vec<CallReason>) -> Self {
        Self {
            what,
            reasons,
            instead: Vec::new(),
            retry_after_ms: None,
            approval: None,
            definition: None,
            effect: Effect::None,
            error: None,
        }
    }

    /// Returns the codes of the reasons.
    pub(crate) fn codes(&self) -> Vec<Code> {
        self.reasons.iter().map(|it| it.code).collect()
    }

    /// Returns the result of the tool.
    pub(crate) fn result(&self, generation: Generation, redactor: &Redactor) -> Vec<u8> {
        let texts: Vec<_> = [Some(self.text()), self.definition.clone()]
            .into_iter()
            .flatten()
            .collect();
        result(&texts, true, &|w| self.write_meta(w), generation, redactor)
    }

    /// Returns a result with which the client repeats the call, after it has asked its human with the parameters of
    /// `elicitation/create`, if there are any.
    pub(crate) fn input_required(
        &self,
        state: &str,
        question: Option<&str>,
        redactor: &Redactor,
    ) -> Vec<u8> {
        let members = |w: &mut Writer| {
            w.key("_meta").object(|w| self.write_meta(w));
            if let Some(question) = question {
                w.key("inputRequests").object(|w| {
                    w.key(elicitation::REQUEST).object(|w| {
                        w.key("method").string("elicitation/create");
                        w.key("params").json(question);
                    });
                });
            }
        };
        input_required(state, members, redactor)
    }

    fn write_meta(&self, w: &mut Writer) {
        w.key(EFFECT_KEY).string(self.effect.name());
        if let Some(error) = &self.error {
            w.key(ERROR_KEY).json(error);
        }
        w.key(REFUSAL_KEY).object(|w| self.write(w));
    }

    /// Returns the refusal for a model. What was sent is not said to be refused.
    fn text(&self) -> String {
        let mut text = match self.effect {
            Effect::None => format!("{} is refused.", self.what),
            Effect::Done | Effect::Unknown => format!("{}.", self.what),
        };
        for reason in &self.reasons {
            let help = reason.help.trim_end_matches('.');
            text.push_str(&format!(
                "\n{}: {}.\n  help: {help}.",
                reason.code.name(),
                reason.text
            ));
        }
        if !self.instead.is_empty() {
            let names: Vec<_> = self.instead.iter().map(|it| format!("`{it}`")).collect();
            text.push_str(&format!("\nCall instead: {}.", names.join(", ")));
        }
        if let Some(ms) = self.retry_after_ms {
            text.push_str(&format!("\nTry again in {} s.", ms.div_ceil(1000)));
        }
        if let Some(approval) = &self.approval {
            text.push_str(&format!("\nApproval: {approval}."));
        }
        if self.definition.is_some() {
            text.push_str("\nThe definition of the tool follows.");
        }
        text
    }

    pub(crate) fn write(&self, w: &mut Writer) {
        if let Some(approval) = &self.approval {
            w.key("approval").string(approval);
        }
        let code = self.reasons.first().map(|it| it.code.name());
        w.key("code").optional(code);
        w.key("instead")
            .strings(self.instead.iter().map(|it| &**it));
        write_reasons(w.key("reasons"), &self.reasons, true);
        if let Some(ms) = self.retry_after_ms {
            w.key("retryAfterMs").json(&ms.to_string());
        }
    }
}

/// Writes reasons as an array.
pub(crate) fn write_reasons(w: &mut Writer, reasons: &[CallReason], with_help: bool) {
    w.array(|w| {
        for reason in reasons {
            w.object(|w| {
                w.key("code").string(reason.code.name());
                if with_help {
                    w.key("help").string(&reason.help);
                }
                if let Some(pointer) = &reason.pointer {
                    w.key("pointer").string(pointer);
                }
                w.key("text").string(&reason.text);
            });
        }
    });
}

/// Returns a result of `tools/call` with these texts.
pub(crate) fn result(
    texts: &[String],
    is_error: bool,
    meta: &dyn Fn(&mut Writer),
    generation: Generation,
    redactor: &Redactor,
) -> Vec<u8> {
    let mut w = Writer::dense();
    w.object(|w| {
        w.key("_meta").object(|w| meta(w));
        w.key("content").array(|w| {
            for text in texts {
                w.object(|w| {
                    w.key("text").string(text);
                    w.key("type").string("text");
                });
            }
        });
        if is_error {
            w.key("isError").bool(true);
        }
        if generation == Generation::Stateless {
            w.key("resultType").string("complete");
        }
    });
    let mut text = w.finish();
    text.pop();
    // The writer writes JSON.
    redactor.json(&text).unwrap_or_default().into_bytes()
}

/// Returns an `input_required` result of MCP 2026-07-28, with members before its own: the client repeats the call
/// with its `requestState`.
pub(crate) fn input_required(
    state: &str,
    members: impl FnOnce(&mut Writer),
    redactor: &Redactor,
) -> Vec<u8> {
    let mut w = Writer::dense();
    w.object(|w| {
        members(w);
        w.key("requestState").string(state);
        w.key("resultType").string("input_required");
    });
    let mut text = w.finish();
    text.pop();
    // The writer writes JSON.
    redactor.json(&text).unwrap_or_default().into_bytes()
}
