//! The answer to a query \[1, step 9\].

use super::stop::Stop;
use super::styled::Styled;
use agent_api::decide::CallResult;
use agent_api::plan::RunProblem;
use agent_api::render::{Style, StyledSpan};
use agent_record::Redactor;
use agent_syntax::Value;
use agent_syntax::json::{Writer, parse_strict};
use agent_syntax::members::{member, string};

/// The answer to a query.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) result: CallResult,
    /// The planner's plan, as it was received, if it is UTF-8.
    pub(crate) plan: Option<String>,
    /// The payload of the tool: JSON without secrets.
    pub(crate) payload: Option<String>,
    /// The summary, if all its claims have evidence: JSON.
    pub(crate) summary: Option<String>,
    /// The question to the user.
    pub(crate) question: Option<String>,
    pub(crate) problems: Vec<Problem>,
}

/// Why nothing was called, why the call failed, or why there is no summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) code: &'static str,
    pub(crate) message: String,
}

impl Default for Answer {
    fn default() -> Self {
        Self {
            result: CallResult::Blocked,
            plan: None,
            payload: None,
            summary: None,
            question: None,
            problems: Vec::new(),
        }
    }
}

impl From<&RunProblem> for Problem {
    fn from((code, message): &RunProblem) -> Self {
        Self {
            code: code.name(),
            message: message.clone(),
        }
    }
}

impl From<&Stop> for Problem {
    fn from(stop: &Stop) -> Self {
        Self {
            code: stop.reason.unwrap_or(stop.code).name(),
            message: stop.message.clone(),
        }
    }
}

impl Answer {
    /// Returns the answer of a run that ends before anything is called.
    pub(crate) fn blocked(stop: Stop) -> (Self, Stop) {
        let answer = Self {
            problems: vec![Problem::from(&stop)],
            ..Self::default()
        };
        (answer, stop)
    }

    /// Returns the answer of a call that failed.
    pub(crate) fn failed(self, stop: &Stop) -> Self {
        Self {
            result: CallResult::Error,
            problems: vec![Problem::from(stop)],
            ..self
        }
    }

    /// Returns the answer as JSON that ends with a newline.
    pub(crate) fn json(&self, redactor: &Redactor) -> String {
        let mut w = Writer::pretty();
        w.object(|w| {
            if let Some(payload) = &self.payload {
                w.key("payload").json(payload);
            }
            if let Some(plan) = &self.plan {
                match redactor.json(plan) {
                    Some(json) => w.key("plan").json(&json),
                    None => w.key("plan").string(&redactor.text(plan)),
                }
            }
            w.key("problems").array(|w| {
                for problem in &self.problems {
                    w.object(|w| {
                        w.key("code").string(problem.code);
                        w.key("message").string(&redactor.text(&problem.message));
                    });
                }
            });
            if let Some(question) = &self.question {
                w.key("question").string(&redactor.text(question));
            }
            w.key("result").string(self.result.name());
            if let Some(summary) = &self.summary {
                let json = redactor.json(summary);
                w.key("summary").json(&json.unwrap_or_default());
            }
        });
        w.finish()
    }

    /// Returns the answer for people, with its problems unless diagnostics say more about them.
    pub(crate) fn text(&self, redactor: &Redactor, with_problems: bool) -> Vec<StyledSpan> {
        let mut lines = Styled::default();
        let (style, mark) = match self.result {
            CallResult::ToolResult | CallResult::ToolResultWithSummary => (Style::Accepted, "✓ "),
            CallResult::NeedsMoreInfo => (Style::Warning, "? "),
            CallResult::Blocked | CallResult::Error => (Style::Rejected, "✗ "),
        };
        lines.put(style, mark);
        lines.put(Style::Heading, self.result.name());
        lines.end();
        if let Some(question) = &self.question {
            lines.block(Style::Plain, &redactor.text(question));
        }
        for problem in self.problems.iter().filter(|_| with_problems) {
            lines.put(Style::Plain, "  ");
            lines.put(Style::Code, problem.code);
            lines.put(Style::Plain, "  ");
            lines.put(Style::Plain, &redactor.text(&problem.message));
            lines.end();
        }
        if let Some(summary) = &self.summary {
            for (claim, evidence) in claims(summary) {
                lines.block(Style::Plain, &redactor.text(&claim));
                lines.put(Style::Dim, "    evidence: ");
                lines.put(Style::Dim, &redactor.text(&evidence));
                lines.end();
            }
        } else if let Some(payload) = &self.payload {
            for text in texts(payload) {
                lines.block(Style::Plain, &text);
            }
        }
        lines.0
    }
}

/// Returns the texts of a payload for people: those of its text blocks, or its structured content.
fn texts(payload: &str) -> Vec<String> {
    let Some(root) = parse_strict(payload) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    if let Some(Value::Sequence(blocks)) = member(&root, "content").map(|it| &it.value) {
        let texts = blocks.iter().filter_map(|it| string(member(it, "text")?));
        found.extend(texts.map(str::to_owned));
    }
    if found.is_empty()
        && let Some(content) = member(&root, "structuredContent")
    {
        found.push(content.span.of(payload).to_owned());
    }
    found
}

/// Returns the claims of a summary with their evidence.
fn claims(summary: &str) -> Vec<(String, String)> {
    let root = parse_strict(summary);
    let items = root.as_ref().and_then(|root| member(root, "items"));
    let Some(Value::Sequence(items)) = items.map(|it| &it.value) else {
        return Vec::new();
    };
    let text = |item, name| Some(string(member(item, name)?)?.to_owned());
    let claims = items.iter();
    claims
        .filter_map(|it| Some((text(it, "claim")?, text(it, "evidence")?)))
        .collect()
}
