//! What a verdict leaves open although every requirement is met.

use agent_answer::{Severity, Verdict};
use agent_ui::words::count;

/// Returns what the headline adds to a yes, the gravest first.
pub(crate) fn reservations(verdict: &Verdict) -> Vec<String> {
    let warnings = verdict.diagnostics.iter();
    let warnings = warnings.filter(|it| it.severity == Severity::Warning);
    let warnings = warnings.count() as u32;
    let tokens = verdict.tokens.and_then(|it| {
        let used = it.tools.saturating_add(it.stubs);
        used.checked_sub(it.budget?)
    });
    let some = |number: u32, noun| (number > 0).then(|| count(number, noun));
    let found = [
        against_lock(verdict).map(|text| format!("{text} against your lock")),
        tokens
            .filter(|over| *over > 0)
            .map(|over| format!("{} over the budget", count(over, "token"))),
        some(verdict.collisions.len() as u32, "collision"),
        some(warnings, "warning"),
    ];
    found.into_iter().flatten().collect()
}

/// Returns the number of differences from an existing lock, if there are any: those that give the agent
/// more access, or else all.
pub(crate) fn against_lock(verdict: &Verdict) -> Option<String> {
    let existing = verdict.existing.as_ref()?;
    // Without a new lock, the index alone is compared.
    let drifts = existing.changes.as_ref().or(existing.verify.as_ref())?;
    let widening = drifts.iter().filter(|drift| drift.widening).count() as u32;
    match (widening, drifts.len() as u32) {
        (0, 0) => None,
        (0, all) => Some(count(all, "change")),
        (more, _) => Some(count(more, "widening")),
    }
}

#[cfg(test)]
mod tests {
    use super::{against_lock, reservations};
    use agent_answer::{Code, Diagnostic, Drift, LockVerdict, Tokens, Verdict};

    fn drift(widening: bool) -> Drift {
        Drift {
            code: Code::ScopeWidened,
            category: None,
            capability: None,
            text: String::new(),
            details: vec![],
            places: vec![],
            widening,
        }
    }

    fn with_lock(changes: Option<Vec<Drift>>, verify: Vec<Drift>) -> Verdict {
        Verdict {
            existing: Some(LockVerdict {
                changes,
                verify: Some(verify),
            }),
            ..Verdict::default()
        }
    }

    #[test]
    fn a_lock_that_the_answer_widens_is_counted() {
        for (changes, verify, expected) in [
            (Some(vec![]), vec![], None),
            (Some(vec![drift(false); 2]), vec![], Some("2 changes")),
            (
                Some(vec![drift(true), drift(false)]),
                vec![],
                Some("1 widening"),
            ),
            (None, vec![drift(false)], Some("1 change")),
        ] {
            let verdict = with_lock(changes, verify);
            assert_eq!(against_lock(&verdict).as_deref(), expected);
        }
        assert_eq!(against_lock(&Verdict::default()), None);
    }

    #[test]
    fn everything_that_a_yes_leaves_open_is_counted() {
        let warning = Diagnostic::new(Code::LookalikeId, "");
        let verdict = Verdict {
            diagnostics: vec![warning.clone(), warning],
            collisions: vec![Diagnostic::new(Code::StubCollision, "")],
            tokens: Some(Tokens {
                tools: 1_500,
                stubs: 100,
                budget: Some(600),
            }),
            ..with_lock(Some(vec![drift(true)]), vec![])
        };
        let expected = [
            "1 widening against your lock",
            "1,000 tokens over the budget",
            "1 collision",
            "2 warnings",
        ];
        assert_eq!(reservations(&verdict), expected);
        assert!(reservations(&Verdict::default()).is_empty());
    }
}
