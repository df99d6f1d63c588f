//! What one tenant says otherwise than another about the history of calls \[4\].
//!
//! The built-in rules decide by the calls of a session, which no index has. So what is compared is what tenants say: a rule
//! that is gone or only records, a label that is taken away, a shorter window.

use agent_decide::Drift;
use agent_diagnostic::Code;
use agent_model::{HistoryRuleTerms, HistoryTerms, Tenant, ToolSelector, ToolTraits};
use agent_text::sort::map_of;
use std::collections::BTreeMap;

/// Returns the differences of two tenants: what refuses less first.
pub(super) fn history_differences(
    before: Option<&Tenant>,
    after: Option<&Tenant>,
    reads_history: bool,
) -> Vec<Drift> {
    let terms = [before, after].map(|tenant| {
        let terms = tenant.and_then(|it| it.history.clone());
        terms.unwrap_or_default()
    });
    let [old_rules, new_rules] = [0, 1].map(|side| enforced(&terms[side]));
    let decides = reads_history || !(old_rules.is_empty() && new_rules.is_empty());
    let mut found = Vec::new();
    for (json, rule) in &old_rules {
        if !new_rules.contains_key(json) {
            found.push(of_rule(Code::PolicyWidened, rule));
        }
    }
    for (json, rule) in &new_rules {
        if !old_rules.contains_key(json) {
            found.push(of_rule(Code::PolicyNarrowed, rule));
        }
    }
    if decides {
        let [old, new] = &terms;
        let gone = old.labels.iter().filter(|it| !new.labels.contains(it));
        found.extend(gone.flat_map(|it| of_labels(it, true)));
        let added = new.labels.iter().filter(|it| !old.labels.contains(it));
        found.extend(added.flat_map(|it| of_labels(it, false)));
        found.extend(of_window(old.window_ms, new.window_ms));
    }
    found
}

/// Returns the rules that decide, by their terms.
fn enforced(terms: &HistoryTerms) -> BTreeMap<&str, &HistoryRuleTerms> {
    let rules = terms.rules.iter().filter(|it| !it.is_log_only);
    map_of(rules.map(|it| (&*it.json, it)))
}

fn of_rule(code: Code, rule: &HistoryRuleTerms) -> Drift {
    let name = format!("the tenant's rule `{}`", rule.rule.as_str());
    drift(
        code,
        &rule.tools,
        name,
        format!("its terms are {}", rule.json),
    )
}

/// Returns what a tenant no longer says, or newly says, about tools.
fn of_labels(traits: &ToolTraits, is_gone: bool) -> impl Iterator<Item = Drift> {
    let stricter =
        !traits.add.is_empty() || traits.sends == Some(true) || traits.writes == Some(true);
    let looser =
        !traits.remove.is_empty() || traits.sends == Some(false) || traits.writes == Some(false);
    let (widens, narrows) = match is_gone {
        true => (stricter, looser),
        false => (looser, stricter),
    };
    let codes = [
        (widens, Code::PolicyWidened),
        (narrows, Code::PolicyNarrowed),
    ];
    let says = if is_gone { "no longer" } else { "newly" };
    let text = format!("the tenant {says} says {}", words(traits));
    codes
        .into_iter()
        .filter(|(holds, _)| *holds)
        .map(move |(_, code)| {
            drift(
                code,
                &traits.tools,
                "the labels of the history".to_owned(),
                text.clone(),
            )
        })
}

/// Returns what a tenant says about tools.
fn words(traits: &ToolTraits) -> String {
    let lists = [("add", &traits.add), ("remove", &traits.remove)].into_iter();
    let lists = lists.filter(|(_, labels)| !labels.is_empty());
    let lists = lists.map(|(name, labels)| format!("`{name}: [{}]`", labels.join(", ")));
    let flags = [("sends", traits.sends), ("writes", traits.writes)].into_iter();
    let flags = flags.filter_map(|(name, flag)| Some(format!("`{name}: {}`", flag?)));
    lists.chain(flags).collect::<Vec<_>>().join(" and ")
}

fn of_window(before_ms: u64, after_ms: u64) -> Option<Drift> {
    let code = match before_ms.cmp(&after_ms) {
        std::cmp::Ordering::Equal => return None,
        std::cmp::Ordering::Greater => Code::PolicyWidened,
        std::cmp::Ordering::Less => Code::PolicyNarrowed,
    };
    let [before, after] = [before_ms, after_ms].map(|ms| ms / 1_000);
    let text = format!("the window was {before} s and is {after} s");
    Some(drift(
        code,
        &[],
        "the window of the history".to_owned(),
        text,
    ))
}

fn drift(code: Code, tools: &[ToolSelector], reason: String, detail: String) -> Drift {
    let tools: Vec<_> = tools
        .iter()
        .map(|it| format!("{}/{}", it.server, it.tool))
        .collect();
    let is_widened = code == Code::PolicyWidened;
    Drift {
        code,
        category: None,
        capability: None,
        tool: Some(match tools.is_empty() {
            true => "*/*".to_owned(),
            false => tools.join(", "),
        }),
        before: is_widened.then(|| reason.clone()),
        after: (!is_widened).then_some(reason),
        details: vec![detail],
        places: Vec::new(),
    }
}
