//! The answer to a sequential plan: the validation report and the authorized plan \[3\].

use super::json::{ObjectMembers, source_name};
use super::lock::lock_digest;
use super::styled::{Style, Styled, StyledSpan, count};
use agent_decide::{
    AuthorizedPlan, CheckOutcome, PlanAnswer, PlanContext, PlanPolicy, RunCheck, StepCheck,
    StepRecord,
};
use agent_diagnostic::{Change, ChangeKind, ChangeSet, Finding};
use agent_lower::{Validated, digest};
use agent_model::{Input, Lock, Plan};
use agent_syntax::canonical;
use agent_syntax::json::Writer;
use agent_text::DocumentKind;

/// The only kind of obligation.
const APPROVAL: &str = "approval";

/// The contents of a report.
#[derive(Debug, Clone, Copy)]
pub struct PlanReport<'a> {
    /// The plan.
    pub plan: &'a Validated<Plan>,
    /// The pool and the profile that decided.
    pub rules: &'a PlanPolicy,
    /// The other documents.
    pub context: PlanContext<'a>,
    /// The answer.
    pub answer: &'a PlanAnswer<'a>,
    /// Every problem of the plan.
    pub findings: &'a [Finding],
    /// The fix of each finding, if one was found. Empty if none was searched for.
    pub fixes: &'a [Option<ChangeSet>],
}

impl PlanReport<'_> {
    fn step_id(&self, number: usize) -> Option<&str> {
        let plan = self.plan.value.as_ref()?;
        let id = &*plan.steps.get(number)?.id.value;
        (!id.is_empty()).then_some(id)
    }

    /// Returns the documents that were read: kind, name and digest.
    pub fn decided_against(&self) -> Vec<(&'static str, Option<String>, String)> {
        let request = self.context.request.and_then(|it| it.as_written());
        let request = request.map(|it| (Some(it.id.value.clone()), it.digest.clone()));
        let authorized = self.answer.authorized.as_ref();
        documents(self.rules, request, self.context.lock, authorized)
    }
}

/// Returns the documents that a decision was made against: kind, name and digest.
fn documents(
    rules: &PlanPolicy,
    request: Option<(Option<String>, String)>,
    lock: Option<&Lock>,
    authorized: Option<&AuthorizedPlan>,
) -> Vec<(&'static str, Option<String>, String)> {
    let pool = rules.pool.as_written();
    let profile = rules.profile.as_written();
    let schemas = rules.schema_digests(request.is_some());
    let named = |kind, id: &str, digest: &str| (kind, Some(id.to_owned()), digest.to_owned());
    let mut found = Vec::new();
    found.extend(request.map(|(id, digest)| ("request", id, digest)));
    found.extend(pool.map(|it| named("tool_pool", &it.id, &it.digest)));
    found.extend(profile.map(|it| named("instruction_profile", &it.id, &it.digest)));
    found.extend(lock.map(|lock| ("lock", None, lock_digest(lock))));
    found.extend(authorized.into_iter().flat_map(servers));
    found.extend(schemas.map(|(name, digest)| named("schema", name, digest)));
    found
}

/// Returns the entries of servers and the definitions of their tools: kind, name and digest.
fn servers(authorized: &AuthorizedPlan) -> Vec<(&'static str, Option<String>, String)> {
    let mut found = Vec::new();
    for server in authorized.steps().iter().filter_map(|step| step.server()) {
        let entry = format!("{} {}", server.id, server.version);
        let tool = format!("{}/{}", server.id, server.tool);
        found.push(("index", Some(entry), server.integrity.clone()));
        found.push(("catalogue", Some(tool), server.definition.clone()));
    }
    agent_text::sort::sort_by(&mut found, |(a, name_a, _), (b, name_b, _)| {
        // The index goes before the catalogue.
        b.cmp(a).then_with(|| name_a.cmp(name_b))
    });
    found.dedup();
    found
}

/// Returns `ds.mova_agent_validation_report_v1` as JSON with a final newline.
pub fn validation_report(report: &PlanReport<'_>) -> String {
    let allowed = report.answer.authorized.is_some();
    let mut w = Writer::pretty();
    w.object(|w| {
        let deferred = report.answer.deferred();
        let deferred = deferred
            .into_iter()
            .filter_map(|it| Some((it.check, report.step_id(it.step)?)));
        w.objects("at_run_time", deferred, |w, (check, step)| {
            w.key("check").string(check.name());
            w.key("message").string(agent_explain::deferred(check));
            w.key("step_id").string(step);
        });
        if let Some(authorized) = &report.answer.authorized {
            w.key("authorized")
                .string(&digest(&authorized_plan(authorized)));
        }
        let documents = report.decided_against();
        w.objects(
            "decided_against",
            documents,
            |w, (document, name, digest)| {
                w.key("digest").string(&digest);
                w.key("document").string(document);
                if let Some(name) = &name {
                    w.key("name").string(name);
                }
            },
        );
        w.objects("obligations", &report.answer.approvals, |w, step| {
            w.key("kind").string(APPROVAL);
            w.key("step_id")
                .string(report.step_id(*step).unwrap_or_default());
        });
        let plan = report.plan.value.as_ref();
        if let Some(id) = plan.and_then(|plan| plan.id.as_ref()) {
            w.key("plan_id").string(&id.value);
        }
        let problems = report.findings.iter().enumerate();
        w.objects("problems", problems, |w, (number, finding)| {
            let fix = report.fixes.get(number).and_then(Option::as_ref);
            write_problem(w, report, finding, fix);
        });
        if let Some(id) = plan.and_then(|plan| plan.request.as_ref()) {
            w.key("request_id").string(&id.value);
        }
        w.key("schema_id")
            .string("ds.mova_agent_validation_report_v1");
        w.key("verdict")
            .string(if allowed { "allow" } else { "deny" });
    });
    w.finish()
}

fn write_problem(
    w: &mut Writer,
    report: &PlanReport<'_>,
    finding: &Finding,
    fix: Option<&ChangeSet>,
) {
    let diagnostic = &finding.diagnostic;
    let place = diagnostic.place();
    let help = diagnostic.fixes.first();
    if let Some(fix) = fix {
        w.objects("changes", &fix.changes, write_change);
    }
    w.key("code").string(diagnostic.code.name());
    w.key("column")
        .number(place.map_or(1, |place| place.start.column));
    w.key("document")
        .string(place.map_or("plan", |place| document(place.source)));
    w.key("help")
        .string(help.map_or(diagnostic.code.help(), |help| &help.title));
    w.key("line")
        .number(place.map_or(1, |place| place.start.line));
    w.key("message").string(&diagnostic.message);
    w.key("pointer").string(diagnostic.pointer());
    if let Some(reason) = diagnostic.reason {
        w.key("reason").string(reason.name());
    }
    w.key("rule")
        .string(diagnostic.rule.as_deref().unwrap_or_default());
    if let Some(step) = diagnostic.step.and_then(|step| report.step_id(step)) {
        w.key("step_id").string(step);
    }
}

fn write_change(w: &mut Writer, change: &Change) {
    let (op, value) = match &change.kind {
        ChangeKind::Add(value) => ("add", Some(value)),
        ChangeKind::Remove => ("remove", None),
        ChangeKind::Replace(value) => ("replace", Some(value)),
    };
    w.key("document").string(document(change.source));
    w.key("op").string(op);
    w.key("pointer").string(&change.pointer);
    if let Some(value) = value {
        w.key("value").json(value);
    }
    w.key("widens").bool(change.widens);
}

/// Returns the word of a report for a document.
fn document(source: DocumentKind) -> &'static str {
    match source {
        DocumentKind::ToolPool => "tool_pool",
        DocumentKind::Profile => "instruction_profile",
        DocumentKind::Document => "schema",
        other => source_name(other),
    }
}

/// Returns the RFC 8785 form of an authorized plan, with the digests of all that it was decided
/// against and the obligations of each step.
pub fn authorized_plan(authorized: &AuthorizedPlan) -> String {
    let Some(plan) = authorized.plan() else {
        return String::new();
    };
    let id = |number: usize| plan.steps.get(number).map_or("", |step| &step.id.value);
    let mut w = Writer::dense();
    w.object(|w| {
        w.key("against").object(|w| write_against(w, authorized));
        let steps = || authorized.steps().iter().enumerate();
        let approvals = steps().filter(|(_, step)| step.needs_approval());
        w.objects("obligations", approvals, |w, (number, _)| {
            w.key("kind").string(APPROVAL);
            w.key("step_id").string(id(number));
        });
        w.key("plan")
            .json(&canonical(authorized.text()).unwrap_or_default());
        let servers = steps().filter_map(|(number, step)| Some((number, step.server()?)));
        w.objects("servers", servers, |w, (number, server)| {
            w.key("endpoint").string(&server.endpoint);
            w.key("server").string(&server.id);
            w.key("step_id").string(id(number));
            w.key("tool").string(&server.tool);
            w.key("version").string(&server.version);
        });
    });
    let mut text = w.finish();
    text.pop();
    text
}

/// Returns what an approval of a step with an input from an earlier step covers, as JSON in one line.
pub fn step_approval(authorized: &str, input: &str, step_id: &str) -> String {
    let mut w = Writer::dense();
    w.object(|w| {
        w.key("authorized").string(authorized);
        w.key("input").json(input);
        w.key("step_id").string(step_id);
    });
    let mut text = w.finish();
    text.pop();
    text
}

/// Writes the digests of everything that a plan was decided against, keys sorted.
fn write_against(w: &mut Writer, authorized: &AuthorizedPlan) {
    let basis = authorized.basis();
    let request = basis.request.clone().map(|digest| (None, digest));
    let lock = basis.lock.as_ref();
    let documents = documents(authorized.rules(), request, lock, Some(authorized));
    let keyed = documents
        .into_iter()
        .map(|(kind, name, digest)| match kind {
            "catalogue" | "index" | "schema" => {
                (format!("{kind}:{}", name.unwrap_or_default()), digest)
            }
            _ => (kind.to_owned(), digest),
        });
    let mut found: Vec<_> = keyed.collect();
    agent_text::sort::sort_by(&mut found, |a, b| {
        a.0.encode_utf16().cmp(b.0.encode_utf16())
    });
    for (name, digest) in found {
        w.key(&name).string(&digest);
    }
}

/// Returns the answer as text, with each step.
pub fn plan_answer(report: &PlanReport<'_>) -> Vec<StyledSpan> {
    let mut out = Styled::default();
    let plan = report.plan.value.as_ref();
    let name = plan.and_then(|plan| Some(&*plan.id.as_ref()?.value));
    let authorized = report.answer.authorized.as_ref();
    let heading = match authorized {
        Some(_) => "may run",
        None => "may not run",
    };
    out.mark(authorized.is_some()).put(Style::Heading, heading);
    if let Some(name) = name {
        out.plain(": ").name(name);
    }
    if authorized.is_none() {
        out.dim(format!("  {}", count(report.findings.len(), "problem")));
    }
    out.end();
    render_steps(&mut out, report);
    if let Some(authorized) = authorized {
        out.dim(format!("  {}", digest(&authorized_plan(authorized))))
            .end();
    }
    out.finish()
}

fn render_steps(out: &mut Styled, report: &PlanReport<'_>) {
    let Some(plan) = &report.plan.value else {
        return;
    };
    for (number, step) in plan.steps.iter().enumerate() {
        let of_step = |it: &Finding| it.diagnostic.step == Some(number);
        let reported = report.findings.iter().any(of_step);
        let records = report.answer.steps.get(number);
        out.plain("  ");
        match outcome(records.map_or(&[], Vec::as_slice)) {
            CheckOutcome::Skipped(_) if !reported => out.put(Style::Dim, "? "),
            outcome => out.mark(!reported && outcome != CheckOutcome::Failed),
        };
        match &*step.id.value {
            "" => out.plain(format!("step {}", number + 1)),
            id => out.name(id),
        };
        if !step.is_refused {
            out.plain(format!("  {}/{}", step.connector.value, step.tool.value));
        }
        if let Input::From { step, pointer, .. } = &step.input {
            let from = plan.steps.get(*step).map_or("", |step| &step.id.value);
            out.dim(format!("  takes `{}` of `{from}`", pointer.value));
        }
        if report.answer.approvals.contains(&number) {
            out.put(Style::Warning, "  a human must approve it first");
        }
        out.end();
        let deferred = report.answer.deferred_of(number).into_iter();
        let deferred: Vec<_> = deferred.map(RunCheck::name).collect();
        if !reported && !deferred.is_empty() {
            out.dim(format!("      once it runs: {}", deferred.join(", ")))
                .end();
        }
    }
}

/// Returns the outcome of a step: that of a failed check, or of one that was skipped.
fn outcome(records: &[StepRecord<'_>]) -> CheckOutcome<StepCheck> {
    let outcomes = || records.iter().map(|it| it.outcome);
    outcomes()
        .find(|it| *it == CheckOutcome::Failed)
        .or_else(|| outcomes().find(|it| matches!(it, CheckOutcome::Skipped(_))))
        .unwrap_or(CheckOutcome::Passed)
}
