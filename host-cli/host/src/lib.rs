//! The library under every host program: it runs the engine, reads inputs, writes files and draws
//! diagnostics.
//!
//! Nothing in this crate decides. Every decision and its wording come from the engine, a
//! WebAssembly component that imports nothing and is embedded here.
//!
//! | item | content |
//! |---|---|
//! | [`Engine`], [`Instance`], [`call!`] | the component, its instances within their [`Limits`], and calls into them |
//! | [`compile`] | compilation of components, kept in the user's cache |
//! | [`contract`] | the types of the contract, generated from `wit/engine` |
//! | [`Failure`] | the reason why a question has no answer |
//! | [`input`] | reading files and standard input up to their limits |
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
//! let manifest = call!(engine, inputs.manifest.call_parse(b"no frontmatter"))?;
//! let problems = manifest.expect_err("a manifest starts with its frontmatter");
//! assert_eq!(problems.len(), 1);
//! # Ok::<(), agent_host::Failure>(())
//! ```

pub mod atomic_write;
pub mod bindings;
mod clock;
pub mod diagnostics;
mod engine;
mod failure;
pub mod input;
mod names;
pub mod output;
mod random;
mod runtime;
mod signals;
mod zone;

pub use bindings::exports::agent::engine as contract;
pub use clock::{clock, unix_ms, unix_time};
pub use engine::{
    COMPONENT, COMPONENT_SHA256, Engine, Instance, Limits, Shelf, Usage, WASMTIME_VERSION, compile,
};
pub use failure::Failure;
pub use random::{hex, random};
pub use runtime::block_on;
pub use signals::{Hangups, Signals, Terminations};
pub use wasmtime::component::ResourceAny;
pub use zone::Zone;
