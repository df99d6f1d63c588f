//! Messages about the reasons against a plan, with the places that a report names \[3\].

use super::call::call_denial;
use super::input::{flow, input, listed};
use super::message::{Message, slip_of};
use super::wording::did_you_mean;
use agent_decide::{
    Between, CallDenial, InputDenial, PlanDenial, PlanPolicy, PlanReason, ReferenceMismatch,
    Referred, StepCheck,
};
use agent_diagnostic::{Code, Diagnostic, Label};
use agent_json_schema::ArgumentProblem;
use agent_model::{Binding, Cap, Driver, Effect, Index, Plan, PlanStep, Rule, Selector};
use agent_text::{Likeness, Span, Text, hidden_difference, visible};
use std::cell::RefCell;

/// The documents that reasons are about.
pub(super) struct Reasons<'a> {
    pub(super) text: &'a Text,
    pub(super) request: Option<&'a Text>,
    pub(super) plan: &'a Plan,
    pub(super) rules: &'a PlanPolicy,
    pub(super) index: Option<&'a Index>,
    /// One search for all reasons, with its budget.
    pub(super) likeness: RefCell<Likeness>,
}

impl Reasons<'_> {
    /// Returns the diagnostic of a reason.
    pub(super) fn diagnostic(&self, denial: &PlanDenial<'_>) -> Option<Diagnostic> {
        let (text, message) = match denial.step {
            None => self.whole(&denial.reason)?,
            Some(number) => self.of_step(number, self.plan.steps.get(number)?, &denial.reason)?,
        };
        let mut diagnostic = message.diagnostic(text, denial.step);
        diagnostic.labels.extend(self.in_profile(&denial.reason));
        if let (PlanReason::NoRule, Some(number)) = (&denial.reason, denial.step) {
            let step = self.plan.steps.get(number)?;
            self.near_rule(step, &mut diagnostic);
        }
        Some(diagnostic)
    }

    /// Returns the place in the profile that a reason conflicts with.
    fn in_profile(&self, reason: &PlanReason<'_>) -> Option<Label> {
        let profile = self.rules.profile.value.as_ref()?;
        let (span, text) = match reason {
            PlanReason::RuleDenies(rule) => (profile.rules.get(*rule)?.span, "by this rule"),
            PlanReason::AboveCap { cap, .. } => (profile.cap(*cap)?.span, "the cap"),
            PlanReason::TooManySteps { .. } => (profile.cap(Cap::Steps)?.span, "the cap"),
            _ => return None,
        };
        Some(Label::new(self.rules.profile.text.place(span), text))
    }

    /// Adds the rule whose selector is almost the tool of a step. What a rule allows is changed only by the
    /// author of the profile.
    fn near_rule(&self, step: &PlanStep, diagnostic: &mut Diagnostic) {
        let Some(profile) = &self.rules.profile.value else {
            return;
        };
        let id = format!("{}/{}", step.connector.value, step.tool.value);
        let selectors = profile
            .rules
            .iter()
            .filter_map(|rule| match &rule.selector {
                Selector::One(selector) if rule.effect == Effect::Allow => Some(&**selector),
                _ => None,
            });
        let near = self.likeness.borrow_mut().slips(&id, selectors, 1);
        let Some(near) = near.first() else {
            return;
        };
        let is_near = |rule: &&Rule| matches!(&rule.selector, Selector::One(it) if it == near);
        let rule = profile.rules.iter().find(is_near);
        let place = rule.map(|rule| self.rules.profile.text.place(rule.span));
        diagnostic.labels.extend(place.map(|place| {
            Label::new(
                place,
                format!("allows `{}`: is `{id}` meant?", visible(near)),
            )
        }));
        diagnostic.notes.extend(hidden_difference(near, &id));
    }

    /// Returns the message about a plan as a whole, and the text that it has a place in.
    fn whole(&self, reason: &PlanReason<'_>) -> Option<(&Text, Message)> {
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
                let count = self.plan.steps.len();
                let span = self.plan.steps.get(first)?.span;
                let text = format!("the plan has {count} steps, and the profile allows {cap}");
                let label = "the first step too many";
                let message = Message::new(Code::MovaLimitExceeded, span, label, text)
                    .at(format!("/plan/steps/{first}"))
                    .rule("`caps.max_steps` of the profile")
                    .help("make a plan of fewer steps");
                Some((self.text, message))
            }
            _ => Some((&self.rules.profile.text, self.of_profile(reason)?)),
        }
    }

    fn of_profile(&self, reason: &PlanReason<'_>) -> Option<Message> {
        let text = self.rules.profile.text.as_str();
        let profile = self.rules.profile.value.as_ref()?;
        let id = &profile.id;
        let denied = |span, label, text| Message::new(Code::MovaPolicyDenied, span, label, text);
        Some(match reason {
            PlanReason::Inactive(status) => {
                let text = format!("the profile `{id}` is `{status}`, and not `active`");
                denied(profile.status.span, "not in force", text)
                    .at("/status")
                    .rule("only a profile whose status is `active` counts")
                    .help("decide by a profile that is in force")
            }
            PlanReason::OtherEnvelopes => {
                let rule =
                    "`applies_to.envelope_ids` names `env.mova_agent_plan_v1` if it is present";
                let text = format!("the profile `{id}` is for other envelopes than plans");
                denied(profile.envelopes.as_ref()?.span, "not for plans", text)
                    .at("/applies_to/envelope_ids")
                    .rule(rule)
                    .help("decide by a profile that is for plans")
            }
            PlanReason::CapMissing(cap) => {
                let cap = cap.name();
                let (pointer, span) = match profile.caps_span {
                    Some(span) => ("/caps", span),
                    None => ("", Span::new(0, usize::from(!text.is_empty()))),
                };
                let (text, help) = match profile.caps_span {
                    Some(_) => (
                        format!("the profile `{id}` has no cap `{cap}`"),
                        format!("add `{cap}` to `caps`"),
                    ),
                    None => (
                        format!("the profile `{id}` has no `caps`"),
                        format!("add `caps` with {}", listed(&Cap::ALL.map(Cap::name))),
                    ),
                };
                denied(span, "a cap is missing", text)
                    .at(pointer)
                    .rule("a cap that is missing denies")
                    .help(help)
            }
            _ => return None,
        })
    }

    /// Returns the message about a step, and the text that it has a place in.
    fn of_step(
        &self,
        number: usize,
        step: &PlanStep,
        reason: &PlanReason<'_>,
    ) -> Option<(&Text, Message)> {
        const IN_POOL: &str = "a step names a tool that the tool pool binds";
        let at = format!("/plan/steps/{number}");
        let on_tool = |label, text| {
            Message::new(Code::MovaPolicyDenied, step.tool.span, label, text)
                .at(format!("{at}/tool_id"))
        };
        let (connector, tool) = (&step.connector.value, &step.tool.value);
        let id = format!("{connector}/{tool}");
        let message = match reason {
            PlanReason::NoConnector { nearest } => {
                let text = format!("the pool has no connector `{connector}`");
                let span = step.connector.span;
                Message::new(Code::MovaPolicyDenied, span, "no such connector", text)
                    .reason(Code::ToolUnknown)
                    .at(format!("{at}/connector_id"))
                    .rule(IN_POOL)
                    .differing(connector, nearest)
                    .help(match (&nearest[..], self.rules.pool.value.as_ref()) {
                        ([], Some(pool)) => {
                            format!("name a connector of the pool: {}", listed(&pool.connectors))
                        }
                        _ => did_you_mean(nearest, "name a connector of the pool"),
                    })
            }
            PlanReason::NoTool { nearest } => {
                let text =
                    format!("the pool binds no tool `{tool}` of the connector `{connector}`");
                on_tool("no such tool", text)
                    .reason(Code::ToolUnknown)
                    .rule(IN_POOL)
                    .differing(tool, nearest)
                    .help(match (&nearest[..], self.rules.pool.value.as_ref()) {
                        ([], Some(pool)) => {
                            let tools = pool.of_connector(connector).iter();
                            let tools: Vec<_> = tools.map(|it| &it.tool).collect();
                            format!("name a tool of the connector: {}", listed(&tools))
                        }
                        _ => did_you_mean(nearest, "name a tool of the pool"),
                    })
            }
            PlanReason::NoRule => {
                let text = format!("no rule of the profile allows `{id}`");
                let rule = "a tool is allowed by a rule with the effect `allow` whose selector is it, \
                            or `*`";
                on_tool("allowed by no rule", text)
                    .rule(rule)
                    .help("use a tool that is allowed, or have it allowed by a rule")
            }
            PlanReason::RuleDenies(rule) => {
                let profile = self.rules.profile.value.as_ref()?;
                let rule = profile.rules.get(*rule)?;
                let name = format!("the rule `{}` of the profile", rule.id);
                on_tool("denied by a rule", format!("`{id}` is denied by {name}"))
                    .reason(Code::ForbiddenAction)
                    .rule(format!("{name}, at `/rules/{}`", rule.number))
                    .help("use another tool: no rule allows what another one denies")
            }
            PlanReason::NoIndex => {
                let text = format!("the server of `{id}` can't be checked without an index");
                on_tool("the index is missing", text)
                    .reason(Code::IntegrityChanged)
                    .rule("the index has the MCP server as it was locked")
                    .help("give the index that the lock was made from")
            }
            PlanReason::Server(denial) => {
                let message = self.server(step, denial)?;
                if let Some(member) = self.unknown(step, denial) {
                    let number = self.binding(step)?.number;
                    let message = message.at(format!("/bindings/{number}/{member}"));
                    return Some((&self.rules.pool.text, message));
                }
                message.at(format!("{at}/tool_id"))
            }
            PlanReason::SeveralVersions { versions, .. } => {
                let versions = listed(versions);
                let text = format!(
                    "the lock has the server of `{id}` in the versions {versions}, and the binding \
                     names none"
                );
                on_tool("ambiguous version", text)
                    .reason(Code::ToolNotLocked)
                    .rule("a binding names a `server_version` unless the lock has only one")
                    .help("add `server_version` to the binding")
            }
            PlanReason::ServerElsewhere { endpoint } => {
                let allowed = listed(&self.binding(step)?.destinations);
                let text = format!(
                    "the server of `{id}` is at `{endpoint}`, and only {allowed} may be reached"
                );
                let message = on_tool("not at a destination", text)
                    .rule("`destinations` of the binding")
                    .help("use a tool whose server is at a destination of its binding");
                Message {
                    code: Code::MovaDestinationDenied,
                    ..message
                }
            }
            PlanReason::NoSchema { member, name, span } => {
                let pool = self.rules.pool.value.as_ref()?;
                let names = pool.named.iter().map(|(name, _)| &**name);
                let meant = self.likeness.borrow_mut().slips(name, names, 2);
                let text = format!(
                    "neither the pool nor the project has a schema `{}`",
                    visible(name)
                );
                Message::new(Code::MovaValidationFailed, *span, "no such schema", text)
                    .reason(Code::SchemaInvalid)
                    .at(format!("{at}/{member}"))
                    .rule("a schema is named by its `$id`")
                    .help("name one of `schemas` of the pool, or leave it out")
                    .named(slip_of(name, &meant))
            }
            PlanReason::Input(denial) => {
                let message = input(denial);
                match denial {
                    // A problem of the tool has its place where the tool is named.
                    InputDenial::Argument(ArgumentProblem::Unusable(_)) => Message {
                        span: step.tool.span,
                        ..message.at(format!("{at}/tool_id"))
                    },
                    _ => Message {
                        pointer: format!("{at}/input{}", message.pointer),
                        ..message
                    },
                }
            }
            PlanReason::Flow(mismatch) => {
                let message = flow(mismatch);
                Message {
                    pointer: format!("{at}/input_from{}", message.pointer),
                    ..message
                }
            }
            PlanReason::AboveCap {
                binding,
                limit,
                value,
                span,
                cap,
                most,
            } => {
                let text = format!("`{limit}` of `{id}` is {value}, and the profile allows {most}");
                let message = Message::new(Code::MovaLimitExceeded, *span, "above the cap", text)
                    .at(format!("/bindings/{binding}/limits/{limit}"))
                    .rule(format!("`caps.{}` of the profile", cap.name()))
                    .help(match of_seconds(limit, *value, *most) {
                        Some(question) => question,
                        None => format!("set it to {most} or less"),
                    });
                return Some((&self.rules.pool.text, message));
            }
            _ => return None,
        };
        Some((self.text, message))
    }

    /// Returns the binding that the checks of a step were made of.
    fn binding(&self, step: &PlanStep) -> Option<&Binding> {
        let pool = self.rules.pool.value.as_ref()?;
        let likeness = &mut self.likeness.borrow_mut();
        pool.meant(&step.connector.value, &step.tool.value, likeness)
    }

    /// Returns the member of a binding that names what the index does not know, but almost, so that the
    /// binding is to be corrected, and not the plan.
    fn unknown(&self, step: &PlanStep, denial: &CallDenial<'_>) -> Option<&'static str> {
        let Driver::McpProxy { server, tool, .. } = &self.binding(step)?.driver else {
            return None;
        };
        let mut entries = self
            .index
            .into_iter()
            .flat_map(|it| it.versions(&server.value));
        match denial {
            CallDenial::UnknownServer { nearest } if !nearest.is_empty() => {
                entries.next().is_none().then_some("server")
            }
            CallDenial::UnknownTool { nearest } if !nearest.is_empty() => {
                let is_known = entries.any(|entry| entry.tool(&tool.value).is_some());
                (!is_known).then_some("tool")
            }
            _ => None,
        }
    }

    /// Returns the message about an MCP server, as of a one-call plan.
    fn server(&self, step: &PlanStep, denial: &CallDenial<'_>) -> Option<Message> {
        let Driver::McpProxy { server, tool, .. } = &self.binding(step)?.driver else {
            return None;
        };
        let (server_name, tool_name) = ((&*server.value, server.span), (&*tool.value, tool.span));
        let message = call_denial(denial, server_name, tool_name, "input");
        let reason = message.code;
        let is_unknown = self.unknown(step, denial).is_some();
        let message = Message {
            code: Code::MovaPolicyDenied,
            span: if is_unknown {
                message.span
            } else {
                step.tool.span
            },
            ..message
        };
        if is_unknown {
            let rule = "a binding names a tool that its server lists";
            return Some(message.reason(reason).rule(rule));
        }
        let message = message.reason(reason);
        if PlanReason::Server(denial.clone()).check() == Some(StepCheck::Policy) {
            return Some(message);
        }
        let rule = "a tool of an MCP server is as it was locked";
        Some(Message {
            label: "denied by the lock",
            ..message.rule(rule)
        })
    }
}

/// Returns the question whether seconds and milliseconds were mixed up, if a limit of time is off by 1,000.
fn of_seconds(limit: &str, value: u64, most: u64) -> Option<String> {
    if limit != "timeout_ms" {
        return None;
    }
    let counts =
        |what: &str, meant: u64| Some(format!("{what} counts milliseconds: is {meant} meant?"));
    if value.is_multiple_of(1_000) && value / 1_000 <= most && value >= 1_000_000 {
        return counts("`timeout_ms`", value / 1_000);
    }
    let scaled = most.checked_mul(1_000)?;
    (most <= 600 && value <= scaled)
        .then(|| counts("`caps.max_timeout_ms` of the profile", scaled))?
}

fn other_document(stated: &ReferenceMismatch<'_>) -> Message {
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
    // A fix of the plan is verified by deciding again; a request is decided against the same documents.
    let meant = match between {
        Between::RequestAndDocument => is.and_then(|is| slip_of(said, &[is])),
        _ => None,
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
    Message::new(
        Code::MovaValidationFailed,
        *span,
        "another one",
        format!("the {what} was made for the `{member}` `{said}`, and {is}"),
    )
    .at(pointer)
    .rule("a plan is decided by the documents that it was made for")
    .help(format!(
        "make a new {what}, or give the documents that it was made for"
    ))
    .named(meant)
}
