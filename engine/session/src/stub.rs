//! The operations of a stub that are answered without its server \[4, 6\].

use super::client::{Caller, Generation};
use super::decision::Decision;
use super::refusal::Refusal;
use agent_api::Refusal as ExpansionRefusal;
use agent_api::decide::{EvaluationContext, Expand, Expanded, Services, token_estimate};
use agent_api::diagnostic::{Code, Diagnostic};
use agent_api::explain::CallReason;
use agent_api::render::{expanded_json, services_json};
use agent_api::served::Definition;
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
    /// Maximum tokens, instead of those of the tenant.
    pub(crate) budget: Option<u64>,
}

impl Stub<'_> {
    /// Returns the tools behind the stub.
    pub(crate) fn services(&self) -> StubAnswer {
        let surface = self.decision.surface;
        let basis = surface.basis;
        let tools = surface.stub_tools(self.server).into_iter();
        let services = basis.entry(self.server).map(|server| Services {
            server,
            tools: tools.filter_map(|tool| self.shown(tool)).collect(),
        });
        // Every locked server has an entry in the index.
        let text = services.as_ref().map(services_json).unwrap_or_default();
        StubAnswer::Text(text, Vec::new())
    }

    /// Returns the definition of a tool with the name that clients call.
    fn shown(&self, tool: usize) -> Option<Definition<'_>> {
        let basis = self.decision.surface.basis;
        let own = &basis.tools[tool];
        Some(Definition {
            tool: basis.entry(own.server)?.tool(own.own_name())?,
            name: own.name().to_owned(),
            json: own.shown().to_owned(),
            tokens: token_estimate(own.shown()),
        })
    }

    /// Decides on the definitions of tools, and returns them.
    pub(crate) fn expand(&self, caller: &Caller<'_>, names: &[String]) -> StubAnswer {
        let surface = self.decision.surface;
        let basis = surface.basis;
        let numbers: Vec<_> = names.iter().filter_map(|name| self.number(name)).collect();
        let mut withheld: Vec<_> = names.iter().filter_map(|it| self.misnamed(it)).collect();
        withheld.extend(numbers.iter().flat_map(|tool| surface.withholding(*tool)));
        if !withheld.is_empty() {
            let instead = numbers.iter().flat_map(|tool| surface.instead_of(*tool));
            return StubAnswer::Refused(Refusal {
                instead: instead.collect(),
                ..Refusal::new(self.what("expand"), withheld)
            });
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
            Some(Ok(expanded)) => StubAnswer::Text(self.text_of(expanded), numbers),
            Some(Err(refused)) => self.refused("expand", &refused),
            None => {
                let reason = CallReason::new(Code::ToolNotLocked, "there is no lock");
                StubAnswer::Refused(Refusal::new(self.what("expand"), vec![reason]))
            }
        }
    }

    /// Returns the tool of the server that clients call by a name.
    fn number(&self, name: &str) -> Option<usize> {
        let basis = self.decision.surface.basis;
        let number = basis.tool_number(name)?;
        (basis.tools[number].server == self.server).then_some(number)
    }

    /// Returns the reason of a name that the server has for a tool, and clients do not call.
    fn misnamed(&self, name: &str) -> Option<CallReason> {
        let basis = self.decision.surface.basis;
        let mut sharing = basis.tools_named(name);
        let own = sharing.find(|tool| tool.server == self.server && tool.name() != name)?;
        if self.number(name).is_some() {
            return None;
        }
        let (name, served) = (visible(name), visible(own.name()));
        let text = format!("several locked tools have the name `{name}`");
        let help = format!("Name `{served}`.");
        Some(CallReason::new(Code::ExpansionDenied, text).help(help))
    }

    /// Returns the definitions with the names that clients call.
    fn text_of(&self, mut expanded: Expanded<'_>) -> String {
        let basis = self.decision.surface.basis;
        for definition in &mut expanded.tools {
            let mut own = basis.tools_of(self.server).map(|tool| &basis.tools[tool]);
            if let Some(own) = own.find(|tool| tool.own_name() == definition.name) {
                own.name().clone_into(&mut definition.name);
                own.shown().clone_into(&mut definition.json);
            }
        }
        expanded_json(&expanded)
    }

    /// Returns the names that the server has for tools. A name that it has no locked tool for stays.
    fn own_names(&self, names: &[String]) -> Vec<String> {
        let basis = self.decision.surface.basis;
        let own = |name: &String| match self.number(name) {
            Some(number) => basis.tools[number].own_name().to_owned(),
            None => name.clone(),
        };
        names.iter().map(own).collect()
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
        let mut lock = basis.lock.clone()?;
        lock.policy = None;
        let request = Expand {
            server: &self.named(),
            tools: &self.own_names(names),
            used: 0,
            budget: Some(u64::MAX),
        };
        let expanded = agent_api::expand_verified(&lock, &basis.index, &context, request);
        expanded.ok().map(|it| self.text_of(it))
    }

    fn expanded(
        &self,
        names: &[String],
        context: &EvaluationContext,
        used: u64,
        budget: Option<u64>,
    ) -> Option<Result<Expanded<'_>, ExpansionRefusal>> {
        let basis = self.decision.surface.basis;
        let lock = basis.lock.as_ref()?;
        let request = Expand {
            server: &self.named(),
            tools: &self.own_names(names),
            used,
            budget,
        };
        Some(agent_api::expand_verified(
            lock,
            &basis.index,
            context,
            request,
        ))
    }

    /// Returns the definition of a tool for a client that called it with invalid arguments, if the budget
    /// allows it.
    pub(crate) fn definition(&self, caller: &Caller<'_>, tool: usize) -> Option<String> {
        let surface = self.decision.surface;
        let own = &surface.basis.tools[tool];
        let tenant = surface.basis.evaluation_context.tenant.as_ref();
        let budget = self.budget.or(tenant.and_then(|it| it.token_budget))?;
        let used = surface.tokens(caller.session.as_ref());
        let needed = token_estimate(own.shown());
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
