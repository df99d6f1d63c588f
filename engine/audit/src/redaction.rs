//! No secret is stored as it was: no value behind a key that names one, and none that a schema of the
//! pool marks.

use super::folder::{File, quoted};
use super::members::{at, string};
use super::problems::{At, Found};
use super::recorded::{PLAN, POOL, PROFILE, Record, Recorded};
use agent_api::decide::PlanPolicy;
use agent_api::diagnostic::Code;
use agent_api::lower::{Validated, plan};
use agent_api::model::Plan;
use agent_api::plan::{secret_inputs, secret_values};
use agent_api::schema::Library;
use agent_api::text::Span;
use agent_run::unredacted;
use std::sync::Arc;

/// Reports values that must be redacted. Returns their places. `core` replaces the project's
/// equivalents of MOVA's core.
pub(crate) fn check<'f>(
    recorded: &Recorded<'f>,
    core: Option<&Arc<Library>>,
    found: &mut Found,
) -> Vec<(&'f File, Span)> {
    let marks = Marks::new(recorded, core);
    let mut secrets = Vec::new();
    for record in recorded.records() {
        // A pool names secrets of the operator.
        let refers = record.file.path == POOL;
        for span in unredacted(&record.root, refers, &marks.of(record)) {
            let path = quoted(&record.file.path);
            let message =
                format!("{path} contains a value that its key or its schema marks as secret");
            let at = Some(At::new(record.file, span));
            found.report(Code::EvidenceSecret, at, "not redacted", message);
            secrets.push((record.file, span));
        }
    }
    secrets
}

/// The schemas of the run that mark secrets. Those of MCP servers are not part of the evidence.
struct Marks {
    plan: Validated<Plan>,
    rules: PlanPolicy,
}

impl Marks {
    fn new(recorded: &Recorded<'_>, core: Option<&Arc<Library>>) -> Self {
        let bytes = |path| {
            let file = recorded.folder.file(path);
            file.map_or_else(Vec::new, |it| it.text.as_str().as_bytes().to_vec())
        };
        Self {
            plan: plan(bytes(PLAN)),
            rules: PlanPolicy::new(bytes(POOL), bytes(PROFILE), core.cloned()),
        }
    }

    /// Returns the places of marked values in a record.
    fn of(&self, record: &Record<'_>) -> Vec<Span> {
        let Some(plan) = &self.plan.value else {
            return Vec::new();
        };
        let text = record.file.text.as_str();
        if record.file.path == PLAN {
            return secret_inputs(plan, text, &self.rules);
        }
        let step = string(&record.root, "/result_details/step_id");
        let number = plan.steps.iter().position(|it| Some(&*it.id.value) == step);
        let mut marked = Vec::new();
        for (pointer, is_output) in [
            ("/result_details/input/value", false),
            ("/result_details/output/value", true),
        ] {
            if let (Some(number), Some(value)) = (number, at(&record.root, pointer)) {
                let start = value.span.start;
                let value = value.span.of(text);
                let parts = secret_values(plan, number, is_output, value, &self.rules);
                marked.extend(parts.into_iter().map(|part| Span {
                    start: part.start + start,
                    end: part.end + start,
                }));
            }
        }
        marked
    }
}
