//! Planners: plan bytes from a goal, a catalogue of tools and a profile, file plans from a prompt, and summaries of payloads.
//!
//! [`Planner::plan`] makes one attempt and returns the bytes as it received them. The engine decides on
//! them like on any other plan. A planner gets the [`PlannerRequest`] and nothing else of a run: it
//! sees no secrets and executes no step.
//!
//! | item | content |
//! |---|---|
//! | [`Planner`] | the choice of a planner, and its one function |
//! | [`PlannerRequest`], [`Tool`], [`CallableTool`], [`FilesRequest`] | what a planner gets |
//! | [`Template`] | plans without a model: offline, and the same bytes for the same request |
//! | [`Command`] | plans of a program of the operator |
//! | [`OpenAi`], [`ApiKey`] | plans of a model behind an OpenAI-compatible server |
//! | [`Limits`] | limits of an attempt in time and size |
//! | [`PlannerError`], [`PlannerErrorKind`] | the reasons why there are no bytes |
//!
//! Absent by design: second attempts, streaming, redirects, tools that a model could call, and any
//! reading of the plan, such as a search for JSON within prose.

mod api_key;
mod attempt;
mod command;
mod completion;
mod error;
mod limits;
mod members;
mod openai;
mod process_group;
mod redaction;
mod request;
mod services;
mod template;
mod words;

pub use api_key::ApiKey;
pub use command::Command;
pub use error::{PlannerError, PlannerErrorKind};
pub use limits::Limits;
pub use openai::OpenAi;
pub use request::{
    CallRequest, CallableTool, FilesRequest, PlannerRequest, PresentFile, StepsRequest,
    SummaryRequest, Task, Tool,
};
pub use services::quoted;
pub use template::Template;

use agent_way_out::Cancel;

/// A planner.
#[derive(Debug, Clone)]
pub enum Planner {
    /// Makes the plan itself, without a model.
    Template(Template),
    /// Runs a program of the operator.
    Command(Command),
    /// Sends a request to an OpenAI-compatible server.
    OpenAi(OpenAi),
}

impl Planner {
    /// Returns the bytes of a plan. It makes one attempt, whatever comes of it.
    ///
    /// The bytes may be anything: the planner does not read them. They may also contain what a model
    /// or a server put there, such as the key that the server got. Needs a tokio runtime with I/O and
    /// time.
    ///
    /// # Errors
    ///
    /// When there are no bytes within the limits; [`PlannerErrorKind`] lists the reasons.
    pub async fn plan(
        &self,
        request: &PlannerRequest,
        limits: &Limits,
        cancel: &Cancel,
    ) -> Result<Vec<u8>, PlannerError> {
        if cancel.is_cancelled() {
            return Err(PlannerError::cancelled());
        }
        let plan = match self {
            Self::Template(template) => template.plan(request),
            Self::Command(command) => command.plan(request, limits, cancel).await,
            Self::OpenAi(server) => server.plan(request, limits, cancel).await,
        }?;
        if plan.len() > limits.plan_bytes {
            return Err(PlannerError::too_large("the plan", limits.plan_bytes));
        }
        Ok(plan)
    }
}
