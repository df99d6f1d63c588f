//! A run of the plan, which the page steps through.
//!
//! A run is a function of the documents, of how it starts and of the answers so far. The page sends all of
//! them with each request and holds no run: so every answer can be taken back, a new worker goes on where the
//! old one was, and a link holds a run.

use serde::{Deserialize, Serialize};

/// How a run starts, and the outcomes of its actions so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRequest {
    /// The name of the run.
    pub run_id: String,
    /// 32 random bytes, in hexadecimal digits.
    pub random: String,
    /// The time at the start, in milliseconds since 1970.
    pub unix_ms: u64,
    /// The answers to the actions, in order. Evidence is stored without one.
    pub turns: Vec<Turn>,
    /// Whether the first example answers every further action.
    pub to_the_end: bool,
}

impl Default for RunRequest {
    fn default() -> Self {
        Self {
            run_id: "run-1".to_owned(),
            random: "07".repeat(32),
            // 2026-01-01T00:00:00Z
            unix_ms: 1_767_225_600_000,
            turns: Vec::new(),
            to_the_end: false,
        }
    }
}

/// An answer to an action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// The name of the action.
    pub action: String,
    /// The kind of the outcome.
    pub kind: OutcomeKind,
    /// The texts of the fields, in the order of the [`Form`].
    pub fields: Vec<String>,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
}

/// What can come of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum OutcomeKind {
    /// The run is cancelled instead.
    Cancelled,
    /// The effect failed: kind, message.
    Failed,
    /// A program or server failed after its start: kind, message, standard error.
    Aborted,
    /// A decision of the user: yes or no, and the person.
    Decided,
    /// The addresses of a host, one a line.
    Addresses,
    /// A handler returned: output, log.
    Returned,
    /// A handler failed: kind, message, log.
    HandlerFailed,
    /// A handler asks for an HTTP request: method, URL, headers one a line, body, log.
    WantsRequest,
    /// A handler asks for a program: path, arguments one a line, standard input, log.
    WantsProgram,
    /// A handler asks for its tool: arguments, log.
    WantsTool,
    /// A response: status, content type, body.
    Response,
    /// A program ended: exit code, standard output, standard error.
    Exited,
    /// A server is ready: version of the protocol.
    Opened,
    /// The answer of a server or a planner.
    Received,
}

/// A way to answer an action: an example, in fields that can be edited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Form {
    /// The example in a few words.
    pub title: String,
    /// The kind of the outcome.
    pub kind: OutcomeKind,
    /// The fields.
    pub fields: Vec<Field>,
}

/// A field of a form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    /// Its name.
    pub label: String,
    /// The text of the example.
    pub value: String,
    /// How it is entered.
    pub input: FieldInput,
}

/// How a field is entered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum FieldInput {
    /// A text in one line.
    Line,
    /// A text in several lines.
    Text,
    /// One of these.
    Choice(Vec<String>),
}

/// A run after the answers so far.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunView {
    /// Why there is no run.
    pub refused: Option<String>,
    /// The actions that were answered, in order, evidence aside.
    pub past: Vec<PastAction>,
    /// The answers that the run took: those of the request, as far as they fit, and those of examples.
    pub turns: Vec<Turn>,
    /// Why the last answer of the request was not taken.
    pub mistake: Option<String>,
    /// The action that the run wants now.
    pub wanted: Option<WantedAction>,
    /// The parts of the lifecycle.
    pub stages: Vec<StageGroup>,
    /// The evidence so far, in the order in which it was first stored.
    pub files: Vec<EvidenceFile>,
    /// The number of episodes.
    pub episodes: u32,
    /// The digest of the last line of the chain.
    pub head: Option<String>,
    /// The time of the run's clock since its start, in milliseconds.
    pub elapsed_ms: u64,
    /// The end of the run.
    pub end: Option<RunEnd>,
}

/// An action that was answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PastAction {
    /// What the run asked for, in words.
    pub title: String,
    /// The outcome in words.
    pub outcome: String,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
}

/// An action that the run wants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WantedAction {
    /// Its name in evidence.
    pub name: String,
    /// What is wanted, in words.
    pub title: String,
    /// The facts, each with its name.
    pub facts: Vec<(String, String)>,
    /// Ways to answer. The first is what a host usually answers.
    pub forms: Vec<Form>,
}

/// A part of the lifecycle, or the parts of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageGroup {
    /// The name of the step; `None` for a part of the whole run.
    pub step: Option<String>,
    /// The parts.
    pub stages: Vec<Stage>,
}

/// A part of the lifecycle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stage {
    /// Its number, such as `5a`.
    pub number: String,
    /// What happens there.
    pub title: String,
    /// How far it came.
    pub outcome: StageOutcome,
}

/// How far a part of the lifecycle came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum StageOutcome {
    /// The run may still reach it.
    Ahead,
    /// The run is there.
    Present,
    /// Nothing was found against the run.
    Passed,
    /// The run ends because of it, with this code.
    Failed(String),
    /// The run ended before.
    Skipped,
}

/// A file of evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvidenceFile {
    /// The path below the folder of the run.
    pub path: String,
    /// The content.
    pub content: String,
    /// The number of answers before it was last stored.
    pub stored_after: u32,
}

/// The end of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunEnd {
    /// `completed`, `failed` or `cancelled`.
    pub status: String,
    /// The stable code, unless the run is completed.
    pub code: Option<String>,
    /// What happened, in a sentence.
    pub message: String,
    /// The folder of the evidence.
    pub directory: String,
    /// Whether all evidence was stored.
    pub evidence_complete: bool,
    /// The run and its steps, for people.
    pub text: String,
}
