//! Plans without a model.

use crate::request::{AMPLE, content, request};
use agent_planner::{Limits, Planner, PlannerError, PlannerErrorKind, Template};
use agent_way_out::Cancel;
use serde_json::{Value, json};
use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;

async fn plan(content: &Value, steps: usize) -> Result<Vec<u8>, PlannerError> {
    let steps = NonZeroUsize::new(steps).unwrap();
    let planner = Planner::Template(Template { steps });
    planner
        .plan(&request(content), &AMPLE, &Cancel::never())
        .await
}

async fn steps(content: &Value, steps: usize) -> Value {
    let plan = plan(content, steps).await.unwrap();
    let mut plan: Value = serde_json::from_slice(&plan).unwrap();
    plan["plan"]["steps"].take()
}

fn schema(name: &str) -> Value {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas");
    let text = fs::read_to_string(folder.join(format!("{name}.schema.json"))).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[tokio::test]
async fn plans_fit_their_schema() {
    let mut envelope = schema("env.mova_agent_plan_v1");
    envelope["$defs"]["step"] = schema("ds.mova_agent_step_v1");
    let validator = jsonschema::validator_for(&envelope).unwrap();
    for number in [1, 2, 9] {
        let plan = plan(&content(), number).await.unwrap();
        let mut plan = serde_json::from_slice(&plan).unwrap();
        assert!(validator.is_valid(&plan), "{plan}");
        plan["plan"]["steps"][0]["step_id"] = "Step 1".into();
        assert!(!validator.is_valid(&plan), "steps are validated too");
    }
}

#[tokio::test]
async fn the_plan_repeats_what_it_is_for() {
    let plan: Value = serde_json::from_slice(&plan(&content(), 1).await.unwrap()).unwrap();
    let content = content();
    for member in ["request_id", "tool_pool_ref", "instruction_profile_ref"] {
        assert_eq!(plan["plan"][member], content[member]);
    }
}

#[tokio::test]
async fn tools_with_a_word_of_the_goal_are_steps_in_the_order_of_the_catalogue() {
    let list = json!({
        "step_id": "step-1", "connector_id": "connector_acme:audiences", "tool_id": "list",
        "input": {"limit": 1},
    });
    assert_eq!(steps(&content(), 1).await, json!([list]));
    let largest = json!({
        "step_id": "step-2", "connector_id": "connector_core:noop", "tool_id": "largest", "input": {},
    });
    assert_eq!(steps(&content(), 5).await, json!([list, largest]));
}

#[tokio::test]
async fn without_such_a_tool_the_first_noop_tool_is_the_step() {
    let mut content = content();
    content["goal"] = "Say hello to the world".into();
    let found = steps(&content, 5).await;
    assert_eq!(found.as_array().unwrap().len(), 1);
    assert_eq!(found[0]["tool_id"], "keep");

    content["tools"].as_array_mut().unwrap().truncate(2);
    let error = plan(&content, 1).await.unwrap_err();
    assert_eq!(error.kind, PlannerErrorKind::NoTool);
    content["tools"] = json!([]);
    let error = plan(&content, 1).await.unwrap_err();
    assert_eq!(error.kind, PlannerErrorKind::NoTool);
}

#[tokio::test]
async fn the_same_request_has_the_same_bytes() {
    let mut content = content();
    content["tools"][1]["input_schema"] = json!({"default": {"b": 1, "a": {"d": 1, "c": 2}}});
    let first = plan(&content, 2).await.unwrap();
    assert_eq!(plan(&content, 2).await.unwrap(), first);
    let text = String::from_utf8(first).unwrap();
    let sorted = r#""input":{"a":{"c":2,"d":1},"b":1}"#;
    assert!(text.contains(sorted), "{text}");
    // Whatever the order in the request was.
    let default = r#"{"a":{"c":2,"d":1},"b":1}"#;
    let request = serde_json::to_string(&content).unwrap();
    assert!(request.contains(default), "the order that the test changes");
    let other = request.replace(default, r#"{"b":1,"a":{"d":1,"c":2}}"#);
    let other = agent_planner::PlannerRequest::from_json(other.as_bytes()).unwrap();
    let planner = Planner::Template(Template {
        steps: NonZeroUsize::new(2).unwrap(),
    });
    let plan = planner.plan(&other, &AMPLE, &Cancel::never()).await;
    assert_eq!(String::from_utf8(plan.unwrap()).unwrap(), text);
}

#[tokio::test]
async fn limits_and_cancellation_hold() {
    let planner = Planner::Template(Template::default());
    let limits = |plan_bytes| Limits {
        plan_bytes,
        ..AMPLE
    };
    let request = request(&content());
    let never = Cancel::never();
    let whole = planner.plan(&request, &AMPLE, &never).await.unwrap();
    let fits = planner.plan(&request, &limits(whole.len()), &never).await;
    assert_eq!(fits.unwrap(), whole);
    let error = planner
        .plan(&request, &limits(whole.len() - 1), &never)
        .await;
    assert_eq!(error.unwrap_err().kind, PlannerErrorKind::TooLarge);

    let (canceller, cancel) = Cancel::new();
    canceller.cancel();
    let error = planner.plan(&request, &AMPLE, &cancel).await.unwrap_err();
    assert_eq!(error.kind, PlannerErrorKind::Cancelled);
}
