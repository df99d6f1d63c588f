//! The members of the input that a policy may read.

use super::tree::{Expr, ExprKind, Module};
use agent_decide::HistoryUse;
use agent_text::Span;

/// Returns whether an evaluation of a module may depend on a member of the input. Only a module that names
/// every other member that it reads, as in `input.task`, is known not to.
pub(super) fn may_read(module: &Module, member: &str) -> bool {
    let imported = module.imports.iter().any(|import| {
        let path: Vec<_> = import.path.iter().map(String::as_str).collect();
        matches!(path[..], ["input"]) || path.starts_with(&["input", member])
    });
    // How often the input is named, and how often in order to read another member.
    let (mut named, mut others) = (0_usize, 0_usize);
    for rule in &module.rules {
        rule.visit(&mut |expr| match &expr.kind {
            ExprKind::Name(name) if name == "input" => named += 1,
            ExprKind::Index(of, key) => {
                let is_input = matches!(&of.kind, ExprKind::Name(name) if name == "input");
                let is_other = matches!(&key.kind, ExprKind::Text(name) if name != member);
                others += usize::from(is_input && is_other);
            }
            _ => {}
        });
    }
    imported || named > others
}

/// Returns what a module reads of the history of calls, which it names by a literal.
pub(super) fn history_use(module: &Module) -> (HistoryUse, Option<Span>) {
    let imports = module.imports.iter().map(|import| &import.path[..]);
    let is_imported = imports
        .into_iter()
        .any(|path| path.first().is_some_and(|it| it == "input") && path.iter().any(is_history));
    let mut found = HistoryUse::default();
    let mut ignores = None;
    for rule in &module.rules {
        let (mut named, mut others) = (0_usize, 0_usize);
        let (mut names_calls, mut names_folded) = (false, false);
        rule.visit(&mut |expr| match &expr.kind {
            ExprKind::Text(text) if text == HISTORY => named += 1,
            ExprKind::Text(text) if text == CALLS => names_calls = true,
            ExprKind::Text(text) if text == FOLDED => names_folded = true,
            ExprKind::Index(of, key) => {
                let is_other = matches!(&key.kind, ExprKind::Text(name) if name != CALLS);
                others += usize::from(is_of_history(of) && is_other);
            }
            _ => {}
        });
        found.reads |= named > 0 || is_imported;
        let reads_calls = named > others || (is_imported && names_calls);
        found.reads_calls |= reads_calls;
        if reads_calls && !names_folded {
            ignores.get_or_insert(rule.name_span);
        }
    }
    (found, ignores)
}

const HISTORY: &str = "history";
const CALLS: &str = "calls";
const FOLDED: &str = "folded";

fn is_history(name: &String) -> bool {
    name == HISTORY
}

/// Returns whether an expression is a member `history`.
fn is_of_history(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Index(_, key)
        if matches!(&key.kind, ExprKind::Text(name) if name == HISTORY))
}

#[cfg(test)]
mod tests {
    use crate::read;
    use agent_decide::PolicyEngine;

    fn may_read(rules: &str) -> bool {
        let text = format!("package switchboard\n{rules}");
        let policy = read(text.into_bytes()).expect("a policy").value;
        policy.may_read("arguments")
    }

    #[test]
    fn a_policy_that_names_other_members_alone_reads_no_arguments() {
        for rules in [
            "allowed_tools contains tool.id if some tool in input.candidate_tools",
            "allowed_tools contains t.id if { some t in input[\"candidate_tools\"]; input.context.hour < 9 }",
            "import input.subject as who\nallowed_tools contains \"x\" if who.id == \"arguments\"",
        ] {
            assert!(!may_read(rules), "{rules}");
        }
    }

    #[test]
    fn rules_name_what_they_read_of_the_history() {
        let using = |rules: &str| {
            let text = format!("package switchboard\n{rules}");
            let policy = read(text.into_bytes()).expect("a policy").value;
            let found = policy.history_use();
            (
                found.reads,
                found.reads_calls,
                found.ignores_folded.map(|it| it.start.line),
            )
        };
        let rule = "allowed_tools contains \"x\" if";
        for (rules, expected) in [
            ("input.task.id == \"a\"", (false, false, None)),
            ("input.history.labels.private", (true, false, None)),
            (
                "not input[\"history\"][\"labels\"].private",
                (true, false, None),
            ),
            ("count(input.history.calls) < 3", (true, true, Some(2))),
            (
                "{ past := input.history; count(past.calls) < 3 }",
                (true, true, Some(2)),
            ),
            (
                "{ input.history.calls == []; input.history.folded == [] }",
                (true, true, None),
            ),
            (
                "{ some key; input.history[key] == [] }",
                (true, true, Some(2)),
            ),
        ] {
            assert_eq!(using(&format!("{rule} {rules}")), expected, "{rules}");
        }
        let imported = format!("import input.history as past\n{rule} count(past.calls) < 3");
        assert_eq!(using(&imported), (true, true, Some(3)));
    }

    #[test]
    fn whatever_may_reach_the_arguments_reads_them() {
        for rules in [
            "allowed_tools contains \"x\" if input.arguments.path == \"a\"",
            "allowed_tools contains \"x\" if input[\"arguments\"].path == \"a\"",
            "allowed_tools contains \"x\" if { some key; input[key].path == \"a\" }",
            "allowed_tools contains \"x\" if { all := input; all.arguments.path == \"a\" }",
            "allowed_tools contains \"x\" if object.get(input, \"arguments\", {}).path == \"a\"",
            "allowed_tools contains \"x\" if count(input) > 1",
            "import input\nallowed_tools contains \"x\" if input.task.id == \"a\"",
            "import input.arguments as given\nallowed_tools contains \"x\" if given.path == \"a\"",
            "f(x) := x.arguments.path\nallowed_tools contains \"x\" if f(input) == \"a\"",
            "deny_reasons[id] := reason if { id := \"x\"; reason := input.arguments.path }\nallowed_tools := set()",
        ] {
            assert!(may_read(rules), "{rules}");
        }
    }
}
