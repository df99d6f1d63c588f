//! Definitions of rules that add nothing to another definition of the same rule.

use super::module::SourceModule;
use super::tree::{Rule, Statement, StatementKind};
use agent_diagnostic::{Code, Diagnostic, Problems};
use std::collections::BTreeSet;

/// Returns a warning for each definition that holds only where another one holds that says the same: its conditions are
/// those of the other, and more.
pub(super) fn shadowed(module: &SourceModule) -> Vec<Diagnostic> {
    let SourceModule { text, tree } = module;
    let source = text.as_str();
    let definitions: Vec<_> = tree
        .rules
        .iter()
        .filter_map(|rule| Some((rule, head(rule, source), conditions(rule, source)?)))
        .collect();
    let mut problems = Problems::new(text);
    for (number, (rule, head, conditions)) in definitions.iter().enumerate() {
        let other = definitions.iter().enumerate().find(|(other, it)| {
            let is_less = it.2.is_subset(conditions);
            // Of two that are the same, the later one adds nothing.
            let is_before = it.2 != *conditions || *other < number;
            *other != number && it.1 == *head && is_less && is_before
        });
        if let Some((_, (by, ..))) = other {
            let name = rule.name.join(".");
            let message = format!("this definition of `{name}` adds nothing to another one");
            problems
                .report(
                    Code::PolicyDeadRule,
                    rule.name_span,
                    "holds only where the other does",
                    message,
                )
                .also(by.name_span, "this one needs less, and says the same")
                .help("remove one of the two, or correct its conditions");
        }
    }
    problems.finish()
}

/// Returns what a definition says: the text before its body.
fn head(rule: &Rule, source: &str) -> String {
    let end = rule.bodies.first().and_then(|body| body.query.as_ref());
    let end = end.map_or(rule.span.end, |query| query.span.start);
    let text = &source[rule.span.start as usize..end as usize];
    let text = text.trim_end().trim_end_matches('{').trim_end();
    words(text.strip_suffix("if").unwrap_or(text))
}

/// Returns the conditions of a definition, or `None` if it has none, or more than one body.
fn conditions(rule: &Rule, source: &str) -> Option<BTreeSet<String>> {
    let [body] = &rule.bodies[..] else {
        return None;
    };
    let query = body.query.as_ref()?;
    let is_plain =
        |it: &Statement| it.with.is_empty() && !matches!(it.kind, StatementKind::Every(..));
    let all = query.statements.iter();
    all.clone().all(is_plain).then(|| {
        let texts = all.map(|it| words(it.span.of(source)));
        texts.collect()
    })
}

/// Returns a text with one blank between its words.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::shadowed;
    use crate::module::SourceModule;
    use agent_text::DocumentKind;

    fn lines(rules: &str) -> Vec<(u32, u32)> {
        let text = format!("package switchboard\n{rules}\n");
        let module =
            SourceModule::read(DocumentKind::Policy, text.into_bytes(), &[]).expect("a policy");
        let found = shadowed(&module);
        let line = |it: &agent_diagnostic::Label| it.place.start.line;
        found
            .iter()
            .map(|it| (line(&it.labels[0]), line(&it.labels[1])))
            .collect()
    }

    const LESS: &str =
        "allowed_tools contains tool.id if {\n\tsome tool in input.candidate_tools\n}";

    #[test]
    fn a_definition_with_more_conditions_adds_nothing() {
        let more = "allowed_tools contains tool.id if {\n\tsome tool in input.candidate_tools\n\ttool.signed\n}";
        assert_eq!(lines(&format!("{LESS}\n{more}")), [(5, 2)]);
        assert_eq!(lines(&format!("{more}\n{LESS}")), [(2, 6)]);
        // Of the same twice, the second adds nothing.
        assert_eq!(lines(&format!("{LESS}\n{LESS}")), [(5, 2)]);
        let other_layout =
            "allowed_tools contains tool.id if { some tool in input.candidate_tools; tool.signed }";
        assert_eq!(lines(&format!("{other_layout}\n{LESS}")), [(2, 3)]);
    }

    #[test]
    fn definitions_that_say_something_else_stay() {
        for other in [
            "allowed_tools contains tool.id if {\n\tsome tool in input.candidate_tools[1]\n\ttool.signed\n}",
            "allowed_tools contains \"x\" if {\n\tsome tool in input.candidate_tools\n\ttool.signed\n}",
            "deny_reasons[tool.id] := \"no\" if {\n\tsome tool in input.candidate_tools\n\ttool.signed\n}",
            "f(x) := 1 if { x == 1 }\nf(x) := 2 if { x == 1; x < 2 }",
            "p := 1 if { input.task } else := 2 if { input.context }",
        ] {
            assert_eq!(lines(&format!("{LESS}\n{other}")), [], "{other}");
        }
    }
}
