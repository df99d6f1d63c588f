//! The engine as a component under wasmtime.

use crate::table::Table;
use crate::timing::shortest;
use crate::world::World;
use agent_host::contract::inputs::{Index, Manifest};
use agent_host::contract::resolver::Resolution;
use agent_host::{Engine, Failure, Instance, call};
use std::error::Error;
use std::process::Command;
use std::time::{Duration, Instant};

/// The argument that makes the program [`start`] the component.
pub(crate) const ARGUMENT: &str = "--start";

/// Number of processes that start the component, of which the fastest counts.
const STARTS: usize = 20;

/// Loads the component, instantiates it, and prints the nanoseconds.
pub(crate) fn start() -> Result<(), Failure> {
    let begun = Instant::now();
    let instance = Engine::embedded()?.instantiate()?;
    let time = begun.elapsed();
    // The measured time excludes freeing it.
    drop(instance);
    println!("{}", time.as_nanos());
    Ok(())
}

/// Returns the time of the first start of the component in a process, which loads it once.
fn first_start() -> Result<Duration, Box<dyn Error>> {
    let program = std::env::current_exe()?;
    let mut shortest = Duration::MAX;
    for _ in 0..STARTS {
        let output = Command::new(&program).arg(ARGUMENT).output()?;
        let nanoseconds = String::from_utf8(output.stdout)?.trim().parse()?;
        shortest = shortest.min(Duration::from_nanos(nanoseconds));
    }
    Ok(shortest)
}

/// Adds the rows of the component to the table of a world.
pub(crate) fn measure(world: &World, table: &mut Table) -> Result<(), Box<dyn Error>> {
    table.add("component: load and instantiate", first_start()?);

    let engine = Engine::embedded()?;
    let to_lock = shortest(|| {
        let mut instance = engine.instantiate().expect("starts");
        let (manifest, index) = inputs(&mut instance, world).expect("the inputs are valid");
        let resolution = resolve(&mut instance, manifest, index).expect("resolves");
        let lock = call!(instance, resolver.resolution.lock(resolution));
        lock.expect("renders")
            .expect("every requirement can be met")
    });
    table.add("component: bytes → lock", to_lock);
    table.compare(
        "component / native: bytes → lock",
        "component: bytes → lock",
        "native: bytes → lock",
        1.5,
    );

    let mut instance = engine.instantiate()?;
    let (manifest, index) = inputs(&mut instance, world)?;
    let resolution = resolve(&mut instance, manifest, index)?;
    let warm = shortest(|| {
        let resolution = resolve(&mut instance, manifest, index).expect("resolves");
        let dropped = instance.call(|_, store| resolution.resource_drop(store));
        dropped.expect("is dropped");
    });
    table.add("component: warm resolve", warm);
    let compact = shortest(|| {
        let explanation = call!(instance, explanation.compact(resolution));
        explanation.expect("renders")
    });
    table.add("component: compact explanation", compact);
    Ok(())
}

fn inputs(instance: &mut Instance, world: &World) -> Result<(Manifest, Index), Failure> {
    let manifest = call!(instance, inputs.manifest.parse(&world.manifest))?;
    let index = call!(instance, inputs.index.load(&world.index))?;
    match (manifest, index) {
        (Ok(manifest), Ok(index)) => Ok((manifest, index)),
        _ => Err(Failure::new("an input was refused")),
    }
}

fn resolve(
    instance: &mut Instance,
    manifest: Manifest,
    index: Index,
) -> Result<Resolution, Failure> {
    call!(instance, resolver.resolution.constructor(manifest, index))
}
