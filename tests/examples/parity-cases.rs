//! Writes the engine's answers on this machine, to compare the browser with.
//!
//! `parity-cases FILE`: a JSON list of cases, from the corpus and generated. `cargo xtask test`
//! compiles it into `playground/worker/tests/browser.rs`.

use agent_tests::corpus::cases;
use agent_tests::native;
use agent_tests::world::{crowds, styles, worlds};
use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use std::{env, fs};

/// The number of generated worlds besides the corpus.
const WORLDS: usize = 500;

/// The number of large worlds, in which the engine takes other paths.
const CROWDS: usize = 5;

fn main() {
    let path = env::args().nth(1).expect("the name of the file to write");
    let mut list: Vec<_> = ["resolve", "validate", "views", "drift"]
        .into_iter()
        .flat_map(cases)
        .filter_map(|found| {
            let input = |name| found.input(name);
            case(
                &found.name(),
                input("agents.md").unwrap_or_default(),
                input("mcp.index.json").unwrap_or_default(),
            )
        })
        .collect();
    // The same worlds in every run: the browser's tests are compiled with them.
    let mut runner = TestRunner::deterministic();
    for number in 0..WORLDS {
        let world = if number < CROWDS {
            crowds().boxed()
        } else {
            worlds().boxed()
        };
        let world = world.new_tree(&mut runner).expect("a world").current();
        let style = styles().new_tree(&mut runner).expect("a style").current();
        let name = format!("world {number}");
        list.extend(case(&name, world.manifest(style), world.index(style)));
    }
    fs::write(path, json!(list).to_string()).expect("the file can be written");
}

/// Returns `None` for a text that is not UTF-8, which the browser can't represent.
fn case(name: &str, manifest: Vec<u8>, index: Vec<u8>) -> Option<Value> {
    let mut answers = native::resolve(&manifest, &index);
    Some(json!({
        "name": name,
        "manifest": String::from_utf8(manifest).ok()?,
        "index": String::from_utf8(index).ok()?,
        "lock": answers.remove("agents.lock"),
        "resolution": answers.remove("agents.resolution.json"),
        "problems": answers.remove("diagnostics.json"),
    }))
}
