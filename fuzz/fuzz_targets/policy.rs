//! A policy: compiled or refused with places. Evaluated twice, it returns the same answer within
//! its budget.
#![no_main]

use agent_decide::PolicyEngine;
use agent_rego as policy;
use libfuzzer_sys::fuzz_target;

const INPUT: &str = r#"{"candidate_tools":[{"capabilities":[{"constraints":["readonly"],"resource":"internet","verb":"search"}],"class":"paid","description":null,"id":"a@1/t","maxSensitivity":"public","publisher":"A","residency":["any"],"server":"a","signed":true,"tool":"t","version":"1"}],"context":{"hour":10,"weekday":"monday"},"requirement":{"constraints":[],"load":"essential","resource":"internet","verb":"search"},"task":{"id":"t"},"tenant_policy":null,"user_tier":"gold"}"#;

fuzz_target!(|bytes: &[u8]| {
    let Some(policy) = agent_fuzz::checked(bytes, policy::read(bytes.to_vec())) else {
        return;
    };
    let policy_decision = policy.ask(INPUT);
    assert_eq!(policy_decision, policy.ask(INPUT));
    assert!(policy_decision.lines.is_sorted_by(|a, b| a < b));
    agent_fuzz::check(bytes, &policy::never_allows(&policy));
    agent_fuzz::check(
        bytes,
        &policy::dead_rules(&policy, &policy::vocabulary(None, None)),
    );
    agent_fuzz::check(bytes, &policy::unused_rules(&policy, [&policy_decision]));
});
