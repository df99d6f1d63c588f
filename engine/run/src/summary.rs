//! `ds.mova_agent_run_summary_v1` \[3\].

use super::action::Status;
use super::documents::Read;
use super::evidence::Evidence;
use super::options::Options;
use super::record::number;
use super::step::StepReport;
use super::stop::Stop;
use agent_api::decide::AuthorizedPlan;
use agent_api::lower::digest;
use agent_api::model::{Driver, PlanStep};
use agent_record::Clock;
use agent_syntax::json::{Writer, parse_strict};
use agent_syntax::{Node, Value};

/// The word of evidence for a program without a sandbox.
const NO_SANDBOX: &str = "none";

/// What is added to the tier of a server with the host's network: it is weaker than the tier says.
const HOST_NETWORK: &str = "-host-network";

/// The contents of a summary.
pub(crate) struct RunReport<'r> {
    pub(crate) evidence: &'r Evidence,
    pub(crate) documents: &'r Read,
    pub(crate) options: &'r Options,
    pub(crate) plan: Option<&'r AuthorizedPlan>,
    /// The digest of the authorized plan.
    pub(crate) digest: Option<&'r str>,
    pub(crate) steps: &'r [StepReport],
    pub(crate) status: Status,
    pub(crate) stop: Option<&'r Stop>,
    pub(crate) message: &'r str,
    /// The result of a query.
    pub(crate) result: Option<&'r str>,
    pub(crate) started: Clock,
    pub(crate) finished: Clock,
    /// The episode of the run.
    pub(crate) episode_id: &'r str,
}

/// Returns the summary as JSON that ends with a newline.
pub(crate) fn summary(report: &RunReport<'_>) -> String {
    let mut w = Writer::pretty();
    w.object(|w| members(w, report));
    w.finish()
}

fn members(w: &mut Writer, report: &RunReport<'_>) {
    let evidence = report.evidence;
    let subject = evidence.subject();
    w.key("approvals").array(|w| {
        for approved in report.steps.iter().filter_map(|it| it.approved.as_ref()) {
            w.object(|w| {
                w.key("by").string(&approved.by);
                w.key("digest").string(&approved.digest);
                w.key("step_id").string(&approved.step_id);
            });
        }
    });
    if let Some(digest) = report.digest {
        w.key("authorized").string(digest);
    }
    caps(w, report.documents);
    w.key("chain").object(|w| {
        chain(w, evidence.episodes().into(), evidence.head().as_deref());
    });
    stop_code(w, report.stop);
    w.key("episode_id").string(report.episode_id);
    w.key("finished_at").string(&report.finished.rfc3339());
    if let Some(profile) = report.documents.rules.profile.as_written() {
        w.key("instruction_profile_ref").object(|w| {
            w.key("digest").string(&profile.digest);
            w.key("profile_id").string(&profile.id);
            if let Some(version) = &profile.version {
                w.key("profile_version").string(version);
            }
        });
    }
    w.key("message").string(report.message);
    if let Some(plan) = &subject.plan_id {
        w.key("plan_id").string(plan);
    }
    reason(w, report.stop);
    w.key("request_id").string(&subject.request_id);
    if let Some(result) = report.result {
        w.key("result").string(result);
    }
    w.key("run_id").string(&subject.run_id);
    w.key("schema_id").string("ds.mova_agent_run_summary_v1");
    let events = evidence.security_events();
    w.key("security_events")
        .strings(events.iter().map(|it| &**it));
    w.key("started_at").string(&report.started.rfc3339());
    w.key("status").string(report.status.name());
    let plan = report.plan.and_then(|plan| plan.plan());
    w.key("steps").array(|w| {
        for (place, step) in plan.into_iter().flat_map(|plan| &plan.steps).enumerate() {
            w.object(|w| write_step(w, report, place, step));
        }
    });
    if let Some(pool) = report.documents.rules.pool.as_written() {
        w.key("tool_pool_ref").object(|w| {
            w.key("digest").string(&pool.digest);
            w.key("pool_id").string(&pool.id);
            w.key("pool_version").string(&pool.version);
        });
    }
    w.key("verb").string("record");
}

fn chain(w: &mut Writer, episodes: u64, head: Option<&str>) {
    number(w, "episodes", episodes);
    w.key("head").optional(head);
}

/// Returns the digest of a summary in which `null` replaces the value of `chain`. The episode of the
/// run, which is part of the chain, holds it. Returns `None` unless that value is written as runs
/// write it.
pub fn summary_digest(summary: &str) -> Option<String> {
    let (before, after) = around_chain(summary)?;
    Some(digest(&format!("{before}null{after}")))
}

/// Returns whether the episode of a run may hold this digest of its summary. Evidence of earlier
/// versions has that of a text without the value of `chain`.
pub fn is_summary_digest(recorded: &str, summary: &str) -> bool {
    around_chain(summary).is_some_and(|(before, after)| {
        ["null", ""]
            .iter()
            .any(|chain| recorded == digest(&format!("{before}{chain}{after}")))
    })
}

/// Returns the texts before and after the value of `chain`.
fn around_chain(summary: &str) -> Option<(&str, &str)> {
    let root = parse_strict(summary)?;
    let written = member(&root, "chain")?;
    let episodes = match &member(written, "episodes")?.value {
        Value::Number(episodes) => episodes.parse().ok()?,
        _ => return None,
    };
    let head = match &member(written, "head")?.value {
        Value::String(head) => Some(&**head),
        _ => None,
    };
    let mut w = Writer::pretty();
    w.object(|w| w.key("chain").object(|w| chain(w, episodes, head)));
    let text = written.span.of(summary);
    let (before, after) = summary.split_at(written.span.start as usize);
    let is_as_written = w.finish() == format!("{{\n  \"chain\": {text}\n}}\n");
    is_as_written.then(|| (before, &after[text.len()..]))
}

fn member<'n, 't>(node: &'n Node<'t>, key: &str) -> Option<&'n Node<'t>> {
    let Value::Mapping(entries) = &node.value else {
        return None;
    };
    let entry = entries.iter().find(|it| it.key == key);
    entry.map(|it| &it.value)
}

fn caps(w: &mut Writer, documents: &Read) {
    use agent_api::model::Cap;
    let Some(profile) = documents.rules.profile.as_written() else {
        return;
    };
    let caps = Cap::ALL.map(|cap| profile.cap(cap).map(|it| (cap.name(), it.value)));
    if caps.iter().all(Option::is_some) {
        let mut caps: Vec<_> = caps.into_iter().flatten().collect();
        caps.sort_unstable();
        w.key("caps").object(|w| {
            for (name, value) in caps {
                number(w, name, value);
            }
        });
    }
}

fn stop_code(w: &mut Writer, stop: Option<&Stop>) {
    if let Some(stop) = stop {
        w.key("code").string(stop.code.name());
    }
}

fn reason(w: &mut Writer, stop: Option<&Stop>) {
    if let Some(reason) = stop.and_then(|it| it.reason) {
        w.key("reason").string(reason.name());
    }
}

fn write_step(w: &mut Writer, report: &RunReport<'_>, place: usize, step: &PlanStep) {
    let run = report.steps.iter().find(|it| it.number == place);
    let stop = run.and_then(|it| it.stop.as_ref());
    stop_code(w, stop);
    w.key("connector_id").string(&step.connector.value);
    if let Some(run) = run {
        number(w, "duration_ms", run.finished.since(run.started));
        if let Some(id) = &run.episode_id {
            w.key("episode_id").string(id);
        }
        if let Some(handler) = &run.handler {
            w.key("handler").string(handler);
        }
        if let Some(input) = &run.input {
            number(w, "input_bytes", input.len() as u64);
        }
        number(w, "log_bytes", run.log.bytes.len() as u64);
        w.key("log_truncated").bool(run.log.truncated);
        if let Some(stop) = stop {
            w.key("message").string(&stop.message);
        }
        if let Some(output) = &run.output {
            number(w, "output_bytes", output.len() as u64);
        }
        reason(w, stop);
        if let Some(tier) = sandbox_tier(report, place) {
            match &run.opened {
                Some(opened) if opened.is_unsandboxed => w.key("sandbox_tier").string(NO_SANDBOX),
                Some(opened) if opened.has_host_network => {
                    w.key("sandbox_tier")
                        .string(&format!("{tier}{HOST_NETWORK}"));
                }
                _ => w.key("sandbox_tier").string(tier),
            }
        }
    }
    w.key("status")
        .string(run.map_or(Status::Skipped, |it| it.status).name());
    w.key("step_id").string(&step.id.value);
    w.key("tool_id").string(&step.tool.value);
}

/// Returns the sandbox of a step that starts a program; a handler itself is a component, which has no
/// other.
fn sandbox_tier<'r>(report: &RunReport<'r>, place: usize) -> Option<&'r str> {
    let plan = report.plan?;
    let starts_program = match &plan.binding(place)?.driver {
        Driver::RestrictedShell { .. } => true,
        Driver::McpProxy { .. } => plan
            .steps()
            .get(place)
            .and_then(|it| it.server())
            .is_some_and(|it| it.endpoint.starts_with("pkg:")),
        Driver::Noop | Driver::Http { .. } => false,
    };
    starts_program.then_some(&*report.options.sandbox_tier)
}
