//! The engine as a component: a line for each export, total conversions, no logic.

mod capability;
mod convert;
mod diagnostic;
mod inputs;
mod lockfile;
#[cfg(feature = "policy")]
mod policy;
mod resolver;
mod view;

/// What `wit-bindgen` makes of the world.
#[allow(
    unsafe_code,
    missing_docs,
    clippy::all,
    unused_qualifications,
    unreachable_pub
)]
mod bindings {
    #[cfg(feature = "policy")]
    wit_bindgen::generate!({
        path: "../wit/engine",
        world: "engine",
    });

    #[cfg(not(feature = "policy"))]
    wit_bindgen::generate!({
        path: "../wit/engine",
        world: "resolver-only",
    });

    export!(Component);

    use super::Component;
}

/// The engine, as the world has it.
struct Component;
