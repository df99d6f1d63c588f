//! What a planner gets.

use crate::error::{PlannerError, PlannerErrorKind};
use crate::redaction::Redaction;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A request to a planner, as the engine makes it. Members that are JSON keep the characters of the
/// engine.
#[derive(Debug, Clone)]
pub enum PlannerRequest {
    /// For a plan of several steps.
    Steps(StepsRequest),
    /// For a plan of one call.
    Call(CallRequest),
    /// For a summary of a payload.
    Summary(SummaryRequest),
    /// For a file plan.
    Files(FilesRequest),
}

/// The member that distinguishes requests for a planner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// A plan of several steps.
    Steps,
    /// A plan of one call.
    Call,
    /// A summary.
    Summary,
    /// A file plan.
    Files,
}

#[derive(Deserialize)]
struct OfTask {
    task: Task,
}

/// A request for a plan of several steps.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepsRequest {
    /// [`Task::Steps`]
    pub task: Task,
    /// What is wanted, in the words of the requester.
    pub goal: String,
    /// Facts in addition to the goal. Data: nothing of it is executed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<Box<RawValue>>,
    /// The catalogue, in the order of the tool pool.
    pub tools: Vec<Tool>,
    /// The tool pool that the plan is for.
    pub tool_pool_ref: Box<RawValue>,
    /// The instruction profile that the plan is for.
    pub instruction_profile_ref: Box<RawValue>,
    /// The request that the plan answers.
    pub request_id: String,
    /// The JSON Schema of a plan.
    pub schema: Box<RawValue>,
}

/// A request for a plan of one call, or for a question to the user.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallRequest {
    /// [`Task::Call`]
    pub task: Task,
    /// The user's query.
    pub query: String,
    /// The tools that may be called.
    pub tools: Vec<CallableTool>,
    /// The JSON Schema of a plan.
    pub schema: Box<RawValue>,
}

/// A request for a summary, whose claims need evidence.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SummaryRequest {
    /// [`Task::Summary`]
    pub task: Task,
    /// The user's query.
    pub query: String,
    /// The payload of the tool. Data: nothing of it is an instruction.
    pub payload: Box<RawValue>,
    /// The JSON Schema of a summary.
    pub schema: Box<RawValue>,
}

/// A request for a file plan \[2, 2.1\].
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FilesRequest {
    /// [`Task::Files`]
    pub task: Task,
    /// What is wanted, in the words of the requester.
    pub prompt: String,
    /// The languages that the requester wants, the preferred one first; none for any.
    #[serde(default)]
    pub languages: Vec<String>,
    /// The packages that the app may depend on; `None` if the request does not say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deps_allowlist: Option<Vec<String>>,
    /// The port at which the app should listen if it can't read `PORT`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port_hint: Option<u16>,
    /// What to change of an app that was made for the prompt; `None` for a new app.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
    /// The files of the app that is to be changed. Data: nothing of them is an instruction.
    #[serde(default)]
    pub present: Vec<PresentFile>,
    /// The JSON Schema of a file plan.
    pub schema: Box<RawValue>,
}

/// A file of an app that is to be changed.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PresentFile {
    /// Its path within the app.
    pub path: String,
    /// Its text.
    pub content: String,
}

/// A tool that the one call may name.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallableTool {
    /// The id of its server.
    pub server: String,
    /// The name.
    pub tool: String,
    /// The tool's description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The JSON Schema of arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_schema: Option<Box<RawValue>>,
}

/// A tool that a step of the plan can call.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// The connector, as the tool pool names it.
    pub connector_id: String,
    /// The tool of the connector, as the tool pool names it.
    pub tool_id: String,
    /// What the tool does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What executes the tool: `http`, `mcp_proxy`, `noop` or `restricted_shell`.
    pub driver_kind: String,
    /// The JSON Schema of inputs, if the tool pool has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_schema: Option<Box<RawValue>>,
}

impl PlannerRequest {
    /// Reads a request.
    ///
    /// # Errors
    ///
    /// [`PlannerErrorKind::InvalidRequest`] when the bytes are not a JSON object with exactly the
    /// members of its task. The optional ones may be missing or `null`.
    pub fn from_json(bytes: &[u8]) -> Result<Self, PlannerError> {
        let read = || {
            let OfTask { task } = serde_json::from_slice(bytes)?;
            Ok(match task {
                Task::Steps => Self::Steps(serde_json::from_slice(bytes)?),
                Task::Call => Self::Call(serde_json::from_slice(bytes)?),
                Task::Summary => Self::Summary(serde_json::from_slice(bytes)?),
                Task::Files => Self::Files(serde_json::from_slice(bytes)?),
            })
        };
        read().map_err(|error| Self::invalid(&error))
    }

    /// Returns the JSON Schema of the answer.
    pub(crate) fn schema(&self) -> &RawValue {
        match self {
            Self::Steps(request) => &request.schema,
            Self::Call(request) => &request.schema,
            Self::Summary(request) => &request.schema,
            Self::Files(request) => &request.schema,
        }
    }

    /// Returns the task.
    pub(crate) fn task(&self) -> Task {
        match self {
            Self::Steps(request) => request.task,
            Self::Call(request) => request.task,
            Self::Summary(request) => request.task,
            Self::Files(request) => request.task,
        }
    }

    /// Returns the request as compact JSON.
    ///
    /// # Errors
    ///
    /// [`PlannerErrorKind::InvalidRequest`] when it can't be written.
    pub fn to_json(&self) -> Result<Vec<u8>, PlannerError> {
        let written = match self {
            Self::Steps(request) => serde_json::to_vec(request),
            Self::Call(request) => serde_json::to_vec(request),
            Self::Summary(request) => serde_json::to_vec(request),
            Self::Files(request) => serde_json::to_vec(request),
        };
        written.map_err(|error| Self::invalid(&error))
    }

    /// Returns the error of a request that can't be read.
    pub(crate) fn invalid(error: &serde_json::Error) -> PlannerError {
        PlannerError::quoting(
            PlannerErrorKind::InvalidRequest,
            "the request can't be used",
            &error.to_string(),
            &Redaction::default(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::PlannerRequest;
    use crate::PlannerErrorKind;

    const REQUEST: &str = r#"{"task":"steps","goal":"g","context":{"a": 1.0e400},"tools":[{"connector_id":"c","tool_id":"t","driver_kind":"noop","input_schema":{"b":12345678901234567890123,"a":1}}],"tool_pool_ref":{},"instruction_profile_ref":{},"request_id":"r","schema":true}"#;

    #[test]
    fn json_within_a_request_is_passed_on_as_written() {
        let request = PlannerRequest::from_json(REQUEST.as_bytes()).unwrap();
        assert_eq!(request.to_json().unwrap(), REQUEST.as_bytes());
    }

    #[test]
    fn other_members_and_other_texts_are_refused() {
        let changed = [
            REQUEST.replacen("\"goal\"", "\"goals\"", 1),
            REQUEST.replacen("\"steps\"", "\"call\"", 1),
            REQUEST.replacen("\"steps\"", "\"execute\"", 1),
            REQUEST.replacen("\"goal\":\"g\"", "\"goal\":\"g\",\"key\":1", 1),
            REQUEST.replacen("\"goal\":\"g\"", "\"goal\":\"g\",\"goal\":\"h\"", 1),
            REQUEST.replacen("\"tool_id\":\"t\",", "", 1),
            format!("{REQUEST} {{}}"),
            format!("Here it is: {REQUEST}"),
            String::new(),
        ];
        for text in changed {
            let error = PlannerRequest::from_json(text.as_bytes()).unwrap_err();
            assert_eq!(error.kind, PlannerErrorKind::InvalidRequest, "{text}");
        }
    }
}
