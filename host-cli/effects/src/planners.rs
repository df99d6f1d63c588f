//! Planners of runs.

use super::effects::failed;
use super::secrets::{Secrets, named_secrets};
use agent_host::Failure;
use agent_host::contract::run::{FailureKind, Outcome, Planning};
use agent_planner::{
    ApiKey, Command, Limits, OpenAi, Planner, PlannerError, PlannerErrorKind, PlannerRequest,
    Template,
};
use agent_way_out::{Cancel, Resolver, Roots, WayOut};
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
pub(crate) fn planner_of(
    choice: &PlannerChoice,
    secrets: &Secrets,
    way_out: Arc<WayOut>,
    resolver: Resolver,
) -> Result<Planner, Failure> {
    let key = match choice {
        PlannerChoice::OpenAi {
            key: Some(name), ..
        } => Some(secrets.get(name).map_err(Failure::new)?),
        _ => None,
    };
    with_key(choice, key, way_out, resolver)
}

/// Returns the planner of a choice, with the secret of the operator's file at its usual path.
///
/// # Errors
///
/// When it is not configured correctly, or its key can't be had.
pub async fn planner(choice: &PlannerChoice) -> Result<Planner, Failure> {
    let names = match choice {
        PlannerChoice::OpenAi { key, .. } => key.iter().cloned().collect(),
        PlannerChoice::Template | PlannerChoice::Command(_) => Vec::new(),
    };
    let keys = named_secrets(names).await.map_err(Failure::new)?;
    let key = keys.first().map(|it| &*it.value);
    let way_out = Arc::new(WayOut::new(Roots::system()));
    with_key(choice, key, way_out, Resolver::system())
}

fn with_key(
    choice: &PlannerChoice,
    key: Option<&str>,
    way_out: Arc<WayOut>,
    resolver: Resolver,
) -> Result<Planner, Failure> {
    let invalid = |error: PlannerError| Failure::new(format!("the planner: {error}"));
    Ok(match choice {
        PlannerChoice::Template => Planner::Template(Template::default()),
        PlannerChoice::Command(argv) => Planner::Command(Command::new(argv)),
        PlannerChoice::OpenAi { url, model, .. } => {
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
