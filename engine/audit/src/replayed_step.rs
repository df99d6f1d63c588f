//! A recorded step, decided again \[3, 4.2, 5\].

use super::members::{at, items, string};
use super::problems::At;
use super::recorded::{Record, Recorded};
use super::replay::{Check, Outcome, contains_redaction, in_words, problem, size};
use agent_api::decide::AuthorizedPlan;
use agent_api::diagnostic::Code;
use agent_api::lower::digest;
use agent_api::model::{Context, Input, Origin};
use agent_api::plan::{self, Content, RunProblem, Wanted};
use agent_syntax::Node;
use agent_syntax::json::{Writer, parse_strict};

/// The facts of a handler that asks for an effect.
const WANTED: [&str; 3] = ["/wants_request", "/wants_program", "/wants_tool"];

/// The output of an earlier step: its number, and its text unless it is redacted.
pub(crate) type RecordedOutput = (usize, Option<String>);

/// A recorded step.
pub(crate) struct ReplayedStep<'r, 'f> {
    plan: &'r AuthorizedPlan,
    /// The digest that an approval of literal inputs names, if it is not that of the plan.
    approval: Option<&'r str>,
    number: usize,
    id: &'r str,
    record: &'r Record<'f>,
    /// The decisions and effects of the step, in order.
    acts: Vec<&'r Record<'f>>,
    /// Whether the plan is redacted.
    is_redacted: bool,
    /// Why the step ended early.
    stop: Option<RunProblem>,
}

/// The decision that ended a step early.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Resolve,
    Input,
    Approval,
    Effect,
    Output,
    /// No decision did: the clock, the user or the host.
    None,
}

impl<'r, 'f> ReplayedStep<'r, 'f> {
    /// Returns the recorded step of a number. Returns `None` if the run did not reach it.
    pub(crate) fn new(
        recorded: &'r Recorded<'f>,
        (plan, approval, is_redacted): (&'r AuthorizedPlan, Option<&'r str>, bool),
        number: usize,
    ) -> Option<Self> {
        let id = &*plan.plan()?.steps.get(number)?.id.value;
        let of_step = |it: &&Record<'_>| string(&it.root, "/result_details/step_id") == Some(id);
        let record = recorded.of_kind("step").find(of_step)?;
        let acts = recorded.episodes.iter().filter(of_step);
        let acts = acts.filter(|it| at(&it.root, "/result_details/facts").is_some());
        Some(Self {
            plan,
            approval,
            number,
            id,
            record,
            acts: acts.collect(),
            is_redacted,
            stop: at(&record.root, "/result_details/stop").and_then(problem),
        })
    }

    /// Decides the step again. Returns whether the run goes on, as it did.
    pub(crate) fn replay(
        &self,
        outputs: &mut Vec<RecordedOutput>,
        checks: &mut Vec<Check<'f>>,
    ) -> bool {
        let goes_on = self.decide(outputs, checks);
        let output = at(&self.record.root, "/result_details/output");
        outputs.push((self.number, output.and_then(|it| self.text(it))));
        goes_on && self.stop.is_none()
    }

    fn decide(&self, outputs: &[RecordedOutput], checks: &mut Vec<Check<'f>>) -> bool {
        let stage = self.stage();
        let (outcome, input) = self.resolve(outputs, stage);
        if !self.add("resolve", outcome, checks) || stage == Stage::Resolve {
            return false;
        }
        let refused = |at| self.stop.as_ref().filter(|_| stage == at);
        let outcome = match &input {
            Some(input) => {
                let now = plan::check_input(
                    self.plan,
                    self.number,
                    input,
                    self.policy_context(0).as_ref(),
                );
                Outcome::of(refused(Stage::Input), now.first())
            }
            None => Outcome::Undecidable("the input is redacted".to_owned()),
        };
        if !self.add("input", outcome, checks) || stage == Stage::Input {
            return false;
        }
        if let Some(outcome) = self.approval(input.as_deref(), stage)
            && !self.add("approval", outcome, checks)
        {
            return false;
        }
        if stage == Stage::Approval || !self.effects(input.as_deref(), checks) {
            return false;
        }
        let output = at(&self.record.root, "/result_details/output");
        if let (Some(output), true) = (output, matches!(stage, Stage::Output | Stage::None)) {
            let is_failed = stage == Stage::None && self.stop.is_some();
            if is_failed {
                return true;
            }
            let outcome = match self.text(output) {
                Some(text) => {
                    let now = plan::check_output(self.plan, self.number, &text);
                    Outcome::of(refused(Stage::Output), now.first())
                }
                None => Outcome::Undecidable("the output is redacted".to_owned()),
            };
            return self.add("output", outcome, checks);
        }
        true
    }

    /// Adds a check. Returns whether the run goes on as recorded.
    fn add(&self, name: &'static str, outcome: Outcome, checks: &mut Vec<Check<'f>>) -> bool {
        let goes_on = !matches!(outcome, Outcome::Differs(..));
        checks.push(Check {
            step: Some(self.id.to_owned()),
            name,
            outcome,
            at: At::start(self.record.file),
        });
        goes_on
    }

    /// Returns the decision that ended the recorded step.
    fn stage(&self) -> Stage {
        let root = &self.record.root;
        let reason = string(root, "/result_details/stop/reason");
        let Some((code, _)) = &self.stop else {
            return Stage::None;
        };
        let is_decision = !matches!(
            code,
            Code::MovaTimeout | Code::MovaInternal | Code::MovaHandlerFailed
        );
        let has_acted = !self.acts.is_empty();
        match reason.and_then(Code::named) {
            Some(Code::ApprovalRequired) => Stage::Approval,
            // Evidence does not contain the handlers that the operator admits.
            Some(Code::HandlerNotAdmitted | Code::Cancelled | Code::Unavailable) => Stage::None,
            _ if !is_decision => Stage::None,
            _ if at(root, "/result_details/input").is_none() => Stage::Resolve,
            _ if !has_acted => Stage::Input,
            _ if at(root, "/result_details/output").is_some() => Stage::Output,
            // A failure of the effect itself may have the code of a limit.
            _ if self.last_failed() => Stage::None,
            _ => Stage::Effect,
        }
    }

    /// Returns whether the last effect failed by itself.
    fn last_failed(&self) -> bool {
        let last = self.acts.last();
        last.is_some_and(|it| {
            let facts = |member| at(&it.root, &format!("/result_details/facts/{member}"));
            facts("failure").is_some() || facts("rose").is_some()
        })
    }

    /// Returns the context in which the policy was asked about an input of the step: first about that of
    /// the step, then about that of its effect.
    fn policy_context(&self, number: usize) -> Option<Context> {
        let contexts = items(&self.record.root, "/result_details/policy_contexts");
        let json = contexts
            .get(number)?
            .span
            .of(self.record.file.text.as_str());
        Some(Context {
            json: json.to_owned(),
        })
    }

    /// Returns the text of a recorded value, unless it is redacted.
    fn text(&self, value: &Node<'_>) -> Option<String> {
        self.record.content(value)
    }

    /// Compares the input of the step, and returns it unless it is redacted.
    fn resolve(&self, outputs: &[RecordedOutput], stage: Stage) -> (Outcome, Option<String>) {
        let recorded = at(&self.record.root, "/result_details/input");
        let steps = self.plan.plan().map(|it| &it.steps);
        let input = steps.and_then(|it| Some(&it.get(self.number)?.input));
        let known: Vec<_> = outputs
            .iter()
            .filter_map(|(number, text)| Some((*number, text.as_deref()?)))
            .collect();
        if let Some(Input::From { step, .. }) = input
            && outputs
                .iter()
                .any(|(number, text)| number == step && text.is_none())
        {
            let reason = "the output of the earlier step is redacted".to_owned();
            return (
                Outcome::Undecidable(reason),
                recorded.and_then(|it| self.text(it)),
            );
        }
        let now = plan::resolve_input(self.plan, self.number, &known);
        let refused = self.stop.as_ref().filter(|_| stage == Stage::Resolve);
        match (recorded.and_then(|it| string(it, "/digest")), now) {
            (Some(recorded), Ok(input)) if digest(&input) == recorded => {
                (Outcome::Same, Some(input))
            }
            (Some(_), Ok(_)) if self.is_redacted => {
                let reason = "the plan is redacted".to_owned();
                let known = at(&self.record.root, "/result_details/input");
                (
                    Outcome::Undecidable(reason),
                    known.and_then(|it| self.text(it)),
                )
            }
            (Some(recorded), Ok(input)) => {
                let differs = Outcome::Differs(
                    format!("the input {recorded}"),
                    format!("the input {}", digest(&input)),
                );
                (differs, None)
            }
            (None, Ok(_)) => (Outcome::of(refused, None), None),
            (_, Err(problem)) => (Outcome::of(refused, Some(&problem)), None),
        }
    }

    /// Compares the approval of the step. Returns `None` if it needs none and got none.
    fn approval(&self, input: Option<&str>, stage: Stage) -> Option<Outcome> {
        let root = &self.record.root;
        let needs = self.plan.steps().get(self.number)?.needs_approval();
        let given = string(root, "/result_details/approval/digest");
        let asked = self.acts.iter().find_map(|it| {
            let is_it = string(&it.root, "/result_details/action") == Some("approve");
            let digest = string(&it.root, "/result_details/facts/digest");
            digest.filter(|_| is_it)
        });
        let recorded = given.or(asked);
        if !needs {
            return recorded.map(|_| {
                Outcome::Differs("approval was needed".to_owned(), "it is not".to_owned())
            });
        }
        let Some(recorded) = recorded else {
            let reached = stage > Stage::Approval || (stage == Stage::None && self.stop.is_none());
            return reached.then(|| {
                Outcome::Differs(
                    "no approval was needed".to_owned(),
                    "it is needed".to_owned(),
                )
            });
        };
        let authorized = match self.approval {
            Some(digest) => digest.to_owned(),
            None => plan::authorized(self.plan).1,
        };
        let step = self.plan.plan()?.steps.get(self.number)?;
        let now = match (&step.input, input) {
            (Input::Literal(_), _) => authorized,
            (_, Some(input)) => plan::approval_digest(&authorized, input, self.id),
            (_, None) => {
                let reason = "the input is redacted".to_owned();
                return Some(Outcome::Undecidable(reason));
            }
        };
        Some(match recorded == now {
            true => Outcome::Same,
            false if self.is_redacted => Outcome::Undecidable("the plan is redacted".to_owned()),
            false => Outcome::Differs(
                format!("approval of {recorded}"),
                format!("approval of {now} is needed"),
            ),
        })
    }

    /// Decides again what the handler asked for. Returns whether the run goes on as recorded.
    fn effects(&self, input: Option<&str>, checks: &mut Vec<Check<'f>>) -> bool {
        let mut has_asked = false;
        for act in &self.acts {
            if string(&act.root, "/result_details/record") != Some("effect") {
                continue;
            }
            let Some(facts) = at(&act.root, "/result_details/facts") else {
                continue;
            };
            let goes_on = if let Some(wanted) = at(facts, "/wants_request") {
                self.request(wanted, has_asked, checks)
            } else if let Some(wanted) = at(facts, "/wants_program") {
                let follows = ["run_program"];
                self.wanted(Wanted::Program, has_asked, &follows, checks)
                    && self.program(wanted, input, checks)
            } else if let Some(wanted) = at(facts, "/wants_tool") {
                let follows = ["resolve", "open_server"];
                self.wanted(Wanted::Tool, has_asked, &follows, checks)
                    && self.tool(wanted, input, checks)
            } else {
                self.received(act, facts, checks)
            };
            if !goes_on {
                return false;
            }
            has_asked |= WANTED.iter().any(|wanted| at(facts, wanted).is_some());
        }
        true
    }

    /// Returns whether the run decided for an action.
    fn has_decided(&self, actions: &[&str]) -> bool {
        self.acts.iter().any(|it| {
            let action = string(&it.root, "/result_details/action");
            string(&it.root, "/result_details/record") == Some("decision")
                && action.is_some_and(|it| actions.contains(&it))
        })
    }

    /// Returns the recorded problem of a decision that one of the actions would follow.
    fn refused_before(&self, actions: &[&str]) -> Option<&RunProblem> {
        let is_refused = self.stage() == Stage::Effect && !self.has_decided(actions);
        self.stop.as_ref().filter(|_| is_refused)
    }

    /// Returns whether the step ended for another reason before a decision for the actions.
    fn was_interrupted_before(&self, actions: &[&str]) -> bool {
        self.stop.is_some() && self.stage() == Stage::None && !self.has_decided(actions)
    }

    /// Decides again whether the handler may ask for an effect. Returns whether it may, as recorded.
    fn wanted(
        &self,
        wanted: Wanted<'_>,
        has_asked: bool,
        follows: &[&str],
        checks: &mut Vec<Check<'f>>,
    ) -> bool {
        let now = plan::check_wanted(self.plan, self.number, has_asked, wanted).err();
        // The decisions on a first effect precede a second one.
        let is_undecided = has_asked || !self.has_decided(follows);
        if self.stop.is_some() && self.stage() == Stage::None && is_undecided {
            return now.is_none();
        }
        let refused = self.stop.as_ref().filter(|(code, _)| {
            let is_of_request =
                matches!(wanted, Wanted::Request { .. }) && *code != Code::MovaDestinationDenied;
            // Arguments and destinations are decided on behind this, with the same codes.
            self.stage() == Stage::Effect && is_undecided && (now.is_some() || is_of_request)
        });
        self.add("effect", Outcome::of(refused, now.as_ref()), checks) && now.is_none()
    }

    fn request(&self, wanted: &Node<'_>, has_asked: bool, checks: &mut Vec<Check<'f>>) -> bool {
        let method = string(wanted, "/method").unwrap_or_default();
        let url = string(wanted, "/url").unwrap_or_default();
        if contains_redaction(wanted) {
            let reason = "the request is redacted".to_owned();
            return self.add("request", Outcome::Undecidable(reason), checks);
        }
        let headers = items(wanted, "/headers").iter();
        let headers: Vec<_> = headers.filter_map(|it| string(it, "")).collect();
        let asked = Wanted::Request {
            method,
            body_bytes: size(wanted, "/body"),
            headers: &headers,
        };
        self.wanted(asked, has_asked, &["resolve", "request"], checks)
            && self.connection(url, "request", checks)
    }

    /// Decides again on a URL and the recorded addresses of its host.
    fn connection(&self, url: &str, action: &str, checks: &mut Vec<Check<'f>>) -> bool {
        let follows = ["resolve", action];
        if self.was_interrupted_before(&follows) {
            return true;
        }
        let refused = self.refused_before(&follows);
        let origin: Origin = match plan::target(self.plan, self.number, url) {
            Ok((origin, _)) => origin,
            Err(now) => {
                self.add("destination", Outcome::of(refused, Some(&now)), checks);
                return false;
            }
        };
        // The address of a URL that has one is decided on together with it.
        let is_literal = origin.address().is_some();
        if !is_literal && !self.add("destination", Outcome::of(refused, None), checks) {
            return false;
        }
        let addresses: Vec<String> = match origin.address() {
            Some(address) => vec![address.to_string()],
            None => {
                let mut acts = self.acts.iter();
                let found = acts.find_map(|it| at(&it.root, "/result_details/facts/addresses"));
                let Some(found) = found else {
                    return true;
                };
                let texts = items(found, "").iter().filter_map(|it| string(it, ""));
                texts.map(str::to_owned).collect()
            }
        };
        if self.was_interrupted_before(&[action]) {
            return true;
        }
        let refused = self.refused_before(&[action]);
        let now = plan::authorize_destination(self.plan, self.number, url, &addresses);
        let outcome = match &now {
            Err(problems) => Outcome::of(refused, problems.first()),
            Ok(allowed) => match (refused, self.connected(action)) {
                (None, Some(used)) if allowed.first().is_some_and(|it| it != used) => {
                    let now = allowed.first().map(String::as_str).unwrap_or_default();
                    Outcome::Differs(format!("a connection to {used}"), format!("one to {now}"))
                }
                (refused, _) => Outcome::of(refused, None),
            },
        };
        self.add("addresses", outcome, checks) && now.is_ok()
    }

    /// Returns the address of the connection that an action had.
    fn connected(&self, action: &str) -> Option<&str> {
        self.acts.iter().find_map(|it| {
            let is_it = string(&it.root, "/result_details/action") == Some(action);
            let address = string(&it.root, "/result_details/facts/connection/address");
            address.filter(|_| is_it)
        })
    }

    fn program(&self, wanted: &Node<'_>, input: Option<&str>, checks: &mut Vec<Check<'f>>) -> bool {
        let outcome = if contains_redaction(wanted) {
            Outcome::Undecidable("the program's arguments are redacted".to_owned())
        } else if let Some(stdin) = stdin(wanted, input) {
            let arguments = items(wanted, "/arguments").iter();
            let arguments = arguments.filter_map(|it| string(it, ""));
            let mut w = Writer::dense();
            w.object(|w| {
                w.key("arguments").strings(arguments);
                w.key("program")
                    .string(string(wanted, "/path").unwrap_or_default());
                w.key("stdin").string(&stdin);
            });
            let text = w.finish();
            let now = plan::check_input(
                self.plan,
                self.number,
                text.trim_end(),
                self.policy_context(1).as_ref(),
            );
            if self.was_interrupted_before(&["run_program"]) {
                return true;
            }
            Outcome::of(self.refused_before(&["run_program"]), now.first())
        } else {
            Outcome::Undecidable("standard input is recorded by its digest only".to_owned())
        };
        self.add("program", outcome, checks)
    }

    fn tool(&self, wanted: &Node<'_>, input: Option<&str>, checks: &mut Vec<Check<'f>>) -> bool {
        let follows = ["resolve", "open_server"];
        if self.was_interrupted_before(&follows) {
            return true;
        }
        let recorded = string(wanted, "/arguments/digest");
        let outcome = match input.filter(|input| recorded == Some(&*digest(input))) {
            Some(input) => {
                let context = self.policy_context(1);
                let now = plan::check_input(self.plan, self.number, input, context.as_ref());
                // Whatever the arguments are refused for, their server is not resolved.
                let refused = self.refused_before(&follows);
                let refused = refused.filter(|(code, _)| *code != Code::MovaDestinationDenied);
                Outcome::of(refused, now.first())
            }
            None => {
                Outcome::Undecidable("the arguments are recorded by their digest only".to_owned())
            }
        };
        if !self.add("arguments", outcome, checks) {
            return false;
        }
        let server = self
            .plan
            .steps()
            .get(self.number)
            .and_then(|it| it.server());
        match server.map(|it| &*it.endpoint) {
            Some(endpoint) if !endpoint.starts_with("pkg:") => {
                self.connection(endpoint, "open_server", checks)
            }
            Some(endpoint) => {
                let opened = self.acts.iter().find_map(|it| {
                    let is_it = string(&it.root, "/result_details/action") == Some("open_server");
                    let found = string(&it.root, "/result_details/facts/endpoint");
                    found.filter(|_| is_it)
                });
                let outcome = match opened {
                    Some(opened) if opened != endpoint => Outcome::Differs(
                        format!("the server {opened}"),
                        format!("the server {endpoint}"),
                    ),
                    _ => Outcome::Same,
                };
                self.add("server", outcome, checks)
            }
            None => {
                let outcome = Outcome::Differs(in_words(None), "no tool of a server".to_owned());
                self.add("server", outcome, checks)
            }
        }
    }

    /// Decides again on what a peer or a program handed over. Returns whether the run goes on as recorded.
    fn received(&self, act: &Record<'_>, facts: &Node<'_>, checks: &mut Vec<Check<'f>>) -> bool {
        let action = string(&act.root, "/result_details/action").unwrap_or_default();
        match action {
            "list_tools" if at(facts, "/received").is_some() => {
                let outcome = match self.recorded_text("/result_details/listed") {
                    Some(list) => {
                        let now = plan::check_listing(self.plan, self.number, &list).err();
                        Outcome::of(self.refused_before(&["call_tool"]), now.as_ref())
                    }
                    None => Outcome::Undecidable("the list of tools is redacted".to_owned()),
                };
                self.add("listing", outcome, checks)
            }
            "call_tool" if at(facts, "/received").is_some() => {
                self.size(Content::ToolResult, size(facts, "/received"), checks)
                    && self.payload(checks)
            }
            "request" if at(facts, "/body").is_some() => {
                self.size(Content::ReceivedBody, size(facts, "/body"), checks)
            }
            "run_program" if at(facts, "/stdout").is_some() => {
                self.size(Content::StandardOutput, size(facts, "/stdout"), checks)
            }
            _ => true,
        }
    }

    /// Decides again on the size of a content that the step received.
    fn size(&self, content: Content, size: u64, checks: &mut Vec<Check<'f>>) -> bool {
        let most = self.plan.binding(self.number);
        let most = most.map_or(0, |it| it.limits.max_output_bytes.value);
        let now = content.check_size(size, most).err();
        let refused = self.refused_before(&["resume_handler"]);
        let refused = refused.filter(|(code, _)| *code == Code::MovaLimitExceeded);
        self.add("size", Outcome::of(refused, now.as_ref()), checks) && now.is_none()
    }

    fn payload(&self, checks: &mut Vec<Check<'f>>) -> bool {
        let outcome = match self.recorded_text("/result_details/payload") {
            Some(payload) => {
                let now = plan::check_payload(payload.into_bytes());
                Outcome::of(self.refused_before(&["resume_handler"]), now.first())
            }
            None => Outcome::Undecidable("the result of the tool is redacted".to_owned()),
        };
        self.add("payload", outcome, checks)
    }

    /// Returns the text of a value of the step's record, unless it is redacted or absent.
    fn recorded_text(&self, pointer: &str) -> Option<String> {
        self.text(at(&self.record.root, pointer)?)
    }
}

/// Returns the standard input of a recorded program: nothing, or that of the step's input.
fn stdin(wanted: &Node<'_>, input: Option<&str>) -> Option<String> {
    if size(wanted, "/stdin") == 0 {
        return Some(String::new());
    }
    let root = parse_strict(input?)?;
    let given = string(&root, "/stdin")?;
    (Some(&*digest(given)) == string(wanted, "/stdin/digest")).then(|| given.to_owned())
}
