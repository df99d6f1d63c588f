//! What every program does whose checks are timed, in whatever language: read plans, check all of
//! them several times, and say what was found and how long each time took.

use serde_json::json;
use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

/// Where the plans are, a line each, in the folder that a contender is started with.
pub(crate) const PLANS: &str = "plans.jsonl";

/// Where the schema of plans is, there as well.
pub(crate) const PLAN_SCHEMA: &str = "plan.schema.json";

/// Where the schema of steps is.
pub(crate) const STEP_SCHEMA: &str = "step.schema.json";

/// Check plans, `warm` times and then `timed` times. `count` says how many errors a plan has, of
/// which it is given the bytes.
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
