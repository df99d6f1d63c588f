//! The task of every timed program, in any language: read plans, check all of them several times,
//! and print the errors and the time of each pass.

use serde_json::json;
use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

/// The file of plans, one per line, in the folder that a contender gets.
pub(crate) const PLANS: &str = "plans.jsonl";

/// The file of the schema of plans in that folder.
pub(crate) const PLAN_SCHEMA: &str = "plan.schema.json";

/// The file of the schema of steps in that folder.
pub(crate) const STEP_SCHEMA: &str = "step.schema.json";

/// Checks plans, `warm` times and then `timed` times. `count` returns the number of errors of a
/// plan, given as bytes.
pub(crate) fn run(
    folder: &Path,
    [warm, timed]: [usize; 2],
    count: impl Fn(Vec<u8>) -> usize,
) -> Result<(), Box<dyn Error>> {
    let text = std::fs::read(folder.join(PLANS))?;
    let lines = text.split_inclusive(|byte| *byte == b'\n');
    let plans: Vec<_> = lines.map(<[u8]>::to_vec).collect();
    let mut nanoseconds = Vec::new();
    for pass in 0..warm + timed {
        let plans = plans.clone();
        let start = Instant::now();
        for plan in plans {
            black_box(count(plan));
        }
        if pass >= warm {
            nanoseconds.push(start.elapsed().as_nanos() as u64);
        }
    }
    let errors: Vec<_> = plans.into_iter().map(count).collect();
    println!(
        "{}",
        json!({ "errors": errors, "nanoseconds": nanoseconds })
    );
    Ok(())
}
