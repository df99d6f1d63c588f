//! The program as a whole: what it answers, where it prints it, and what it does to files.
//!
//! What the engine says is tested with the engine. Here words are looked for only to know that the
//! right thing was said in the right place.

// The program is made to fail by means that other systems do not have.
#![cfg(target_os = "linux")]

mod capabilities;
mod codes;
mod engines;
mod ground;
mod inputs;
mod locks;
mod output;
mod plan;
mod project;
mod resolve;
mod writing;
