//! The rules by which servers are healthy \[4, 7.3\]. They are a pure function of the earlier health, an
//! observation and its time; nothing else changes a server's health.
//!
//! | health | calls pass | next |
//! |---|---|---|
//! | `STARTING` | no | its first answer: `HEALTHY`, or `PROBATION` if it failed before |
//! | `HEALTHY` | yes | [`ERRORS_UNTIL_UNHEALTHY`] errors in a row, or its end: `UNHEALTHY` |
//! | `UNHEALTHY` | no | after [`REST_MS`]: `PROBATION`; started again: `STARTING` |
//! | `PROBATION` | yes | [`ANSWERS_UNTIL_HEALTHY`] answers in a row: `HEALTHY`; an error or its end: `UNHEALTHY`, and the [`RELAPSES_UNTIL_QUARANTINE`]th time `QUARANTINE` |
//! | `QUARANTINE` | no | after [`QUARANTINE_MS`]: `PROBATION` |
//!
//! A slow answer is an answer: how long a call may take is its timeout.

use agent_api::model::HealthStatus;

/// Errors in a row after which a healthy server is unhealthy.
pub const ERRORS_UNTIL_UNHEALTHY: u32 = 3;

/// Answers in a row after which a server on probation is healthy.
pub const ANSWERS_UNTIL_HEALTHY: u32 = 3;

/// Failures on probation after which a server is quarantined.
pub const RELAPSES_UNTIL_QUARANTINE: u32 = 3;

/// Time after which an unhealthy server is on probation, in milliseconds.
pub const REST_MS: u64 = 30_000;

/// Time of a quarantine, in milliseconds.
pub const QUARANTINE_MS: u64 = 600_000;

/// What a host observed of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Observation {
    /// It was started, or connected to.
    Started,
    /// It answered a request, with a result or with an error of the tool.
    Answered {
        /// The time that it took, in milliseconds.
        latency_ms: u64,
    },
    /// It did not answer a request, or with an error of the protocol.
    Failed,
    /// It ended, or the connection did.
    Exited,
}

/// The health of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerHealth {
    /// The present status.
    pub status: HealthStatus,
    /// Since when, in milliseconds since 1970.
    pub since_ms: u64,
    /// Errors in a row.
    pub errors: u32,
    /// Answers in a row.
    pub answers: u32,
    /// Failures on probation since it was healthy.
    pub relapses: u32,
    /// Whether it failed since it was healthy.
    pub has_failed: bool,
}

impl ServerHealth {
    /// Returns the health of a server that nothing is known of.
    pub fn new(now_ms: u64) -> Self {
        Self {
            status: HealthStatus::Starting,
            since_ms: now_ms,
            errors: 0,
            answers: 0,
            relapses: 0,
            has_failed: false,
        }
    }

    /// Returns whether calls pass.
    pub fn passes(&self) -> bool {
        self.status.passes()
    }

    /// Returns the time at which the status ends by itself, if it does.
    pub fn ends_ms(&self) -> Option<u64> {
        let lasts = match self.status {
            HealthStatus::Unhealthy => REST_MS,
            HealthStatus::Quarantine => QUARANTINE_MS,
            _ => return None,
        };
        Some(self.since_ms.saturating_add(lasts))
    }

    /// Returns the health at a time at which nothing was observed.
    #[must_use]
    pub fn at(self, now_ms: u64) -> Self {
        match self.ends_ms() {
            Some(end) if now_ms >= end => self.become_at(HealthStatus::Probation, end),
            _ => self,
        }
    }

    /// Returns the health after an observation.
    #[must_use]
    pub fn after(self, observation: Observation, now_ms: u64) -> Self {
        let health = self.at(now_ms);
        match observation {
            // A quarantine is not ended by starting again.
            Observation::Started if health.status == HealthStatus::Quarantine => health,
            Observation::Started => health.become_at(HealthStatus::Starting, now_ms),
            Observation::Answered { .. } => health.answered(now_ms),
            Observation::Failed => health.failed(now_ms, false),
            Observation::Exited => health.failed(now_ms, true),
        }
    }

    fn answered(self, now_ms: u64) -> Self {
        let health = Self {
            errors: 0,
            answers: self.answers.saturating_add(1),
            ..self
        };
        match self.status {
            HealthStatus::Starting if self.has_failed => {
                health.become_at(HealthStatus::Probation, now_ms)
            }
            HealthStatus::Starting => health.healthy_at(now_ms),
            HealthStatus::Probation if health.answers >= ANSWERS_UNTIL_HEALTHY => {
                health.healthy_at(now_ms)
            }
            _ => health,
        }
    }

    fn failed(self, now_ms: u64, has_ended: bool) -> Self {
        let health = Self {
            errors: self.errors.saturating_add(1),
            answers: 0,
            ..self
        };
        match self.status {
            HealthStatus::Quarantine => health,
            HealthStatus::Probation => {
                let relapses = self.relapses.saturating_add(1);
                let health = Self { relapses, ..health };
                match relapses >= RELAPSES_UNTIL_QUARANTINE {
                    true => health.become_at(HealthStatus::Quarantine, now_ms),
                    false => health.unhealthy_at(now_ms),
                }
            }
            // A failure while it rests does not begin the rest anew, or failures could go on for ever.
            HealthStatus::Unhealthy => health,
            _ if has_ended || health.errors >= ERRORS_UNTIL_UNHEALTHY => {
                health.unhealthy_at(now_ms)
            }
            _ => health,
        }
    }

    fn unhealthy_at(self, since_ms: u64) -> Self {
        let health = self.become_at(HealthStatus::Unhealthy, since_ms);
        Self {
            has_failed: true,
            ..health
        }
    }

    fn healthy_at(self, since_ms: u64) -> Self {
        Self {
            relapses: 0,
            has_failed: false,
            ..self.become_at(HealthStatus::Healthy, since_ms)
        }
    }

    fn become_at(self, status: HealthStatus, since_ms: u64) -> Self {
        let is_other = self.status != status;
        Self {
            status,
            since_ms: if is_other { since_ms } else { self.since_ms },
            answers: if is_other { 0 } else { self.answers },
            errors: if is_other { 0 } else { self.errors },
            ..self
        }
    }

    /// Returns the name of the status.
    pub fn name(&self) -> &'static str {
        self.status.as_str()
    }
}

#[cfg(test)]
mod tests {
    use super::{ERRORS_UNTIL_UNHEALTHY, Observation, QUARANTINE_MS, REST_MS, ServerHealth};

    const OK: Observation = Observation::Answered { latency_ms: 1 };

    /// Applies observations at the time 0 and returns each status.
    fn run(
        mut health: ServerHealth,
        observations: &[Observation],
    ) -> (ServerHealth, Vec<&'static str>) {
        let mut names = Vec::new();
        for observation in observations {
            health = health.after(*observation, health.since_ms);
            names.push(health.name());
        }
        (health, names)
    }

    #[test]
    fn a_server_is_healthy_until_errors_in_a_row() {
        use Observation::{Answered, Exited, Failed, Started};
        let new = ServerHealth::new(0);
        assert_eq!(new.name(), "STARTING");
        let slow = Answered {
            latency_ms: u64::MAX,
        };
        let (_, names) = run(
            new,
            &[Started, OK, Failed, Failed, slow, Failed, Failed, Failed],
        );
        let healthy = ["HEALTHY"; 6];
        assert_eq!(names[0], "STARTING");
        assert_eq!(names[1..7], healthy);
        assert_eq!(names[7], "UNHEALTHY");
        assert_eq!(ERRORS_UNTIL_UNHEALTHY, 3);
        let (_, names) = run(new, &[OK, Exited, Started, OK]);
        assert_eq!(names, ["HEALTHY", "UNHEALTHY", "STARTING", "PROBATION"]);
    }

    #[test]
    fn an_unhealthy_server_rests_and_is_then_on_probation() {
        use Observation::{Exited, Failed};
        let (unhealthy, _) = run(ServerHealth::new(5), &[OK, Exited]);
        assert_eq!(unhealthy.at(5 + REST_MS - 1).name(), "UNHEALTHY");
        let probation = unhealthy.at(5 + REST_MS);
        assert_eq!(probation.name(), "PROBATION");
        let (_, names) = run(probation, &[OK, OK, OK]);
        assert_eq!(names, ["PROBATION", "PROBATION", "HEALTHY"]);
        // The third relapse is a quarantine.
        let mut health = probation;
        for (relapse, status) in ["UNHEALTHY", "UNHEALTHY", "QUARANTINE"]
            .into_iter()
            .enumerate()
        {
            health = health.after(Failed, health.since_ms);
            assert_eq!(health.name(), status, "{relapse}");
            if status == "UNHEALTHY" {
                health = health.at(health.since_ms + REST_MS);
            }
        }
        let (same, _) = run(health, &[Observation::Started, OK, Exited]);
        assert_eq!(
            (same.name(), same.since_ms),
            ("QUARANTINE", health.since_ms)
        );
        assert_eq!(
            health.at(health.since_ms + QUARANTINE_MS - 1).name(),
            "QUARANTINE"
        );
        assert_eq!(
            health.at(health.since_ms + QUARANTINE_MS).name(),
            "PROBATION"
        );
    }
}
