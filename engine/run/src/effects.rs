//! Effects of a part of a run: each is recorded before and after, and all share a time limit.

use super::action::{
    Aborted, Action, Connection, Failure, FailureKind, Handled, HandlerEvent, Outcome, Resolve,
};
use super::episode::{Episode, EpisodeType};
use super::evidence::Evidence;
use super::record;
use super::stop::Stop;
use agent_api::diagnostic::Code;
use agent_api::model::Origin;
use agent_api::plan::RunProblem;
use agent_record::Clock;
use agent_syntax::json::Writer;

/// The part of a run that wants effects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part<'r> {
    /// A step of the plan.
    Step {
        /// Its name.
        id: &'r str,
    },
    /// The live catalogue of a server, before there is a plan.
    Catalogue {
        /// The server's id.
        server: &'r str,
    },
    /// A planner.
    Planner,
}

/// The effects of one part of a run.
pub(crate) struct Effects<'r> {
    evidence: &'r Evidence,
    part: Part<'r>,
    /// Milliseconds from the first effect.
    limit_ms: u64,
    started: Clock,
    /// When the first effect was wanted that counts for the limit.
    begun: Option<Clock>,
}

impl<'r> Effects<'r> {
    pub(crate) fn new(evidence: &'r Evidence, part: Part<'r>, limit_ms: u64) -> Self {
        Self {
            evidence,
            part,
            limit_ms,
            started: evidence.turns().now(),
            begun: None,
        }
    }

    /// Starts the time of the limit.
    pub(crate) fn begin(&mut self) {
        self.begun = Some(self.evidence.turns().now());
    }

    /// Returns the milliseconds that are left.
    ///
    /// # Errors
    /// None is left.
    pub(crate) fn remaining(&self) -> Result<u64, Stop> {
        let limit = self.limit_ms;
        let Some(begun) = self.begun else {
            return Ok(limit);
        };
        match limit.checked_sub(self.evidence.turns().now().since(begun)) {
            Some(rest) if rest > 0 => Ok(rest),
            _ => {
                let part = match self.part {
                    Part::Step { .. } => "the step",
                    Part::Catalogue { .. } => "the server",
                    Part::Planner => "the planner",
                };
                let message = format!("{part} took longer than its limit of {limit} ms");
                Err(Stop::new(Code::MovaTimeout, message))
            }
        }
    }

    /// Performs an effect, which must not fail.
    ///
    /// # Errors
    /// It failed, or as [`Effects::attempt`].
    pub(crate) async fn perform(&self, action: Action) -> Result<Outcome, Stop> {
        succeeded(self.attempt(action).await?)
    }

    /// Performs an effect whose outcome are bytes.
    ///
    /// # Errors
    /// As [`Effects::perform`].
    pub(crate) async fn bytes(&self, action: Action) -> Result<Vec<u8>, Stop> {
        match self.perform(action).await? {
            Outcome::Bytes(bytes) => Ok(bytes),
            _ => Err(Stop::unexpected()),
        }
    }

    /// Resolves the host of an origin, once, and returns the connection to the first of its addresses if
    /// `decide` allows all of them.
    ///
    /// # Errors
    /// The connection is denied, or as [`Effects::perform`].
    pub(crate) async fn connect(
        &self,
        origin: &Origin,
        decide: impl FnOnce(&[String]) -> Result<Vec<String>, Vec<RunProblem>>,
    ) -> Result<Connection, Stop> {
        let texts = match origin.address() {
            Some(address) => vec![address.to_string()],
            None => {
                let resolve = Resolve {
                    host: origin.host().to_owned(),
                    port: origin.port(),
                    timeout_ms: self.remaining()?,
                };
                match self.perform(Action::Resolve(resolve)).await? {
                    Outcome::Addresses(texts) => texts,
                    _ => return Err(Stop::unexpected()),
                }
            }
        };
        let allowed = decide(&texts).map_err(|problems| match Stop::first(problems) {
            Err(stop) => stop,
            Ok(()) => Stop::unexpected(),
        })?;
        let first = allowed.first().and_then(|it| it.parse().ok());
        Ok(Connection {
            tls: origin.is_secure(),
            host: origin.host().to_owned(),
            port: origin.port(),
            address: first.ok_or_else(Stop::unexpected)?,
        })
    }

    /// Records the decision for an effect, waits for its outcome, and records that.
    ///
    /// # Errors
    /// Evidence can't be stored, the run is interrupted, or the time is over.
    pub(crate) async fn attempt(&self, action: Action) -> Result<Outcome, Stop> {
        let outcome = self.outcome(action).await?;
        // The clock decides, whatever the host says of the time.
        self.remaining()?;
        Ok(outcome)
    }

    /// As [`Effects::attempt`], whether or not the time is over.
    ///
    /// # Errors
    /// Evidence can't be stored, or the run is interrupted.
    pub(crate) async fn outcome(&self, action: Action) -> Result<Outcome, Stop> {
        self.record("decision", action.name(), |w| {
            record::action(w, &action);
        })
        .await?;
        let name = action.name();
        let outcome = self.evidence.turns().perform(action).await?;
        let outcome = self.without_secrets(outcome);
        self.record("effect", name, |w| record::outcome(w, &outcome))
            .await?;
        Ok(outcome)
    }

    /// Redacts what an outcome says of a failure: it quotes peers, perhaps up to the middle of a secret.
    fn without_secrets(&self, outcome: Outcome) -> Outcome {
        let redacted = |failure: Failure| Failure {
            message: self.evidence.redactor().cut(&failure.message),
            ..failure
        };
        match outcome {
            Outcome::Failed(failure) => Outcome::Failed(redacted(failure)),
            Outcome::Aborted(aborted) => Outcome::Aborted(Aborted {
                failure: redacted(aborted.failure),
                ..aborted
            }),
            Outcome::Handler(Handled {
                event: HandlerEvent::Failed(failure),
                log,
                log_truncated,
            }) => Outcome::Handler(Handled {
                event: HandlerEvent::Failed(redacted(failure)),
                log,
                log_truncated,
            }),
            outcome => outcome,
        }
    }

    async fn record(
        &self,
        record: &'static str,
        action: &'static str,
        facts: impl FnOnce(&mut Writer),
    ) -> Result<(), Stop> {
        let (kind, of) = match self.part {
            Part::Step { id } => (EpisodeType::Step, format!("step `{id}`")),
            Part::Catalogue { server } => {
                (EpisodeType::Validation, format!("the server `{server}`"))
            }
            Part::Planner => (EpisodeType::Validation, "the planner".to_owned()),
        };
        let episode = Episode {
            kind,
            status: "in_progress",
            summary: format!("{record} of {of}: {action}"),
            started: self.started,
            details: Box::new(|w| {
                w.key("action").string(action);
                w.key("facts").object(facts);
                w.key("record").string(record);
                match self.part {
                    Part::Step { id } => w.key("step_id").string(id),
                    Part::Catalogue { server } => w.key("server").string(server),
                    Part::Planner => {}
                }
            }),
        };
        self.evidence.episode(episode).await.map(|_| ())
    }
}

/// Returns an outcome that is no failure.
///
/// # Errors
/// It is one.
pub(crate) fn succeeded(outcome: Outcome) -> Result<Outcome, Stop> {
    match outcome {
        Outcome::Failed(failure) => Err(failed(&failure)),
        Outcome::Aborted(aborted) => Err(failed(&aborted.failure)),
        outcome => Ok(outcome),
    }
}

/// Returns the reason why a run ends at a failed effect.
pub(crate) fn failed(failure: &Failure) -> Stop {
    let code = match failure.kind {
        FailureKind::Timeout => Code::MovaTimeout,
        FailureKind::LimitExceeded => Code::MovaLimitExceeded,
        FailureKind::Unavailable | FailureKind::Failed => Code::MovaHandlerFailed,
    };
    let message = match &*failure.message {
        message if message.trim().is_empty() => "the effect failed, and the host gave no reason",
        message => message,
    };
    let stop = Stop::new(code, message);
    match failure.kind {
        FailureKind::Unavailable => stop.because(Code::Unavailable),
        _ => stop,
    }
}
