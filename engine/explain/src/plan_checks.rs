//! The checks that the steps of a plan were put to \[3\].

use super::checks::{CheckFact, CheckOutcome, Checked, NOT_MADE};
use super::plan::deferred;
use super::wording::quoted;
use agent_decide::{InputDenial, PlanAnswer, PlanContext, PlanReason, PlanRules, RunCheck};
use agent_diagnostic::{Finding, Problems};
use agent_json_schema::at_pointer;
use agent_lower::Examined;
use agent_model::{Binding, Driver, Input, Plan, PlanStep, Profile, ServerView};
use agent_syntax::json::{Reader, parse_value};
use agent_syntax::{Node, canonical};
use agent_text::Place;

/// So many of the rules that allow a tool are told: each of them does by itself.
const RULES_TOLD: usize = 10;

/// A check of a step, in the order in which they are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepCheck {
    /// The pool binds its tool.
    Pool,
    /// Rules allow it.
    Rules,
    /// The tool of an MCP server is as it was locked.
    Lock,
    /// It connects to where it may.
    Destination,
    /// No limit is above its cap.
    Limits,
    /// Its input is what is needed.
    Input,
    /// Its output is what was promised.
    Output,
}

impl StepCheck {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Pool,
        Self::Rules,
        Self::Lock,
        Self::Destination,
        Self::Limits,
        Self::Input,
        Self::Output,
    ];

    /// What it is about, in a word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pool => "pool",
            Self::Rules => "rules",
            Self::Lock => "lock",
            Self::Destination => "destination",
            Self::Limits => "limits",
            Self::Input => "input",
            Self::Output => "output",
        }
    }

    /// The one that is failed by a finding about a step. None: the finding is about something else
    /// of the step.
    pub fn of(answer: &PlanAnswer<'_>, finding: &Finding) -> Option<Self> {
        match finding.denial {
            Some(number) => Self::of_reason(&answer.denials.get(number)?.reason),
            None => {
                let rest = finding.pointer.strip_prefix("/plan/steps/")?;
                let (_, member) = rest.split_once('/')?;
                member.starts_with("input").then_some(Self::Input)
            }
        }
    }

    fn of_reason(reason: &PlanReason<'_>) -> Option<Self> {
        Some(match reason {
            PlanReason::NoConnector { .. } | PlanReason::NoTool { .. } => Self::Pool,
            PlanReason::NoRule | PlanReason::RuleDenies(_) => Self::Rules,
            PlanReason::NoIndex | PlanReason::Server(_) | PlanReason::SeveralVersions { .. } => {
                Self::Lock
            }
            PlanReason::ServerElsewhere { .. }
            | PlanReason::Input(InputDenial::Destination { .. }) => Self::Destination,
            PlanReason::AboveCap { .. } => Self::Limits,
            PlanReason::Input(_) | PlanReason::Flow(_) | PlanReason::NoSchema { .. } => Self::Input,
            PlanReason::OtherDocument(_)
            | PlanReason::Inactive(_)
            | PlanReason::OtherEnvelopes
            | PlanReason::CapMissing(_)
            | PlanReason::TooManySteps { .. } => return None,
        })
    }
}

/// The checks of each step, those that there are for a tool of its kind. What of a plan can't be read
/// has no steps.
pub fn plan_checks(
    examined: &Examined<Plan>,
    rules: &PlanRules,
    context: PlanContext<'_>,
    answer: &PlanAnswer<'_>,
    findings: &[Finding],
) -> Vec<Vec<(StepCheck, Checked)>> {
    let Some(plan) = &examined.value else {
        return Vec::new();
    };
    let pool = rules.pool.text.as_str();
    let checking = Checking {
        examined,
        rules,
        context,
        answer,
        findings,
        pool: parse_value(&mut Reader::new(pool)).ok(),
    };
    let steps = plan.steps.iter().enumerate();
    steps
        .map(|(number, step)| checking.step(number, step))
        .collect()
}

struct Checking<'a> {
    examined: &'a Examined<Plan>,
    rules: &'a PlanRules,
    context: PlanContext<'a>,
    answer: &'a PlanAnswer<'a>,
    findings: &'a [Finding],
    /// The pool's text, if it can be read.
    pool: Option<Node<'a>>,
}

/// A step with what is known of it.
#[derive(Clone, Copy)]
struct OfStep<'a> {
    number: usize,
    step: &'a PlanStep,
    binding: Option<&'a Binding>,
    profile: Option<&'a Profile>,
}

impl<'a> Checking<'a> {
    fn step(&self, number: usize, step: &'a PlanStep) -> Vec<(StepCheck, Checked)> {
        let pool = self.rules.pool.value.as_ref();
        let of = OfStep {
            number,
            step,
            binding: pool.and_then(|it| it.binding(&step.connector.value, &step.tool.value)),
            profile: self.rules.profile.value.as_ref(),
        };
        let checks = StepCheck::ALL.into_iter();
        let checks = checks.filter(|check| self.applies(*check, of));
        checks.map(|check| (check, self.check(check, of))).collect()
    }

    /// Whether there is anything of the kind.
    fn applies(&self, check: StepCheck, of: OfStep<'_>) -> bool {
        let driver = of.binding.map(|binding| &binding.driver);
        match check {
            StepCheck::Lock => matches!(driver, Some(Driver::McpProxy { .. })),
            StepCheck::Destination => {
                matches!(driver, Some(Driver::McpProxy { .. } | Driver::Http { .. }))
            }
            StepCheck::Pool
            | StepCheck::Rules
            | StepCheck::Limits
            | StepCheck::Input
            | StepCheck::Output => true,
        }
    }

    fn waits(&self, step: usize, check: RunCheck) -> bool {
        let mut deferred = self.answer.deferred.iter();
        deferred.any(|it| it.step == step && it.check == check)
    }

    fn failed(&self, step: usize, check: StepCheck) -> bool {
        let mut findings = self.findings.iter();
        findings.any(|it| it.step == Some(step) && StepCheck::of(self.answer, it) == Some(check))
    }

    fn check(&self, check: StepCheck, of: OfStep<'_>) -> Checked {
        let waiting = self.waiting(check, of.number);
        let (outcome, facts) = if self.failed(of.number, check) {
            (CheckOutcome::Failed, self.compared(check, of))
        } else if !self.possible(check, of) {
            (CheckOutcome::NotMade, vec![CheckFact::said(NOT_MADE)])
        } else if !waiting.is_empty() {
            (CheckOutcome::AtRunTime, waiting)
        } else {
            (CheckOutcome::Passed, self.shown(check, of))
        };
        Checked {
            name: check.name(),
            outcome,
            facts,
        }
    }

    /// Whether there was enough to look at.
    fn possible(&self, check: StepCheck, of: OfStep<'_>) -> bool {
        // Of so many reasons not all are told.
        let all_told = self.answer.denials.len() < Problems::LIMIT;
        all_told
            && match check {
                StepCheck::Pool => self.rules.pool.value.is_some(),
                StepCheck::Rules => of.profile.is_some(),
                StepCheck::Limits => of.profile.is_some() && of.binding.is_some(),
                StepCheck::Destination => {
                    let driver = of.binding.map(|binding| &binding.driver);
                    let of_server = matches!(driver, Some(Driver::McpProxy { .. }));
                    !of_server || !self.failed(of.number, StepCheck::Lock)
                }
                StepCheck::Lock | StepCheck::Input | StepCheck::Output => of.binding.is_some(),
            }
    }

    /// What a check waits for.
    fn waiting(&self, check: StepCheck, step: usize) -> Vec<CheckFact> {
        let waits: &[RunCheck] = match check {
            StepCheck::Input => &[RunCheck::InputFrom, RunCheck::Input],
            StepCheck::Destination if self.waits(step, RunCheck::Destination) => {
                &[RunCheck::Destination, RunCheck::Addresses]
            }
            StepCheck::Output => &[RunCheck::Output],
            _ => &[],
        };
        let waits = waits.iter().filter(|check| self.waits(step, **check));
        waits.map(|it| CheckFact::said(deferred(*it))).collect()
    }

    /// What a check that is passed was passed by.
    fn shown(&self, check: StepCheck, of: OfStep<'_>) -> Vec<CheckFact> {
        let compared = self.compared(check, of);
        match compared.is_empty() {
            true => vec![CheckFact::said("Nothing speaks against it.")],
            false => compared,
        }
    }

    /// What a check compares, and where that stands.
    fn compared(&self, check: StepCheck, of: OfStep<'_>) -> Vec<CheckFact> {
        match check {
            StepCheck::Pool => self.bound(of).into_iter().collect(),
            StepCheck::Rules => self.allowing(of),
            StepCheck::Lock => self.locked(of),
            StepCheck::Destination => self.reachable(of),
            StepCheck::Limits => self.limits(of),
            StepCheck::Input => self.input(of).into_iter().collect(),
            StepCheck::Output => Vec::new(),
        }
    }

    /// A part of the pool.
    fn in_pool(&self, pointer: &str) -> Option<Place> {
        let node = at_pointer(self.pool.as_ref()?, pointer)?;
        Some(self.rules.pool.text.place(node.span))
    }

    fn bound(&self, of: OfStep<'_>) -> Option<CheckFact> {
        let binding = of.binding?;
        let kind = binding.driver.kind();
        let to = match &binding.driver {
            Driver::Noop => "what gives back its input".to_owned(),
            Driver::Http { methods, .. } => {
                format!("requests by {}", quoted(methods.iter().map(|it| &**it)))
            }
            Driver::McpProxy {
                server,
                version: Some(version),
                tool,
                ..
            } => format!("the tool `{tool}` of the server `{server} {version}`"),
            Driver::McpProxy { server, tool, .. } => {
                format!("the tool `{tool}` of the server `{server}`")
            }
            Driver::RestrictedShell { programs } => {
                let paths = programs.iter().map(|program| &*program.path);
                format!("the programs {}", quoted(paths))
            }
        };
        Some(CheckFact {
            text: format!("it is bound to {to}: `{kind}`"),
            place: self.in_pool(&format!("/bindings/{}", binding.number)),
        })
    }

    fn allowing(&self, of: OfStep<'_>) -> Vec<CheckFact> {
        let (connector, tool) = (&of.step.connector.value, &of.step.tool.value);
        let allowing = self.rules.allowing(connector, tool, RULES_TOLD).into_iter();
        let text = &self.rules.profile.text;
        allowing
            .map(|rule| {
                let said = format!("the rule `{}` allows it", rule.id);
                CheckFact::at(said, text.place(rule.span))
            })
            .collect()
    }

    /// The entry of the server in the index, as it was locked.
    fn entry(&self, of: OfStep<'_>) -> Option<ServerView<'a>> {
        let authorized = self.answer.authorized.as_ref()?;
        let server = authorized.steps().get(of.number)?.server()?;
        let mut versions = self.context.index?.versions(&server.id);
        versions.find(|it| it.version() == server.version)
    }

    fn locked(&self, of: OfStep<'_>) -> Vec<CheckFact> {
        let authorized = self.answer.authorized.as_ref();
        let step = authorized.and_then(|plan| plan.steps().get(of.number));
        let Some(server) = step.and_then(|step| step.server()) else {
            return Vec::new();
        };
        let entry = format!(
            "the entry of `{} {}` is as it was locked: {}",
            server.id, server.version, server.integrity
        );
        let tool = format!(
            "`{}` is defined as it was locked: {}",
            server.tool, server.definition
        );
        let entry_place = self.entry(of).map(|entry| entry.place());
        let tool_place = self.entry(of).and_then(|entry| entry.tool(&server.tool));
        vec![
            CheckFact {
                text: entry,
                place: entry_place,
            },
            CheckFact {
                text: tool,
                place: tool_place.map(|tool| tool.place()),
            },
        ]
    }

    fn reachable(&self, of: OfStep<'_>) -> Vec<CheckFact> {
        let Some(binding) = of.binding else {
            return Vec::new();
        };
        let mut facts: Vec<_> = self
            .entry(of)
            .map(|entry| {
                let said = format!("the server is at `{}`", entry.endpoint());
                CheckFact::at(said, entry.place())
            })
            .into_iter()
            .collect();
        let destinations = binding.destinations.iter();
        let destinations: Vec<_> = destinations.map(|it| format!("`{it}`")).collect();
        let said = match destinations.is_empty() {
            true => "nothing may be reached".to_owned(),
            false => format!("{} may be reached", destinations.join(", ")),
        };
        facts.push(CheckFact {
            text: said,
            place: self.in_pool(&format!("/bindings/{}/destinations", binding.number)),
        });
        if self.waits(of.number, RunCheck::Addresses) {
            facts.push(CheckFact::said(deferred(RunCheck::Addresses)));
        }
        facts
    }

    fn limits(&self, of: OfStep<'_>) -> Vec<CheckFact> {
        let (Some(binding), Some(profile)) = (of.binding, of.profile) else {
            return Vec::new();
        };
        let limits = binding.limits.each().into_iter();
        limits
            .filter_map(|(name, value, cap)| {
                let most = profile.cap(cap)?.value;
                let said = format!("`{name}` is {}, of at most {most}", value.value);
                Some(CheckFact::at(said, self.rules.pool.text.place(value.span)))
            })
            .collect()
    }

    fn input(&self, of: OfStep<'_>) -> Option<CheckFact> {
        let Input::Literal(span) = &of.step.input else {
            return None;
        };
        let most = of.binding?.limits.max_input_bytes.value;
        let bytes = canonical(span.of(self.examined.text.as_str()))?.len();
        Some(CheckFact::at(
            format!(
                "it has {bytes} bytes, of at most {most}, and is checked by every schema of its tool"
            ),
            self.examined.text.place(*span),
        ))
    }
}
