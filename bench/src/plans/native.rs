//! The engine as a library.

use crate::contender::{PLAN_SCHEMA, STEP_SCHEMA, run};
use agent_engine::diagnostic::Problems;
use agent_engine::schema::{Budget, Documents, Draft, Schema};
use agent_engine::syntax::{Node, json};
use agent_engine::text::{Source, Text};
use std::error::Error;
use std::path::Path;

/// What the schema of plans calls the schema of steps.
const STEP_SCHEMA_URI: &str =
    "https://agent-engine.github.io/agent/schemas/ds.mova_agent_step_v1.schema.json";

/// Read plans and check them against their schema.
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
        let text = Text::new(Source::Plan, text);
        let violations = schema.check(&tree(&text), &mut Budget::new());
        violations.expect("plans are small").len()
    })
}

fn text(path: &Path) -> Result<Text, Box<dyn Error>> {
    Ok(Text::new(Source::Plan, std::fs::read_to_string(path)?))
}

fn tree(text: &Text) -> Node<'_> {
    json::parse(&mut Problems::new(text)).expect("it is JSON")
}
