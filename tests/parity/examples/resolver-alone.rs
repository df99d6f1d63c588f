//! Checks that the component of the world `resolver-only` answers like the engine.
//!
//! `resolver-alone COMPONENT`: over the corpus and generated worlds, with and without tools. Ends
//! with 1 at the first difference. `cargo xtask test` runs it.

use agent_host::contract::{inputs, resolver};
use agent_tests::corpus::cases;
use agent_tests::native::{self, Answers};
use agent_tests::world::{crowds, styles, tool_worlds, worlds};
use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::TestRunner;
use std::env;
use std::io::{Write as _, stdout};
use wasmtime::component::{Component, InstancePre, Linker};
use wasmtime::{Result, Store};

fn main() -> Result<()> {
    let path = env::args().nth(1).expect("the path of the component");
    let engine = agent_aot::engine()?;
    let component = Component::from_file(&engine, path)?;
    // An empty linker refuses a component that imports anything.
    let instances = Linker::new(&engine).instantiate_pre(&component)?;
    let mut compared = 0;
    for (name, manifest, index) in cases_and_worlds() {
        let answers = native::resolve(&manifest, &index);
        let expected = ["agents.lock", "agents.resolution.json"].map(|name| answers.get(name));
        let found = answer(&instances, &manifest, &index)?;
        let same = match &found {
            Some([lock, explanation]) => expected == [lock.as_ref(), explanation.as_ref()],
            None => refused(&answers),
        };
        if !same {
            wasmtime::bail!(
                "{name}: the resolver alone says\n{found:?}\nand the engine\n{expected:?}"
            );
        }
        compared += 1;
    }
    writeln!(stdout(), "{compared} cases have the same answer")?;
    Ok(())
}

/// Returns whether the engine decided nothing, because an input has errors.
fn refused(answers: &Answers) -> bool {
    !answers.contains_key("agents.resolution.json")
}

fn cases_and_worlds() -> impl Iterator<Item = (String, Vec<u8>, Vec<u8>)> {
    let corpus = ["resolve", "validate", "views", "drift"]
        .into_iter()
        .flat_map(cases)
        .map(|case| {
            let input = |name| case.input(name).unwrap_or_default();
            (case.name(), input("agents.md"), input("mcp.index.json"))
        });
    // The same worlds in every run, so that a difference is reproducible.
    let mut runner = TestRunner::deterministic();
    let kinds = [
        (200, worlds().boxed()),
        (200, tool_worlds().boxed()),
        (5, crowds().boxed()),
    ];
    let generated = kinds.into_iter().flat_map(move |(count, kind)| {
        let mut found = Vec::new();
        for number in 0..count {
            let world = kind.new_tree(&mut runner).expect("a world").current();
            let style = styles().new_tree(&mut runner).expect("a style").current();
            let name = format!("world {number} of {count}");
            found.push((name, world.manifest(style), world.index(style)));
        }
        found
    });
    corpus.chain(generated)
}

/// Returns the lock, if any, and the explanation, or `None` if an input has errors.
fn answer(
    instances: &InstancePre<()>,
    manifest: &[u8],
    index: &[u8],
) -> Result<Option<[Option<String>; 2]>> {
    let mut store = Store::new(instances.component().engine(), ());
    store.set_epoch_deadline(1);
    let instance = instances.instantiate(&mut store)?;
    let inputs = inputs::GuestIndices::new(instances)?.load(&mut store, &instance)?;
    let resolver = resolver::GuestIndices::new(instances)?.load(&mut store, &instance)?;
    let manifest = inputs.manifest().call_parse(&mut store, manifest)?;
    let index = inputs.index().call_load(&mut store, index)?;
    let (Ok(manifest), Ok(index)) = (manifest, index) else {
        return Ok(None);
    };
    let resolutions = resolver.resolution();
    let resolution = resolutions.call_constructor(&mut store, manifest, index)?;
    let lock = resolutions.call_lock(&mut store, resolution)?;
    let explanation = resolutions.call_explanation(&mut store, resolution)?;
    Ok(Some([lock, explanation.ok()]))
}
