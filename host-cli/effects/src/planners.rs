//! Planners of runs.

use super::effects::failed;
use super::secrets::Secrets;
use agent_host::Failure;
use agent_host::contract::run::{FailureKind, Outcome, Planning};
use agent_planner::{
    ApiKey, Command, Limits, OpenAi, Planner, PlannerError, PlannerErrorKind, PlannerRequest,
    Template,
};
use agent_way_out::{Cancel, Resolver, WayOut};
use std::sync::Arc;
use std::time::Duration;

/// The choice of a planner.
#[derive(Clone, Debug)]
pub enum PlannerChoice {
    /// Needs no model.
    Template,
    /// A program of the operator, with its arguments.
    Command(Vec<String>),
    /// A model behind an OpenAI-compatible server.
    OpenAi {
        /// The base URL.
        url: String,
        /// The name of the model.
        model: String,
        /// The secret of the operator that contains the key.
        key: Option<String>,
    },
}

/// Returns the planner of a choice.
///
/// # Errors
///
/// When it is not configured correctly, or its key can't be had.
pub(crate) fn planner(
    choice: &PlannerChoice,
    secrets: &Secrets,
    way_out: Arc<WayOut>,
    resolver: Resolver,
) -> Result<Planner, Failure> {
    let invalid = |error: PlannerError| Failure::new(format!("the planner: {error}"));
    Ok(match choice {
        PlannerChoice::Template => Planner::Template(Template::default()),
        PlannerChoice::Command(argv) => Planner::Command(Command::new(argv)),
        PlannerChoice::OpenAi { url, model, key } => {
            let key = key.as_deref().map(|name| secrets.get(name)).transpose();
            let key = key.map_err(Failure::new)?;
            let key = key.map(ApiKey::new).transpose().map_err(invalid)?;
            let server = OpenAi::new(url, model, key, way_out, resolver);
            Planner::OpenAi(server.map_err(invalid)?)
        }
    })
}

/// Asks a planner once.
pub(crate) async fn plan(planner: Option<&Planner>, planning: Planning) -> Outcome {
    let Some(planner) = planner else {
        let message = "this host has no planner".to_owned();
        return failed(FailureKind::Unavailable, message);
    };
    let limits = Limits {
        time: Duration::from_millis(planning.timeout_ms),
        plan_bytes: usize::try_from(planning.max_bytes).unwrap_or(usize::MAX),
    };
    let answer = match PlannerRequest::from_json(planning.request.as_bytes()) {
        // Dropping the future cancels the attempt.
        Ok(request) => planner.plan(&request, &limits, &Cancel::never()).await,
        Err(error) => Err(error),
    };
    answer.map_or_else(
        |error| {
            let kind = match error.kind {
                PlannerErrorKind::Timeout => FailureKind::Timeout,
                PlannerErrorKind::TooLarge => FailureKind::LimitExceeded,
                _ => FailureKind::Failed,
            };
            failed(kind, format!("the planner made no plan: {}", error.message))
        },
        Outcome::Bytes,
    )
}
