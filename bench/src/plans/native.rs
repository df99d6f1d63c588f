//! The engine as a library.

use crate::contender::{PLAN_SCHEMA, STEP_SCHEMA, run};
use agent_decide::{PlanContext, PlanPolicy, Resolution, authorize_plan};
use agent_diagnostic::Problems;
use agent_explain::plan_findings;
use agent_json_schema::{Budget, Documents, Draft, Schema};
use agent_lower as lower;
use agent_syntax::{Node, json};
use agent_text::{DocumentKind, Text};
use std::error::Error;
use std::path::Path;
use std::sync::Arc;

/// The identifier of the schema of steps in the schema of plans.
const STEP_SCHEMA_URI: &str =
    "https://agent-engine.github.io/agent/schemas/ds.mova_agent_step_v1.schema.json";

/// Reads plans and checks them against their schema.
pub(crate) fn check(folder: &Path, passes: [usize; 2]) -> Result<(), Box<dyn Error>> {
    let [plan, step] = [PLAN_SCHEMA, STEP_SCHEMA].map(|name| text(&folder.join(name)));
    let (plan, step) = (plan?, step?);
    let (plan, step) = (tree(&plan), tree(&step));
    let draft = Draft::Draft202012;
    let mut documents = Documents::new();
    documents.add(STEP_SCHEMA_URI, &step, draft);
    let schema = Schema::compile(&plan, &documents, draft, &mut Budget::new());
    let schema = schema.map_err(|refused| format!("{refused:?}"))?;
    run(folder, passes, |bytes| {
        let text = String::from_utf8(bytes).expect("plans are UTF-8");
        let text = Text::new(DocumentKind::Plan, text);
        let violations = schema.check(&tree(&text), &mut Budget::new());
        violations.expect("plans are small").len()
    })
}

/// Reads plans and decides whether they may run, by the pool and the profile of `examples/plans`.
pub(crate) fn decide(folder: &Path, passes: [usize; 2]) -> Result<(), Box<dyn Error>> {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/plans");
    let read = |name: &str| std::fs::read(examples.join(name));
    // The plans are longer than those of the examples.
    let profile = String::from_utf8(read("profile.json")?)?;
    let profile = profile.replace("\"max_steps\": 4", "\"max_steps\": 8");
    let rules = PlanPolicy::new(read("tool-pool.json")?, profile.into_bytes(), None);
    let rules = Arc::new(rules);
    let manifest = sound(lower::manifest(read("agents.md")?))?;
    let index = Arc::new(sound(lower::index(read("mcp.index.json")?))?);
    let resolution = Resolution::new(Arc::new(manifest), Arc::clone(&index));
    let lock = resolution.lock().ok_or("a server for each requirement")?;
    let context = PlanContext {
        evaluation_context: None,
        request: None,
        index: Some(&index),
        lock: Some(&lock),
        catalogue: None,
    };
    run(folder, passes, |bytes| {
        let plan = Arc::new(lower::plan(bytes));
        let answer = authorize_plan(&plan, &rules, context);
        let findings = plan_findings(&plan, &rules, context, &answer);
        assert_eq!(answer.authorized.is_some(), findings.is_empty());
        findings.len()
    })
}

fn sound<T>(lowered: lower::Lowered<T>) -> Result<T, String> {
    match lowered {
        Ok(checked) => Ok(checked.value),
        Err(problems) => Err(format!("{problems:?}")),
    }
}

fn text(path: &Path) -> Result<Text, Box<dyn Error>> {
    Ok(Text::new(
        DocumentKind::Plan,
        std::fs::read_to_string(path)?,
    ))
}

fn tree(text: &Text) -> Node<'_> {
    json::parse(&mut Problems::new(text)).expect("it is JSON")
}
