//! The lifecycle of a run \[3, 4.2\].

use super::action::{Finished, PlannerTask, Status};
use super::answer::Answer;
use super::call::{CallBasis, QUESTION, accept_goal, decide_stored_call, stable};
use super::documents::{Documents, Goal, Read, read};
use super::episode::{Episode, EpisodeType, SecurityKind, Subject};
use super::evidence::Evidence;
use super::hidden::Hidden;
use super::one_step;
use super::options::{Mode, Options};
use super::planning::{self, ask_planner};
use super::preview::{preview_json, preview_text};
use super::progress::{Progress, Stage};
use super::record::number;
use super::step::{Step, StepReport, write_stop};
use super::stop::Stop;
use super::summary::{RunReport, summary, summary_digest};
use super::text::run_text;
use super::turns::Turns;
use agent_api::PlanAnswer;
use agent_api::decide::{AuthorizedPlan, EvaluationContext, PlanContext, StepCheck};
use agent_api::diagnostic::{Code, Diagnostic};
use agent_api::model::{Input, ToolsSnapshot};
use agent_api::plan::{self, authorized};
use agent_api::render::StyledSpan;
use agent_api::text::{DocumentKind, Span};
use agent_record::Clock;
use agent_record::Redactor;
use agent_syntax::json::Writer;

/// The word of evidence for a decision that was not made on the plan of steps alone: on a planner, a query or
/// a call.
const CALL: &str = "call";

/// Runs a plan, plans for a goal, or answers a query.
pub(crate) async fn run(documents: Documents, options: Options, turns: Turns) -> Finished {
    let redactor = Redactor::new(&options.secrets);
    let goal = documents.goal.clone();
    let documents = with_profile_of_queries(documents, &options);
    // 1 to 3: validate the plan, the pool and the profile.
    let hidden = Hidden::of(&documents, &redactor);
    let documents = read(documents, &redactor);
    // 4: the context of the execution.
    let subject = subject(&documents, goal.as_ref(), &options);
    let request_id = subject.request_id.clone();
    let started = turns.now();
    let evidence = Evidence::new(turns, redactor, subject, options.random);
    let mut run = Run {
        evidence: &evidence,
        documents,
        options: &options,
        request_id,
        started,
        plan: None,
        digest: None,
        approval: String::new(),
        secret: Vec::new(),
        hidden,
        steps: Vec::new(),
        diagnostics: Vec::new(),
        verdict: Vec::new(),
        answer: None,
        call: CallBasis::default(),
    };
    let outcome = match (options.mode, &goal) {
        (Mode::Preview, _) => return run.preview(),
        (Mode::Ask, Some(goal)) => run.ask(goal).await,
        (Mode::Ask, None) => {
            let stop = Stop::new(Code::MovaValidationFailed, "there is no query");
            run.ask_nothing(stop).await
        }
        (_, goal) => run.sequential(goal.as_ref()).await,
    };
    // 6: the episode of the run, and its summary.
    run.finish(outcome).await
}

/// Returns the documents with the pool and the profile of queries, which need no others.
fn with_profile_of_queries(documents: Documents, options: &Options) -> Documents {
    if options.mode != Mode::Ask {
        return documents;
    }
    let profile = documents
        .profile
        .unwrap_or_else(|| one_step::PROFILE.into());
    Documents {
        plan: None,
        request: None,
        tool_pool: Some(one_step::empty_pool().into_bytes()),
        profile: Some(profile),
        ..documents
    }
}

fn subject(documents: &Read, goal: Option<&Goal>, options: &Options) -> Subject {
    let plan = documents.plan.value.as_ref();
    let of_plan = plan.and_then(|plan| plan.request.as_ref());
    let request = documents.request.as_ref().and_then(|it| it.as_written());
    let request_id = of_plan
        .map(|it| &it.value)
        .or(request.map(|it| &it.id.value));
    // A request without another name has that of its first run.
    let request_id = request_id.or(goal.map(|_| &options.run_id));
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

/// The decision on a plan.
pub(crate) struct Decided {
    report: String,
    /// The text of the verdict for people.
    text: Vec<StyledSpan>,
    /// The reason of a denial.
    verdict: Result<(), Stop>,
    events: Vec<(SecurityKind, Stop)>,
    /// The first problem of the plan, the pool and the profile.
    stages: [Option<Stop>; 3],
    problems: usize,
    diagnostics: Vec<Diagnostic>,
    /// Whether another decision than that on the plan refused it.
    is_refused: bool,
    /// The context in which the policy decided, as JSON.
    policy_context: Option<String>,
    /// The places of secret parts in the plan.
    secret: Vec<Span>,
    pub(crate) authorized: Option<AuthorizedPlan>,
}

/// A run whose documents are read.
pub(crate) struct Run<'r> {
    pub(crate) evidence: &'r Evidence,
    pub(crate) documents: Read,
    pub(crate) options: &'r Options,
    request_id: String,
    started: Clock,
    plan: Option<AuthorizedPlan>,
    /// The digest of the authorized plan.
    digest: Option<String>,
    /// The digest that an approval names: the plan's own, or that of the call of a query.
    approval: String,
    pub(crate) steps: Vec<StepReport>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// The verdict on the plan, for people.
    verdict: Vec<StyledSpan>,
    pub(crate) answer: Option<Answer>,
    /// The basis of the decision on a query.
    pub(crate) call: CallBasis,
    /// The places of secret parts in the plan.
    secret: Vec<Span>,
    hidden: Hidden,
}

impl Run<'_> {
    /// Returns the name of the request.
    pub(crate) fn request_id(&self) -> &str {
        &self.request_id
    }

    /// Decides on a plan of several steps and carries it out; a planner makes it if there is a goal.
    async fn sequential(&mut self, goal: Option<&Goal>) -> Result<(), Stop> {
        let refused = match goal {
            Some(goal) => match self.plan_for(goal).await {
                // Without evidence there is nothing to decide.
                Err(stop) if !self.evidence.is_complete() => return Err(stop),
                planned => planned.err().map(|stop| (stop, Vec::new())),
            },
            None => self.decide_stored_call(),
        };
        let mut decided = self.decide(
            None,
            refused.as_ref().map(|(stop, found)| (stop, &found[..])),
        );
        if let Some((stop, found)) = refused.as_ref().filter(|(_, found)| found.is_empty()) {
            decided.diagnostics.extend(reasons(stop, found));
        }
        if goal.is_none() {
            // What a schema of the plan's tools marks as secret is known by now.
            self.secret.clone_from(&decided.secret);
            self.show(&decided);
            self.store_documents().await?;
        }
        let decided = self.store_decision(decided).await?;
        let Some(plan) = decided.authorized else {
            return Err(Stop::internal("no plan is authorized"));
        };
        self.authorize(plan, None);
        match self.options.mode {
            Mode::Decide => Ok(()),
            // 5: the steps, in order.
            _ => self.carry_out().await,
        }
    }

    fn decide_stored_call(&self) -> Option<(Stop, Vec<Diagnostic>)> {
        let now = self.evidence.turns().now();
        decide_stored_call(&self.documents, &self.documents.evaluation_context(now))
    }

    /// Asks a planner for a plan, once.
    async fn plan_for(&mut self, goal: &Goal) -> Result<(), Stop> {
        let redactor = self.evidence.redactor();
        let request = planning::request(goal, &self.request_id, &self.documents.rules);
        if let Ok(Some(request)) = &request {
            self.documents.set_request(request.clone(), redactor);
        }
        self.store_documents().await?;
        request?;
        accept_goal(&self.documents, &goal.text)?;
        // The documents themselves are refused with the plan that can't be made for them.
        let documents = &self.documents;
        let sound = documents.unreadable.is_empty();
        let request = planning::steps_request(goal, &self.request_id, documents);
        let Some(request) = request.filter(|_| sound) else {
            return Ok(());
        };
        let plan = ask_planner(self.evidence, PlannerTask::Steps, &request).await?;
        self.documents.set_plan(plan, redactor);
        Ok(())
    }

    /// Decides on the plan. `refused` is a reason of another decision, with its problems.
    pub(crate) fn decide(
        &self,
        catalogue: Option<&ToolsSnapshot>,
        refused: Option<(&Stop, &[Diagnostic])>,
    ) -> Decided {
        let documents = &self.documents;
        let now = self.evidence.turns().now();
        let evaluation_context = documents.evaluation_context(now);
        let mut answer = decide(documents, catalogue, &evaluation_context);
        let redacted = documents.redacted();
        if !redacted.is_empty() {
            answer.refuse_because(redacted);
        }
        if let Some((stop, found)) = refused {
            answer.refuse_because(reasons(stop, found));
        }
        let mut diagnostics = answer.warnings();
        match refused {
            Some((_, found)) => diagnostics.extend(found.iter().cloned()),
            None => diagnostics.extend(answer.diagnostics()),
        }
        let (report, text) = (answer.report(), answer.text());
        let verdict = match refused {
            Some((stop, _)) => Err(stop.clone()),
            None => verdict(&answer),
        };
        let events = security_events(&answer);
        let stages = match refused {
            Some((stop, _)) => [Some(stop.clone()), None, None],
            None => problems_of_stages(&answer),
        };
        let problems = answer.problems().count();
        let authorized = answer.into_authorized();
        let secret = secret_inputs(documents, authorized.as_ref());
        let redactor = self.evidence.redactor();
        redactor.learn(&documents.snapshots.plan, &secret);
        let hidden = self.hidden.clone();
        Decided {
            report,
            text,
            verdict,
            events,
            stages,
            problems,
            diagnostics: hidden.redact(diagnostics, redactor, documents, &secret),
            is_refused: refused.is_some(),
            policy_context: documents.live_context(now).map(|it| it.json),
            secret,
            authorized,
        }
    }

    /// Records the outcome of the first three parts, and that the next one begins.
    fn show(&self, decided: &Decided) {
        self.evidence.turns().record(|progress| {
            for (stage, stop) in Stage::BEFORE_STEPS.into_iter().zip(&decided.stages) {
                if progress.reach(stage)
                    && let Some(stop) = stop
                {
                    progress.fail(stop);
                }
            }
            progress.reach(Stage::Decision);
        });
    }

    /// Stores the documents, as far as there are any.
    ///
    /// # Errors
    /// They can't be stored.
    pub(crate) async fn store_documents(&self) -> Result<(), Stop> {
        let (evidence, snapshots) = (self.evidence, &self.documents.snapshots);
        evidence
            .document("request.envelope.json", &snapshots.request)
            .await?;
        evidence
            .marked("plan.envelope.json", &snapshots.plan, &self.secret)
            .await?;
        evidence
            .pool("tool_pool.json", &snapshots.tool_pool)
            .await?;
        evidence
            .document("instruction_profile.json", &snapshots.profile)
            .await
    }

    /// Stores a decision, with the plan and the pool that it is about. Returns an allowed one.
    ///
    /// # Errors
    /// The plan is denied, or evidence can't be stored.
    pub(crate) async fn store_decision(&mut self, decided: Decided) -> Result<Decided, Stop> {
        let evidence = self.evidence;
        self.show(&decided);
        let plan = self.documents.plan.value.as_ref();
        evidence.set_plan_id(plan.and_then(|plan| Some(plan.id.as_ref()?.value.clone())));
        self.diagnostics.extend(decided.diagnostics.iter().cloned());
        self.verdict.clone_from(&decided.text);
        if self.documents.is_planned {
            let snapshots = &self.documents.snapshots;
            evidence
                .marked("plan.envelope.json", &snapshots.plan, &decided.secret)
                .await?;
            evidence
                .pool("tool_pool.json", &snapshots.tool_pool)
                .await?;
        }
        evidence
            .document("validation_report.json", &decided.report)
            .await?;
        let (status, summary) = match &decided.verdict {
            Ok(()) => ("completed", "the plan may run".to_owned()),
            Err(stop) => ("failed", format!("the plan may not run: {}", stop.message)),
        };
        let digest = decided.authorized.as_ref().map(|plan| authorized(plan).1);
        let episode = Episode {
            kind: EpisodeType::Validation,
            status,
            summary,
            started: self.started,
            details: Box::new(|w| {
                if let Some(digest) = &digest {
                    w.key("authorized").string(digest);
                }
                self.write_call(w, &decided);
                if decided.is_refused {
                    w.key("decided_as").string(CALL);
                }
                write_context(w, &decided);
                number(w, "problems", decided.problems as u64);
                w.key("record").string("decision");
                write_stop(w, decided.verdict.as_ref().err());
                if self.options.is_unverified {
                    w.key("unverified").bool(true);
                }
                w.key("verdict").string(match &decided.verdict {
                    Ok(()) => "allow",
                    Err(_) => "deny",
                });
            }),
        };
        evidence.episode(episode).await?;
        for (kind, stop) in &decided.events {
            let episode = Episode {
                kind: EpisodeType::Security(*kind),
                status: "completed",
                summary: stop.message.clone(),
                started: self.started,
                details: Box::new(|w| write_stop(w, Some(stop))),
            };
            evidence.episode(episode).await?;
        }
        evidence.turns().record(Progress::pass);
        decided.verdict.clone().map(|()| decided)
    }

    /// Records that a plan of one call asks the user a question instead.
    ///
    /// # Errors
    /// Evidence can't be stored.
    pub(crate) async fn store_question(&self, question: &str) -> Result<(), Stop> {
        let stop = Stop::new(Code::MovaPolicyDenied, QUESTION);
        let decided = self.decide(None, Some((&stop, &[])));
        self.evidence
            .document("validation_report.json", &decided.report)
            .await?;
        let episode = Episode {
            kind: EpisodeType::Validation,
            status: "completed",
            summary: QUESTION.to_owned(),
            started: self.started,
            details: Box::new(|w| {
                self.write_call(w, &decided);
                w.key("decided_as").string(CALL);
                write_context(w, &decided);
                number(w, "problems", decided.problems as u64);
                w.key("question").string(question);
                w.key("record").string("decision");
                w.key("verdict").string("deny");
            }),
        };
        self.evidence.episode(episode).await.map(|_| ())
    }

    /// Writes the basis of the decision on a query.
    fn write_call(&self, w: &mut Writer, decided: &Decided) {
        if self.options.mode == Mode::Ask {
            let redactor = self.evidence.redactor();
            let has_secret_parts = !decided.secret.is_empty();
            w.key("call")
                .object(|w| self.call.write(w, redactor, has_secret_parts));
        }
    }

    /// Takes a plan that may run, and the digest that an approval names if it is not the plan's
    /// own.
    pub(crate) fn authorize(&mut self, plan: AuthorizedPlan, approval: Option<String>) {
        let digest = authorized(&plan).1;
        self.approval = approval.unwrap_or_else(|| digest.clone());
        self.digest = Some(digest);
        self.plan = Some(plan);
    }

    /// Carries out the steps, until one fails.
    pub(crate) async fn carry_out(&mut self) -> Result<(), Stop> {
        let Some(plan) = &self.plan else {
            return Err(Stop::internal("no plan is authorized"));
        };
        let inputs = (self.options, &self.documents);
        let mut outputs: Vec<(usize, String)> = Vec::new();
        for number in 0..plan.steps().len() {
            let Some(step) = Step::new(self.evidence, plan, &self.approval, inputs, number) else {
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

    /// Ends a run that has no query.
    async fn ask_nothing(&mut self, stop: Stop) -> Result<(), Stop> {
        self.store_documents().await?;
        let decided = self.decide(None, Some((&stop, &[])));
        self.store_decision(decided).await.map(|_| ())
    }

    /// Describes the effects of the plan. Nothing is stored.
    fn preview(self) -> Finished {
        let refused = self.decide_stored_call();
        let decided = self.decide(
            None,
            refused.as_ref().map(|(stop, found)| (stop, &found[..])),
        );
        let redactor = self.evidence.redactor();
        let stop = decided.verdict.err();
        let (text, answer) = match &decided.authorized {
            Some(plan) => (preview_text(plan, redactor), preview_json(plan, redactor)),
            None => (decided.text, String::new()),
        };
        Finished {
            status: match stop {
                None => Status::Completed,
                Some(_) => Status::Failed,
            },
            code: stop.as_ref().map(|it| it.code),
            message: stop.map_or("the plan may run".to_owned(), |it| {
                redactor.text(&it.message)
            }),
            directory: String::new(),
            evidence_complete: true,
            summary: String::new(),
            result: None,
            answer,
            text: redacted(text, redactor),
            diagnostics: decided.diagnostics,
        }
    }

    /// Records the end of the run and writes its summary.
    async fn finish(self, outcome: Result<(), Stop>) -> Finished {
        let stop = outcome.err();
        let turns = self.evidence.turns();
        if let Some(stop) = &stop {
            turns.record(|progress| progress.fail(stop));
        }
        turns.reach(Stage::Summary);
        let status = match &stop {
            None => Status::Completed,
            Some(stop) if stop.is_cancelled() => Status::Cancelled,
            Some(_) => Status::Failed,
        };
        let message = match (&stop, &self.answer, self.options.mode) {
            (Some(stop), ..) => stop.message.clone(),
            (None, Some(answer), _) => format!("the result is {}", answer.result.name()),
            (None, None, Mode::Decide) => "the plan may run".to_owned(),
            (None, None, _) => "every step of the plan is completed".to_owned(),
        };
        let result = self.answer.as_ref().map(|it| it.result.name());
        let episode_id = self.evidence.next_episode();
        let report = RunReport {
            evidence: self.evidence,
            documents: &self.documents,
            options: self.options,
            plan: self.plan.as_ref(),
            digest: self.digest.as_deref(),
            steps: &self.steps,
            status,
            stop: stop.as_ref(),
            message: &message,
            result,
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
                if let Some(result) = result {
                    w.key("result").string(result);
                }
                number(w, "steps", self.steps.len() as u64);
                write_stop(w, stop.as_ref());
                w.key("summary").optional(covered.as_deref());
            }),
        };
        let recorded = self.evidence.episode(episode).await;
        let redactor = self.evidence.redactor();
        let json = summary(&report);
        let text = match (&self.answer, self.options.mode) {
            (Some(answer), _) => answer.text(redactor, self.diagnostics.is_empty()),
            (None, Mode::Decide) => self.verdict,
            (None, _) => run_text(&report),
        };
        let stored = match &recorded {
            Ok(_) => self.evidence.document("run_summary.json", &json).await,
            Err(stop) => Err(stop.clone()),
        };
        turns.record(|progress| match &stored {
            Ok(()) => progress.pass(),
            Err(stop) => progress.fail(stop),
        });
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
            result: self.answer.as_ref().map(|it| it.result),
            answer: self
                .answer
                .as_ref()
                .map(|it| it.json(redactor))
                .unwrap_or_default(),
            text: redacted(text, redactor),
            diagnostics: self.diagnostics,
        }
    }
}

/// Writes the context in which a policy decided.
fn write_context(w: &mut Writer, decided: &Decided) {
    if let Some(context) = &decided.policy_context {
        w.key("policy_context").json(context);
    }
}

/// Returns a text for people without the secrets, which a plan may have as its name.
fn redacted(text: Vec<StyledSpan>, redactor: &Redactor) -> Vec<StyledSpan> {
    let spans = text.into_iter().map(|span| StyledSpan {
        text: redactor.text(&span.text),
        ..span
    });
    spans.collect()
}

/// Decides on the plan of documents.
pub(crate) fn decide<'d>(
    documents: &'d Read,
    catalogue: Option<&'d ToolsSnapshot>,
    evaluation_context: &'d EvaluationContext,
) -> PlanAnswer<'d> {
    let context = PlanContext {
        request: documents.request.as_ref(),
        index: documents.index.as_ref(),
        lock: documents.lock.as_ref(),
        catalogue,
        evaluation_context: Some(evaluation_context),
    };
    let mut answer = PlanAnswer::new(&documents.plan, &documents.rules, context);
    answer.refuse(documents.unreadable.clone());
    answer
}

/// Returns the places of secret parts of the plan's literal inputs, by the schemas of the steps.
fn secret_inputs(documents: &Read, authorized: Option<&AuthorizedPlan>) -> Vec<Span> {
    let text = documents.plan.text.as_str();
    let Some(plan) = &documents.plan.value else {
        return Vec::new();
    };
    let mut found = plan::secret_inputs(plan, text, &documents.rules);
    // The schemas of MCP servers are known once the plan is authorized.
    for (number, step) in plan.steps.iter().enumerate() {
        if let (Some(authorized), Input::Literal(span)) = (authorized, &step.input) {
            let parts = authorized.secret_input(number, span.of(text)).into_iter();
            found.extend(parts.map(|part| Span {
                start: part.start + span.start,
                end: part.end + span.start,
            }));
        }
    }
    found
}

/// Returns the stop of a plan that may not run: its first problem.
fn verdict(answer: &PlanAnswer<'_>) -> Result<(), Stop> {
    match answer.problems().next() {
        Some((problem, _)) => Err(problem.into()),
        None => Ok(()),
    }
}

/// Returns the first problem of the plan, of the pool and of the profile. A problem of another document is
/// one of the plan.
fn problems_of_stages(answer: &PlanAnswer<'_>) -> [Option<Stop>; 3] {
    let mut stages = [None, None, None];
    for ((problem, _), document) in answer.problems().zip(answer.problem_documents()) {
        let stage = match document {
            Some(DocumentKind::ToolPool) => 1,
            Some(DocumentKind::Profile) => 2,
            _ => 0,
        };
        stages[stage].get_or_insert_with(|| Stop::from(problem));
    }
    stages
}

/// Returns the kinds of events about security that the problems of a plan are, each once, with the
/// first message.
fn security_events(answer: &PlanAnswer<'_>) -> Vec<(SecurityKind, Stop)> {
    let mut events: Vec<(SecurityKind, Stop)> = Vec::new();
    let checks = answer.failed_checks();
    let documents = answer.problem_documents();
    for (((problem, reason), check), document) in answer.problems().zip(checks).zip(documents) {
        let stop = Stop::from(problem);
        let kind = match (check, document, stop.code) {
            _ if reason.is_some_and(is_of_forbidden_tool) => Some(SecurityKind::ForbiddenTool),
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

/// Returns whether a plan of one call is denied because of the tool that it names.
fn is_of_forbidden_tool(reason: Code) -> bool {
    matches!(
        reason,
        Code::ForbiddenAction | Code::NotReadonly | Code::ToolNotLocked | Code::ToolUnknown
    )
}

/// Returns the problems of another decision in the words of a report: with stable codes.
pub(crate) fn reasons(stop: &Stop, found: &[Diagnostic]) -> Vec<Diagnostic> {
    let worded = |code, reason, message: &str| {
        let mut diagnostic = Diagnostic::new(code, message);
        diagnostic.reason = reason;
        diagnostic.rule = Some("the plan is made and decided before it runs".to_owned());
        diagnostic
    };
    if found.is_empty() {
        return vec![worded(stop.code, None, &stop.message)];
    }
    let found = found.iter();
    found
        .map(|it| worded(stable(it.code), Some(it.code), &it.message))
        .collect()
}
