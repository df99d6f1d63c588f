//! Packages of each registry, from registries on loopback.

mod cargo;
mod go;
mod npm;
mod pip;
mod support;
