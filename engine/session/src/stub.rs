//! The operations of a stub that are answered without its server \[4, 6\].

use super::client::{Caller, Generation};
use super::decision::Decision;
use super::refusal::Refusal;
use agent_api::Refusal as ExpansionRefusal;
use agent_api::decide::{EvaluationContext, Expand, Expanded, token_estimate};
use agent_api::diagnostic::{Code, Diagnostic};
use agent_api::explain::CallReason;
use agent_api::render::{expanded_json, services_json};
use agent_api::text::visible;
use std::sync::Arc;

/// The answer of a stub.
#[derive(Debug)]
pub(crate) enum StubAnswer {
    /// A text, and the numbers of the tools whose definitions it holds.
    Text(String, Vec<usize>),
    /// A refusal.
    Refused(Refusal),
}

/// A stub of a server that a client calls.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stub<'s> {
    pub(crate) decision: Decision<'s>,
    pub(crate) server: usize,
    /// Maximum tokens, in place of those of the tenant.
    pub(crate) budget: Option<u64>,
}

impl Stub<'_> {
    /// Returns the tools behind the stub.
    pub(crate) fn services(&self) -> StubAnswer {
        let surface = self.decision.surface;
        let basis = surface.basis;
        match agent_api::services_verified(&basis.lock, &basis.index, &self.named()) {
            Ok(mut services) => {
                services.tools.retain(|it| {
                    let number = basis.tool_number(it.tool.name());
                    number.is_some_and(|number| !surface.is_withheld(number))
                });
                StubAnswer::Text(services_json(&services), Vec::new())
            }
            Err(refused) => self.refused("list_services", &refused),
        }
    }

    /// Decides on the definitions of tools, and returns them.
    pub(crate) fn expand(&self, caller: &Caller<'_>, names: &[String]) -> StubAnswer {
        let surface = self.decision.surface;
        let basis = surface.basis;
        let numbers: Vec<_> = names
            .iter()
            .filter_map(|name| basis.tool_number(name))
            .filter(|tool| basis.tools[*tool].server == self.server)
            .collect();
        let withheld: Vec<_> = numbers
            .iter()
            .flat_map(|tool| surface.withholding(*tool))
            .collect();
        if !withheld.is_empty() {
            return StubAnswer::Refused(Refusal::new(self.what("expand"), withheld));
        }
        if let Some(session) = caller.session.as_ref()
            && !surface.expanded.has_room(session, &numbers)
        {
            let text = "the sessions of clients have expanded too many tools";
            let reasons = vec![CallReason::new(Code::SessionLimit, text)];
            return StubAnswer::Refused(Refusal::new(self.what("expand"), reasons));
        }
        let context = EvaluationContext {
            context: Some(Arc::new(self.decision.context())),
            subject: Some(Arc::new(caller.subject.clone())),
            ..basis.evaluation_context.clone()
        };
        let used = surface.tokens(caller.session.as_ref());
        match self.expanded(names, &context, used, self.budget) {
            Ok(expanded) => StubAnswer::Text(expanded_json(&expanded), numbers),
            Err(refused) => self.refused("expand", &refused),
        }
    }

    /// Returns the definitions of tools, whatever the policy and the budget are.
    pub(crate) fn expand_unrefused(&self, names: &[String]) -> Option<String> {
        let basis = self.decision.surface.basis;
        let context = EvaluationContext {
            policy: None,
            tenant: None,
            ..basis.evaluation_context.clone()
        };
        // The lock's policy is compared with the given one.
        let mut lock = basis.lock.clone();
        lock.policy = None;
        let request = Expand {
            server: &self.named(),
            tools: names,
            used: 0,
            budget: Some(u64::MAX),
        };
        let expanded = agent_api::expand_verified(&lock, &basis.index, &context, request);
        expanded.ok().map(|it| expanded_json(&it))
    }

    fn expanded(
        &self,
        names: &[String],
        context: &EvaluationContext,
        used: u64,
        budget: Option<u64>,
    ) -> Result<Expanded<'_>, ExpansionRefusal> {
        let basis = self.decision.surface.basis;
        let request = Expand {
            server: &self.named(),
            tools: names,
            used,
            budget,
        };
        agent_api::expand_verified(&basis.lock, &basis.index, context, request)
    }

    /// Returns the definition of a tool for a client that called it with invalid arguments, if the budget
    /// allows it.
    pub(crate) fn definition(&self, caller: &Caller<'_>, tool: usize) -> Option<String> {
        let surface = self.decision.surface;
        let own = &surface.basis.tools[tool];
        let tenant = surface.basis.evaluation_context.tenant.as_ref();
        let budget = self.budget.or(tenant.and_then(|it| it.token_budget))?;
        let used = surface.tokens(caller.session.as_ref());
        let needed = token_estimate(&own.definition);
        (used.checked_add(needed)? <= budget).then(|| own.entry(Generation::Stateless).to_owned())
    }

    /// `id@version`
    fn named(&self) -> String {
        let server = &self.decision.surface.basis.servers[self.server];
        format!("{}@{}", server.id, server.version)
    }

    fn what(&self, operation: &str) -> String {
        let stub = &self.decision.surface.basis.servers[self.server].stub;
        format!("The operation `{operation}` of `{}`", visible(stub))
    }

    fn refused(&self, operation: &str, refused: &ExpansionRefusal) -> StubAnswer {
        let reason = |it: &Diagnostic| {
            let help = it.fixes.first();
            let reason = CallReason::new(it.code, it.message.as_str());
            match help {
                Some(fix) => reason.help(fix.title.as_str()),
                None => reason,
            }
        };
        let reasons = refused.diagnostics.iter().map(reason).collect();
        StubAnswer::Refused(Refusal::new(self.what(operation), reasons))
    }
}
