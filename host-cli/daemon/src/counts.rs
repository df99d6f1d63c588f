//! Counts of verbs, in the text format of Prometheus.

use super::refusal::Answered;
use super::tools::name;
use agent_host::contract::daemon::{ErrorCode, TaskState, Verb};
use agent_telemetry::{Family, Metrics, Spans, client_sessions};
use std::collections::BTreeMap;
use std::time::Duration;

const VERBS: Family = Family {
    name: "mcpd_verbs_total",
    help: "Calls of verbs, by the code of the failure.",
    labels: &["verb", "code"],
};

const TIMES: Family = Family {
    name: "mcpd_verb_duration_seconds",
    help: "Time from the call of a verb to its response.",
    labels: &["verb"],
};

const STAGES: Family = Family {
    name: "mcpd_stage_duration_seconds",
    help: "Time of the stages of verbs.",
    labels: &["stage"],
};

const TASKS: Family = Family {
    name: "mcpd_tasks",
    help: "Tasks, by state.",
    labels: &["state"],
};

/// Counts of verbs.
#[derive(Debug, Default)]
pub(crate) struct Counts(Metrics);

impl Counts {
    /// Counts a call.
    pub(crate) fn called<T>(&self, verb: Verb, answered: &Answered<T>, time: Duration) {
        let code = answered.as_ref().err().map_or("", |it| code(it.code));
        self.0.count(VERBS, &[name(verb), code]);
        self.0.observe(TIMES, &[name(verb)], time);
    }

    /// Counts a stage of a verb.
    pub(crate) fn staged(&self, stage: &'static str, time: Duration) {
        self.0.observe(STAGES, &[stage], time);
    }

    /// Returns all counts as text.
    pub(crate) fn text(
        &self,
        sessions: usize,
        tasks: impl Iterator<Item = TaskState>,
        spans: Option<&Spans>,
    ) -> String {
        let mut states = BTreeMap::new();
        for state in tasks {
            *states
                .entry(vec![state_name(state).to_owned()])
                .or_insert(0) += 1;
        }
        let mut gauges = vec![
            (TASKS, states.into_iter().collect()),
            client_sessions("mcpd_client_sessions", sessions),
        ];
        gauges.extend(spans.map(|spans| spans.report().gauge("mcpd_spans")));
        self.0.text(&gauges)
    }
}

/// Returns the name of a code.
pub(crate) fn code(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::Plan => "E_PLAN",
        ErrorCode::Fs => "E_FS",
        ErrorCode::Policy => "E_POLICY",
        ErrorCode::Build => "E_BUILD",
        ErrorCode::Runtime => "E_RUNTIME",
        ErrorCode::Timeout => "E_TIMEOUT",
        ErrorCode::Network => "E_NETWORK",
        ErrorCode::Port => "E_PORT",
    }
}

/// Returns the name of a state.
pub(crate) fn state_name(state: TaskState) -> &'static str {
    match state {
        TaskState::Planned => "planned",
        TaskState::Applied => "applied",
        TaskState::Installing => "installing",
        TaskState::Starting => "starting",
        TaskState::Ready => "ready",
        TaskState::Failed => "failed",
        TaskState::Ended => "ended",
    }
}
