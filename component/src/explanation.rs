//! `agent:engine/explanation`

use crate::Component;
use crate::bindings::exports::agent::engine::explanation::{
    Drift, Guest, Origin, ResolutionBorrow,
};
use crate::convert::all;
use crate::inputs::Index;
use crate::lockfile::Lock;
use crate::resolver::Resolution;
use agent_api::{explain, model, render};

impl Guest for Component {
    fn compact(resolution: ResolutionBorrow<'_>) -> String {
        render::compact(&resolution.get::<Resolution>().0)
    }

    fn detailed(drifts: Vec<Drift>, older: Origin<'_>, newer: Origin<'_>) -> Vec<Drift> {
        let drifts: Vec<_> = all(drifts);
        all(&explain::detailed(&drifts, parts(&older), parts(&newer)))
    }
}

fn parts<'o>(origin: &'o Origin<'_>) -> (&'o model::Lock, &'o model::Index) {
    let index = &origin.index.get::<Index>().value;
    (&origin.lock.get::<Lock>().0, index)
}
