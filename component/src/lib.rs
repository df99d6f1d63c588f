//! The engine as a component: one call per export, total conversions, no logic.

#[cfg(feature = "full")]
mod audit;
#[cfg(feature = "full")]
mod bundles;
#[cfg(feature = "full")]
mod capability;
#[cfg(feature = "full")]
mod catalogue;
#[cfg(feature = "full")]
mod clients;
mod convert;
#[cfg(feature = "full")]
mod daemon;
#[cfg(feature = "full")]
mod decision_point;
mod diagnostic;
#[cfg(feature = "full")]
mod evidence;
#[cfg(feature = "full")]
mod expansion;
#[cfg(feature = "full")]
mod explanation;
#[cfg(feature = "full")]
mod first_manifest;
#[cfg(feature = "full")]
mod fixes;
#[cfg(feature = "full")]
mod grounding;
#[cfg(feature = "full")]
mod importer;
mod inputs;
mod lockfile;
#[cfg(feature = "full")]
mod network;
#[cfg(feature = "full")]
mod plan;
#[cfg(feature = "full")]
mod policy;
mod resolver;
#[cfg(feature = "full")]
mod run;
#[cfg(feature = "full")]
mod schemas;
#[cfg(feature = "full")]
mod session;
#[cfg(feature = "full")]
mod view;

/// The bindings that `wit-bindgen` generates from the world.
#[allow(
    unsafe_code,
    missing_docs,
    clippy::all,
    unused_qualifications,
    unreachable_pub
)]
mod bindings {
    #[cfg(feature = "full")]
    wit_bindgen::generate!({
        path: "../wit/engine",
        world: "engine",
    });

    #[cfg(not(feature = "full"))]
    wit_bindgen::generate!({
        path: "../wit/engine",
        world: "resolver-only",
    });

    export!(Component);

    use super::Component;
}

/// The implementation of the world.
struct Component;
