//! A schema, a line `=====`, a value: the same verdict twice, within the budget, with places inside
//! the text.
#![no_main]

use agent_json_schema::{Budget, Documents, Draft, Refused, STEP_LIMIT, Schema};
use agent_syntax::json::{Reader, parse_value};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((schema, value)) = agent_fuzz::two_texts(bytes) else {
        return;
    };
    let tree = |text| parse_value(&mut Reader::new(text)).ok();
    let (Some(schema), Some(instance)) = (tree(schema), tree(value)) else {
        return;
    };
    let decide = || {
        let documents = Documents::new();
        let mut budget = Budget::new();
        let found = match Schema::compile(&schema, &documents, Draft::Draft202012, &mut budget) {
            Ok(schema) => schema.check(&instance, &mut budget).map_err(|_| ()),
            Err(Refused::OverBudget(_)) => Err(()),
            Err(Refused::Flaws(flaws)) => {
                assert!(!flaws.is_empty());
                return (None, budget.spent());
            }
        };
        (Some(found), budget.spent())
    };
    let (found, steps) = decide();
    assert!(steps <= STEP_LIMIT);
    for violation in found.iter().flatten().flatten() {
        assert!(
            value
                .get(violation.span.start as usize..violation.span.end as usize)
                .is_some()
        );
        assert!(!violation.message.is_empty());
    }
    assert_eq!((found, steps), decide());
});
