//! `agent:engine/explanation`

use crate::Component;
use crate::bindings::exports::agent::engine::explanation::{
    Drift, Former, Guest, Origin, ResolutionBorrow,
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

    fn detailed(drifts: Vec<Drift>, older: Former<'_>, newer: Origin<'_>) -> Vec<Drift> {
        let drifts: Vec<_> = all(drifts);
        let older = match &older {
            Former::Index(origin) => {
                let (lock, index) = parts(origin);
                explain::Former::Index(lock, index)
            }
            Former::Definitions(stored) => {
                let lock = &stored.lock.get::<Lock>().0;
                explain::Former::Definitions(lock, &stored.definitions)
            }
        };
        all(&explain::detailed(&drifts, older, parts(&newer)))
    }
}

fn parts<'o>(origin: &'o Origin<'_>) -> (&'o model::Lock, &'o model::Index) {
    let index = &origin.index.get::<Index>().value;
    (&origin.lock.get::<Lock>().0, index)
}
