//! The lifecycle of a run \[3, 4.2\].

use super::action::{Finished, Status};
use super::clock::Clock;
use super::documents::{Documents, Read, read};
use super::episode::{Episode, EpisodeType, SecurityKind, Subject};
use super::evidence::Evidence;
use super::options::Options;
use super::record::number;
use super::redact::Redactor;
use super::step::{Step, StepReport, write_stop};
use super::stop::Stop;
use super::summary::{RunReport, summary, summary_digest};
use super::text::run_text;
use super::turns::Turns;
use agent_api::PlanAnswer;
use agent_api::decide::{AuthorizedPlan, PlanContext, StepCheck};
use agent_api::diagnostic::{Code, Diagnostic};
use agent_api::plan::authorized;
use agent_api::text::DocumentKind;

/// Runs a plan.
pub(crate) async fn run(documents: Documents, options: Options, turns: Turns) -> Finished {
    let started = turns.now();
    let redactor = Redactor::new(&options.secrets);
    // 1 to 3: validate the plan, the pool and the profile.
    let documents = match read(documents, &redactor) {
        Ok(read) => read,
        Err(message) => return unusable_core(&redactor, &message),
    };
    let answer = decide(&documents);
    let report = answer.report();
    let verdict = verdict(&answer);
    let events = security_events(&answer);
    let problems = answer.problems().count();
    let mut diagnostics = answer.warnings();
    diagnostics.extend(answer.diagnostics());
    let authorized_plan = answer.into_authorized();
    let digest = authorized_plan.as_ref().map(|plan| authorized(plan).1);
    // 4: the context of the execution.
    let evidence = Evidence::new(
        turns,
        redactor,
        subject(&documents, &options),
        options.random,
    );
    let mut run = Run {
        evidence: &evidence,
        documents: &documents,
        options: &options,
        started,
        digest,
        steps: Vec::new(),
        diagnostics,
    };
    let mut outcome = run.begin(&report, &verdict, events, problems).await;
    if let (Ok(()), Some(plan)) = (&outcome, &authorized_plan) {
        // 5: the steps, in order.
        outcome = run.carry_out(plan).await;
    }
    // 6: the episode of the run, and its summary.
    run.finish(authorized_plan.as_ref(), outcome).await
}

pub(crate) fn decide(documents: &Read) -> PlanAnswer<'_> {
    let context = PlanContext {
        request: documents.request.as_ref(),
        index: documents.index.as_ref(),
        lock: documents.lock.as_ref(),
        catalogue: None,
        evaluation_context: Some(&documents.evaluation_context),
    };
    let mut answer = PlanAnswer::new(&documents.plan, &documents.rules, context);
    answer.refuse(documents.unreadable.clone());
    answer
}

/// Returns the stop of a plan that may not run: its first problem.
fn verdict(answer: &PlanAnswer<'_>) -> Result<(), Stop> {
    match answer.problems().next() {
        Some((problem, _)) => Err(problem.into()),
        None => Ok(()),
    }
}

/// Returns the kinds of events about security that the problems of a plan are, each once, with the
/// first message.
fn security_events(answer: &PlanAnswer<'_>) -> Vec<(SecurityKind, Stop)> {
    let mut events: Vec<(SecurityKind, Stop)> = Vec::new();
    let checks = answer.failed_checks();
    let documents = answer.problem_documents();
    for (((problem, _), check), document) in answer.problems().zip(checks).zip(documents) {
        let stop = Stop::from(problem);
        let kind = match (check, document, stop.code) {
            // A tool that the pool does not bind is on no list of allowed tools either.
            (Some(StepCheck::Rules | StepCheck::Pool), _, Code::MovaPolicyDenied) => {
                Some(SecurityKind::ForbiddenTool)
            }
            (
                _,
                Some(DocumentKind::Profile),
                Code::MovaValidationFailed | Code::MovaPolicyDenied,
            ) => Some(SecurityKind::InvalidProfile),
            _ => SecurityKind::of(&stop),
        };
        if let Some(kind) = kind.filter(|kind| events.iter().all(|(known, _)| known != kind)) {
            events.push((kind, stop));
        }
    }
    events
}

fn subject(documents: &Read, options: &Options) -> Subject {
    let plan = documents.plan.value.as_ref();
    let of_plan = plan.and_then(|plan| plan.request.as_ref());
    let request = documents.request.as_ref().and_then(|it| it.as_written());
    let request_id = of_plan
        .map(|it| &it.value)
        .or(request.map(|it| &it.id.value));
    let profile = documents.rules.profile.as_written();
    Subject {
        run_id: options.run_id.clone(),
        request_id: request_id
            .unwrap_or(&documents.snapshots.unknown_request)
            .clone(),
        plan_id: plan.and_then(|plan| Some(plan.id.as_ref()?.value.clone())),
        profile_id: profile.map(|it| it.id.clone()),
    }
}

/// Ends a run whose core of MOVA can't be used: nothing can be validated, so nothing can be written.
fn unusable_core(redactor: &Redactor, message: &str) -> Finished {
    Finished {
        status: Status::Failed,
        code: Some(Code::MovaValidationFailed),
        message: redactor.text(message),
        directory: String::new(),
        evidence_complete: false,
        summary: String::new(),
        text: Vec::new(),
        diagnostics: Vec::new(),
    }
}

/// A run whose documents are read.
struct Run<'r> {
    evidence: &'r Evidence,
    documents: &'r Read,
    options: &'r Options,
    started: Clock,
    /// The digest of the authorized plan.
    digest: Option<String>,
    steps: Vec<StepReport>,
    diagnostics: Vec<Diagnostic>,
}

impl Run<'_> {
    /// Stores the documents, the report and the verdict. Returns the verdict.
    async fn begin(
        &self,
        report: &str,
        verdict: &Result<(), Stop>,
        events: Vec<(SecurityKind, Stop)>,
        problems: usize,
    ) -> Result<(), Stop> {
        let snapshots = &self.documents.snapshots;
        let evidence = self.evidence;
        evidence
            .document("request.envelope.json", &snapshots.request)
            .await?;
        evidence
            .document("plan.envelope.json", &snapshots.plan)
            .await?;
        evidence
            .pool("tool_pool.json", &snapshots.tool_pool)
            .await?;
        evidence
            .document("instruction_profile.json", &snapshots.profile)
            .await?;
        evidence.document("validation_report.json", report).await?;
        let (status, summary) = match verdict {
            Ok(()) => ("completed", "the plan may run".to_owned()),
            Err(stop) => ("failed", format!("the plan may not run: {}", stop.message)),
        };
        let episode = Episode {
            kind: EpisodeType::Validation,
            status,
            summary,
            started: self.started,
            details: Box::new(|w| {
                if let Some(digest) = &self.digest {
                    w.key("authorized").string(digest);
                }
                number(w, "problems", problems as u64);
                w.key("record").string("decision");
                write_stop(w, verdict.as_ref().err());
                w.key("verdict")
                    .string(if verdict.is_ok() { "allow" } else { "deny" });
            }),
        };
        evidence.episode(episode).await?;
        for (kind, stop) in events {
            let episode = Episode {
                kind: EpisodeType::Security(kind),
                status: "completed",
                summary: stop.message.clone(),
                started: self.started,
                details: Box::new(|w| write_stop(w, Some(&stop))),
            };
            evidence.episode(episode).await?;
        }
        verdict.clone()
    }

    /// Carries out the steps, until one fails.
    async fn carry_out(&mut self, plan: &AuthorizedPlan) -> Result<(), Stop> {
        let digest = self.digest.clone().unwrap_or_default();
        let mut outputs: Vec<(usize, String)> = Vec::new();
        for number in 0..plan.steps().len() {
            let Some(step) = Step::new(self.evidence, plan, &digest, self.options, number) else {
                return Err(Stop::internal("the plan has no such step"));
            };
            let ended = step.run(&outputs).await;
            let (report, stored) = match ended {
                Ok(report) => (report, Ok(())),
                Err((report, stop)) => (report, Err(stop)),
            };
            let stop = report.stop.clone();
            if let Some(output) = report.output.clone().filter(|_| stop.is_none()) {
                outputs.push((number, String::from_utf8(output).unwrap_or_default()));
            }
            self.steps.push(report);
            stored?;
            if let Some(stop) = stop {
                return Err(stop);
            }
        }
        Ok(())
    }

    /// Records the end of the run and writes its summary.
    async fn finish(self, plan: Option<&AuthorizedPlan>, outcome: Result<(), Stop>) -> Finished {
        let stop = outcome.err();
        let status = match &stop {
            None => Status::Completed,
            Some(stop) if stop.is_cancelled() => Status::Cancelled,
            Some(_) => Status::Failed,
        };
        let message = match &stop {
            None => "every step of the plan is completed".to_owned(),
            Some(stop) => stop.message.clone(),
        };
        let episode_id = self.evidence.next_episode();
        let report = RunReport {
            evidence: self.evidence,
            documents: self.documents,
            options: self.options,
            plan,
            digest: self.digest.as_deref(),
            steps: &self.steps,
            status,
            stop: stop.as_ref(),
            message: &message,
            started: self.started,
            finished: self.evidence.turns().now(),
            episode_id: &episode_id,
        };
        let covered = summary_digest(&self.evidence.redacted(&summary(&report)));
        let episode = Episode {
            kind: EpisodeType::Run,
            status: status.name(),
            summary: message.clone(),
            started: self.started,
            details: Box::new(|w| {
                w.key("record").string("run");
                number(w, "steps", self.steps.len() as u64);
                write_stop(w, stop.as_ref());
                w.key("summary").optional(covered.as_deref());
            }),
        };
        let recorded = self.evidence.episode(episode).await;
        let (json, text) = (summary(&report), run_text(&report));
        let stored = match &recorded {
            Ok(_) => self.evidence.document("run_summary.json", &json).await,
            Err(stop) => Err(stop.clone()),
        };
        // A run without its whole evidence has failed, whatever it did.
        let (status, code, message) = match (stored, stop) {
            (Err(unstored), None) => (Status::Failed, Some(unstored.code), unstored.message),
            (_, stop) => (status, stop.map(|it| it.code), message),
        };
        Finished {
            status,
            code,
            message: self.evidence.redactor().text(&message),
            directory: self.evidence.directory(),
            evidence_complete: self.evidence.is_complete(),
            summary: self.evidence.redacted(&json),
            text,
            diagnostics: self.diagnostics,
        }
    }
}
