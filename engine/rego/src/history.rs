//! The built-in rules about the history of calls \[4\]: a small library in Rego.

use super::exact::{first_rounded, not_exact};
use super::module::SourceModule;
use super::run::Program;
use agent_diagnostic::Diagnostic;
use agent_model::HistoryTerms;
use agent_text::DocumentKind;
use agent_text::sort::sort_by;
use regorus::Value;

/// The rules, in Rego.
const LIBRARY: &str = include_str!("history.rego");

/// The question about a call.
const FINDINGS: &str = "[x | x := data.agent.history.findings]";

/// The built-in rules that a tenant has in force.
#[derive(Debug)]
pub struct HistoryRules {
    program: Program,
}

/// What a rule says against a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryFinding {
    /// The name of the rule.
    pub rule: String,
    /// What it wants.
    pub wants: HistoryWant,
    /// Whether it is only recorded.
    pub is_log_only: bool,
    /// Why, in a sentence that names the earlier call.
    pub text: String,
}

/// What a rule wants of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HistoryWant {
    /// That it is refused.
    Refusal,
    /// That a human approves it.
    Approval,
    /// A part of the history that was folded away, without which the rule can't decide.
    History,
}

impl HistoryRules {
    /// Compiles the rules, or returns `None` if a tenant has none in force.
    ///
    /// # Errors
    /// Never for the library that is built in.
    pub fn new(terms: &HistoryTerms) -> Result<Option<Self>, Vec<Diagnostic>> {
        if terms.rules.is_empty() {
            return Ok(None);
        }
        let text = LIBRARY.as_bytes().to_vec();
        let module = SourceModule::read(DocumentKind::Policy, text, &[])?;
        let program = Program::new(vec![module], &[FINDINGS])?;
        Ok(Some(Self { program }))
    }

    /// Returns what rules say against a call, each with what it reads of a history, ordered by rule and sentence. `history`
    /// and `rules` are JSON.
    ///
    /// # Errors
    /// A sentence: the history has a number that would be rounded, or the evaluation passed its limits.
    pub fn ask(&self, history: &str, rules: &str) -> Result<Vec<HistoryFinding>, String> {
        let input = format!("{{\"history\":{history},\"rules\":{rules}}}");
        if let Some(number) = first_rounded(&input) {
            return Err(not_exact(number));
        }
        let value = Value::from_json_str(&input).map_err(|error| error.to_string())?;
        let (found, _) = self.program.ask(0, value, input.len());
        let found = found.map_err(|error| error.detail)?;
        let Some(Value::Set(found)) = found.as_array().ok().and_then(|it| it.first()) else {
            return Err("the rules have no value".to_owned());
        };
        let text = |of: &Value, name: &str| of[name].as_string().ok().map(|it| it.to_string());
        let findings = found.iter().map(|it| {
            Some(HistoryFinding {
                rule: text(it, "rule")?,
                wants: match &*text(it, "wants")? {
                    "approval" => HistoryWant::Approval,
                    "history" => HistoryWant::History,
                    _ => HistoryWant::Refusal,
                },
                is_log_only: *it["log_only"].as_bool().ok()?,
                text: text(it, "text")?,
            })
        });
        let findings: Option<Vec<_>> = findings.collect();
        let mut findings = findings.ok_or("the rules have values of other types")?;
        sort_by(&mut findings, |a, b| {
            (&a.rule, &a.text).cmp(&(&b.rule, &b.text))
        });
        Ok(findings)
    }
}

#[cfg(test)]
mod tests {
    use super::{HistoryRules, LIBRARY};
    use crate::{TestVerdict, test};
    use agent_model::{HistoryRule, HistoryRuleTerms, HistoryTerms};

    const TESTS: &str = include_str!("history_test.rego");

    #[test]
    fn the_library_keeps_its_tests_and_each_rule_is_reached() {
        let tested = test(LIBRARY.into(), TESTS.into()).expect("two modules");
        for outcome in &tested.outcomes {
            let passed = outcome.verdict == TestVerdict::Passed;
            assert!(passed, "{}: {}", outcome.name, outcome.detail);
        }
        assert!(tested.outcomes.len() > 12);
        assert_eq!(tested.unreached, []);
    }

    #[test]
    fn a_number_that_would_be_rounded_is_refused() {
        let rule = HistoryRuleTerms {
            rule: HistoryRule::AtMost,
            is_log_only: false,
            tools: Vec::new(),
            reads: None,
            label: String::new(),
            calls: 0,
            within_ms: 1,
            arguments: Default::default(),
            json: r#"{"rule":"at-most"}"#.to_owned(),
        };
        let terms = HistoryTerms {
            rules: vec![rule],
            ..HistoryTerms::default()
        };
        let rules = HistoryRules::new(&terms);
        let rules = rules.expect("a library").expect("rules");
        let read = r#"[{"rule":"at-most","numbers":[0.12345678901234567890123]}]"#;
        assert!(rules.ask("{}", read).is_err());
    }
}
