//! The outcome of a run, for people.

use super::action::Status;
use super::styled::Styled;
use super::summary::RunReport;
use agent_api::model::PlanStep;
use agent_api::render::{Style, StyledSpan};

/// Returns the run and its steps, a line each.
pub(crate) fn run_text(report: &RunReport<'_>) -> Vec<StyledSpan> {
    let mut out = Lines {
        report,
        spans: Styled::default(),
    };
    out.mark(report.status);
    out.put(Style::Heading, report.status.name());
    if let Some(plan) = &report.evidence.subject().plan_id {
        out.put(Style::Plain, ": ");
        out.put(Style::Name, plan);
    }
    out.end();
    let plan = report.plan.and_then(|plan| plan.plan());
    for (place, step) in plan.into_iter().flat_map(|plan| &plan.steps).enumerate() {
        out.step(place, step);
    }
    let is_of_step = report.steps.iter().any(|step| step.stop.is_some());
    if let Some(stop) = report.stop.filter(|_| !is_of_step) {
        out.put(Style::Plain, "  ");
        out.put(Style::Code, stop.code.name());
        out.put(Style::Plain, "  ");
        out.redacted(Style::Plain, &stop.message);
        out.end();
    }
    out.spans.0
}

struct Lines<'r> {
    report: &'r RunReport<'r>,
    spans: Styled,
}

impl Lines<'_> {
    fn step(&mut self, place: usize, step: &PlanStep) {
        let run = self.report.steps.iter().find(|it| it.number == place);
        let status = run.map_or(Status::Skipped, |it| it.status);
        self.put(Style::Plain, "  ");
        self.mark(status);
        self.put(Style::Name, &step.id.value);
        let tool = format!("  {}/{}", step.connector.value, step.tool.value);
        self.put(Style::Plain, &tool);
        match run {
            Some(run) => {
                let ms = run.finished.since(run.started);
                self.put(Style::Dim, &format!("  {ms} ms"));
            }
            None => self.put(Style::Dim, "  skipped"),
        }
        self.end();
        if let Some(stop) = run.and_then(|it| it.stop.as_ref()) {
            self.put(Style::Plain, "      ");
            self.put(Style::Code, stop.code.name());
            if let Some(reason) = stop.reason {
                self.put(Style::Plain, " ");
                self.put(Style::Code, reason.name());
            }
            self.put(Style::Plain, "  ");
            self.redacted(Style::Plain, &stop.message);
            self.end();
        }
    }

    fn mark(&mut self, status: Status) {
        match status {
            Status::Completed => self.put(Style::Accepted, "✓ "),
            Status::Failed | Status::Cancelled => self.put(Style::Rejected, "✗ "),
            Status::Skipped => self.put(Style::Dim, "- "),
        }
    }

    /// Adds a text that may quote a peer.
    fn redacted(&mut self, style: Style, text: &str) {
        let text = self.report.evidence.redactor().text(text);
        self.put(style, &text);
    }

    fn put(&mut self, style: Style, text: &str) {
        self.spans.put(style, text);
    }

    fn end(&mut self) {
        self.spans.end();
    }
}
