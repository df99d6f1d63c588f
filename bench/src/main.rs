//! Measures the engine on generated worlds, native and as a component, with the baselines in the
//! same run: a typed parse of the same bytes by `serde_json`, which is the unit, and the same
//! resolution in Python.
//!
//! Prints a table and writes it as JSON to `target/bench.json`. `--quick` takes the small worlds
//! only, `--capabilities` those with tools only, `--runs` the steps of plans only.

#![expect(clippy::print_stdout, reason = "the program prints a table")]

mod capability;
mod component;
mod native;
mod parse;
mod process;
mod random;
mod runs;
mod table;
mod timing;
mod tool;
mod world;

use agent_pack::Workspace;
use std::error::Error;
use world::World;

fn main() -> Result<(), Box<dyn Error>> {
    let asked = |name: &str| std::env::args().any(|argument| argument == name);
    let mut arguments = std::env::args().skip_while(|it| it != capability::memory::ARGUMENT);
    if let Some(path) = arguments.nth(1) {
        capability::memory::load(path.as_ref());
        return Ok(());
    }
    if asked(component::ARGUMENT) {
        return Ok(component::start()?);
    }
    if asked("--runs") {
        for table in runs::measure()? {
            println!("{table}");
        }
        return Ok(());
    }
    let quick = asked("--quick");
    let workspace = Workspace::of_this_build();
    let mut tables = vec![];
    for (servers, requirements) in [(10_000, 100), (100_000, 1_000)] {
        if asked("--capabilities") || quick && servers > 10_000 {
            continue;
        }
        let world = World::generate(servers, requirements);
        let mut table = parse::table(&world);
        native::measure(&world, &mut table);
        component::measure(&world, &mut table)?;
        process::measure(&workspace, &world, &mut table)?;
        println!("{table}");
        tables.push(table);
    }
    let servers = if quick { 1_000 } else { 10_000 };
    let table = capability::measure(&World::with_tools(servers, 20, 100));
    println!("{table}");
    tables.push(table);
    let table = capability::compare(&World::with_tools(500, 20, 20));
    println!("{table}");
    tables.push(table);
    for table in runs::measure()? {
        println!("{table}");
        tables.push(table);
    }
    let path = workspace.root().join("target/bench.json");
    std::fs::write(&path, table::json(&tables)?)?;
    println!("written as JSON to target/bench.json");
    Ok(())
}
