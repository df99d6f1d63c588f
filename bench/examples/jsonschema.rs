//! Plans checked by the crate `jsonschema`, for `agent-bench-plans`. It is an example and not part
//! of that program, because the crate enables features of the engine's dependencies.

#![expect(clippy::print_stdout, reason = "another program reads the output")]

#[path = "../src/plans/contender.rs"]
mod contender;

use contender::{PLAN_SCHEMA, STEP_SCHEMA, run};
use jsonschema::{Draft, Registry};
use serde_json::Value;
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [folder, warm, timed] = &*arguments else {
        return Err("FOLDER WARM TIMED".into());
    };
    let folder = Path::new(folder);
    let read = |name: &str| -> Result<Value, Box<dyn Error>> {
        Ok(serde_json::from_slice(&std::fs::read(folder.join(name))?)?)
    };
    let (plan, step) = (read(PLAN_SCHEMA)?, read(STEP_SCHEMA)?);
    let id = step["$id"].as_str().ok_or("a schema with an identifier")?;
    let registry = Registry::new().add(id, &step)?.prepare()?;
    let options = jsonschema::options().with_draft(Draft::Draft202012);
    let validator = options.with_registry(&registry).build(&plan)?;
    run(folder, [warm.parse()?, timed.parse()?], |bytes| {
        let plan: Value = serde_json::from_slice(&bytes).expect("plans are JSON");
        validator.iter_errors(&plan).count()
    })
}
