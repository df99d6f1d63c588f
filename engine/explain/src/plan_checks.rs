//! The checks of the steps of a plan in words \[3\].

use super::checks::{CheckFact, CheckRecord, skipped};
use super::plan_documents::PlanDocuments;
use super::run::deferred;
use super::wording::quoted;
use agent_decide::{
    CheckOutcome, Compared, PlanAnswer, PlanPolicy, RunCheck, ServerUse, StepCheck, StepRecord,
};
use agent_json_schema::at_pointer;
use agent_lower::Validated;
use agent_model::{Binding, Driver, Plan, ServerView};
use agent_syntax::Node;
use agent_text::{DocumentKind, Place};

/// Returns the checks of each step in words. A plan that can't be read has no steps.
pub fn plan_checks(
    documents: &PlanDocuments<'_>,
    answer: &PlanAnswer<'_>,
) -> Vec<Vec<(StepCheck, CheckRecord)>> {
    let checks = Checks {
        plan: documents.plan,
        rules: documents.rules,
        pool: documents.root(DocumentKind::ToolPool),
    };
    let steps = answer.steps.iter();
    steps
        .map(|records| {
            let records = records.iter();
            records.map(|it| (it.check, checks.record(it))).collect()
        })
        .collect()
}

struct Checks<'a> {
    plan: &'a Validated<Plan>,
    rules: &'a PlanPolicy,
    /// The pool's tree, if its text can be read.
    pool: Option<&'a Node<'a>>,
}

impl Checks<'_> {
    fn record(&self, record: &StepRecord<'_>) -> CheckRecord {
        let deferred = |check: RunCheck| CheckFact::new(deferred(check), None);
        let compared = || {
            let facts = record.compared.iter().flat_map(|it| self.facts(it));
            let addresses = record.deferred.contains(&RunCheck::Addresses);
            let later = addresses.then(|| deferred(RunCheck::Addresses));
            facts.chain(later).collect::<Vec<_>>()
        };
        let facts = match record.outcome {
            CheckOutcome::Failed => compared(),
            CheckOutcome::Skipped(cause) => vec![skipped(cause, StepCheck::name)],
            CheckOutcome::Deferred => record.deferred.iter().copied().map(deferred).collect(),
            CheckOutcome::Passed => match compared() {
                facts if facts.is_empty() => vec![CheckFact::new("no problem found", None)],
                facts => facts,
            },
        };
        CheckRecord::new(record.check.name(), record.outcome, facts)
    }

    fn facts(&self, compared: &Compared<'_>) -> Vec<CheckFact> {
        vec![match compared {
            Compared::Binding(binding) => self.binding(binding),
            Compared::Rule(rule) => {
                let place = self.rules.profile.text.place(rule.span);
                CheckFact::new(format!("the rule `{}` allows the tool", rule.id), place)
            }
            Compared::Locked(server, entry) => return locked(server, *entry),
            Compared::Endpoint(entry) => {
                let text = format!("the server is at `{}`", entry.endpoint());
                CheckFact::new(text, entry.place())
            }
            Compared::Destinations(binding) => {
                let text = match &binding.destinations[..] {
                    [] => "no destination is allowed".to_owned(),
                    allowed => format!("allowed destinations: {}", quoted(allowed)),
                };
                let pointer = format!("/bindings/{}/destinations", binding.number);
                CheckFact::new(text, self.in_pool(&pointer))
            }
            Compared::Limit { name, value, most } => {
                let text = format!("`{name}` is {}, of at most {most}", value.value);
                CheckFact::new(text, self.rules.pool.text.place(value.span))
            }
            Compared::InputSize { span, most } => {
                let text = format!(
                    "the input has {} bytes, of at most {most}",
                    span.end - span.start
                );
                CheckFact::new(text, self.plan.text.place(*span))
            }
        }]
    }

    fn in_pool(&self, pointer: &str) -> Option<Place> {
        let node = at_pointer(self.pool?, pointer)?;
        Some(self.rules.pool.text.place(node.span))
    }

    fn binding(&self, binding: &Binding) -> CheckFact {
        let kind = binding.driver.kind().name();
        let to = match &binding.driver {
            Driver::Noop => "a tool that returns its input".to_owned(),
            Driver::Http { methods, .. } => format!("requests by {}", quoted(methods)),
            Driver::McpProxy {
                server,
                version,
                tool,
                ..
            } => {
                let version = version.iter().map(|version| format!(" {version}"));
                let version: String = version.collect();
                let (tool, server) = (&tool.value, &server.value);
                format!("the tool `{tool}` of the server `{server}{version}`")
            }
            Driver::RestrictedShell { programs } => {
                let paths = programs.iter().map(|program| &program.path);
                format!("the programs {}", quoted(paths))
            }
        };
        let place = self.in_pool(&format!("/bindings/{}", binding.number));
        CheckFact::new(format!("the tool is bound to {to}: `{kind}`"), place)
    }
}

fn locked(server: &ServerUse, entry: Option<ServerView<'_>>) -> Vec<CheckFact> {
    let (id, version, tool) = (&server.id, &server.version, &server.tool);
    let (integrity, definition) = (&server.integrity, &server.definition);
    let of_entry = format!("the entry of `{id} {version}` is the locked one: {integrity}");
    let of_tool = format!("the definition of `{tool}` is the locked one: {definition}");
    let found = entry.and_then(|entry| entry.tool(tool));
    vec![
        CheckFact::new(of_entry, entry.map(|entry| entry.place())),
        CheckFact::new(of_tool, found.map(|tool| tool.place())),
    ]
}
