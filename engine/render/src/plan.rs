//! The answer to a sequential plan: the validation report, and what may run \[3\].

use super::lock::lock_digest;
use super::styled::{Style, Styled, StyledSpan};
use agent_decide::{AuthorizedPlan, PlanAnswer, PlanContext, PlanPolicy, RunCheck};
use agent_diagnostic::{Change, ChangeKind, ChangeSet, Finding};
use agent_explain::deferred;
use agent_lower::{Validated, digest};
use agent_model::{Input, Plan};
use agent_syntax::canonical;
use agent_syntax::json::Writer;
use agent_text::DocumentKind;

/// The one kind of obligation that there is.
const APPROVAL: &str = "approval";

/// What a report has been made from, and its parts.
#[derive(Debug, Clone, Copy)]
pub struct PlanReport<'a> {
    /// The plan.
    pub plan: &'a Validated<Plan>,
    /// What it was decided by.
    pub rules: &'a PlanPolicy,
    /// What else there is.
    pub context: PlanContext<'a>,
    /// The answer.
    pub answer: &'a PlanAnswer<'a>,
    /// Everything that speaks against the plan.
    pub findings: &'a [Finding],
    /// What would make each of those go away, if it was looked for; else nothing.
    pub fixes: &'a [Option<ChangeSet>],
}

impl PlanReport<'_> {
    fn step_id(&self, number: usize) -> Option<&str> {
        let plan = self.plan.value.as_ref()?;
        Some(&plan.steps.get(number)?.id.value)
    }

    /// The documents that were looked at, by kind and name, with the digest of each.
    pub fn decided_against(&self) -> Vec<(&'static str, Option<String>, String)> {
        let mut found = Vec::new();
        let request = self.context.request.and_then(|it| it.value.as_ref());
        found.extend(request.map(|it| ("request", Some(it.id.value.clone()), it.digest.clone())));
        let pool = self.rules.pool.value.as_ref();
        found.extend(pool.map(|it| ("tool_pool", Some(it.id.clone()), it.digest.clone())));
        let profile = self.rules.profile.value.as_ref();
        found.extend(profile.map(|it| {
            (
                "instruction_profile",
                Some(it.id.clone()),
                it.digest.clone(),
            )
        }));
        let locked = self.context.lock.map(lock_digest);
        found.extend(locked.map(|digest| ("lock", None, digest)));
        if let Some(authorized) = &self.answer.authorized {
            found.extend(servers(authorized));
        }
        let schemas = self.rules.schema_digests(request.is_some());
        found.extend(
            schemas.map(|(name, digest)| ("schema", Some((*name).to_owned()), digest.clone())),
        );
        found
    }
}

/// The entries of servers, and the definitions of their tools.
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

/// `ds.mova_agent_validation_report_v1`, as JSON that ends with a newline.
pub fn validation_report(report: &PlanReport<'_>) -> String {
    let allowed = report.answer.authorized.is_some();
    let mut w = Writer::pretty();
    w.object(|w| {
        w.key("at_run_time").array(|w| {
            for waiting in report.answer.deferred() {
                let Some(step) = report.step_id(waiting.step) else {
                    continue;
                };
                w.object(|w| {
                    w.key("check").string(waiting.check.name());
                    w.key("message").string(deferred(waiting.check));
                    w.key("step_id").string(step);
                });
            }
        });
        if let Some(authorized) = &report.answer.authorized {
            w.key("authorized")
                .string(&digest(&authorized_plan(authorized)));
        }
        w.key("decided_against").array(|w| {
            for (document, name, digest) in report.decided_against() {
                w.object(|w| {
                    w.key("digest").string(&digest);
                    w.key("document").string(document);
                    if let Some(name) = &name {
                        w.key("name").string(name);
                    }
                });
            }
        });
        w.key("obligations").array(|w| {
            for step in &report.answer.approvals {
                w.object(|w| {
                    w.key("kind").string(APPROVAL);
                    w.key("step_id")
                        .string(report.step_id(*step).unwrap_or_default());
                });
            }
        });
        if let Some(plan) = &report.plan.value {
            w.key("plan_id").string(&plan.id.value);
        }
        w.key("problems").array(|w| {
            for (number, finding) in report.findings.iter().enumerate() {
                let fix = report.fixes.get(number).and_then(Option::as_ref);
                problem(w, report, finding, fix);
            }
        });
        if let Some(plan) = &report.plan.value {
            w.key("request_id").string(&plan.request.value);
        }
        w.key("schema_id")
            .string("ds.mova_agent_validation_report_v1");
        w.key("verdict")
            .string(if allowed { "allow" } else { "deny" });
    });
    w.finish()
}

fn problem(w: &mut Writer, report: &PlanReport<'_>, finding: &Finding, fix: Option<&ChangeSet>) {
    let diagnostic = &finding.diagnostic;
    let place = diagnostic.place();
    let help = diagnostic.fixes.first();
    w.object(|w| {
        if let Some(fix) = fix {
            w.key("changes").array(|w| {
                for change in &fix.changes {
                    w.object(|w| write_change(w, change));
                }
            });
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
    });
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

/// What a report calls a document.
fn document(source: DocumentKind) -> &'static str {
    match source {
        DocumentKind::Request => "request",
        DocumentKind::ToolPool => "tool_pool",
        DocumentKind::Profile => "instruction_profile",
        DocumentKind::Lock => "lock",
        DocumentKind::Index => "index",
        DocumentKind::Catalogue => "catalogue",
        DocumentKind::StepInput => "input",
        DocumentKind::StepOutput => "output",
        DocumentKind::Summary => "summary",
        DocumentKind::Payload => "payload",
        DocumentKind::Document => "schema",
        _ => "plan",
    }
}

/// The RFC 8785 form of a plan that may run, with the digests of all that it was decided against
/// and what has to be seen to before each step.
pub fn authorized_plan(authorized: &AuthorizedPlan) -> String {
    let Some(plan) = authorized.plan() else {
        return String::new();
    };
    let id = |number: usize| plan.steps.get(number).map_or("", |step| &step.id.value);
    let mut w = Writer::dense();
    w.object(|w| {
        w.key("against").object(|w| against(w, authorized));
        w.key("obligations").array(|w| {
            let steps = authorized.steps().iter().enumerate();
            for (number, _) in steps.filter(|(_, step)| step.needs_approval()) {
                w.object(|w| {
                    w.key("kind").string(APPROVAL);
                    w.key("step_id").string(id(number));
                });
            }
        });
        w.key("plan")
            .json(&canonical(authorized.text()).unwrap_or_default());
        w.key("servers").array(|w| {
            for (number, step) in authorized.steps().iter().enumerate() {
                if let Some(server) = step.server() {
                    w.object(|w| {
                        w.key("endpoint").string(&server.endpoint);
                        w.key("server").string(&server.id);
                        w.key("step_id").string(id(number));
                        w.key("tool").string(&server.tool);
                        w.key("version").string(&server.version);
                    });
                }
            }
        });
    });
    let mut text = w.finish();
    text.pop();
    text
}

fn against(w: &mut Writer, authorized: &AuthorizedPlan) {
    let rules = authorized.rules();
    let mut found: Vec<(String, String)> = Vec::new();
    for (kind, name, digest) in servers(authorized) {
        found.push((format!("{kind}:{}", name.unwrap_or_default()), digest));
    }
    found.extend(
        rules
            .schema_digests(authorized.basis().request.is_some())
            .map(|(name, digest)| (format!("schema:{name}"), digest.clone())),
    );
    let one = |name: &str, digest: Option<String>| digest.map(|it| (name.to_owned(), it));
    let profile = rules.profile.value.as_ref().map(|it| it.digest.clone());
    found.extend(one("instruction_profile", profile));
    let pool = rules.pool.value.as_ref().map(|it| it.digest.clone());
    found.extend(one("tool_pool", pool));
    let locked = authorized.basis().lock.as_ref();
    found.extend(one("lock", locked.map(lock_digest)));
    found.extend(one("request", authorized.basis().request.clone()));
    agent_text::sort::sort_by(&mut found, |a, b| {
        a.0.encode_utf16().cmp(b.0.encode_utf16())
    });
    for (name, digest) in found {
        w.key(&name).string(&digest);
    }
}

/// The answer for people: the steps, and what becomes of each.
pub fn plan_answer(report: &PlanReport<'_>) -> Vec<StyledSpan> {
    let mut out = Styled::default();
    let name = report.plan.value.as_ref().map(|plan| &*plan.id.value);
    match &report.answer.authorized {
        Some(authorized) => {
            out.put(Style::Accepted, "✓ ")
                .put(Style::Heading, "may run");
            if let Some(name) = name {
                out.plain(": ").name(name);
            }
            out.end();
            steps(&mut out, report);
            out.dim(format!("  {}", digest(&authorized_plan(authorized))))
                .end();
        }
        None => {
            out.put(Style::Rejected, "✗ ")
                .put(Style::Heading, "may not run");
            if let Some(name) = name {
                out.plain(": ").name(name);
            }
            let count = report.findings.len();
            let problems = if count == 1 { "problem" } else { "problems" };
            out.dim(format!("  {count} {problems}")).end();
            steps(&mut out, report);
        }
    }
    out.finish()
}

fn steps(out: &mut Styled, report: &PlanReport<'_>) {
    let Some(plan) = &report.plan.value else {
        return;
    };
    for (number, step) in plan.steps.iter().enumerate() {
        let findings = report.findings.iter();
        let against = findings
            .filter(|it| it.diagnostic.step == Some(number))
            .count();
        out.plain("  ");
        if against == 0 {
            out.put(Style::Accepted, "✓ ");
        } else {
            out.put(Style::Rejected, "✗ ");
        }
        out.name(&step.id.value)
            .plain(format!("  {}/{}", step.connector.value, step.tool.value));
        if let Input::From { step, pointer, .. } = &step.input {
            let from = plan.steps.get(*step).map_or("", |step| &step.id.value);
            out.dim(format!("  takes `{}` of `{from}`", pointer.value));
        }
        if report.answer.approvals.contains(&number) {
            out.put(Style::Warning, "  a human has to approve of it first");
        }
        out.end();
        let waiting = report.answer.deferred_of(number).into_iter();
        let waiting: Vec<_> = waiting.map(RunCheck::name).collect();
        if against == 0 && !waiting.is_empty() {
            out.dim(format!("      once it runs: {}", waiting.join(", ")))
                .end();
        }
    }
}
