//! What a session needs to know to keep a history and to ask about it.

use super::past::{Given, PastCall, Scope};
use super::sorted::Sorted;
use super::traits::{Traits, UNKNOWN, labels_of};
use crate::basis::{Server, Tool};
use crate::method::Method;
use agent_api::decide::{EvaluationContext, HistoryUse};
use agent_api::diagnostic::Diagnostic;
use agent_api::lower::digest;
use agent_api::model::{HistoryRule, HistoryRuleTerms, HistoryTerms, Index};
use agent_api::policy::HistoryRules;
use agent_api::text::sort::set_of;
use agent_syntax::members::{member, string};
use agent_syntax::{Node, Value, canonical_node};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What the tenant and the policy say about histories, and what the tools of the lock are.
#[derive(Debug)]
pub(crate) struct Remembered {
    pub(crate) terms: HistoryTerms,
    /// What the policy reads.
    pub(crate) policy: HistoryUse,
    /// The built-in rules in force.
    pub(crate) rules: Option<HistoryRules>,
    /// The labels of what a server has, by its id and version.
    servers: Sorted<(String, String), BTreeSet<String>>,
    /// By the id and the version of the server, and the name that it has for the tool.
    tools: Sorted<(String, String, String), Arc<Traits>>,
}

impl Remembered {
    /// Returns what a session needs to know, or `None` if neither the tenant nor the policy asks for a history.
    ///
    /// # Errors
    /// The built-in rules can't be compiled.
    pub(crate) fn of(
        evaluation_context: &EvaluationContext,
        index: &Index,
        servers: &[Server],
        tools: &[Tool],
    ) -> Result<Option<Self>, Vec<Diagnostic>> {
        let policy = evaluation_context.policy.as_ref();
        let policy = policy.map(|it| it.history_use()).unwrap_or_default();
        let tenant = evaluation_context.tenant.as_ref();
        let terms = tenant.and_then(|it| it.history.clone());
        if terms.is_none() && !policy.reads {
            return Ok(None);
        }
        let mut terms = match (terms, policy.window_ms) {
            (None, Some(window_ms)) => HistoryTerms {
                window_ms,
                ..HistoryTerms::default()
            },
            (terms, _) => terms.unwrap_or_default(),
        };
        // Of two windows the longer one: who states the other misses nothing.
        terms.window_ms = terms.window_ms.max(policy.window_ms.unwrap_or_default());
        let rules = HistoryRules::new(&terms)?;
        let entries = servers.iter().map(|it| {
            let entry = index.find(&it.id, &it.version);
            let labels = entry.map_or_else(unrated, |entry| labels_of(entry.entry()));
            ((it.id.clone(), it.version.clone()), labels)
        });
        let mut known = Self {
            terms,
            policy,
            rules,
            servers: Sorted::of(entries),
            tools: Sorted::default(),
        };
        for tool in tools {
            let (id, version) = (&tool.served.server, &tool.served.version);
            let view = index.find(id, version);
            let view = view.and_then(|it| it.tool(tool.own_name()));
            let traits = Traits::of_tool(view, tool, &known.labels(id, version), &known.terms);
            let key = (id.clone(), version.clone(), tool.own_name().to_owned());
            known.tools.or_insert(key, Arc::new(traits));
        }
        Ok(Some(known))
    }

    /// Returns the built-in rules that may say something against a call after a history. Most calls concern none, and the
    /// evaluation of a rule takes longer than all the rest of a decision.
    pub(crate) fn rules_about(
        &self,
        traits: &Traits,
        scope: Option<&Scope>,
    ) -> Vec<&HistoryRuleTerms> {
        let is_about = |it: &&HistoryRuleTerms| {
            let has_label = || {
                // An unknown label may be any.
                let of = |label: &str| label == it.label || label == UNKNOWN;
                scope.is_some_and(|scope| scope.has_label(of))
            };
            it.decides_calls_of(&traits.server, &traits.tool)
                && match it.rule {
                    HistoryRule::AtMost => scope.map_or(0, Scope::count) >= it.calls,
                    HistoryRule::NoSendAfter => traits.sends && has_label(),
                    HistoryRule::NoWriteAfter => traits.writes && has_label(),
                    HistoryRule::Before | HistoryRule::SameField | HistoryRule::SumAtMost => true,
                }
        };
        self.terms.rules.iter().filter(is_about).collect()
    }

    /// Returns whether a call may be refused by its history.
    pub(crate) fn decides(&self) -> bool {
        self.policy.reads || self.terms.rules.iter().any(|it| !it.is_log_only)
    }

    /// Returns the labels of what a server has. Nobody rated one that the lock does not have.
    fn labels(&self, id: &str, version: &str) -> BTreeSet<String> {
        let known = self.servers.get(&(id.to_owned(), version.to_owned()));
        known.cloned().unwrap_or_else(unrated)
    }

    /// Returns what a tool, or a request of a method, is now: by the id and the version of its server, and its name.
    pub(crate) fn traits_of(&self, what: (&str, &str, &str)) -> Arc<Traits> {
        let (id, version, name) = what;
        let key = (id.to_owned(), version.to_owned(), name.to_owned());
        match self.tools.get(&key) {
            Some(traits) => Arc::clone(traits),
            None => Arc::new(Traits::of_request(
                what,
                &self.labels(id, version),
                &self.terms,
            )),
        }
    }

    /// Returns what the tools of the lock are, by the id of the server and the name of the tool.
    pub(crate) fn tools(&self) -> impl Iterator<Item = ((&str, &str), &Traits)> {
        let tools = self.tools.values();
        tools.map(|it| ((&*it.server, &*it.tool), &**it))
    }

    /// Returns traits that share their memory with those of the lock, if they are the same.
    pub(crate) fn shared(&self, traits: Traits) -> Arc<Traits> {
        let now = self.traits_of((&traits.server, &traits.version, &traits.tool));
        match *now == traits {
            true => now,
            false => Arc::new(traits),
        }
    }

    /// Returns what a history keeps of arguments.
    pub(crate) fn given(&self, arguments: Option<&Node<'_>>) -> Given {
        let at = |pointer: &String| Some((pointer.clone(), found(arguments?, pointer)?));
        let fields = self.terms.fields.iter().filter_map(at);
        let fields = fields.map(|(pointer, node)| (pointer, form_digest(node)));
        let numbers = self.terms.numbers.iter().filter_map(at);
        let numbers = numbers.filter_map(|(pointer, node)| match &node.value {
            Value::Number(digits) => Some((pointer, digits.to_string())),
            _ => None,
        });
        Given {
            fields: fields.collect(),
            numbers: numbers.collect(),
            is_lost: false,
        }
    }

    /// Returns what a history keeps of the arguments of a recorded call: what was recorded, or what the documents of now ask for.
    pub(super) fn given_of(
        &self,
        recorded: Option<&Node<'_>>,
        arguments: Option<&Node<'_>>,
        is_revised: bool,
    ) -> Given {
        let of = |name| arguments.and_then(|it| member(it, name));
        let value = of("value");
        if !is_revised || arguments.is_none() {
            return recorded.map_or_else(|| self.given(value), Given::read);
        }
        let recorded_digest = of("digest").and_then(string);
        let is_whole = |value: &&Node<'_>| Some(&*form_digest(value)) == recorded_digest;
        if let Some(value) = value.filter(is_whole) {
            return self.given(Some(value));
        }
        let mut given = recorded.map(Given::read).unwrap_or_default();
        let HistoryTerms {
            fields, numbers, ..
        } = &self.terms;
        given.fields.retain(|(pointer, _)| fields.contains(pointer));
        given
            .numbers
            .retain(|(pointer, _)| numbers.contains(pointer));
        given.is_lost = given.fields.len() < fields.len() || given.numbers.len() < numbers.len();
        given
    }

    /// Returns an earlier call whose arguments decide about a call and were not recorded: the number of its record, and what reads
    /// them.
    pub(crate) fn forgotten(&self, traits: &Traits, scope: &Scope) -> Option<(u64, String)> {
        let lost = || scope.calls.iter().filter(|it| it.given.is_lost);
        let reads = |rule: &HistoryRuleTerms, call: &PastCall| {
            matches!(rule.rule, HistoryRule::SameField | HistoryRule::SumAtMost)
                && rule.reads_calls_of(&call.traits.server, &call.traits.tool)
        };
        let of_rule = self.rules_about(traits, Some(scope)).into_iter();
        let mut of_rule = of_rule.filter_map(|rule| {
            let call = lost().find(|it| reads(rule, it))?;
            Some((call.record, format!("the rule `{}`", rule.rule.as_str())))
        });
        let of_policy = || {
            let reads = self.policy.reads_calls && !self.terms.fields.is_empty();
            let call = lost().next().filter(|_| reads)?;
            Some((call.record, "the policy".to_owned()))
        };
        of_rule.next().or_else(of_policy)
    }

    /// Returns whether the documents say what a tool, or a request of a method, is.
    pub(super) fn knows(&self, (id, version, name): (&str, &str, &str)) -> bool {
        let server = (id.to_owned(), version.to_owned());
        let is_request = Method::named(name).is_some() && self.servers.get(&server).is_some();
        let tool = (server.0, server.1, name.to_owned());
        is_request || self.tools.get(&tool).is_some()
    }
}

/// Returns the digest of the RFC 8785 form of a value.
fn form_digest(node: &Node<'_>) -> String {
    let mut form = String::new();
    canonical_node(node, &mut form);
    digest(&form)
}

fn unrated() -> BTreeSet<String> {
    set_of([UNKNOWN.to_owned()])
}

/// Returns the value at a JSON pointer.
fn found<'n, 't>(root: &'n Node<'t>, pointer: &str) -> Option<&'n Node<'t>> {
    let mut steps = pointer.strip_prefix('/')?.split('/');
    steps.try_fold(root, |node, step| match &node.value {
        Value::Sequence(items) => items.get(step.parse::<usize>().ok()?),
        _ => member(node, &step.replace("~1", "/").replace("~0", "~")),
    })
}
