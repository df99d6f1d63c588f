//! May a plan of several steps run, and why not \[3\]?

use agent_decide::{
    AuthorizedPlan, DestinationDenial, PlanAnswer as Decision, PlanContext, PlanPolicy,
    QueryDenial, RunDenial, StepCheck, authorize_plan, decide_query, payload_denials,
};
pub use agent_decide::{secret_inputs, secret_values};
use agent_diagnostic::{ChangeSet, Code, Diagnostic, Finding};
use agent_explain::{
    CheckRecord, PlanDocuments, addresses, plan_checks, plan_diagnostics, plan_findings,
    plan_fixes, plan_warnings, query_denial, run_denial, step_payload,
};
use agent_lower::{Validated, digest};
use agent_model::{Context, Driver, Origin, Plan};
use agent_render::{
    PlanReport, StyledSpan, authorized_plan, plan_answer, step_approval, validation_report,
};
use agent_text::DocumentKind;
use std::sync::Arc;

/// The answer to a plan: the decision with its trace, the diagnostics with their fixes, and all that
/// the views need.
#[derive(Debug)]
pub struct PlanAnswer<'a> {
    pub(crate) documents: PlanDocuments<'a>,
    context: PlanContext<'a>,
    decision: Decision<'a>,
    findings: Vec<Finding>,
    fixes: Vec<Option<ChangeSet>>,
}

impl<'a> PlanAnswer<'a> {
    /// Decides on a plan, words every problem, and looks for fixes.
    pub fn new(
        plan: &'a Arc<Validated<Plan>>,
        rules: &'a Arc<PlanPolicy>,
        context: PlanContext<'a>,
    ) -> Self {
        let decision = authorize_plan(plan, rules, context);
        let findings = plan_findings(plan, rules, context, &decision);
        let documents = PlanDocuments::new(plan, rules);
        let fixes = plan_fixes(&documents, context, &decision, &findings);
        Self {
            documents,
            context,
            decision,
            findings,
            fixes,
        }
    }

    /// Refuses the plan because other documents of the decision can't be read. The problems of the
    /// plan's own documents stay; whatever was decided without the others goes.
    pub fn refuse(&mut self, unreadable: Vec<Diagnostic>) {
        if unreadable.is_empty() {
            return;
        }
        self.decision.authorized = None;
        let own = self.findings.drain(..).zip(self.fixes.drain(..));
        let own = own.filter(|(finding, _)| finding.denial.is_none());
        let unreadable = unreadable.into_iter().map(Finding::unreadable);
        (self.findings, self.fixes) = own.chain(unreadable.map(|it| (it, None))).unzip();
    }

    /// Refuses the plan for reasons of another decision, which alone are reported.
    pub fn refuse_because(&mut self, reasons: Vec<Diagnostic>) {
        self.decision.authorized = None;
        self.findings = reasons.into_iter().map(Finding::from).collect();
        self.fixes = self.findings.iter().map(|_| None).collect();
    }

    /// Returns the decision and its trace.
    pub fn decision(&self) -> &Decision<'a> {
        &self.decision
    }

    /// Returns the stable code, the exact reason and the message of each problem.
    pub fn problems(&self) -> impl Iterator<Item = (RunProblem, Option<Code>)> {
        self.findings.iter().map(|finding| {
            let found = &finding.diagnostic;
            ((found.code, found.message.clone()), found.reason)
        })
    }

    /// Returns the document that each problem is in.
    pub fn problem_documents(&self) -> impl Iterator<Item = Option<DocumentKind>> {
        let findings = self.findings.iter();
        findings.map(|it| it.diagnostic.place().map(|place| place.source))
    }

    /// Returns the authorized plan, if the plan may run.
    pub fn into_authorized(self) -> Option<AuthorizedPlan> {
        self.decision.authorized
    }

    /// Returns every problem with its fixes, ordered by document and place. The list is empty if and
    /// only if the plan may run.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        plan_diagnostics(&self.documents, self.findings.clone(), &self.fixes)
    }

    /// Returns warnings about the documents, which change no verdict.
    pub fn warnings(&self) -> Vec<Diagnostic> {
        plan_warnings(&self.documents)
    }

    /// Returns the check that each diagnostic fails; none for one that is about no check.
    pub fn failed_checks(&self) -> impl Iterator<Item = Option<StepCheck>> {
        let findings = self.findings.iter();
        findings.map(|finding| self.decision.failed_check(finding))
    }

    /// Returns the changes that each diagnostic's first fix makes, if one was found.
    pub fn changes(&self) -> &[Option<ChangeSet>] {
        &self.fixes
    }

    /// Returns the checks of each step in words.
    pub fn steps(&self) -> Vec<Vec<(StepCheck, CheckRecord)>> {
        plan_checks(&self.documents, &self.decision)
    }

    /// Returns `ds.mova_agent_validation_report_v1` as JSON that ends with a newline.
    pub fn report(&self) -> String {
        validation_report(&self.as_report())
    }

    /// Returns the answer for people.
    pub fn text(&self) -> Vec<StyledSpan> {
        plan_answer(&self.as_report())
    }

    /// Returns the documents that were decided against: kind, name and digest.
    pub fn decided_against(&self) -> Vec<(&'static str, Option<String>, String)> {
        self.as_report().decided_against()
    }

    /// Returns the RFC 8785 form of the authorized plan.
    pub fn authorized(&self) -> Option<String> {
        self.decision.authorized.as_ref().map(authorized_plan)
    }

    fn as_report(&self) -> PlanReport<'_> {
        PlanReport {
            plan: self.documents.plan,
            rules: self.documents.rules,
            context: self.context,
            answer: &self.decision,
            findings: &self.findings,
            fixes: &self.fixes,
        }
    }
}

/// A reason why a run ends: the stable code, and a sentence.
pub type RunProblem = (Code, String);

/// Decides whether a query may be planned for \[1, step 2\].
pub fn check_query(rules: &PlanPolicy, query: &str) -> Vec<RunProblem> {
    let denials = decide_query(query, &rules.profile).err();
    let word = |denial: QueryDenial<'_>| (Code::InputDenied, query_denial(&denial));
    denials.into_iter().flatten().map(word).collect()
}

/// The JSON of an authorized plan and its digest.
pub fn authorized(plan: &AuthorizedPlan) -> (String, String) {
    let json = authorized_plan(plan);
    let digest = digest(&json);
    (json, digest)
}

/// Returns the digest that approves a step with an input from an earlier step: over the digest of the
/// authorized plan, the input and the step's id.
pub fn approval_digest(authorized: &str, input: &str, step_id: &str) -> String {
    digest(&step_approval(authorized, input, step_id))
}

/// Resolves the input of a step from the outputs of earlier ones.
///
/// # Errors
/// The reason why the run ends here.
pub fn resolve_input(
    plan: &AuthorizedPlan,
    step: usize,
    outputs: &[(usize, &str)],
) -> Result<String, RunProblem> {
    let resolved = plan.resolve_input(step, outputs);
    resolved.map_err(|denial| run_denial(&denial))
}

/// Decides whether a step takes an input, in the policy's context at this time.
pub fn check_input(
    plan: &AuthorizedPlan,
    step: usize,
    input: &str,
    context: Option<&Context>,
) -> Vec<RunProblem> {
    in_words(&plan.check_input(step, input, context))
}

/// Decides whether the output of a step is accepted.
pub fn check_output(plan: &AuthorizedPlan, step: usize, output: &str) -> Vec<RunProblem> {
    in_words(&plan.check_output(step, output))
}

/// Decides which of the addresses of a URL's host a step may connect to.
///
/// # Errors
/// Every reason why it may connect to none.
pub fn authorize_destination(
    plan: &AuthorizedPlan,
    step: usize,
    url: &str,
    texts: &[String],
) -> Result<Vec<String>, Vec<RunProblem>> {
    let addresses = addresses(texts).map_err(|problem| vec![problem])?;
    match plan.destination(step, url, &addresses) {
        Ok(allowed) => Ok(allowed.iter().map(ToString::to_string).collect()),
        Err(denials) => Err(in_words(&denials)),
    }
}

/// Returns the origin of a locked server's endpoint, and the path with the query.
///
/// # Errors
/// No connection can be made for the endpoint.
pub fn endpoint(endpoint: &str) -> Result<(Origin, String), RunProblem> {
    let found = Origin::with_target(endpoint);
    found.map_err(|error| run_denial(&RunDenial::Destination(DestinationDenial::Url(error))))
}

/// Decides which of the addresses of a locked server's host may be connected to.
///
/// # Errors
/// Every reason why none may be.
pub fn authorize_endpoint(
    endpoint: &str,
    texts: &[String],
) -> Result<Vec<String>, Vec<RunProblem>> {
    authorize_url(endpoint, &[endpoint], texts)
}

/// Decides which of the addresses of a URL's host may be connected to. Those that are not public must be the
/// hosts of trusted URLs.
///
/// # Errors
/// Every reason why none may be.
pub fn authorize_url(
    url: &str,
    trusted: &[&str],
    texts: &[String],
) -> Result<Vec<String>, Vec<RunProblem>> {
    let addresses = addresses(texts).map_err(|problem| vec![problem])?;
    match agent_decide::authorize_url(url, trusted, &addresses) {
        Ok(allowed) => Ok(allowed.iter().map(ToString::to_string).collect()),
        Err(denials) => {
            let denials: Vec<_> = denials.into_iter().map(RunDenial::Destination).collect();
            Err(in_words(&denials))
        }
    }
}

/// Decides whether a step may request a URL, before its host is resolved. Returns the origin and the
/// path with the query.
///
/// # Errors
/// The reason against the request.
pub fn target(
    plan: &AuthorizedPlan,
    step: usize,
    url: &str,
) -> Result<(Origin, String), RunProblem> {
    plan.target(step, url).map_err(|denial| run_denial(&denial))
}

/// Compares the tool of a step with a live `tools/list` result of its server.
///
/// # Errors
/// The reason why the tool can't be called.
pub fn check_listing(plan: &AuthorizedPlan, step: usize, list: &str) -> Result<(), RunProblem> {
    let checked = plan.check_listing(step, list);
    checked.map_err(|denial| run_denial(&denial))
}

/// The headers that a handler may set: those that describe the body and the answer.
const HANDLER_HEADERS: [&str; 3] = ["accept", "accept-language", "content-type"];

/// What a handler asks for.
#[derive(Debug, Clone, Copy)]
pub enum Wanted<'w> {
    /// An HTTP request.
    Request {
        /// The method.
        method: &'w str,
        /// The size of the body, in bytes.
        body_bytes: u64,
        /// The names of the headers.
        headers: &'w [&'w str],
    },
    /// A program.
    Program,
    /// The tool of the step.
    Tool,
}

/// Decides whether the handler of a step may ask for an effect, before the destination, the program or the
/// arguments are decided on. No driver has more than one effect.
///
/// # Errors
/// The reason against it.
pub fn check_wanted(
    plan: &AuthorizedPlan,
    step: usize,
    is_second: bool,
    wanted: Wanted<'_>,
) -> Result<(), RunProblem> {
    if is_second {
        let message = "the handler asks for a second effect".to_owned();
        return Err((Code::MovaLimitExceeded, message));
    }
    let denied = |message| Err((Code::MovaPolicyDenied, message));
    let Some(binding) = plan.binding(step) else {
        return denied("the step has no binding".to_owned());
    };
    let (body_bytes, headers) = match (wanted, &binding.driver) {
        (Wanted::Program, Driver::RestrictedShell { .. })
        | (Wanted::Tool, Driver::McpProxy { .. }) => return Ok(()),
        (
            Wanted::Request {
                method,
                body_bytes,
                headers,
            },
            Driver::Http { methods, .. },
        ) if methods.iter().any(|it| it == method) => (body_bytes, headers),
        (Wanted::Request { method, .. }, Driver::Http { .. }) => {
            return denied(format!("the handler asks for the method {method:?}"));
        }
        (wanted, driver) => {
            let kind = driver.kind().name();
            let effect = match wanted {
                Wanted::Request { .. } => "an HTTP request",
                Wanted::Program => "a program",
                Wanted::Tool => "a tool",
            };
            return denied(format!("a handler of the kind `{kind}` asks for {effect}"));
        }
    };
    let most = binding.limits.max_input_bytes.value;
    Content::SentBody.check_size(body_bytes, most)?;
    let is_known = |name: &str| {
        let mut known = HANDLER_HEADERS.iter();
        known.any(|known| known.eq_ignore_ascii_case(name))
    };
    match headers.iter().find(|name| !is_known(name)) {
        Some(name) => {
            let name = name.to_ascii_lowercase();
            denied(format!("the handler sets the header {name:?}"))
        }
        None => Ok(()),
    }
}

/// A content that a handler or a peer hands over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// The body of a handler's request.
    SentBody,
    /// The body of the response to it.
    ReceivedBody,
    /// What a program wrote to standard output.
    StandardOutput,
    /// The result of a tool, as received.
    ToolResult,
}

impl Content {
    /// Decides whether a content of `size` bytes is within a limit of `most` bytes.
    ///
    /// # Errors
    /// It is larger.
    pub fn check_size(self, size: u64, most: u64) -> Result<(), RunProblem> {
        if size <= most {
            return Ok(());
        }
        let name = match self {
            Self::SentBody => "the body of the request",
            Self::ReceivedBody => "the body of the response",
            Self::StandardOutput => "standard output",
            Self::ToolResult => "the result of the tool",
        };
        let message = format!("{name} has {size} bytes, and at most {most} are accepted");
        Err((Code::MovaLimitExceeded, message))
    }
}

/// Decides whether the payload of a step's tool is a result that a step can return.
pub fn check_payload(payload: Vec<u8>) -> Vec<RunProblem> {
    payload_denials(payload).iter().map(step_payload).collect()
}

fn in_words(denials: &[RunDenial<'_>]) -> Vec<RunProblem> {
    denials.iter().map(run_denial).collect()
}
