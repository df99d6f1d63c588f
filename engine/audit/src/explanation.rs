//! A run in words, from its evidence alone \[3, 4.5\].
//!
//! Nothing here knows more than the records. Values of peers are quoted as code, so none of them can
//! pass for a sentence of the explanation.

use super::folder::{Folder, plain, quoted};
use super::members::{at, boolean, items, number, string};
use super::recorded::{INDEX, PLAN, POOL, PROFILE, REPORT, Record, Recorded, SUMMARY};
use super::verification::verified;
use agent_api::diagnostic::Diagnostic;
use agent_api::schema::Library;
use agent_syntax::Node;
use agent_syntax::json::Writer;
use std::sync::Arc;

/// The channel of the catalogue in which the text is.
const CHANNEL: &str = "human_ui";

/// Maximum number of effects of a step that are listed.
const EFFECTS_LIMIT: usize = 100;

/// An explanation of a run.
#[derive(Debug)]
pub struct Explanation {
    /// The text as Markdown, tagged with its channel.
    pub markdown: String,
    /// `ds.ui_text_bundle_core_v1` as JSON that ends with a newline.
    pub bundle: String,
    /// The problems of the evidence. With any, the explanation says that it can't be relied on.
    pub problems: Vec<Diagnostic>,
}

/// Explains a run from its evidence.
#[must_use]
pub fn explain(folder: &Folder, core: Option<&Arc<Library>>) -> Explanation {
    let (recorded, problems) = verified(folder, core);
    let summary = recorded.record(SUMMARY);
    let mut text = Text {
        recorded: &recorded,
        out: String::new(),
    };
    text.heading(summary);
    text.reliability(&problems);
    text.plan();
    text.decision();
    text.steps(summary);
    text.end(summary);
    text.places();
    let run_id = summary.and_then(|it| string(&it.root, "/run_id"));
    let bundle = bundle(run_id, &text.out);
    Explanation {
        markdown: format!("<!-- channel: {CHANNEL} -->\n\n{}", text.out),
        bundle,
        problems,
    }
}

fn bundle(run_id: Option<&str>, text: &str) -> String {
    let mut w = Writer::pretty();
    w.object(|w| {
        w.key("bundle_id").string("mova_agent.explain_run");
        if let Some(run_id) = run_id {
            w.key("context_id").string(run_id);
        }
        w.key("human_text").object(|w| {
            w.key("channel").string(CHANNEL);
            w.key("lang").string("en");
            w.key("text").string(text);
        });
        w.key("role").string("explanation");
    });
    w.finish()
}

/// The text while it is written.
struct Text<'r, 'f> {
    recorded: &'r Recorded<'f>,
    out: String,
}

impl Text<'_, '_> {
    fn line(&mut self, line: impl AsRef<str>) {
        self.out.push_str(line.as_ref());
        self.out.push('\n');
    }

    fn section(&mut self, title: &str) {
        self.line(format!("\n## {title}\n"));
    }

    fn heading(&mut self, summary: Option<&Record<'_>>) {
        let Some(summary) = summary else {
            self.line("# A run without a summary\n");
            return;
        };
        let text = |pointer| string(&summary.root, pointer).map(quoted);
        let unknown = || "unknown".to_owned();
        self.line(format!(
            "# Run {}: {}\n",
            text("/run_id").unwrap_or_else(unknown),
            text("/status").unwrap_or_else(unknown)
        ));
        for (pointer, name) in [
            ("/request_id", "Request"),
            ("/plan_id", "Plan"),
            ("/instruction_profile_ref/profile_id", "Instruction profile"),
            ("/tool_pool_ref/pool_id", "Tool pool"),
            ("/started_at", "Started"),
            ("/finished_at", "Finished"),
        ] {
            if let Some(value) = text(pointer) {
                self.line(format!("- {name}: {value}"));
            }
        }
    }

    fn reliability(&mut self, problems: &[Diagnostic]) {
        let episodes = self.recorded.lines.len();
        if problems.is_empty() {
            self.line(format!("- Evidence: verified, {episodes} episodes"));
            return;
        }
        let number = problems.len();
        self.line(format!(
            "\n**This evidence does not verify** ({number} problems). Nothing below can be relied on.\n"
        ));
        for problem in problems.iter().take(5) {
            let (code, message) = (problem.code.name(), plain(&problem.message));
            self.line(format!("- `{code}`: `{message}`"));
        }
    }

    fn plan(&mut self) {
        self.section("What was planned");
        let Some(plan) = self.recorded.record(PLAN).filter(|it| !it.is_placeholder()) else {
            self.line("The plan could not be read.");
            return;
        };
        let steps = items(&plan.root, "/plan/steps");
        for (step, place) in steps.iter().zip(1..) {
            let text = |pointer| quoted(string(step, pointer).unwrap_or_default());
            let from = string(step, "/input_from/step").map(|from| {
                let pointer = string(step, "/input_from/pointer").unwrap_or_default();
                format!(
                    ", with {} of step {} as input",
                    quoted(pointer),
                    quoted(from)
                )
            });
            self.line(format!(
                "{place}. {}: tool {} of {}{}",
                text("/step_id"),
                text("/tool_id"),
                text("/connector_id"),
                from.unwrap_or_default()
            ));
        }
    }

    fn decision(&mut self) {
        self.section("What was decided");
        let Some(verdict) = self.recorded.verdict() else {
            self.line("No decision on the plan is recorded.");
            return;
        };
        match string(&verdict.root, "/result_details/authorized") {
            Some(digest) => self.line(format!(
                "The plan may run. Its digest is {}.",
                quoted(digest)
            )),
            None => self.line("The plan may not run."),
        }
        if let Some(report) = self.recorded.record(REPORT) {
            for problem in items(&report.root, "/problems") {
                self.line(format!("- {}", self::problem(problem)));
            }
            for obligation in items(&report.root, "/obligations") {
                let step = string(obligation, "/step_id").unwrap_or_default();
                let line = format!("- Step {} needs approval by a person.", quoted(step));
                self.line(line);
            }
        }
        for event in &self.recorded.episodes {
            if let Some(kind) = string(&event.root, "/security_event_type") {
                let severity = string(&event.root, "/severity").unwrap_or_default();
                let line = format!(
                    "- Security event {} of severity {}: {}",
                    quoted(kind),
                    quoted(severity),
                    quoted(string(&event.root, "/result_summary").unwrap_or_default())
                );
                self.line(line);
            }
        }
    }

    fn steps(&mut self, summary: Option<&Record<'_>>) {
        let records: Vec<_> = self.recorded.of_kind("step").collect();
        let steps = summary
            .map(|it| items(&it.root, "/steps"))
            .unwrap_or_default();
        if records.is_empty() && steps.is_empty() {
            return;
        }
        self.section("What each step did");
        for record in records {
            self.step(record, steps);
        }
        let skipped = steps
            .iter()
            .filter(|it| string(it, "/status") == Some("skipped"));
        for step in skipped {
            let id = string(step, "/step_id").unwrap_or_default();
            self.line(format!("### {}: skipped\n", quoted(id)));
        }
    }

    fn step(&mut self, record: &Record<'_>, of_summary: &[Node<'_>]) {
        let root = &record.root;
        let id = string(root, "/result_details/step_id").unwrap_or_default();
        let status = string(root, "/result_status").unwrap_or_default();
        let summary = of_summary
            .iter()
            .find(|it| string(it, "/step_id") == Some(id));
        let ms = summary.and_then(|it| number(it, "/duration_ms"));
        let ms = ms.map(|ms| format!(", {ms} ms")).unwrap_or_default();
        self.line(format!("### {}: {}{ms}\n", quoted(id), quoted(status)));
        if let Some(by) = string(root, "/result_details/approval/by") {
            let digest = string(root, "/result_details/approval/digest").unwrap_or_default();
            self.line(format!(
                "- Approved by {} with the digest {}.",
                quoted(by),
                quoted(digest)
            ));
        }
        if let Some(bytes) = number(root, "/result_details/input/bytes") {
            self.line(format!("- Input: {bytes} bytes."));
        }
        self.effects(id);
        if let Some(bytes) = number(root, "/result_details/output/bytes") {
            self.line(format!("- Output: {bytes} bytes."));
        }
        if let Some(bytes) = number(root, "/result_details/log/bytes").filter(|bytes| *bytes > 0) {
            let cut = boolean(root, "/result_details/log/truncated") == Some(true);
            let cut = if cut { ", the rest was cut off" } else { "" };
            self.line(format!("- Log: {bytes} bytes{cut}."));
        }
        if let Some(stop) = at(root, "/result_details/stop") {
            self.line(format!("- Ended early: {}", problem(stop)));
        }
        self.line("");
    }

    /// Lists the effects of a step in their order.
    fn effects(&mut self, id: &str) {
        let mut left = EFFECTS_LIMIT;
        for episode in &self.recorded.episodes {
            let root = &episode.root;
            if string(root, "/result_details/step_id") != Some(id) {
                continue;
            }
            let action = string(root, "/result_details/action").unwrap_or_default();
            let Some(facts) = at(root, "/result_details/facts") else {
                continue;
            };
            if left == 0 {
                self.line("- Further effects are not listed.");
                return;
            }
            left -= 1;
            let line = match string(root, "/result_details/record") {
                Some("decision") => {
                    format!("- Allowed {}{}", quoted(action), decided(action, facts))
                }
                Some("effect") => format!("  - {}", happened(facts)),
                _ => continue,
            };
            self.line(line);
        }
    }

    fn end(&mut self, summary: Option<&Record<'_>>) {
        self.section("How it ended");
        let Some(summary) = summary else {
            self.line("The run was interrupted: it has no summary.");
            return;
        };
        let line = match string(&summary.root, "/code") {
            None => "Every step of the plan is completed.".to_owned(),
            Some(_) => format!("It ended early: {}", problem(&summary.root)),
        };
        self.line(line);
    }

    fn places(&mut self) {
        self.section("Where to look");
        for (path, content) in [
            (REPORT, "the decision on the plan, with all its problems"),
            (SUMMARY, "the outcome of the run and of each step"),
            (INDEX, "the episodes in their order"),
            (PLAN, "the plan"),
            (POOL, "the tools of the plan"),
            (PROFILE, "the rules of the run"),
        ] {
            if self.recorded.folder.find(path).is_some() {
                self.line(format!("- `{path}`: {content}"));
            }
        }
        let failed = self.recorded.of_kind("step");
        let failed = failed.filter(|it| at(&it.root, "/result_details/stop").is_some());
        let lines = failed.map(|it| {
            let id = string(&it.root, "/result_details/step_id").unwrap_or_default();
            let log = quoted(&format!("logs/{id}.log"));
            format!(
                "- {} and {log}: the step that ended early",
                quoted(&it.file.path)
            )
        });
        let lines: Vec<_> = lines.collect();
        lines.into_iter().for_each(|line| self.line(line));
    }
}

/// Returns a problem with its code, its reason and its message.
fn problem(node: &Node<'_>) -> String {
    let mut text = quoted(string(node, "/code").unwrap_or_default());
    if let Some(reason) = string(node, "/reason") {
        text.push_str(&format!(" {}", quoted(reason)));
    }
    let message = string(node, "/message").unwrap_or_default();
    text.push_str(&format!(": `{}`", plain(message)));
    text
}

/// Returns the facts of an allowed effect.
fn decided(action: &str, facts: &Node<'_>) -> String {
    let text = |pointer| string(facts, pointer).unwrap_or_default();
    let port = || number(facts, "/port").or_else(|| number(facts, "/connection/port"));
    match action {
        "resolve" => format!(" of {} port {}", quoted(text("/host")), port().unwrap_or(0)),
        "request" => format!(
            ": {} to {} at the address {}",
            quoted(&format!("{} {}", text("/method"), text("/target"))),
            quoted(text("/connection/host")),
            quoted(text("/connection/address"))
        ),
        "run_program" => format!(" of {}", quoted(text("/path"))),
        "open_server" => format!(
            " {} at {}",
            quoted(&format!("{} {}", text("/id"), text("/version"))),
            quoted(text("/endpoint"))
        ),
        "call_tool" => format!(" {}", quoted(text("/tool"))),
        "call_handler" => format!(" of the kind {}", quoted(text("/driver_kind"))),
        _ => String::new(),
    }
}

/// Returns the facts of an effect's outcome.
fn happened(facts: &Node<'_>) -> String {
    let bytes = |pointer: &str| number(facts, &format!("{pointer}/bytes")).unwrap_or(0);
    for failure in ["/failure", "/rose"] {
        if let Some(failure) = at(facts, failure) {
            return format!(
                "Failed ({}): {}",
                quoted(string(failure, "/kind").unwrap_or_default()),
                quoted(string(failure, "/message").unwrap_or_default())
            );
        }
    }
    if let Some(approved) = boolean(facts, "/approved") {
        let by = quoted(string(facts, "/by").unwrap_or_default());
        return format!("{} by {by}", if approved { "Approved" } else { "Refused" });
    }
    if at(facts, "/addresses").is_some() {
        let addresses = items(facts, "/addresses").iter();
        let texts = addresses.filter_map(|it| string(it, "")).map(quoted);
        return format!("Addresses: {}", texts.collect::<Vec<_>>().join(", "));
    }
    if let Some(status) = number(facts, "/status") {
        return format!(
            "Response with the status {status} and {} bytes",
            bytes("/body")
        );
    }
    if let Some(code) = at(facts, "/exit_code").filter(|_| at(facts, "/stdout").is_some()) {
        let code = match &code.value {
            agent_syntax::Value::Number(code) => code,
            _ => "",
        };
        return format!("Exit code {code}, and {} bytes of output", bytes("/stdout"));
    }
    if let Some(protocol) = string(facts, "/protocol") {
        return format!("Ready, with the protocol {}", quoted(protocol));
    }
    if at(facts, "/received").is_some() {
        return format!("Received {} bytes", bytes("/received"));
    }
    if at(facts, "/returned").is_some() {
        return format!("Returned {} bytes", bytes("/returned"));
    }
    for (wanted, what) in [
        ("/wants_request", "an HTTP request"),
        ("/wants_program", "a program"),
        ("/wants_tool", "a tool"),
    ] {
        if at(facts, wanted).is_some() {
            return format!("Asked for {what}");
        }
    }
    "Done".to_owned()
}
