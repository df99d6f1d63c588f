//! Packages of MCP servers and of apps, which are installed in a separate step.
//!
//! A package is installed by the ordinary client of its registry, with the user's configuration of it, in the
//! sandbox: with a [`Network`] of the registries alone, a private home, one folder to write, and without any
//! script of a package.
//! What was installed is recorded with its digests. A server then runs from that folder, which it can only
//! read.
//!
//! | item | content |
//! |---|---|
//! | [`Package`], [`Registry`] | a package URL: registry, name and exact version |
//! | [`Network`] | what a client may reach |
//! | [`Store`] | the folder of installed packages |
//! | [`Facts`] | what a registry says of a package, before it is installed |
//! | [`Installed`], [`Item`] | how an installed server is started, and its closure |
//! | [`Requirement`], [`Requirements`], [`Resolved`], [`AppPackages`] | what an app needs; its exact closure, to decide on before anything is installed; what the app is given |

mod app;
mod cargo;
mod client;
mod error;
mod go;
mod look_up;
mod network;
mod npm;
mod package;
mod pip;
mod requirement;
mod store;
mod tree;

pub use app::{AppPackages, Resolved};
pub use client::has_client;
pub use error::Error;
pub use look_up::Facts;
pub use network::{Network, ProxyMaker};
pub use package::{Package, Registry};
pub use pip::python;
pub use requirement::{MAX_REQUIREMENTS, Requirement, Requirements, Version};
pub use store::{Installed, Item, Store};
