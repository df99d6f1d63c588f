//! Counts of verbs, in the text format of Prometheus.

use super::refusal::Answered;
use agent_host::contract::daemon::TaskState;
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
    pub(crate) fn called<T>(&self, verb: &str, answered: &Answered<T>, time: Duration) {
        let code = answered.as_ref().err().map_or("", |it| it.code.name());
        self.0.count(VERBS, &[verb, code]);
        self.0.observe(TIMES, &[verb], time);
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
            *states.entry(vec![state.name().to_owned()]).or_insert(0) += 1;
        }
        let mut gauges = vec![
            (TASKS, states.into_iter().collect()),
            client_sessions("mcpd_client_sessions", sessions),
        ];
        gauges.extend(spans.map(|spans| spans.report().gauge("mcpd_spans")));
        self.0.text(&gauges)
    }
}
