//! The policy that a lock was made under decides on calls \[4\].

use super::plan::corpus::{Case, accepted};
use agent_api::LockText;
use agent_decide::{
    AuthorizedPlan, CallContext, CallVerdict, CheckOutcome, EvaluationContext, PlanContext,
    PolicyEngine, RunCheck, StepCheck, authorize_call, authorize_plan, compare, verify_under,
};
use agent_diagnostic::Code;
use agent_explain::{call_denials, plan_findings, run_denial};
use agent_lower as lower;
use agent_model::Lock;
use std::sync::Arc;

const SMALL_LIMITS: &str = r#"package switchboard

allowed_tools contains tool.id if {
    some tool in input.candidate_tools
    input.phase == "call"
    input.requirement.resource == "x-audiences"
    input.arguments.limit < 3
}

deny_reasons[tool.id] := "at most two audiences" if some tool in input.candidate_tools
"#;

fn policy(text: &str) -> Arc<dyn PolicyEngine> {
    Arc::new(agent_rego::read(text.into()).expect("a policy").value)
}

fn under(policy: &Arc<dyn PolicyEngine>) -> EvaluationContext {
    EvaluationContext {
        policy: Some(Arc::clone(policy)),
        ..EvaluationContext::default()
    }
}

/// A case of the corpus of plans, locked under a policy.
fn case(plan: &str, locked: Option<&Arc<dyn PolicyEngine>>) -> Case {
    let mut case = Case::read(&accepted("an-mcp-tool-that-is-locked"));
    case.plan = Arc::new(lower::plan(plan.into()));
    let lock = case.lock.as_mut().expect("a lock");
    lock.policy = locked.map(|policy| policy.digest());
    case
}

fn plan(input: &str) -> String {
    let case = accepted("an-mcp-tool-that-is-locked");
    let text = String::from_utf8(case.input("plan.json").expect("a plan")).expect("UTF-8");
    assert!(text.contains(r#""input": { "limit": 2 }"#));
    text.replace(r#""input": { "limit": 2 }"#, input)
}

/// The exact reasons against a plan, and the outcome of its first policy check.
fn decided(case: &Case, given: Option<&EvaluationContext>) -> (Vec<Code>, CheckOutcome<StepCheck>) {
    let context = PlanContext {
        evaluation_context: given,
        ..case.context()
    };
    let answer = authorize_plan(&case.plan, &case.rules, context);
    let findings = plan_findings(&case.plan, &case.rules, context, &answer);
    let reasons = findings.iter().map(|it| it.diagnostic.reason);
    let mut records = answer.steps.iter().flatten();
    let record = records.find(|it| it.check == StepCheck::Policy);
    let outcome = record.expect("a check of the policy").outcome;
    (reasons.map(|it| it.expect("a reason")).collect(), outcome)
}

#[test]
fn the_policy_reads_the_arguments_of_a_step() {
    let policy = policy(SMALL_LIMITS);
    let given = under(&policy);
    let small = case(&plan(r#""input": { "limit": 2 }"#), Some(&policy));
    assert_eq!(
        decided(&small, Some(&given)),
        (vec![], CheckOutcome::Passed)
    );
    let large = case(&plan(r#""input": { "limit": 5 }"#), Some(&policy));
    let denied = (vec![Code::PolicyDenied], CheckOutcome::Failed);
    assert_eq!(decided(&large, Some(&given)), denied);
}

#[test]
fn a_plan_is_decided_under_the_policy_of_its_lock() {
    let (locked, other) = (policy(SMALL_LIMITS), policy("package switchboard"));
    let text = plan(r#""input": { "limit": 2 }"#);
    let case_of_it = case(&text, Some(&locked));
    let missing = (vec![Code::PolicyMissing], CheckOutcome::Failed);
    assert_eq!(decided(&case_of_it, None), missing);
    let changed = (vec![Code::PolicyChanged], CheckOutcome::Failed);
    assert_eq!(decided(&case_of_it, Some(&under(&other))), changed);
    // A lock without a policy may be given one.
    let ungoverned = case(&text, None);
    let passed = (vec![], CheckOutcome::Passed);
    assert_eq!(decided(&ungoverned, Some(&under(&locked))), passed);
}

#[test]
fn a_plan_has_no_history_that_could_decide_it() {
    let tenant = |history: &str| {
        let text = format!("tenants:\n  - id: t\n    history: {history}\n");
        let read = lower::tenant(text.into_bytes(), lower::Notation::ByContent, None);
        EvaluationContext {
            tenant: Some(Arc::new(read.expect("a tenant").value)),
            ..EvaluationContext::default()
        }
    };
    let of_tool = case(&plan(r#""input": { "limit": 2 }"#), None);
    let rules = tenant("{ rules: [{ rule: no-send-after, label: private }] }");
    let unknown = (vec![Code::HistoryUnavailable], CheckOutcome::Failed);
    assert_eq!(decided(&of_tool, Some(&rules)), unknown);
    let reads = "package switchboard\nallowed_tools contains t.id if {\n\tsome t in input.candidate_tools\n\tnot input.history.labels.private\n}\n";
    let reading = under(&policy(reads));
    let failed = (vec![Code::PolicyError], CheckOutcome::Failed);
    assert_eq!(decided(&of_tool, Some(&reading)), failed);
    // A window alone decides nothing.
    let window = EvaluationContext {
        tenant: tenant("{ window: 1h }").tenant,
        ..under(&policy(SMALL_LIMITS))
    };
    let passed = (vec![], CheckOutcome::Passed);
    assert_eq!(decided(&of_tool, Some(&window)), passed);
}

#[test]
fn a_policy_is_told_to_be_another_one_only_once() {
    let locked = policy(SMALL_LIMITS);
    let step = r#""input": { "limit": 2 } },
      { "step_id": "again", "connector_id": "connector_acme:audiences", "tool_id": "list",
        "input": { "limit": 1 }"#;
    let (reasons, _) = decided(&case(&plan(step), Some(&locked)), None);
    assert_eq!(reasons, [Code::PolicyMissing]);
}

#[test]
fn a_call_with_the_output_of_an_earlier_step_waits_for_it() {
    let policy = policy(SMALL_LIMITS);
    let given = under(&policy);
    let step = r#""input": { "limit": 2 } },
      { "step_id": "again", "connector_id": "connector_acme:audiences", "tool_id": "list",
        "input_from": { "step": "list", "pointer": "/audiences/0" }"#;
    let case = case(&plan(step), Some(&policy));
    let context = PlanContext {
        evaluation_context: Some(&given),
        ..case.context()
    };
    let answer = authorize_plan(&case.plan, &case.rules, context);
    assert!(answer.deferred_of(1).contains(&RunCheck::Policy));
    assert!(!answer.deferred_of(0).contains(&RunCheck::Policy));
    let Some(plan) = answer.authorized else {
        let found = plan_findings(&case.plan, &case.rules, context, &answer);
        panic!("{found:#?}");
    };
    let codes = |plan: &AuthorizedPlan, input: &str| -> Vec<Code> {
        let denials = plan.check_input(1, input, None);
        denials.iter().map(|it| run_denial(it).0).collect()
    };
    assert_eq!(codes(&plan, r#"{"limit": 1}"#), []);
    assert_eq!(codes(&plan, r#"{"limit": 5}"#), [Code::MovaPolicyDenied]);
}

const SEARCHES: &str = r#"package switchboard

allowed_tools contains tool.id if {
    some tool in input.candidate_tools
    input.arguments.query == "mars"
}
"#;

#[test]
fn the_policy_reads_the_arguments_of_a_one_call_plan() {
    let case = agent_tests::corpus::Case::named("call/accept/a-call-of-a-locked-category");
    let text = |name: &str| case.input(name).expect("a file");
    let index = lower::index(text("mcp.index.json"))
        .expect("an index")
        .value;
    let lock = lower::lock(text("agents.lock")).expect("a lock").value;
    let plan = String::from_utf8(text("plan.json")).expect("UTF-8");
    let (policy, other) = (policy(SEARCHES), policy("package switchboard"));
    let codes = |plan: &str, lock: &Lock, given: Option<&EvaluationContext>| {
        let plan = lower::call_plan(plan.into()).expect("a plan").value;
        let context = CallContext {
            index: &index,
            lock: Some(lock),
            catalogue: None,
            evaluation_context: given,
        };
        let verdict = authorize_call(&plan, context);
        let codes: Vec<_> = call_denials(&plan, &verdict)
            .iter()
            .map(|it| it.code)
            .collect();
        assert_eq!(codes.is_empty(), matches!(verdict, CallVerdict::Allowed(_)));
        codes
    };
    let given = under(&policy);
    assert_eq!(codes(&plan, &lock, None), []);
    assert_eq!(codes(&plan, &lock, Some(&given)), []);
    let asked = plan.replace("mars", "venus");
    assert_ne!(asked, plan);
    assert_eq!(codes(&asked, &lock, Some(&given)), [Code::PolicyDenied]);
    let locked = Lock {
        policy: Some(policy.digest()),
        ..lock
    };
    assert_eq!(codes(&plan, &locked, Some(&given)), []);
    assert_eq!(codes(&plan, &locked, None), [Code::PolicyMissing]);
    assert_eq!(
        codes(&plan, &locked, Some(&under(&other))),
        [Code::PolicyChanged]
    );
}

#[test]
fn another_policy_is_a_drift() {
    let case = case(&plan(r#""input": {}"#), Some(&policy(SEARCHES)));
    let (index, lock) = (case.index.expect("an index"), case.lock.expect("a lock"));
    let drifts = |digest: Option<&str>| -> Vec<_> {
        let state = verify_under(&lock, &index, digest);
        state.drifts().iter().map(|it| it.code).collect()
    };
    assert_eq!(drifts(None), []);
    assert_eq!(drifts(lock.policy.as_deref()), []);
    let other = policy(SMALL_LIMITS).digest();
    assert_eq!(drifts(Some(&other)), [Code::PolicyChanged]);
    let ungoverned = Lock {
        policy: None,
        ..lock.clone()
    };
    let codes = |older: &Lock, newer: &Lock| -> Vec<_> {
        let state = compare(Some(older), newer);
        state.drifts().iter().map(|it| it.code).collect()
    };
    assert_eq!(codes(&lock, &ungoverned), [Code::PolicyChanged]);
    assert_eq!(codes(&ungoverned, &lock), [Code::PolicyChanged]);
    assert_eq!(codes(&lock, &lock), []);
}

#[test]
fn a_digest_of_the_bytes_is_no_drift() {
    let crlf = SEARCHES.replace('\n', "\r\n");
    let case = case(&plan(r#""input": {}"#), Some(&policy(&crlf)));
    let newer = case.lock.expect("a lock");
    let older = |policy| LockText {
        lock: Lock {
            policy: Some(policy),
            ..newer.clone()
        },
        text: None,
    };
    let codes = |older: &LockText, policy: &str| -> Vec<_> {
        let policy = self::policy(policy);
        let drifts = agent_api::compare(Some(older), &newer, Some(&*policy));
        drifts.iter().map(|it| it.code).collect()
    };
    let of_bytes = older(agent_lower::digest(&crlf));
    assert_eq!(codes(&of_bytes, &crlf), []);
    assert_eq!(codes(&of_bytes, SEARCHES), [Code::PolicyChanged]);
    let of_others = older(policy(SMALL_LIMITS).digest());
    assert_eq!(codes(&of_others, &crlf), [Code::PolicyChanged]);
}
