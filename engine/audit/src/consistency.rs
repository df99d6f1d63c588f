//! The records of a run agree with each other.

use super::folder::quoted;
use super::members::{at, boolean, items, number, string};
use super::problems::{At, Found};
use super::recorded::{PLAN, REPORT, Record, Recorded, SUMMARY};
use agent_api::diagnostic::Code;
use agent_run::MARKER;
use agent_syntax::{Node, Value};
use std::collections::BTreeMap;

/// A value in a record.
type In<'r, 'f> = (&'r Record<'f>, &'r str);

/// Compares the records of a run.
pub(crate) fn check(recorded: &Recorded<'_>, found: &mut Found) {
    let checking = Checking { recorded };
    checking.entries(found);
    checking.names(found);
    checking.run(found);
    checking.steps(found);
    checking.approvals(found);
    checking.security(found);
    checking.logs(found);
}

struct Checking<'r, 'f> {
    recorded: &'r Recorded<'f>,
}

impl<'r, 'f> Checking<'r, 'f> {
    /// Compares each episode with its line of the index.
    fn entries(&self, found: &mut Found) {
        let mut entries = BTreeMap::new();
        for entry in self
            .recorded
            .lines
            .iter()
            .filter_map(|it| it.entry.as_ref())
        {
            let path = super::recorded::episode_path(&entry.episode_id);
            entries.insert(path, entry);
        }
        for episode in &self.recorded.episodes {
            let Some(entry) = entries.get(&episode.file.path) else {
                continue;
            };
            for (pointer, indexed) in [
                ("/episode_id", &entry.episode_id),
                ("/episode_type", &entry.episode_type),
            ] {
                if string(&episode.root, pointer) != Some(indexed) {
                    let message = format!(
                        "the index has {} for `{}` of {}",
                        quoted(indexed),
                        &pointer[1..],
                        quoted(&episode.file.path)
                    );
                    contradiction(episode, pointer, None, message, found);
                }
            }
        }
    }

    /// Compares the names of the folders with the ids in the summary.
    fn names(&self, found: &mut Found) {
        let Some(summary) = self.recorded.record(SUMMARY) else {
            return;
        };
        for (pointer, name) in self.recorded.folder.names() {
            if string(&summary.root, pointer).is_some_and(|id| id != name) {
                let message = format!(
                    "the folder is named {}, and that is not the `{}` of the run",
                    quoted(name),
                    &pointer[1..]
                );
                contradiction(summary, pointer, None, message, found);
            }
        }
    }

    /// Compares what several records have about the whole run.
    fn run(&self, found: &mut Found) {
        let summary = self.recorded.record(SUMMARY);
        let report = self.recorded.record(REPORT);
        let verdict = self.recorded.verdict();
        let ends: Vec<_> = self.recorded.of_kind("run").collect();
        let last = self.recorded.episodes.last();
        let end = ends.last().copied();
        if ends.len() != 1 || end.map(|it| &it.file.path) != last.map(|it| &it.file.path) {
            let at = last.map(|it| At::start(it.file));
            let message = match ends.len() {
                0 => "no episode records the end of the run".to_owned(),
                1 => "an episode follows the end of the run".to_owned(),
                _ => "two episodes record the end of the run".to_owned(),
            };
            found.report(Code::EvidenceInconsistent, at, "the last episode", message);
        }
        if verdict.is_none() {
            let at = self.recorded.episodes.first().map(|it| At::start(it.file));
            let message = "no episode records the decision on the plan".to_owned();
            found.report(Code::EvidenceInconsistent, at, "the first episode", message);
        }
        if let (Some(summary), Some(end)) = (summary, end) {
            for (of_summary, of_end) in [
                ("/status", "/result_status"),
                ("/message", "/result_summary"),
                ("/code", "/result_details/stop/code"),
                ("/reason", "/result_details/stop/reason"),
                ("/started_at", "/started_at"),
                ("/finished_at", "/finished_at"),
                ("/episode_id", "/episode_id"),
            ] {
                same((summary, of_summary), (end, of_end), found);
            }
        }
        for episode in &self.recorded.episodes {
            if let Some(summary) = summary {
                for (of_summary, of_episode) in [
                    ("/run_id", "/meta_episode/run_id"),
                    ("/request_id", "/meta_episode/request_id"),
                ] {
                    same((summary, of_summary), (episode, of_episode), found);
                }
            }
        }
        if let (Some(report), Some(verdict)) = (report, verdict) {
            same(
                (report, "/authorized"),
                (verdict, "/result_details/authorized"),
                found,
            );
            same(
                (report, "/verdict"),
                (verdict, "/result_details/verdict"),
                found,
            );
            let problems = items(&report.root, "/problems").len() as u64;
            if number(&verdict.root, "/result_details/problems") != Some(problems) {
                let message = format!("the report has {problems} problems, and the episode others");
                let other = Some((report, "/problems"));
                contradiction(verdict, "/result_details/problems", other, message, found);
            }
        }
        if let (Some(summary), Some(report)) = (summary, report) {
            same((summary, "/authorized"), (report, "/authorized"), found);
            same((summary, "/plan_id"), (report, "/plan_id"), found);
            // A planner may have written another one into a plan that is then denied.
            if at(&report.root, "/request_id").is_some() && self.recorded.is_allowed() {
                same((summary, "/request_id"), (report, "/request_id"), found);
            }
        }
        let plan = self.recorded.record(PLAN).filter(|it| !it.is_placeholder());
        if let (Some(summary), Some(plan)) = (summary, plan.filter(|_| self.recorded.is_allowed()))
        {
            same((summary, "/plan_id"), (plan, "/plan/plan_id"), found);
        }
    }

    /// Checks the order of decisions, effects and steps, and the steps of the summary.
    fn steps(&self, found: &mut Found) {
        let planned: Vec<_> = self.recorded.planned_steps().iter().collect();
        let mut order = Order::default();
        for episode in &self.recorded.episodes {
            order.next(episode, &planned, found);
        }
        let Some(summary) = self.recorded.record(SUMMARY) else {
            return;
        };
        let mut records: BTreeMap<&str, &Record<'_>> = BTreeMap::new();
        for record in self.recorded.of_kind("step") {
            if let Some(step) = string(&record.root, "/result_details/step_id") {
                records.insert(step, record);
            }
        }
        let steps = items(&summary.root, "/steps");
        let run = self.recorded.of_kind("run").last();
        let begun = run.and_then(|it| number(&it.root, "/result_details/steps"));
        if let (Some(run), Some(begun)) = (run, begun)
            && begun != records.len() as u64
        {
            let message = format!("{} steps are recorded, and {begun} began", records.len());
            contradiction(run, "/result_details/steps", None, message, found);
        }
        let is_allowed = self.recorded.is_allowed();
        if is_allowed && steps.len() != planned.len() {
            let message = format!(
                "the summary has {} steps, and the plan {}",
                steps.len(),
                planned.len()
            );
            contradiction(summary, "/steps", None, message, found);
        }
        for (place, step) in steps.iter().enumerate() {
            let base = format!("/steps/{place}");
            let id = string(step, "/step_id").unwrap_or_default();
            if let Some(planned) = planned.get(place).filter(|_| is_allowed) {
                for member in ["/step_id", "/connector_id", "/tool_id"] {
                    if string(planned, member) != string(step, member) {
                        let message = format!("step {} of the plan is another one", place + 1);
                        contradiction(summary, &format!("{base}{member}"), None, message, found);
                    }
                }
            }
            let is_skipped = string(step, "/status") == Some("skipped");
            match records.remove(id) {
                Some(record) if !is_skipped => outcome(summary, &base, record, found),
                Some(record) => {
                    let message = format!("the step {} is recorded, and was skipped", quoted(id));
                    let other = Some((record, "/result_details/step_id"));
                    contradiction(summary, &base, other, message, found);
                }
                None if is_skipped => {}
                None => {
                    let message = format!("no episode records the step {}", quoted(id));
                    contradiction(summary, &base, None, message, found);
                }
            }
        }
        for (id, record) in records {
            let message = format!("the summary has no step {}", quoted(id));
            contradiction(record, "/result_details/step_id", None, message, found);
        }
    }

    /// Compares the approvals of the summary with those of the steps.
    fn approvals(&self, found: &mut Found) {
        let Some(summary) = self.recorded.record(SUMMARY) else {
            return;
        };
        let given = items(&summary.root, "/approvals");
        let mut recorded: Vec<_> = self.recorded.of_kind("step").collect();
        recorded.retain(|it| at(&it.root, "/result_details/approval").is_some());
        if given.len() != recorded.len() {
            let message = format!(
                "the summary has {} approvals, and the steps {}",
                given.len(),
                recorded.len()
            );
            contradiction(summary, "/approvals", None, message, found);
        }
        for (place, record) in recorded.into_iter().enumerate().take(given.len()) {
            for (member, of_step) in [
                ("by", "/result_details/approval/by"),
                ("digest", "/result_details/approval/digest"),
                ("step_id", "/result_details/step_id"),
            ] {
                let pointer = format!("/approvals/{place}/{member}");
                same((summary, &pointer), (record, of_step), found);
            }
        }
    }

    /// Compares the list of events about security with the episodes.
    fn security(&self, found: &mut Found) {
        let Some(summary) = self.recorded.record(SUMMARY) else {
            return;
        };
        let listed = items(&summary.root, "/security_events").iter();
        let listed: Vec<_> = listed.map(|it| text_of(it).unwrap_or_default()).collect();
        let episodes = self.recorded.episodes.iter();
        let events = episodes.filter(|it| at(&it.root, "/security_event_type").is_some());
        let events: Vec<_> = events
            .map(|it| string(&it.root, "/episode_id").unwrap_or_default())
            .collect();
        if listed != events {
            let message = format!(
                "the summary lists {} events about security, and the run recorded {}",
                listed.len(),
                events.len()
            );
            let message = match listed.len() == events.len() {
                true => "the summary lists other events about security".to_owned(),
                false => message,
            };
            contradiction(summary, "/security_events", None, message, found);
        }
    }

    /// Checks that each step has its log, of the recorded size.
    fn logs(&self, found: &mut Found) {
        for record in self.recorded.of_kind("step") {
            let step = string(&record.root, "/result_details/step_id").unwrap_or_default();
            let path = format!("logs/{step}.log");
            let Some(file) = self.recorded.folder.file(&path) else {
                let message = format!("{} is missing", quoted(&path));
                let at = Some(At::start(record.file));
                found.report(Code::EvidenceMissing, at, "the step that logged", message);
                continue;
            };
            let text = file.text.as_str();
            let is_whole = boolean(&record.root, "/result_details/log/truncated") == Some(false);
            let size = number(&record.root, "/result_details/log/bytes");
            // Redaction, and replacing what is not UTF-8, change the size.
            let is_as_logged = !text.contains(MARKER) && !text.contains('\u{fffd}');
            if is_whole && is_as_logged && size != Some(file.bytes) {
                let message = format!(
                    "{} has {} bytes, and the step logged others",
                    quoted(&path),
                    file.bytes
                );
                contradiction(record, "/result_details/log", None, message, found);
            }
        }
    }
}

/// Compares a step of the summary with its episode.
fn outcome(summary: &Record<'_>, base: &str, record: &Record<'_>, found: &mut Found) {
    for (of_summary, of_step) in [
        ("status", "/result_status"),
        ("episode_id", "/episode_id"),
        ("connector_id", "/result_details/connector_id"),
        ("tool_id", "/result_details/tool_id"),
        ("handler", "/result_details/handler"),
        ("code", "/result_details/stop/code"),
        ("reason", "/result_details/stop/reason"),
        ("message", "/result_details/stop/message"),
        ("input_bytes", "/result_details/input/bytes"),
        ("output_bytes", "/result_details/output/bytes"),
        ("log_bytes", "/result_details/log/bytes"),
        ("log_truncated", "/result_details/log/truncated"),
    ] {
        let pointer = format!("{base}/{of_summary}");
        same((summary, &pointer), (record, of_step), found);
    }
}

/// The order of the records of steps.
#[derive(Default)]
struct Order<'r> {
    /// The decision whose effect comes next: the step, if there is one, and the action.
    pending: Option<(Option<&'r str>, &'r str)>,
    /// The number of recorded steps.
    ended: usize,
    /// Whether a step did not complete.
    has_failed: bool,
    has_verdict: bool,
}

impl<'r> Order<'r> {
    fn next(&mut self, episode: &'r Record<'_>, planned: &[&Node<'_>], found: &mut Found) {
        let root = &episode.root;
        let step = string(root, "/result_details/step_id");
        let action = string(root, "/result_details/action").unwrap_or_default();
        let mut refuse = |message: String| {
            let at = Some(At::start(episode.file));
            found.report(Code::EvidenceInconsistent, at, "out of order", message);
        };
        if at(root, "/security_event_type").is_some() {
            return;
        }
        let expected = planned
            .get(self.ended)
            .and_then(|it| string(it, "/step_id"));
        match string(root, "/result_details/record") {
            Some("decision") if string(root, "/result_details/verdict").is_some() => {
                if std::mem::replace(&mut self.has_verdict, true) {
                    refuse("a second decision on the plan".to_owned());
                }
            }
            Some("decision") => {
                if let Some((_, action)) = self.pending.replace((step, action)) {
                    refuse(format!("the decision for {} has no effect", quoted(action)));
                }
                if step.is_some() && (step != expected || self.has_failed || !self.has_verdict) {
                    refuse(format!(
                        "the step {} has no turn here",
                        quoted(step.unwrap_or_default())
                    ));
                }
            }
            Some("effect") => {
                if self.pending.take() != Some((step, action)) {
                    refuse(format!(
                        "the effect {} has no decision before it",
                        quoted(action)
                    ));
                }
            }
            Some("step") => {
                let is_completed = string(root, "/result_status") == Some("completed");
                if self.pending.take().is_some() && is_completed {
                    refuse("the last decision of the step has no effect".to_owned());
                }
                if step != expected || self.has_failed || !self.has_verdict {
                    refuse(format!(
                        "the step {} has no turn here",
                        quoted(step.unwrap_or_default())
                    ));
                }
                self.ended += 1;
                self.has_failed = !is_completed;
            }
            Some("run") => {}
            other => refuse(format!(
                "no run writes the record {}",
                quoted(other.unwrap_or_default())
            )),
        }
    }
}

/// Reports values of two records that differ.
fn same(first: In<'_, '_>, second: In<'_, '_>, found: &mut Found) {
    let [a, b] = [first, second].map(|(record, pointer)| {
        let node = at(&record.root, pointer)?;
        Some(node.span.of(record.file.text.as_str()))
    });
    if a == b {
        return;
    }
    let member =
        |(record, pointer): In<'_, '_>| format!("`{pointer}` of {}", quoted(&record.file.path));
    let message = match (a, b) {
        (Some(a), Some(b)) => format!(
            "{} is {}, and {} is {}",
            member(first),
            quoted(a),
            member(second),
            quoted(b)
        ),
        (Some(_), None) => format!("{} is absent, unlike {}", member(second), member(first)),
        _ => format!("{} is absent, unlike {}", member(first), member(second)),
    };
    contradiction(first.0, first.1, Some(second), message, found);
}

/// Reports a contradiction at a value, or at the record that lacks it.
fn contradiction(
    record: &Record<'_>,
    pointer: &str,
    other: Option<In<'_, '_>>,
    message: String,
    found: &mut Found,
) {
    let first = Some(spot(record, pointer));
    let second = other.map(|(record, pointer)| spot(record, pointer));
    let (code, label) = (Code::EvidenceInconsistent, "contradicts");
    found.report_both(code, first, label, second, "this", message);
}

fn text_of<'n>(node: &'n Node<'_>) -> Option<&'n str> {
    match &node.value {
        Value::String(text) => Some(text),
        _ => None,
    }
}

/// Returns the place of a value, or the beginning of the record that lacks it.
fn spot<'f>(record: &Record<'f>, pointer: &str) -> At<'f> {
    let node = at(&record.root, pointer);
    At::new(record.file, node.map_or(record.file.start(), |it| it.span))
}
