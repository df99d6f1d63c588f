//! Requirements of capabilities, against an index whose weight is its tools.

use crate::parse;
use crate::table::Table;
use crate::timing::{shortest, shortest_from};
use crate::world::World;
use agent_engine::decide::{Circumstances, Matching};
use agent_engine::lower;
use std::sync::Arc;

pub(crate) fn measure(world: &World) -> Table {
    let mut table = Table::new(world, parse::measure(world));
    let manifest = lower::manifest(world.manifest.clone());
    let manifest = Arc::new(manifest.expect("the manifest is valid").value);
    let load = |bytes| Arc::new(lower::index(bytes).expect("the index is valid").value);
    let before = memory::peak();
    let index = load(world.index.clone());
    table.note(format!(
        "Loaded, the index takes {:.0} MB at its peak, its text of {:.0} MB included.",
        (memory::peak() - before) as f64 / 1e6,
        world.index.len() as f64 / 1e6,
    ));
    let decide = |index| {
        let circumstances = Circumstances::default();
        Matching::new(Some(Arc::clone(&manifest)), index, circumstances)
    };
    assert!(decide(Arc::clone(&index)).satisfied());
    let bytes = || world.index.clone();
    table.add("native: load the index", shortest_from(bytes, load));
    let whole = shortest_from(bytes, |bytes| decide(load(bytes)));
    table.add_target("native: bytes → every tool matched", whole, 2.0);
    table.add(
        "native: warm match",
        shortest(|| decide(Arc::clone(&index))),
    );
    table
}

/// What the process has used.
mod memory {
    /// The most memory that was resident at once so far, in bytes. 0 where the system doesn't tell.
    pub(super) fn peak() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
        kilobytes
            .and_then(|number| number.parse().ok())
            .unwrap_or(0)
            * 1024
    }
}
