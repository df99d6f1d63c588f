//! The checks of steps: each has its outcome, and a skipped check never counts as passed.

use super::corpus::{Case, accepted, cases};
use agent_decide::{RunCheck, StepCheck, authorize_plan};
use agent_explain::{CheckRecord, CheckState, PlanDocuments, deferred, plan_checks, plan_findings};

/// The checks of each step, and the step and the check of each finding.
type Checks = (
    Vec<Vec<(StepCheck, CheckRecord)>>,
    Vec<(Option<usize>, Option<StepCheck>, String)>,
);

fn checks(case: &Case) -> Checks {
    let answer = authorize_plan(&case.plan, &case.rules, case.context());
    let findings = plan_findings(&case.plan, &case.rules, case.context(), &answer);
    let checks = plan_checks(&PlanDocuments::new(&case.plan, &case.rules), &answer);
    let told = findings.iter().map(|finding| {
        let diagnostic = &finding.diagnostic;
        let check = answer.failed_check(finding);
        (diagnostic.step, check, diagnostic.pointer().to_owned())
    });
    (checks, told.collect())
}

fn outcome(step: &[(StepCheck, CheckRecord)], check: StepCheck) -> Option<CheckState> {
    let found = step.iter().find(|(each, _)| *each == check);
    found.map(|(_, checked)| checked.outcome)
}

#[test]
fn every_check_of_a_plan_that_may_run_is_passed_or_waits() {
    let (mut passed, mut waiting) = (0, 0);
    for folder in cases("accept") {
        let case = Case::read(&folder);
        let (steps, findings) = checks(&case);
        assert_eq!(findings, [], "{}", folder.name());
        let plan = case.plan.value.as_ref().expect("a plan");
        assert_eq!(steps.len(), plan.steps.len(), "{}", folder.name());
        let answer = authorize_plan(&case.plan, &case.rules, case.context());
        for (number, step) in steps.iter().enumerate() {
            for check in [
                StepCheck::Pool,
                StepCheck::Rules,
                StepCheck::Limits,
                StepCheck::Input,
            ] {
                assert!(outcome(step, check).is_some(), "{}", folder.name());
            }
            let mut said = Vec::new();
            for (check, checked) in step {
                assert!(!checked.facts.is_empty(), "{}: {check:?}", folder.name());
                match checked.outcome {
                    CheckState::Passed => {
                        passed += 1;
                        // That a host may be reached is passed before its addresses are known.
                        let addresses = deferred(RunCheck::Addresses);
                        let told = checked.facts.iter().find(|fact| fact.text == addresses);
                        said.extend(told.map(|fact| fact.text.clone()));
                    }
                    CheckState::Deferred => {
                        said.extend(checked.facts.iter().map(|fact| fact.text.clone()));
                    }
                    other => panic!("{}: {check:?} {other:?}", folder.name()),
                }
            }
            waiting += said.len();
            let of_step = answer.deferred().filter(|it| it.step == number);
            let mut expected: Vec<_> = of_step.map(|it| deferred(it.check).to_owned()).collect();
            said.sort();
            expected.sort();
            assert_eq!(said, expected, "{}", folder.name());
        }
    }
    assert!(passed > 200 && waiting > 40, "{passed} {waiting}");
}

#[test]
fn a_check_is_failed_by_each_finding_of_its_own_and_by_nothing_else() {
    let mut failed = [0; StepCheck::ALL.len()];
    let mut of_none = Vec::new();
    for folder in cases("reject") {
        let (steps, findings) = checks(&Case::read(&folder));
        for (number, step) in steps.iter().enumerate() {
            for (check, checked) in step {
                let told = |(of, is, _): &(Option<usize>, Option<StepCheck>, String)| {
                    (*of, *is) == (Some(number), Some(*check))
                };
                let is_failed = checked.outcome == CheckState::Failed;
                let of_it = findings.iter().any(told);
                let at = format!("/plan/steps/{number}");
                // A problem of the whole step, of the pool or of the number of steps fails checks too.
                let of_more = findings.iter().any(|(of, _, pointer)| {
                    *pointer == at || of.is_none() && !pointer.starts_with("/plan/steps/0")
                });
                assert!(
                    is_failed == of_it || is_failed && of_more,
                    "{}: {check:?}",
                    folder.name()
                );
                failed[*check as usize] += usize::from(is_failed);
            }
        }
        for (step, check, pointer) in findings {
            let Some(step) = step.filter(|step| steps.get(*step).is_some()) else {
                continue;
            };
            match check {
                // It is among those that there are for the step.
                Some(check) => assert!(
                    outcome(&steps[step], check).is_some(),
                    "{}: {check:?}",
                    folder.name()
                ),
                None => of_none.push(pointer.rsplit('/').next().unwrap_or_default().to_owned()),
            }
        }
    }
    // Outputs are not known before a plan runs, and no case has a policy.
    for check in StepCheck::ALL {
        let found = failed[check as usize];
        let fails = !matches!(check, StepCheck::Output | StepCheck::Policy);
        assert_eq!(found > 0, fails, "{check:?}: {found}");
    }
    of_none.sort();
    of_none.dedup();
    // Two steps of one name, and what no step has.
    for member in ["retry", "step_id", "while"] {
        assert!(
            of_none.iter().any(|it| it == member),
            "{member}: {of_none:?}"
        );
    }
    assert!(
        !of_none.iter().any(|it| it.starts_with("input")),
        "{of_none:?}"
    );
}

#[test]
fn what_had_nothing_to_look_at_was_not_made() {
    let mut seen = [0; 3];
    for folder in cases("reject") {
        let case = Case::read(&folder);
        let (steps, _) = checks(&case);
        let unmade = |step: &[(StepCheck, CheckRecord)], check: StepCheck| {
            let found = outcome(step, check);
            let ok = matches!(found, None | Some(CheckState::Skipped | CheckState::Failed));
            assert!(ok, "{}: {check:?} {found:?}", folder.name());
        };
        for (number, step) in steps.iter().enumerate() {
            if case.rules.profile.value.is_none() {
                unmade(step, StepCheck::Rules);
                unmade(step, StepCheck::Limits);
                seen[0] += 1;
            }
            if case.rules.pool.value.is_none() {
                unmade(step, StepCheck::Pool);
                seen[1] += 1;
            }
            let planned = case.plan.value.as_ref().and_then(|it| it.steps.get(number));
            let pool = case.rules.pool.value.as_ref();
            let bound = pool
                .zip(planned)
                .and_then(|(pool, step)| pool.binding(&step.connector.value, &step.tool.value));
            if bound.is_none() {
                let others = [
                    StepCheck::Lock,
                    StepCheck::Destination,
                    StepCheck::Limits,
                    StepCheck::Input,
                    StepCheck::Output,
                ];
                for check in others {
                    unmade(step, check);
                }
                seen[2] += 1;
            }
        }
    }
    assert!(seen.iter().all(|seen| *seen > 0), "{seen:?}");
}

#[test]
fn what_is_compared_stands_where_it_says() {
    let case = Case::read(&accepted("an-mcp-tool-that-is-locked"));
    let (steps, _) = checks(&case);
    let facts = |check: StepCheck| {
        let found = steps[0].iter().find(|(each, _)| *each == check);
        let facts = found.into_iter().flat_map(|(_, checked)| &checked.facts);
        let text = |fact: &agent_explain::CheckFact| {
            let place = fact.place?;
            let text = [
                &case.plan.text,
                &case.rules.pool.text,
                &case.rules.profile.text,
                case.index.as_ref().expect("an index").text(),
            ];
            let text = text.into_iter().find(|text| text.source() == place.source);
            let there = place.span.of(text.expect("a text").as_str());
            Some((fact.text.clone(), there.to_owned()))
        };
        // Values that are known later have no place.
        facts.filter_map(text).collect::<Vec<_>>()
    };
    for (text, there) in facts(StepCheck::Limits) {
        assert!(
            text.contains(&format!(" is {there}, of at most ")),
            "{text}: {there}"
        );
    }
    assert_eq!(facts(StepCheck::Limits).len(), 4);
    let (_, rule) = &facts(StepCheck::Rules)[0];
    assert!(rule.contains("\"allow\""), "{rule}");
    let (_, binding) = &facts(StepCheck::Pool)[0];
    assert!(binding.contains("\"mcp_proxy\""), "{binding}");
    let locked = facts(StepCheck::Lock);
    assert!(locked[0].1.contains("\"endpoint\"") && locked[1].1.contains("\"inputSchema\""));
    let reachable = facts(StepCheck::Destination);
    assert!(
        reachable[0].0.starts_with("the server is at `https://"),
        "{reachable:?}"
    );
    assert!(reachable[1].1.starts_with('['), "{reachable:?}");
    let (_, input) = &facts(StepCheck::Input)[0];
    assert!(input.starts_with('{'), "{input}");
}
