//! One step of a plan, from its input to its episode \[3, 4.2, 5\].

use super::action::{
    Action, Approval, Connection, Exited, Handled, HandlerCall, HandlerEvent, HandlerRequest,
    Header, HeaderValue, Opened, Outcome, Program, Reply, Request, Server, Status, ToolCall,
};
use super::documents::Read;
use super::effects::{Effects, Part, failed, succeeded};
use super::episode::{Episode, EpisodeType, SecurityKind};
use super::evidence::Evidence;
use super::listing::entries_of;
use super::options::Options;
use super::progress::{Progress, Stage, StepStage};
use super::record::{listing, number, value};
use super::stop::Stop;
use agent_api::decide::AuthorizedPlan;
use agent_api::diagnostic::Code;
use agent_api::model::{Binding, BindingHeader, Driver, Input, Origin, PlanStep};
use agent_api::plan::{self, Content, Wanted};
use agent_record::Clock;
use agent_syntax::json::Writer;

/// An approval that was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Approved {
    pub(crate) step_id: String,
    pub(crate) digest: String,
    pub(crate) by: String,
}

/// The outcome of a step.
#[derive(Debug)]
pub(crate) struct StepReport {
    pub(crate) number: usize,
    pub(crate) status: Status,
    pub(crate) stop: Option<Stop>,
    pub(crate) started: Clock,
    pub(crate) finished: Clock,
    pub(crate) input: Option<String>,
    pub(crate) output: Option<Vec<u8>>,
    /// The tool in the live list of its server: a result of `tools/list` without other tools.
    pub(crate) listed: Option<String>,
    /// The result of the tool that the step called, as received.
    pub(crate) payload: Option<Vec<u8>>,
    /// The contexts in which the policy was asked, as JSON, in this order.
    pub(crate) policy_contexts: Vec<String>,
    pub(crate) log: Log,
    pub(crate) approved: Option<Approved>,
    /// The digest of the handler.
    pub(crate) handler: Option<String>,
    /// The step's server, once it is ready.
    pub(crate) opened: Option<Opened>,
    pub(crate) episode_id: Option<String>,
}

/// What a handler and the programs behind it logged.
#[derive(Debug, Default)]
pub(crate) struct Log {
    pub(crate) bytes: Vec<u8>,
    pub(crate) truncated: bool,
}

impl Log {
    /// Adds to the log up to its limit.
    fn add(&mut self, bytes: &[u8], truncated: bool, limit: u64) {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let rest = limit.saturating_sub(self.bytes.len());
        self.truncated |= truncated || bytes.len() > rest;
        self.bytes
            .extend_from_slice(&bytes[..bytes.len().min(rest)]);
    }
}

/// A step while it runs.
pub(crate) struct Step<'r> {
    evidence: &'r Evidence,
    plan: &'r AuthorizedPlan,
    number: usize,
    step: &'r PlanStep,
    binding: &'r Binding,
    /// The digest that an approval of literal inputs names.
    authorized: &'r str,
    options: &'r Options,
    documents: &'r Read,
    report: StepReport,
    effects: Effects<'r>,
}

impl<'r> Step<'r> {
    /// Prepares a step. Returns `None` if the plan has no such step.
    pub(crate) fn new(
        evidence: &'r Evidence,
        plan: &'r AuthorizedPlan,
        authorized: &'r str,
        (options, documents): (&'r Options, &'r Read),
        number: usize,
    ) -> Option<Self> {
        let now = evidence.turns().now();
        let step = plan.plan()?.steps.get(number)?;
        let binding = plan.binding(number)?;
        let part = Part::Step { id: &step.id.value };
        Some(Self {
            evidence,
            plan,
            number,
            step,
            binding,
            authorized,
            options,
            documents,
            report: StepReport {
                number,
                status: Status::Failed,
                stop: None,
                started: now,
                finished: now,
                input: None,
                output: None,
                listed: None,
                payload: None,
                policy_contexts: Vec::new(),
                log: Log::default(),
                approved: None,
                handler: None,
                opened: None,
                episode_id: None,
            },
            effects: Effects::new(evidence, part, binding.limits.timeout_ms.value),
        })
    }

    /// Carries out the step and records it.
    ///
    /// # Errors
    /// Evidence can't be stored.
    pub(crate) async fn run(
        mut self,
        outputs: &[(usize, String)],
    ) -> Result<StepReport, (StepReport, Stop)> {
        let outcome = match self.evidence.log(self.id(), "").await {
            Ok(()) => self.carry_out(outputs).await,
            Err(stop) => Err(stop),
        };
        self.evidence.turns().record(|progress| match &outcome {
            Ok(()) => progress.pass(),
            Err(stop) => progress.fail(stop),
        });
        self.report.status = match &outcome {
            Ok(()) => Status::Completed,
            Err(stop) if stop.is_cancelled() => Status::Cancelled,
            Err(_) => Status::Failed,
        };
        self.report.stop = outcome.err();
        self.report.finished = self.evidence.turns().now();
        match self.write().await {
            Ok(()) => Ok(self.report),
            Err(stop) => Err((self.report, stop)),
        }
    }

    fn id(&self) -> &'r str {
        &self.step.id.value
    }

    /// Records that a part of the step begins.
    fn reach(&self, stage: StepStage) {
        self.evidence.turns().reach(Stage::Step(self.number, stage));
    }

    /// The parts a to f of the step.
    async fn carry_out(&mut self, outputs: &[(usize, String)]) -> Result<(), Stop> {
        // a: resolve the input.
        self.reach(StepStage::Resolve);
        let outputs: Vec<_> = outputs.iter().map(|(step, it)| (*step, &**it)).collect();
        let input = plan::resolve_input(self.plan, self.number, &outputs)?;
        let secret = self.plan.secret_input(self.number, &input);
        self.evidence.redactor().learn(&input, &secret);
        self.report.input = Some(input.clone());
        // b and c: validate the input, and check what may be done with it.
        self.reach(StepStage::Validate);
        let checked = self.check_input(&input);
        if !matches!(&checked, Err(stop) if stop.code == Code::MovaValidationFailed) {
            self.reach(StepStage::Check);
        }
        checked?;
        self.approve(&input).await?;
        // d and e: dispatch by the kind of the driver, and execute.
        self.reach(StepStage::Dispatch);
        let output = self.execute(input).await?;
        if let Ok(output) = core::str::from_utf8(&output) {
            let secret = self.plan.secret_output(self.number, output);
            self.evidence.redactor().learn(output, &secret);
        }
        self.report.output = Some(output.clone());
        // f: validate the output.
        self.reach(StepStage::Output);
        let text = String::from_utf8(output)
            .map_err(|_| Stop::new(Code::MovaOutputInvalid, "the output is not UTF-8"))?;
        Stop::first(plan::check_output(self.plan, self.number, &text))
    }

    /// Decides on an input, in the policy's context at this time \[4\].
    fn check_input(&mut self, input: &str) -> Result<(), Stop> {
        let context = self.documents.live_context(self.evidence.turns().now());
        let problems = plan::check_input(self.plan, self.number, input, context.as_ref());
        self.report
            .policy_contexts
            .extend(context.map(|it| it.json));
        Stop::first(problems)
    }

    /// Gets the approval that the step needs, if it needs one \[4\].
    async fn approve(&mut self, input: &str) -> Result<(), Stop> {
        let needs_approval = self.plan.steps().get(self.number);
        if !needs_approval.is_some_and(|step| step.needs_approval()) {
            return Ok(());
        }
        // The digest of a plan covers literal inputs, and no others.
        let wanted = match &self.step.input {
            Input::Literal(_) => self.authorized.to_owned(),
            _ => plan::approval_digest(self.authorized, input, self.id()),
        };
        let (step_id, digest) = (self.id().to_owned(), wanted.clone());
        let approved = |by: String| Approved {
            step_id,
            digest,
            by,
        };
        if self.options.approvals.contains(&wanted) {
            self.report.approved = Some(approved("digest".to_owned()));
            return Ok(());
        }
        let secret = self.plan.secret_input(self.number, input);
        let redacted = self.evidence.redactor().marked(input, &secret);
        let redacted = redacted.unwrap_or_default();
        let action = Action::Approve(Approval {
            step_id: self.id().to_owned(),
            digest: wanted.clone(),
            subject: format!(
                "{}/{} with {redacted}",
                self.step.connector.value, self.step.tool.value
            ),
        });
        match self.effects.attempt(action).await? {
            // Reject an approval without an approver: evidence must name one.
            Outcome::Decision { approved: true, by } if !by.is_empty() => {
                self.report.approved = Some(approved(by));
                Ok(())
            }
            _ => Err(Stop::new(
                Code::MovaPolicyDenied,
                format!(
                    "the step `{}` needs the approval of {wanted}, and has none",
                    self.id()
                ),
            )
            .because(Code::ApprovalRequired)),
        }
    }

    /// Calls the handler of the step's driver, and performs what it asks for.
    async fn execute(&mut self, input: String) -> Result<Vec<u8>, Stop> {
        self.effects.begin();
        let limits = self.binding.limits;
        let handler = self.handler()?;
        self.report.handler.clone_from(&handler);
        let call = HandlerCall {
            driver_kind: self.binding.driver.kind(),
            handler,
            input,
            max_output_bytes: limits.max_output_bytes.value,
            max_log_bytes: limits.max_log_bytes.value,
            timeout_ms: self.effects.remaining()?,
        };
        self.reach(StepStage::Execute);
        let mut handled = self.handle(Action::CallHandler(call)).await?;
        let mut has_asked = false;
        loop {
            let reply = match handled.event {
                HandlerEvent::Returned(output) => return Ok(output),
                HandlerEvent::Failed(failure) => return Err(failed(&failure)),
                HandlerEvent::Request(request) => self.request(request, has_asked).await?,
                HandlerEvent::Program {
                    path,
                    arguments,
                    stdin,
                } => {
                    self.accept(has_asked, Wanted::Program)?;
                    self.program(path, arguments, stdin).await?
                }
                HandlerEvent::Tool { arguments } => {
                    self.accept(has_asked, Wanted::Tool)?;
                    self.tool(arguments).await?
                }
            };
            has_asked = true;
            handled = self.handle(Action::ResumeHandler(reply)).await?;
        }
    }

    /// Returns the digest of the handler that executes the step: the one that the binding names, which
    /// the operator must have admitted for its kind, or the built-in one.
    fn handler(&self) -> Result<Option<String>, Stop> {
        let kind = self.binding.driver.kind();
        let mut known = self
            .options
            .handlers
            .iter()
            .filter(|it| it.driver_kind == kind);
        let Some(named) = &self.binding.handler else {
            return Ok(known.find(|it| it.is_builtin).map(|it| it.digest.clone()));
        };
        match known.find(|it| it.digest == *named) {
            Some(_) => Ok(Some(named.clone())),
            None => Err(Stop::new(
                Code::MovaPolicyDenied,
                format!(
                    "the operator has not admitted the handler {named} for `{}`",
                    kind.name()
                ),
            )
            .because(Code::HandlerNotAdmitted)),
        }
    }

    async fn handle(&mut self, action: Action) -> Result<Handled, Stop> {
        match self.effect(action).await? {
            Outcome::Handler(handled) => Ok(handled),
            _ => Err(Stop::unexpected()),
        }
    }

    /// Decides whether the handler may ask for an effect, by the kind of its driver.
    fn accept(&self, has_asked: bool, wanted: Wanted<'_>) -> Result<(), Stop> {
        Ok(plan::check_wanted(
            self.plan,
            self.number,
            has_asked,
            wanted,
        )?)
    }

    /// Makes the HTTP request of a handler.
    async fn request(&mut self, wanted: HandlerRequest, has_asked: bool) -> Result<Reply, Stop> {
        let names: Vec<_> = wanted.headers.iter().map(|(name, _)| &**name).collect();
        let asked = Wanted::Request {
            method: &wanted.method,
            body_bytes: wanted.body.as_deref().unwrap_or_default().len() as u64,
            headers: &names,
        };
        self.accept(has_asked, asked)?;
        let Driver::Http { headers, .. } = &self.binding.driver else {
            return Err(Stop::internal("another driver makes a request"));
        };
        let limits = self.binding.limits;
        let own = headers.iter().map(|(name, value)| Header {
            name: name.clone(),
            value: match value {
                BindingHeader::Literal(value) => HeaderValue::Literal(value.clone()),
                BindingHeader::Secret(name) => HeaderValue::Secret(name.clone()),
            },
        });
        let mut headers: Vec<_> = own.collect();
        for (name, value) in wanted.headers {
            let name = name.to_ascii_lowercase();
            // The binding's own value counts.
            if headers.iter().all(|it| it.name != name) {
                let value = HeaderValue::Literal(value);
                headers.push(Header { name, value });
            }
        }
        let (origin, target) = plan::target(self.plan, self.number, &wanted.url)?;
        let connection = self.connect(&wanted.url, &origin).await?;
        let request = Request {
            connection,
            method: wanted.method,
            target,
            headers,
            body: wanted.body,
            max_body_bytes: limits.max_output_bytes.value,
            timeout_ms: self.effects.remaining()?,
        };
        match self.effects.perform(Action::Request(request)).await? {
            Outcome::Response(response) => {
                let size = response.body.len() as u64;
                Content::ReceivedBody.check_size(size, limits.max_output_bytes.value)?;
                Ok(Reply::Response(response))
            }
            _ => Err(Stop::unexpected()),
        }
    }

    async fn connect(&self, url: &str, origin: &Origin) -> Result<Connection, Stop> {
        let decide =
            |texts: &[String]| plan::authorize_destination(self.plan, self.number, url, texts);
        self.effects.connect(origin, decide).await
    }

    /// Runs the program of a handler. It may differ from the step's input, and is checked like one.
    async fn program(
        &mut self,
        path: String,
        arguments: Vec<String>,
        stdin: Vec<u8>,
    ) -> Result<Reply, Stop> {
        let wanted = object(|w| {
            w.key("arguments").strings(arguments.iter().map(|it| &**it));
            w.key("program").string(&path);
            w.key("stdin").string(&String::from_utf8_lossy(&stdin));
        });
        self.check_input(&wanted)?;
        let limits = self.binding.limits;
        let program = Program {
            path,
            arguments,
            stdin,
            max_output_bytes: limits.max_output_bytes.value,
            max_log_bytes: limits.max_log_bytes.value,
            timeout_ms: self.effects.remaining()?,
        };
        match self.effect(Action::RunProgram(program)).await? {
            Outcome::Exited(exited) => {
                let size = exited.stdout.len() as u64;
                Content::StandardOutput.check_size(size, limits.max_output_bytes.value)?;
                match exited.code {
                    0 => Ok(Reply::Exited(exited)),
                    code => {
                        self.report.output = Some(failed_output(&exited));
                        let message = format!("the program ended with the code {code}");
                        Err(Stop::new(Code::MovaHandlerFailed, message))
                    }
                }
            }
            _ => Err(Stop::unexpected()),
        }
    }

    /// Calls the locked tool of a handler: opens its server, compares its live tools with the lock, and
    /// calls it.
    async fn tool(&mut self, arguments: Vec<u8>) -> Result<Reply, Stop> {
        let server = self
            .plan
            .steps()
            .get(self.number)
            .and_then(|it| it.server());
        let Some(server) = server else {
            return Err(Stop::internal("the step has no server"));
        };
        let arguments = String::from_utf8(arguments)
            .map_err(|_| Stop::new(Code::MovaValidationFailed, "the arguments are not UTF-8"))?;
        self.check_input(&arguments)?;
        let (connection, target) = match server.endpoint.starts_with("pkg:") {
            true => (None, String::new()),
            false => {
                let (origin, target) = plan::target(self.plan, self.number, &server.endpoint)?;
                let connection = self.connect(&server.endpoint, &origin).await?;
                (Some(connection), target)
            }
        };
        let open = Server {
            id: server.id.clone(),
            version: server.version.clone(),
            endpoint: server.endpoint.clone(),
            connection,
            target,
            max_message_bytes: self.binding.limits.max_output_bytes.value,
            timeout_ms: self.effects.remaining()?,
        };
        let opened = self.effect(Action::OpenServer(open)).await?;
        if let Outcome::Opened(opened) = opened {
            self.report.opened = Some(opened);
        }
        let timeout_ms = self.effects.remaining()?;
        let list = self.bytes(Action::ListTools { timeout_ms }).await?;
        let list = String::from_utf8_lossy(&list);
        self.report.listed = Some(entries_of(&list, &server.tool));
        plan::check_listing(self.plan, self.number, &list)?;
        let call = ToolCall {
            tool: server.tool.clone(),
            arguments,
            timeout_ms: self.effects.remaining()?,
        };
        let payload = self.bytes(Action::CallTool(call)).await?;
        let most = self.binding.limits.max_output_bytes.value;
        Content::ToolResult.check_size(payload.len() as u64, most)?;
        self.report.payload = Some(payload.clone());
        Stop::first(plan::check_payload(payload.clone()))?;
        Ok(Reply::Payload(payload))
    }

    async fn bytes(&mut self, action: Action) -> Result<Vec<u8>, Stop> {
        match self.effect(action).await? {
            Outcome::Bytes(bytes) => Ok(bytes),
            _ => Err(Stop::unexpected()),
        }
    }

    /// Performs an effect, which must not fail, and adds what it logged to the log of the step, also if
    /// the step ends with it.
    async fn effect(&mut self, action: Action) -> Result<Outcome, Stop> {
        let outcome = self.effects.outcome(action).await?;
        let logged = match &outcome {
            Outcome::Handler(handled) => Some((&handled.log, handled.log_truncated)),
            Outcome::Exited(exited) => Some((&exited.stderr, exited.stderr_truncated)),
            Outcome::Aborted(aborted) => Some((&aborted.stderr, aborted.stderr_truncated)),
            _ => None,
        };
        if let Some((log, truncated)) = logged {
            let limit = self.binding.limits.max_log_bytes.value;
            self.report.log.add(log, truncated, limit);
        }
        self.effects.remaining()?;
        succeeded(outcome)
    }

    /// Writes the log, the episode, and the event about security if the stop is one: the parts g and h.
    async fn write(&mut self) -> Result<(), Stop> {
        self.reach(StepStage::Log);
        let log = &self.report.log;
        let text = String::from_utf8_lossy(&log.bytes);
        let text = match log.truncated {
            true => self.evidence.redactor().cut(&text),
            false => text.into_owned(),
        };
        self.evidence.log(self.id(), &text).await?;
        self.reach(StepStage::Record);
        let summary = match &self.report.stop {
            None => format!("step `{}` is completed", self.id()),
            Some(stop) => format!("step `{}`: {}", self.id(), stop.message),
        };
        let episode = Episode {
            kind: EpisodeType::Step,
            status: self.report.status.name(),
            summary: summary.clone(),
            started: self.report.started,
            details: Box::new(|w| self.facts(w)),
        };
        let id = self.evidence.episode(episode).await?;
        self.report.episode_id = Some(id);
        let Some(kind) = self.report.stop.as_ref().and_then(SecurityKind::of) else {
            self.evidence.turns().record(Progress::pass);
            return Ok(());
        };
        let episode = Episode {
            kind: EpisodeType::Security(kind),
            status: "completed",
            summary,
            started: self.report.started,
            details: Box::new(|w| {
                w.key("step_id").string(self.id());
                write_stop(w, self.report.stop.as_ref());
            }),
        };
        self.evidence.episode(episode).await?;
        self.evidence.turns().record(Progress::pass);
        Ok(())
    }

    /// Writes the facts of the whole step, with its input and output.
    fn facts(&self, w: &mut Writer) {
        let redactor = self.evidence.redactor();
        let report = &self.report;
        if let Some(approved) = &report.approved {
            w.key("approval").object(|w| {
                w.key("by").string(&approved.by);
                w.key("digest").string(&approved.digest);
            });
        }
        w.key("connector_id").string(&self.step.connector.value);
        w.key("driver_kind")
            .string(self.binding.driver.kind().name());
        if let Some(handler) = &report.handler {
            w.key("handler").string(handler);
        }
        if let Some(input) = &report.input {
            let secret = |json: &str| self.plan.secret_input(self.number, json);
            w.key("input")
                .object(|w| value(w, input.as_bytes(), redactor, secret));
        }
        if let Some(listed) = &report.listed {
            w.key("listed").object(|w| listing(w, listed, redactor));
        }
        w.key("log").object(|w| {
            number(w, "bytes", report.log.bytes.len() as u64);
            w.key("truncated").bool(report.log.truncated);
        });
        if let Some(output) = &report.output {
            let secret = |json: &str| self.plan.secret_output(self.number, json);
            w.key("output")
                .object(|w| value(w, output, redactor, secret));
        }
        if let Some(payload) = report.payload.as_ref().filter(|_| self.may_keep_payload()) {
            w.key("payload")
                .object(|w| value(w, payload, redactor, |_| Vec::new()));
        }
        if !report.policy_contexts.is_empty() {
            w.key("policy_contexts").array(|w| {
                for context in &report.policy_contexts {
                    w.json(context);
                }
            });
        }
        w.key("record").string("step");
        w.key("step_id").string(self.id());
        write_stop(w, report.stop.as_ref());
        w.key("tool_id").string(&self.step.tool.value);
    }

    /// Returns whether the payload is kept in addition to the output. A schema marks parts of the
    /// output, which can't be found in the payload if they are short.
    fn may_keep_payload(&self) -> bool {
        let output = self.report.output.as_deref();
        let output = output.map(|it| core::str::from_utf8(it).unwrap_or_default());
        output.is_none_or(|it| self.plan.secret_output(self.number, it).is_empty())
    }
}

/// Writes the member `stop`: why a step or a run ended early.
pub(crate) fn write_stop(w: &mut Writer, stop: Option<&Stop>) {
    let Some(stop) = stop else { return };
    w.key("stop").object(|w| {
        w.key("code").string(stop.code.name());
        w.key("message").string(&stop.message);
        if let Some(reason) = stop.reason {
            w.key("reason").string(reason.name());
        }
    });
}

/// Returns the output of a program that failed, for evidence.
fn failed_output(exited: &Exited) -> Vec<u8> {
    let output = object(|w| {
        w.key("exit_code").json(&exited.code.to_string());
        w.key("stdout")
            .string(&String::from_utf8_lossy(&exited.stdout));
    });
    output.into_bytes()
}

/// Returns a JSON object in one line.
fn object(members: impl FnOnce(&mut Writer)) -> String {
    let mut w = Writer::dense();
    w.object(members);
    let mut text = w.finish();
    text.pop();
    text
}
