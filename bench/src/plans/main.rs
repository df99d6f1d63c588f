//! Measures the time to check plans against their JSON Schema, from bytes to all errors: by the
//! engine and by other validators, each in its own process.
//!
//! Prints a table and writes it as JSON to `target/bench-plans.json`. `cargo xtask bench --plans`
//! installs and builds its tools, and passes the paths of a Python with the packages of
//! `bench/baseline/requirements.txt`, and of the example `jsonschema`.

#![expect(clippy::print_stdout, reason = "the program prints a table")]

mod contender;
mod native;
#[path = "../random.rs"]
mod random;
mod round;
#[path = "../table.rs"]
mod table;
mod world;

use contender::{PLAN_SCHEMA, PLANS, STEP_SCHEMA};
use round::Contender;
use std::error::Error;
use std::path::Path;
use table::Table;

/// The number of plans.
const COUNT: usize = 10_000;

/// The argument that makes this program measure the engine's validation of plans against their
/// schema.
const CHECK: &str = "--check";

/// The argument that makes this program measure the engine's decision on plans.
const DECIDE: &str = "--decide";

/// The maximum desired time to validate plans, as a part of ajv's.
const TARGET: f64 = 0.5;

/// The maximum desired time to decide plans, as a part of ajv's time to validate them.
const DECISION_TARGET: f64 = 1.0;

const AJV: &str = "JSON.parse + ajv";
const AJV_OF_STRINGS: &str = "the same, from strings";
const ENGINE: &str = "native: bytes → all violations";
const DECISION: &str = "native: bytes → whole decision";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    match *arguments {
        [CHECK, folder, warm, timed] => {
            native::check(folder.as_ref(), [warm.parse()?, timed.parse()?])
        }
        [DECIDE, folder, warm, timed] => {
            native::decide(folder.as_ref(), [warm.parse()?, timed.parse()?])
        }
        [python, jsonschema] => measure(python, jsonschema),
        _ => Err("the paths of a Python and of the example are missing".into()),
    }
}

fn measure(python: &str, jsonschema: &str) -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folder = tempfile::tempdir()?;
    let plans = world::generate(COUNT);
    std::fs::write(folder.path().join(PLANS), &plans)?;
    for (name, schema) in [
        (PLAN_SCHEMA, "env.mova_agent_plan_v1"),
        (STEP_SCHEMA, "ds.mova_agent_step_v1"),
    ] {
        let schema = root.join(format!("schemas/{schema}.schema.json"));
        std::fs::copy(schema, folder.path().join(name))?;
    }

    let this = std::env::current_exe()?;
    let script = |name: &str| root.join("bench/baseline").join(name);
    let mut contenders = [
        Contender::new(AJV, "node")
            .of(script("plans.mjs"))
            .of("bytes"),
        Contender::new(AJV_OF_STRINGS, "node")
            .of(script("plans.mjs"))
            .of("strings"),
        Contender::new(ENGINE, &this).of(CHECK).target(TARGET),
        Contender::new(DECISION, &this)
            .of(DECIDE)
            .target(DECISION_TARGET),
        Contender::new("Rust: jsonschema", jsonschema),
        Contender::new("Python: jsonschema-rs", python)
            .of(script("plans.py"))
            .of("jsonschema_rs"),
        Contender::new("Python: jsonschema", python)
            .of(script("plans.py"))
            .of("jsonschema")
            .once(),
    ];
    round::run(&mut contenders, folder.path())?;

    let invalid = contenders[0].invalid();
    let title = format!(
        "{COUNT} plans of {:.1} kB on average, of which {invalid} are invalid",
        plans.len() as f64 / COUNT as f64 / 1e3,
    );
    let [unit, others @ ..] = &contenders;
    let mut table = Table::new(title, unit.name(), unit.median());
    for other in others {
        other.add_to(&mut table);
    }
    table.compare("native ÷ ajv, from strings", ENGINE, AJV_OF_STRINGS, TARGET);
    table.note(format!(
        "Of each a median, of as many times: {}.",
        round::counts(&contenders)
    ));
    println!("{table}");
    let target = root.join("target");
    std::fs::create_dir_all(&target)?;
    std::fs::write(target.join("bench-plans.json"), table::json(&[table])?)?;
    println!("written as JSON to target/bench-plans.json");
    Ok(())
}
