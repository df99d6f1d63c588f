//! Rules of an instruction profile that cover no tool of the pool because of a misspelling \[3\].
//!
//! What a selector names is the author's: a profile may serve several pools. So nothing is denied, and
//! only a selector that is almost one of the pool's tools is worth a warning.

use super::plan_documents::PlanDocuments;
use agent_diagnostic::{Applicability, Code, Diagnostic, Edit, Fix, Severity};
use agent_json_schema::at_pointer;
use agent_model::{Effect, Selector, ToolPool};
use agent_syntax::json_string;
use agent_text::{DocumentKind, Likeness};

/// Maximum number of warnings.
const WARNINGS: usize = 100;

/// Returns a warning for each rule whose selector is almost a tool of the pool.
pub fn plan_warnings(documents: &PlanDocuments<'_>) -> Vec<Diagnostic> {
    let rules = documents.rules;
    let (Some(pool), Some(profile)) = (&rules.pool.value, &rules.profile.value) else {
        return Vec::new();
    };
    let mut likeness = Likeness::new();
    let warnings = profile.rules.iter().filter_map(|rule| {
        let effect = match rule.effect {
            Effect::Allow => "allows",
            Effect::Deny => "denies",
            Effect::Other => return None,
        };
        let Selector::One(selector) = &rule.selector else {
            return None;
        };
        let meant = meant(selector, pool, &mut likeness)?;
        let root = documents.root(DocumentKind::Profile)?;
        let pointer = format!("/rules/{}/target/selector", rule.number);
        let span = at_pointer(root, &pointer)?.span;
        let place = rules.profile.text.place(span);
        let message = format!(
            "the rule `{}` {effect} `{selector}`, which the pool does not have",
            rule.id
        );
        let label = format!("{effect} no tool of the pool");
        let mut warning = Diagnostic::new(Code::UnknownKey, message).label(place, label);
        warning.severity = Severity::Warning;
        // A profile decides about every plan: only a person changes its rules, and only its author knows
        // what it should allow.
        warning.fixes.push(match rule.effect {
            Effect::Deny => Fix {
                title: format!("deny `{meant}`, if that is meant"),
                applicability: Applicability::Unsafe,
                edits: vec![Edit {
                    place,
                    replacement: json_string(&meant),
                }],
            },
            _ => Fix::display(format!("did you mean `{meant}`?")),
        });
        Some(warning)
    });
    warnings.take(WARNINGS).collect()
}

/// Returns the only tool of the pool that a selector is a slip of.
fn meant(selector: &str, pool: &ToolPool, likeness: &mut Likeness) -> Option<String> {
    let (connector, tool) = selector.split_once('/')?;
    if pool.binding(connector, tool).is_some() {
        return None;
    }
    let mut only = |name: &str, known: Vec<&str>| match likeness.slips(name, known, 2)[..] {
        [meant] => Some(meant.to_owned()),
        _ => None,
    };
    let connector = match pool.has_connector(connector) {
        true => connector.to_owned(),
        false => only(connector, pool.connectors.iter().map(|it| &**it).collect())?,
    };
    if pool.binding(&connector, tool).is_some() {
        return Some(format!("{connector}/{tool}"));
    }
    let tools = pool.of_connector(&connector).iter().map(|it| &*it.tool);
    let tool = only(tool, tools.collect())?;
    Some(format!("{connector}/{tool}"))
}
