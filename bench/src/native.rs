//! The engine as a library.

use crate::table::Table;
use crate::timing::shortest;
use crate::world::World;
use agent_engine::decide::Resolution;
use agent_engine::model::{Index, Manifest};
use agent_engine::{lower, render};
use std::sync::Arc;

pub(crate) fn measure(world: &World, table: &mut Table) {
    table.add("native: load the index", shortest(|| load(world)));
    let to_lock = shortest(|| lock(&Resolution::new(parse(world), load(world))));
    table.add_target("native: bytes → lock", to_lock, 1.2);

    let (manifest, index) = (parse(world), load(world));
    let resolve = || Resolution::new(Arc::clone(&manifest), Arc::clone(&index));
    let resolution = resolve();
    assert!(resolution.satisfied());
    table.add("native: warm resolve", shortest(resolve));
    table.add(
        "native: lock of a resolution",
        shortest(|| lock(&resolution)),
    );
    let compact = shortest(|| render::compact(&resolution));
    table.add_target("native: compact explanation", compact, 0.35);
    table.add("native: summary", shortest(|| render::summary(&resolution)));
}

fn parse(world: &World) -> Arc<Manifest> {
    let manifest = lower::manifest(world.manifest.clone());
    Arc::new(manifest.expect("the manifest is valid").value)
}

fn load(world: &World) -> Arc<Index> {
    let index = lower::index(world.index.clone());
    Arc::new(index.expect("the index is valid").value)
}

fn lock(resolution: &Resolution) -> String {
    render::lock(&resolution.lock().expect("every requirement is satisfied"))
}
