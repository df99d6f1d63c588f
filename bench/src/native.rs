//! The engine as a library.

use crate::table::Table;
use crate::timing::{shortest, shortest_from};
use crate::world::World;
use agent_decide::Resolution;
use agent_lower as lower;
use agent_model::{Index, Manifest};
use agent_render as render;
use std::sync::Arc;

pub(crate) fn measure(world: &World, table: &mut Table) {
    let index = || world.index.clone();
    table.add("native: load the index", shortest_from(index, load));
    let bytes = || (world.manifest.clone(), world.index.clone());
    let to_lock = shortest_from(bytes, |(manifest, index)| {
        lock(&Resolution::new(read_manifest(manifest), load(index)))
    });
    table.add_target("native: bytes → lock", to_lock, 0.7);

    let (manifest, index) = (
        read_manifest(world.manifest.clone()),
        load(world.index.clone()),
    );
    let resolve = || Resolution::new(Arc::clone(&manifest), Arc::clone(&index));
    let resolution = resolve();
    assert!(resolution.satisfied());
    table.add("native: warm resolve", shortest(resolve));
    table.add(
        "native: lock of a resolution",
        shortest(|| lock(&resolution)),
    );
    let compact = shortest(|| render::compact(&resolution));
    table.add_target("native: compact explanation", compact, 0.2);
    table.add("native: summary", shortest(|| render::summary(&resolution)));
}

pub(crate) fn read_manifest(bytes: Vec<u8>) -> Arc<Manifest> {
    let manifest = lower::manifest(bytes);
    Arc::new(manifest.expect("the manifest is valid").value)
}

pub(crate) fn load(bytes: Vec<u8>) -> Arc<Index> {
    let index = lower::index(bytes);
    Arc::new(index.expect("the index is valid").value)
}

fn lock(resolution: &Resolution) -> String {
    render::lock(&resolution.lock().expect("every requirement is satisfied"))
}
