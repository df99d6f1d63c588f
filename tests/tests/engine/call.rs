//! The checks and the fixes of one-call plans, on the corpus, which has a case for each reason.

use agent_decide::{CallCheck, CallContext, CallDenial, CallVerdict, authorize_call};
use agent_explain::{CheckState, apply, call_checks, call_denials, call_fixes};
use agent_lower as lower;
use agent_model::{CallPlan, Index, Lock, ToolsSnapshot};
use agent_tests::corpus::{self, Case};

/// What a case is decided against.
struct World {
    index: Index,
    lock: Option<Lock>,
    catalogue: Option<ToolsSnapshot>,
}

impl World {
    fn context(&self) -> CallContext<'_> {
        CallContext {
            evaluation_context: None,
            index: &self.index,
            lock: self.lock.as_ref(),
            catalogue: self.catalogue.as_ref(),
        }
    }
}

/// The checks of a call where no policy decides.
const UNGOVERNED: &[CallCheck] = CallCheck::ALL.split_last().expect("checks").1;

fn cases(verdict: &str) -> Vec<Case> {
    corpus::cases(&format!("call/{verdict}"))
}

/// None: one of the texts is refused.
fn world(case: &Case) -> Option<(CallPlan, World)> {
    let text = |name: &str| case.input(name);
    let lock = text("agents.lock").map(lower::lock).transpose().ok()?;
    let catalogue = text("catalogue.json").map(lower::tools_snapshot);
    let catalogue = catalogue.transpose().ok()?;
    let plan = lower::call_plan(text("plan.json")?).ok()?.value;
    let index = lower::index(text("mcp.index.json")?).ok()?.value;
    Some((
        plan,
        World {
            index,
            lock: lock.map(|it| it.value),
            catalogue: catalogue.map(|it| it.value),
        },
    ))
}

#[test]
fn every_check_of_an_allowed_call_is_passed() {
    let mut calls = 0;
    for case in cases("accept") {
        let (plan, world) = world(&case).expect("readable");
        let verdict = authorize_call(&plan, world.context());
        let checks = call_checks(&plan, &verdict);
        match verdict {
            CallVerdict::Allowed(_) => {
                assert_eq!(checks.len(), UNGOVERNED.len(), "{}", case.name());
                for check in checks {
                    assert_eq!(check.outcome, CheckState::Passed, "{}", case.name());
                    // A sentence, and what shows it.
                    assert!(check.facts.len() > 1, "{}: {check:?}", case.name());
                }
                calls += 1;
            }
            _ => assert_eq!(checks, [], "{}", case.name()),
        }
    }
    assert!(calls > 5, "{calls} calls");
}

#[test]
fn a_check_is_failed_for_each_reason_and_none_is_passed_that_could_not_be_made() {
    let mut unmade = 0;
    for case in cases("reject") {
        let Some((plan, world)) = world(&case) else {
            continue;
        };
        let verdict = authorize_call(&plan, world.context());
        let CallVerdict::Denied(records) = &verdict else {
            panic!("{}", case.name());
        };
        let made: Vec<_> = records.iter().map(|record| record.check).collect();
        assert_eq!(made, UNGOVERNED, "{}", case.name());
        let checks = call_checks(&plan, &verdict);
        for (record, checked) in records.iter().zip(&checks) {
            let failed = !record.denials.is_empty();
            let is_failed = checked.outcome == CheckState::Failed;
            assert_eq!(is_failed, failed, "{}", case.name());
            unmade += usize::from(checked.outcome == CheckState::Skipped);
        }
        let unmade = |check: CallCheck| {
            let outcome = checks[check as usize].outcome;
            assert_eq!(outcome, CheckState::Skipped, "{}: {check:?}", case.name());
        };
        if verdict.denials().any(|it| *it == CallDenial::LockMissing) {
            unmade(CallCheck::Permitted);
            unmade(CallCheck::ReadOnly);
        }
        if checks[CallCheck::Listed as usize].outcome == CheckState::Failed {
            // The lock is not asked about it, and so the labels and annotations are not either.
            unmade(CallCheck::Permitted);
            unmade(CallCheck::ReadOnly);
            unmade(CallCheck::Unchanged);
            unmade(CallCheck::Arguments);
        }
    }
    assert!(unmade > 0);
}

/// The messages of all reasons against a plan.
fn reasons(plan: &CallPlan, world: &World) -> Vec<String> {
    let verdict = authorize_call(plan, world.context());
    let denials = call_denials(plan, &verdict).into_iter();
    denials.map(|denial| denial.message).collect()
}

#[test]
fn every_suggested_change_takes_its_reason_away() {
    let mut texts = Vec::new();
    for case in cases("reject") {
        let Some((plan, world)) = world(&case) else {
            continue;
        };
        let verdict = authorize_call(&plan, world.context());
        let messages = reasons(&plan, &world);
        assert!(!messages.is_empty(), "{}", case.name());
        for (denial, message) in verdict.denials().zip(&messages) {
            for fix in call_fixes(&plan, denial) {
                let changed = apply(plan.text.as_str(), &fix.edits);
                let changed = lower::call_plan(changed.into_bytes());
                let changed = changed
                    .unwrap_or_else(|found| panic!("{fix:?}: {found:?}"))
                    .value;
                let left = reasons(&changed, &world);
                assert!(!left.contains(message), "{}: {fix:?}", case.name());
                texts.push(fix.title);
            }
        }
    }
    for begin in [
        "name the server `",
        "call the tool `",
        "call the argument `",
        "leave out the argument `",
    ] {
        assert!(texts.iter().any(|text| text.starts_with(begin)), "{begin}");
    }
}

fn unknown_arguments(args: &str) -> Vec<(String, String)> {
    let case = Case::named("call/reject/an-argument-misspelled");
    let (plan, world) = world(&case).expect("readable");
    let text = plan.text.as_str();
    let at = text.find("\"args\"").expect("arguments") + "\"args\":".len();
    let text = format!("{} {args} }}", &text[..at]);
    let plan = lower::call_plan(text.clone().into_bytes());
    let plan = plan.expect("a plan").value;
    let verdict = authorize_call(&plan, world.context());
    let fixes = verdict.denials();
    let fixes = fixes.flat_map(|denial| call_fixes(&plan, denial));
    fixes
        .map(|fix| {
            let changed = apply(&text, &fix.edits);
            let args = &changed[at + 1..changed.len() - 2];
            (fix.title, args.to_owned())
        })
        .collect()
}

#[test]
fn an_argument_is_renamed_only_where_none_has_that_name_and_left_out_whole() {
    let fixes = |args| unknown_arguments(args);
    let pairs = |expected: &[(&str, &str)]| -> Vec<(String, String)> {
        let expected = expected.iter();
        expected
            .map(|(text, args)| ((*text).to_owned(), (*args).to_owned()))
            .collect()
    };
    assert_eq!(
        fixes(r#"{ "qury": "mars" }"#),
        pairs(&[
            ("call the argument `query`", r#"{ "query": "mars" }"#),
            ("leave out the argument `qury`", "{  }"),
        ])
    );
    assert_eq!(
        fixes(r#"{ "query": "mars", "qury": "venus" }"#),
        pairs(&[("leave out the argument `qury`", r#"{ "query": "mars" }"#)])
    );
    assert_eq!(
        fixes("{\n  \"qury\": [1, {}],\n  \"query\": \"mars\"\n}"),
        pairs(&[(
            "leave out the argument `qury`",
            "{\n  \"query\": \"mars\"\n}"
        )])
    );
}
