//! The members of the input that a policy may read.

use super::tree::{ExprKind, Module};

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
