//! The words for what speaks against a plan, with the places that a report names \[3\].

use super::call::{CallPlace, call_denial, unusable, unusable_code};
use super::wording::quoted;
use agent_decide::{
    Between, CallDenial, DestinationDenial, FlowMismatch, InputDenial, PlanAnswer, PlanContext,
    PlanDenial, PlanPolicy, PlanReason, QueryDenial, ReferenceMismatch, Referred, RunCheck,
    RunDenial,
};
use agent_diagnostic::{Code, Diagnostic, Finding, Label};
use agent_json_schema::{ArgumentProblem, Library, token};
use agent_lower::{Validated, conformity};
use agent_model::{Binding, Driver, Plan, PlanStep, Profile};
use agent_text::sort::sort_by_key;
use agent_text::{DocumentKind, Span, Text, nearest};
use core::net::IpAddr;
use std::fmt::Display;

/// Everything that speaks against a plan: what is wrong with each document, and what they say
/// together. In the order of a report: by document and place. Nothing: the plan may run.
pub fn plan_findings(
    examined: &Validated<Plan>,
    rules: &PlanPolicy,
    context: PlanContext<'_>,
    answer: &PlanAnswer<'_>,
) -> Vec<Finding> {
    let mut found = Vec::new();
    found.extend(
        context
            .request
            .into_iter()
            .flat_map(|it| it.findings.iter().cloned()),
    );
    for finding in &examined.findings {
        let mut finding = finding.clone();
        finding.diagnostic.step = step_of(finding.diagnostic.pointer());
        found.push(finding);
    }
    found.extend(rules.pool.findings.iter().cloned());
    found.extend(rules.profile.findings.iter().cloned());
    if let Some(plan) = &examined.value {
        let words = Words {
            text: &examined.text,
            request: context.request.map(|it| &it.text),
            plan,
            rules,
        };
        let mut left = TOLD_BYTES;
        for (number, denial) in answer.denials.iter().enumerate() {
            let Some(finding) = words.denial(denial) else {
                continue;
            };
            left = left.saturating_sub(bytes_told(&finding));
            found.push(Finding {
                denial: Some(number),
                ..finding
            });
            if left == 0 {
                break;
            }
        }
    }
    sort_by_key(&mut found, |finding| {
        let place = finding.diagnostic.place().copied();
        (place.map(|place| document_rank(place.source)), place)
    });
    found
}

/// So many bytes are told of what the documents say together, and no more reasons behind that: each
/// may name a rule or a pattern that is as long as its document.
const TOLD_BYTES: usize = 4 << 20;

fn bytes_told(finding: &Finding) -> usize {
    let diagnostic = &finding.diagnostic;
    let titles = diagnostic.fixes.iter().map(|fix| fix.title.len());
    let rule = diagnostic.rule.as_deref().unwrap_or_default();
    rule.len() + diagnostic.pointer().len() + diagnostic.message.len() + titles.sum::<usize>()
}

/// The order of documents in a report: as they are read.
fn document_rank(source: DocumentKind) -> usize {
    let order = [
        DocumentKind::Request,
        DocumentKind::Plan,
        DocumentKind::ToolPool,
        DocumentKind::Profile,
    ];
    order
        .iter()
        .position(|it| *it == source)
        .unwrap_or(order.len())
}

/// The number of the step that a pointer into a plan leads to.
fn step_of(pointer: &str) -> Option<usize> {
    let rest = pointer.strip_prefix("/plan/steps/")?;
    rest.split('/').next()?.parse().ok()
}

/// Why a check waits, in words.
pub fn deferred(check: RunCheck) -> &'static str {
    match check {
        RunCheck::InputFrom => {
            "whether the earlier step gives such a part is known once it has run"
        }
        RunCheck::Input => "the input is known once the earlier step has run",
        RunCheck::Destination => "the URL is known once the earlier step has run",
        RunCheck::Addresses => {
            "the addresses of the host are known once the connection is to be made"
        }
        RunCheck::Output => "the output is known once the step has run",
    }
}

/// Why a connection may not be made: a predicate about its URL.
pub fn destination(denial: &DestinationDenial) -> String {
    match denial {
        DestinationDenial::Url(error) => format!("is none that a connection is made for: {error}"),
        DestinationDenial::Elsewhere { origin, allowed } => format!(
            "leads to `{origin}`, and only {} may be reached",
            listed(allowed)
        ),
        DestinationDenial::NoAddress => "has a host without an address".to_owned(),
        DestinationDenial::NonPublic(address) => {
            format!("leads to {address}, which is no public address and has no entry of its own")
        }
    }
}

/// Why a plan that runs ends at a step: the stable code, and a sentence.
pub fn run_denial(denial: &RunDenial<'_>) -> (Code, String) {
    let code = match denial {
        RunDenial::NoStep
        | RunDenial::NoOutput { .. }
        | RunDenial::NotJson
        | RunDenial::NoSuchPart { .. }
        | RunDenial::OverBudget(_) => Code::MovaValidationFailed,
        RunDenial::Input(denial) => input_code(denial),
        RunDenial::Destination(_) => Code::MovaDestinationDenied,
        RunDenial::OutputTooLarge { .. } => Code::MovaLimitExceeded,
        RunDenial::OutputInvalid { .. }
        | RunDenial::NoStructuredContent
        | RunDenial::ToolFailed => Code::MovaOutputInvalid,
    };
    let message = match denial {
        RunDenial::NoStep => "the plan has no such step".to_owned(),
        RunDenial::NoOutput { step } => format!("the step `{step}` has given nothing yet"),
        RunDenial::NotJson => "it is not strict JSON".to_owned(),
        RunDenial::ToolFailed => "the tool says that it failed (`isError`)".to_owned(),
        RunDenial::NoStructuredContent => {
            "the tool has an output schema, and returned no `structuredContent`".to_owned()
        }
        RunDenial::NoSuchPart { step, pointer } => {
            format!("the output of the step `{step}` has no part `{pointer}`")
        }
        RunDenial::OverBudget(over) => format!("it can't be checked: {}", over.reason()),
        RunDenial::Input(denial) => input(denial, "input").message,
        RunDenial::Destination(denial) => format!("the URL {}", destination(denial)),
        RunDenial::OutputTooLarge { bytes, most } => {
            format!("the output has {bytes} bytes, and at most {most} are taken")
        }
        RunDenial::OutputInvalid {
            pointer,
            message,
            rule,
        } => format!("`output{pointer}` {message}; {rule} says so"),
    };
    (code, message)
}

/// Addresses that a host was resolved to.
///
/// # Errors
/// One is none: the stable code, and a sentence.
pub fn addresses(texts: &[String]) -> Result<Vec<IpAddr>, (Code, String)> {
    let read = |text: &String| {
        let code = Code::MovaDestinationDenied;
        text.parse()
            .map_err(|_| (code, format!("{text:?} is no IP address")))
    };
    texts.iter().map(read).collect()
}

/// All in which a document is not as the schema of a name asks, ordered by place. None: there is
/// no such schema.
pub fn nonconformities(
    schema: &str,
    document: Vec<u8>,
    library: &Library,
) -> Option<Vec<Diagnostic>> {
    library.text(schema)?;
    let found = conformity(schema, document, library).into_iter();
    let exact = found.map(|finding| {
        let mut diagnostic = finding.diagnostic;
        diagnostic.code = diagnostic.reason.take().unwrap_or(diagnostic.code);
        diagnostic
    });
    Some(exact.collect())
}

/// The schemas whose names are spelled nearly so.
pub fn nearest_schemas(name: &str) -> Vec<&'static str> {
    nearest(name, Library::own().schemas().map(|schema| schema.name), 3)
}

/// Why nothing is planned for a query.
pub fn query_denial(denial: &QueryDenial<'_>) -> String {
    match denial {
        QueryDenial::NoProfile => "there is no instruction profile that is in force".to_owned(),
        QueryDenial::NoPolicy => {
            "the profile has no `input_policy`, which says what a query may be".to_owned()
        }
        QueryDenial::TooLarge { bytes, most } => {
            format!("the query has {bytes} bytes, and at most {most} are accepted")
        }
        QueryDenial::Pattern { number, pattern } => format!(
            "the pattern {pattern:?} is found in the query, which \
             `/input_policy/deny_patterns/{number}` of the profile forbids"
        ),
        QueryDenial::OverBudget(over) => format!("the query can't be checked: {}", over.reason()),
    }
}

/// So many items of a list are told.
const LISTED: usize = 20;

fn listed(items: &[impl Display]) -> String {
    if items.is_empty() {
        return "nothing".to_owned();
    }
    let told = items.iter().take(LISTED).map(|item| format!("`{item}`"));
    let told = told.collect::<Vec<_>>().join(", ");
    match items.len().saturating_sub(LISTED) {
        0 => told,
        more => format!("{told} and {more} more"),
    }
}

/// What is said of one reason, beside where it stands in its document.
struct Said {
    code: Code,
    reason: Option<Code>,
    pointer: String,
    span: Span,
    label: &'static str,
    message: String,
    rule: String,
    help: String,
}

struct Words<'a> {
    text: &'a Text,
    request: Option<&'a Text>,
    plan: &'a Plan,
    rules: &'a PlanPolicy,
}

impl Words<'_> {
    fn denial(&self, denial: &PlanDenial<'_>) -> Option<Finding> {
        let (text, said) = match denial.step {
            None => self.whole(&denial.reason)?,
            Some(number) => self.of_step(number, self.plan.steps.get(number)?, &denial.reason)?,
        };
        let mut finding = finding(text, said, denial.step);
        finding.diagnostic.labels.extend(self.other_places(denial));
        Some(finding)
    }

    /// What a reason is in conflict with, in another document.
    fn other_places(&self, denial: &PlanDenial<'_>) -> Option<Label> {
        let profile = self.rules.profile.value.as_ref()?;
        let (span, text) = match &denial.reason {
            PlanReason::RuleDenies(rule) => (profile.rules.get(*rule)?.span, "by this rule"),
            PlanReason::AboveCap { cap, .. } => (profile.cap(*cap)?.span, "the cap"),
            PlanReason::TooManySteps { .. } => {
                (profile.cap(agent_model::Cap::Steps)?.span, "the cap")
            }
            _ => return None,
        };
        Some(Label::new(self.rules.profile.text.place(span), text))
    }

    /// What is about the plan as a whole, and the document that it is told of.
    fn whole(&self, reason: &PlanReason<'_>) -> Option<(&Text, Said)> {
        match reason {
            PlanReason::OtherDocument(stated) => {
                let text = match stated.between {
                    Between::PlanAndDocument | Between::PlanAndRequest => self.text,
                    Between::RequestAndDocument => self.request?,
                };
                Some((text, other_document(stated)))
            }
            PlanReason::TooManySteps { cap } => {
                let first = usize::try_from(*cap).ok()?;
                let step = self.plan.steps.get(first)?;
                let count = self.plan.steps.len();
                let said = Said {
                    code: Code::MovaLimitExceeded,
                    reason: None,
                    pointer: format!("/plan/steps/{first}"),
                    span: step.span,
                    label: "the first step too many",
                    message: format!("the plan has {count} steps, and the profile allows {cap}"),
                    rule: "`caps.max_steps` of the profile".to_owned(),
                    help: "make a plan of fewer steps".to_owned(),
                };
                Some((self.text, said))
            }
            _ => Some((
                &self.rules.profile.text,
                of_profile(&self.rules.profile, reason)?,
            )),
        }
    }

    /// What is about a step, and the document that it is told of.
    fn of_step(
        &self,
        number: usize,
        step: &PlanStep,
        reason: &PlanReason<'_>,
    ) -> Option<(&Text, Said)> {
        let at = format!("/plan/steps/{number}");
        let tool = format!("{}/{}", step.connector.value, step.tool.value);
        let on_tool = |code, reason, label, message, rule: &str, help: String| Said {
            code,
            reason,
            pointer: format!("{at}/tool_id"),
            span: step.tool.span,
            label,
            message,
            rule: rule.to_owned(),
            help,
        };
        let meant = |nearest: &[&str], otherwise: &str| match nearest {
            [] => otherwise.to_owned(),
            near => format!("did you mean {}?", quoted(near.iter().copied())),
        };
        const IN_POOL: &str = "a step names a tool that the tool pool binds";
        let said = match reason {
            PlanReason::NoConnector { nearest } => Said {
                code: Code::MovaPolicyDenied,
                reason: Some(Code::ToolUnknown),
                pointer: format!("{at}/connector_id"),
                span: step.connector.span,
                label: "no such connector",
                message: format!("the pool has no connector `{}`", step.connector.value),
                rule: IN_POOL.to_owned(),
                help: meant(
                    nearest,
                    "name a connector of the pool, spelled as it is there",
                ),
            },
            PlanReason::NoTool { nearest } => on_tool(
                Code::MovaPolicyDenied,
                Some(Code::ToolUnknown),
                "no such tool",
                format!(
                    "the pool binds no tool `{}` of the connector `{}`",
                    step.tool.value, step.connector.value
                ),
                IN_POOL,
                meant(nearest, "name a tool of the pool, spelled as it is there"),
            ),
            PlanReason::NoRule => on_tool(
                Code::MovaPolicyDenied,
                None,
                "allowed by no rule",
                format!("no rule of the profile allows `{tool}`"),
                "a tool is allowed by a rule with the effect `allow` whose selector is it, or `*`",
                "use a tool that is allowed, or have it allowed by a rule".to_owned(),
            ),
            PlanReason::RuleDenies(rule) => {
                let profile = self.rules.profile.value.as_ref()?;
                let rule = profile.rules.get(*rule)?;
                on_tool(
                    Code::MovaPolicyDenied,
                    Some(Code::ForbiddenAction),
                    "denied by a rule",
                    format!(
                        "`{tool}` is denied by the rule `{}` of the profile",
                        rule.id
                    ),
                    &format!(
                        "the rule `{}` of the profile, at `/rules/{}`",
                        rule.id, rule.number
                    ),
                    "use another tool: what a rule denies no other one allows".to_owned(),
                )
            }
            PlanReason::NoIndex => on_tool(
                Code::MovaPolicyDenied,
                Some(Code::IntegrityChanged),
                "the index is missing",
                format!(
                    "there is no index in which the server of `{tool}` would be as it was locked"
                ),
                "an MCP server is in the index as it was locked",
                "give the index that the lock was made from".to_owned(),
            ),
            PlanReason::Server(denial) => self.server(number, step, denial)?,
            PlanReason::SeveralVersions { versions, .. } => on_tool(
                Code::MovaPolicyDenied,
                Some(Code::ToolNotLocked),
                "of which version?",
                format!(
                    "the lock has the server of `{tool}` in the versions {}, and the binding names \
                     none",
                    listed(versions)
                ),
                "a binding names a `server_version` unless the lock has only one",
                "add `server_version` to the binding".to_owned(),
            ),
            PlanReason::ServerElsewhere { endpoint } => {
                let binding = self.binding(step)?;
                on_tool(
                    Code::MovaDestinationDenied,
                    None,
                    "is elsewhere",
                    format!(
                        "the server of `{tool}` is at `{endpoint}`, and only {} may be reached",
                        listed(&binding.destinations)
                    ),
                    "`destinations` of the binding",
                    "use a tool whose server is where its binding says".to_owned(),
                )
            }
            PlanReason::NoSchema { member, name, span } => Said {
                code: Code::MovaValidationFailed,
                reason: Some(Code::SchemaInvalid),
                pointer: format!("{at}/{member}"),
                span: *span,
                label: "no such schema",
                message: format!("neither the pool nor the project has a schema `{name}`"),
                rule: "a schema is named by its `$id`".to_owned(),
                help: "name one of `schemas` of the pool, or leave it out".to_owned(),
            },
            PlanReason::Input(denial) => {
                let said = input(denial, "input");
                match denial {
                    // What is wrong with the tool stands where the tool is named.
                    InputDenial::Argument(ArgumentProblem::Unusable(_)) => Said {
                        pointer: format!("{at}/tool_id"),
                        span: step.tool.span,
                        ..said
                    },
                    _ => Said {
                        pointer: format!("{at}/input{}", said.pointer),
                        ..said
                    },
                }
            }
            PlanReason::Flow(reason) => flow(reason, &at),
            PlanReason::AboveCap {
                binding,
                limit,
                value,
                span,
                cap,
                most,
            } => {
                let said = Said {
                    code: Code::MovaLimitExceeded,
                    reason: None,
                    pointer: format!("/bindings/{binding}/limits/{limit}"),
                    span: *span,
                    label: "above the cap",
                    message: format!(
                        "`{limit}` of `{tool}` is {value}, and the profile allows {most}"
                    ),
                    rule: format!("`caps.{}` of the profile", cap.name()),
                    help: format!("set it to {most} or less"),
                };
                return Some((&self.rules.pool.text, said));
            }
            _ => return None,
        };
        Some((self.text, said))
    }

    fn binding(&self, step: &PlanStep) -> Option<&Binding> {
        let pool = self.rules.pool.value.as_ref()?;
        pool.binding(&step.connector.value, &step.tool.value)
    }

    /// What the lock, the index, the catalogue or the tool itself say, as of one-call plans.
    fn server(&self, number: usize, step: &PlanStep, denial: &CallDenial<'_>) -> Option<Said> {
        let binding = self.binding(step)?;
        let Driver::McpProxy { server, tool, .. } = &binding.driver else {
            return None;
        };
        let place = CallPlace {
            text: self.text,
            server: (server, step.tool.span),
            tool: (tool, step.tool.span),
            arguments: "input",
        };
        let diagnostic = call_denial(&place, denial);
        Some(Said {
            code: Code::MovaPolicyDenied,
            reason: Some(diagnostic.code),
            pointer: format!("/plan/steps/{number}/tool_id"),
            span: step.tool.span,
            label: "not by the lock",
            message: diagnostic.message,
            rule: "a tool of an MCP server is as it was locked".to_owned(),
            help: diagnostic
                .fixes
                .first()
                .map_or_else(String::new, |fix| fix.title.clone()),
        })
    }
}

fn finding(text: &Text, said: Said, step: Option<usize>) -> Finding {
    let label = Label {
        pointer: Some(said.pointer),
        ..Label::new(text.place(said.span), said.label)
    };
    let mut diagnostic = Diagnostic::new(said.code, said.message).help(said.help);
    diagnostic.labels.push(label);
    diagnostic.reason = said.reason;
    diagnostic.rule = Some(said.rule);
    diagnostic.step = step;
    diagnostic.into()
}

fn other_document(stated: &ReferenceMismatch<'_>) -> Said {
    let ReferenceMismatch {
        document,
        member,
        span,
        said,
        is,
        between,
    } = stated;
    let (what, whose) = match (between, document) {
        (Between::PlanAndRequest, _) => ("plan", "the request"),
        (Between::PlanAndDocument, Referred::Profile) => ("plan", "the profile"),
        (Between::PlanAndDocument, _) => ("plan", "the pool"),
        (Between::RequestAndDocument, Referred::Profile) => ("request", "the profile"),
        (Between::RequestAndDocument, _) => ("request", "the pool"),
    };
    let is = match is {
        Some(is) => format!("{whose} has `{is}`"),
        None => format!("{whose} has none"),
    };
    let pointer = match document {
        Referred::Request => format!("/{what}/request_id"),
        Referred::ToolPool | Referred::Profile => {
            format!("/{what}/{}/{member}", document.member())
        }
    };
    Said {
        code: Code::MovaValidationFailed,
        reason: None,
        pointer,
        span: *span,
        label: "another one",
        message: format!("the {what} was made for the `{member}` `{said}`, and {is}"),
        rule: "a plan is decided by the documents that it was made for".to_owned(),
        help: format!("have the {what} made anew, or give the documents that it was made for"),
    }
}

fn of_profile(examined: &Validated<Profile>, reason: &PlanReason<'_>) -> Option<Said> {
    let profile = examined.value.as_ref()?;
    let said = |pointer: &str, span: Span, label, message, rule: &str, help: String| Said {
        code: Code::MovaPolicyDenied,
        reason: None,
        pointer: pointer.to_owned(),
        span,
        label,
        message,
        rule: rule.to_owned(),
        help,
    };
    Some(match reason {
        PlanReason::Inactive(status) => said(
            "/status",
            profile.status.span,
            "not in force",
            format!(
                "the profile `{}` is `{status}`, and not `active`",
                profile.id
            ),
            "only a profile whose status is `active` counts",
            "decide by a profile that is in force".to_owned(),
        ),
        PlanReason::OtherEnvelopes => said(
            "/applies_to/envelope_ids",
            profile.envelopes.as_ref()?.span,
            "not for plans",
            format!(
                "the profile `{}` is for other envelopes than plans",
                profile.id
            ),
            "`applies_to.envelope_ids` names `env.mova_agent_plan_v1` if it is there",
            "decide by a profile that is for plans".to_owned(),
        ),
        PlanReason::CapMissing(cap) => {
            let (pointer, span) = match profile.caps_span {
                Some(span) => ("/caps", span),
                None => (
                    "",
                    Span::new(0, usize::from(!examined.text.as_str().is_empty())),
                ),
            };
            said(
                pointer,
                span,
                "a cap is missing",
                format!("the profile `{}` has no cap `{}`", profile.id, cap.name()),
                "a cap that is missing denies",
                format!("add `{}` to `caps`", cap.name()),
            )
        }
        _ => return None,
    })
}

fn input_code(denial: &InputDenial<'_>) -> Code {
    match denial {
        InputDenial::TooLarge { .. } => Code::MovaLimitExceeded,
        InputDenial::Invalid { .. } | InputDenial::Argument(_) | InputDenial::OverBudget { .. } => {
            Code::MovaValidationFailed
        }
        InputDenial::Method { .. }
        | InputDenial::Program { .. }
        | InputDenial::ArgumentCount { .. }
        | InputDenial::ArgumentPattern { .. } => Code::MovaPolicyDenied,
        InputDenial::Destination { .. } => Code::MovaDestinationDenied,
    }
}

/// What is said of an input that is called `name`; the pointer is one within it.
fn input(denial: &InputDenial<'_>, name: &str) -> Said {
    let said = |reason, pointer: &str, span, label, message, rule: &str, help: &str| Said {
        code: input_code(denial),
        reason,
        pointer: pointer.to_owned(),
        span,
        label,
        message,
        rule: rule.to_owned(),
        help: help.to_owned(),
    };
    match denial {
        InputDenial::TooLarge { bytes, most, span } => said(
            None,
            "",
            *span,
            "too large",
            format!("the input has {bytes} bytes, and its tool takes {most}"),
            "`limits.max_input_bytes` of the binding, in bytes of the RFC 8785 form",
            "give it less",
        ),
        InputDenial::Invalid {
            pointer,
            span,
            message,
            rule,
        } => said(
            Some(Code::ArgumentInvalid),
            pointer,
            *span,
            "not what the schema says",
            format!("`{name}{pointer}` {message}"),
            rule,
            &format!("{rule} says so"),
        ),
        InputDenial::Argument(problem) => argument(problem, name),
        InputDenial::OverBudget { over, span } => said(
            Some(Code::SchemaBudget),
            "",
            *span,
            "not decided",
            format!("the input can't be checked: {}", over.reason()),
            "a schema is evaluated within its budget",
            Code::SchemaBudget.help(),
        ),
        InputDenial::Method {
            method,
            allowed,
            span,
        } => said(
            None,
            "/method",
            *span,
            "no such method here",
            format!("the method `{method}` is none of {}", listed(allowed)),
            "`methods` of the binding",
            "use a method that the binding has",
        ),
        InputDenial::Destination { url, denial, span } => said(
            None,
            "/url",
            *span,
            "may not be reached",
            format!("the URL {url:?} {}", destination(denial)),
            "`destinations` of the binding: scheme, host and port",
            "use a URL at one of the destinations of the binding",
        ),
        InputDenial::Program {
            path,
            nearest,
            span,
        } => said(
            None,
            "/program",
            *span,
            "no such program here",
            format!("the program {path:?} is none of the binding"),
            "`programs` of the binding, by their paths",
            &match nearest[..] {
                [] => "use a program that the binding has".to_owned(),
                _ => format!("did you mean {}?", quoted(nearest.iter().copied())),
            },
        ),
        InputDenial::ArgumentCount {
            count,
            takes,
            or_more,
            span,
        } => said(
            None,
            "/arguments",
            *span,
            "another number",
            format!(
                "the program is given {count} arguments, and takes {takes}{}",
                if *or_more { " or more" } else { "" }
            ),
            "there are as many arguments as patterns, and more only with `more_arguments`",
            "give as many arguments as there are patterns",
        ),
        InputDenial::ArgumentPattern {
            number,
            pattern,
            span,
        } => said(
            None,
            &format!("/arguments/{number}"),
            *span,
            "does not match",
            format!("the argument does not match the pattern {pattern:?} as a whole"),
            "the pattern of the argument in the binding",
            "give an argument that matches",
        ),
    }
}

/// What the tool's own input schema says.
fn argument(problem: &ArgumentProblem, name: &str) -> Said {
    const RULE: &str = "`inputSchema` of the tool";
    let (reason, pointer, span, label, message, rule, help) = match problem {
        ArgumentProblem::Unusable(why) => (
            unusable_code(why),
            String::new(),
            Span::default(),
            "its input schema can't be used",
            format!("the input schema of the tool {}", unusable(why)),
            RULE.to_owned(),
            unusable_code(why).help().to_owned(),
        ),
        ArgumentProblem::Unknown {
            name: unknown,
            span,
            nearest,
        } => (
            Code::ArgumentUnknown,
            format!("/{}", token(unknown)),
            *span,
            "no such argument",
            format!("the tool takes no argument `{unknown}`"),
            format!("only what {RULE} declares is an argument"),
            match nearest {
                Some(nearest) => format!("did you mean `{nearest}`?"),
                None => Code::ArgumentUnknown.help().to_owned(),
            },
        ),
        ArgumentProblem::Invalid {
            pointer,
            span,
            message,
            rule,
        } => (
            Code::ArgumentInvalid,
            pointer.clone(),
            *span,
            "not what the schema says",
            format!("`{name}{pointer}` {message}"),
            format!("{RULE}#{rule}"),
            format!("the input schema says so at `{rule}`"),
        ),
    };
    Said {
        code: Code::MovaValidationFailed,
        reason: Some(reason),
        pointer,
        span,
        label,
        message,
        rule,
        help,
    }
}

fn flow(reason: &FlowMismatch<'_>, at: &str) -> Said {
    const RULE: &str = "the output schema of the one step, and the input schemas of the other";
    let said = |reason, pointer: &str, span, label, message, help: &str| Said {
        code: Code::MovaValidationFailed,
        reason,
        pointer: format!("{at}/input_from{pointer}"),
        span,
        label,
        message,
        rule: RULE.to_owned(),
        help: help.to_owned(),
    };
    match reason {
        FlowMismatch::NoSuchPart {
            step,
            pointer,
            span,
        } => said(
            None,
            "/pointer",
            *span,
            "no such part",
            format!("the step `{step}` gives nothing that has a part `{pointer}`"),
            "name a part that its output schema declares",
        ),
        FlowMismatch::Type {
            step,
            is,
            wanted,
            span,
        } => said(
            Some(Code::ArgumentInvalid),
            "",
            *span,
            "another type",
            format!(
                "the step `{step}` gives {} there, and {} is needed",
                quoted(is.names()),
                quoted(wanted.names())
            ),
            "take another part, or another step",
        ),
        FlowMismatch::NoProperty { step, name, span } => said(
            Some(Code::ArgumentInvalid),
            "",
            *span,
            "something is missing",
            format!("what the step `{step}` gives there has no `{name}`, which is required"),
            "take another part, or another step",
        ),
        FlowMismatch::Input { step, denial, span } => {
            let inner = input(denial, "input");
            Said {
                code: inner.code,
                reason: inner.reason,
                pointer: format!("{at}/input_from"),
                span: *span,
                label: "not what is taken",
                message: format!(
                    "what the step `{step}` gives there is known: {}",
                    inner.message
                ),
                rule: inner.rule,
                help: "take another part, or another step".to_owned(),
            }
        }
        FlowMismatch::OverBudget { over, span } => said(
            Some(Code::SchemaBudget),
            "",
            *span,
            "not decided",
            format!("the schemas can't be compared: {}", over.reason()),
            Code::SchemaBudget.help(),
        ),
    }
}
