//! The whole pipeline: a manifest, a line `=====` and an index, to every output.
#![no_main]

use agent_decide::{LockState, Resolution, compare, verify};
use agent_explain as explain;
use agent_lower as lower;
use agent_render as render;
use libfuzzer_sys::fuzz_target;
use std::sync::Arc;

const BETWEEN: &[u8] = b"\n=====\n";

fuzz_target!(|bytes: &[u8]| {
    let Some(at) = bytes
        .windows(BETWEEN.len())
        .position(|window| window == BETWEEN)
    else {
        return;
    };
    let (manifest, index) = (&bytes[..=at], &bytes[at + BETWEEN.len()..]);
    let manifest = agent_fuzz::checked(manifest, lower::manifest(manifest.to_vec()));
    let index = agent_fuzz::checked(index, lower::index(index.to_vec()));
    let (Some(manifest), Some(index)) = (manifest, index) else {
        return;
    };
    let resolution = Resolution::new(Arc::new(manifest), Arc::new(index));

    render::resolution(&resolution).expect("small enough");
    render::compact(&resolution);
    assert_eq!(resolution.lock().is_some(), resolution.satisfied());
    assert_eq!(
        explain::unsatisfied(&resolution).is_empty(),
        resolution.satisfied()
    );
    if let Some(lock) = resolution.lock() {
        let text = render::lock(&lock);
        let read = lower::lock(text.into_bytes()).expect("it was just written");
        assert_eq!(read.value, lock);
        assert_eq!(compare(Some(&lock), &lock), LockState::Fresh);
        assert_eq!(verify(&lock, resolution.index()), LockState::Fresh);
    }
    for number in 0..resolution.outcomes().len() {
        for near in resolution.nearest(number, 3) {
            assert!(!near.fixes.is_empty() && !near.fixes[0].widening);
        }
        let eligible = resolution.eligible(number).count();
        assert_eq!(
            eligible + resolution.rejected(number).count(),
            resolution.index().len()
        );
        assert_eq!(resolution.funnel(number).signature as usize, eligible);
    }
    render::summary(&resolution);
    render::summary_json(&resolution);
    if let Some(server) = resolution.index().servers().next() {
        render::why(&resolution, server.id(), &[]).expect("a server of the index");
        render::why_json(&resolution, server.id()).expect("a server of the index");
    }
});
