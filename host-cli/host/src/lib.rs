//! The library under every host program: it runs the engine, reads inputs, writes files and draws
//! diagnostics.
//!
//! Nothing in this crate decides. Every decision and its wording come from the engine, a
//! WebAssembly component that imports nothing and is embedded here. On wasm, this library is part of a component
//! that the engine is composed with: `composed` and `imported` stand in for what runs it.
//!
//! | item | content |
//! |---|---|
//! | [`Engine`], [`Instance`], [`call!`] | the component, its instances within their [`Limits`], and calls into them |
//! | [`compile`] | compilation of components, kept in the user's cache |
//! | [`contract`] | the types of the contract, generated from `wit/engine` |
//! | [`Failure`] | the reason why a question has no answer |
//! | [`system`] | files and the terminal, natively those of the operating system, in a component those of WASI |
//! | [`input`] | reading files and standard input up to their limits |
//! | [`session_files`] | the documents of a session, in the files that options name |
//! | [`atomic_write`] | atomic replacement of files |
//! | [`diagnostics`] | the problems of a command's inputs, and drawing them with their lines |
//! | [`output`] | standard output, standard error, colours and progress |
//! | [`clock()`], [`unix_ms`], [`unix_time`], [`Zone`] | the clocks, and the time zone in which policies see the time |
//! | [`random()`], [`hex`] | random bytes, and bytes as digits |
//! | [`Signals`], [`Hangups`], [`Terminations`], [`block_on`] | signals, and the thread on which a program does its work |
//!
//! # Example
//!
//! ```
//! use agent_host::{Engine, call};
//!
//! let mut engine = Engine::embedded()?.instantiate()?;
//! let manifest = call!(engine, inputs.manifest.parse(b"no frontmatter"))?;
//! let problems = manifest.expect_err("a manifest starts with its frontmatter");
//! assert_eq!(problems.len(), 1);
//! # Ok::<(), agent_host::Failure>(())
//! ```

pub mod atomic_write;
#[cfg(not(target_family = "wasm"))]
pub mod bindings;
#[cfg(not(target_family = "wasm"))]
mod clock;
#[cfg(target_family = "wasm")]
mod composed;
pub mod diagnostics;
#[cfg(not(target_family = "wasm"))]
mod engine;
mod failure;
#[cfg(target_family = "wasm")]
mod imported;
pub mod input;
#[cfg(not(target_family = "wasm"))]
mod names;
pub mod output;
#[cfg(not(target_family = "wasm"))]
mod random;
#[cfg(not(target_family = "wasm"))]
mod runtime;
pub mod session_files;
#[cfg(not(target_family = "wasm"))]
mod signals;
pub mod system;
#[cfg(not(target_family = "wasm"))]
mod zone;

pub use failure::Failure;
#[doc(hidden)]
pub use pastey::paste;

#[cfg(target_family = "wasm")]
pub use composed::{COMPONENT_SHA256, Engine, Instance};
#[cfg(target_family = "wasm")]
pub use imported::{contract, imports};

#[cfg(not(target_family = "wasm"))]
pub use {
    bindings::exports::agent::engine as contract,
    clock::{clock, unix_ms, unix_time},
    engine::{
        COMPONENT, COMPONENT_SHA256, Engine, Instance, Limits, Running, Shelf, Ticker, Usage,
        WASMTIME_VERSION, compile,
    },
    random::{hex, random},
    runtime::block_on,
    signals::{Hangups, Signals, Terminations},
    wasmtime::component::ResourceAny,
    zone::Zone,
};
