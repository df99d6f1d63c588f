//! The built-in rules about the history of calls \[4\]: a small library in Rego.

use super::exact::{first_rounded, not_exact};
use super::module::SourceModule;
use super::run::Program;
use agent_diagnostic::Diagnostic;
use agent_model::HistoryRule;
use agent_text::DocumentKind;
use regorus::Value;

/// The rules, in Rego.
const LIBRARY: &str = include_str!("history.rego");

/// The built-in rules that a tenant has in force.
#[derive(Debug)]
pub struct HistoryRules {
    program: Program,
    /// The rules in force, as JSON.
    rules: String,
    /// Whether they read single calls, not only labels.
    pub reads_calls: bool,
}

/// What a rule says against a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryFinding {
    /// The name of the rule.
    pub rule: String,
    /// Whether a human may allow the call.
    pub is_approvable: bool,
    /// Whether it is only recorded.
    pub is_log_only: bool,
    /// Why, in a sentence that names the earlier call.
    pub text: String,
}

impl HistoryRules {
    /// Returns the rules of [`HistoryTerms::rules`](agent_model::HistoryTerms::rules), or `None` if there are none.
    ///
    /// # Errors
    /// Never for the library that is built in.
    pub fn new(rules: &str) -> Result<Option<Self>, Vec<Diagnostic>> {
        if rules == "[]" {
            return Ok(None);
        }
        let text = LIBRARY.as_bytes().to_vec();
        let module = SourceModule::read(DocumentKind::Policy, text, &[])?;
        let program = Program::new(vec![module])?;
        let of_labels = [HistoryRule::NoSendAfter, HistoryRule::NoWriteAfter];
        let others = HistoryRule::ALL.iter().filter(|it| !of_labels.contains(it));
        let mut names = others.map(|it| format!("\"rule\":\"{}\"", it.as_str()));
        Ok(Some(Self {
            program,
            reads_calls: names.any(|name| rules.contains(&name)),
            rules: rules.to_owned(),
        }))
    }

    /// Returns what the rules say against a call after a history, ordered by rule and sentence. Both are JSON.
    ///
    /// # Errors
    /// A sentence: the history has a number that would be rounded, or the evaluation passed its limits.
    pub fn ask(&self, history: &str) -> Result<Vec<HistoryFinding>, String> {
        let input = format!("{{\"history\":{history},\"rules\":{}}}", self.rules);
        if let Some(number) = first_rounded(&input) {
            return Err(not_exact(number));
        }
        let value = Value::from_json_str(&input).map_err(|error| error.to_string())?;
        let query = "[x | x := data.agent.history.findings]";
        let (found, _) = self.program.evaluate(query, value, input.len());
        let found = found.map_err(|error| error.detail)?;
        let Some(Value::Set(found)) = found.as_array().ok().and_then(|it| it.first()) else {
            return Err("the rules have no value".to_owned());
        };
        let text = |of: &Value, name: &str| of[name].as_string().ok().map(|it| it.to_string());
        let findings = found.iter().map(|it| {
            Some(HistoryFinding {
                rule: text(it, "rule")?,
                is_approvable: text(it, "wants")? == "approval",
                is_log_only: *it["log_only"].as_bool().ok()?,
                text: text(it, "text")?,
            })
        });
        let findings: Option<Vec<_>> = findings.collect();
        let mut findings = findings.ok_or("the rules have values of other types")?;
        findings.sort_by(|a, b| (&a.rule, &a.text).cmp(&(&b.rule, &b.text)));
        Ok(findings)
    }
}

#[cfg(test)]
mod tests {
    use super::{HistoryRules, LIBRARY};
    use crate::{TestVerdict, test};

    const TESTS: &str = include_str!("history_test.rego");

    #[test]
    fn the_library_keeps_its_tests_and_each_rule_is_reached() {
        let tested = test(LIBRARY.into(), TESTS.into()).expect("two modules");
        for outcome in &tested.outcomes {
            let passed = outcome.verdict == TestVerdict::Passed;
            assert!(passed, "{}: {}", outcome.name, outcome.detail);
        }
        assert!(tested.outcomes.len() > 15);
        assert_eq!(tested.unreached, []);
    }

    #[test]
    fn a_number_that_would_be_rounded_is_refused() {
        let rules = r#"[{"rule":"at-most"}]"#;
        let rules = HistoryRules::new(rules).expect("a library").expect("rules");
        let history = r#"{"now_ms":1,"calls":[{"numbers":{"/a":0.12345678901234567890123}}]}"#;
        assert!(rules.ask(history).is_err());
    }
}
