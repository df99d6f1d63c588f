//! Writes the JavaScript of a module for browsers: `xtask-bindgen MODULE NAME FOLDER`.
//!
//! It does what `wasm-bindgen --target web` does. That program is built with a server and a client of HTTP for its
//! test runner, which takes four times as long.

use anyhow::{Result, bail};
use std::env;
use wasm_bindgen_cli_support::Bindgen;

fn main() -> Result<()> {
    let arguments: Vec<_> = env::args().skip(1).collect();
    let [module, name, folder] = &arguments[..] else {
        bail!("usage: xtask-bindgen MODULE NAME FOLDER");
    };
    let mut bindgen = Bindgen::new();
    bindgen.input_path(module).out_name(name).typescript(true);
    // The module is next to its script unless a caller names another place.
    bindgen.omit_default_module_path(false);
    bindgen.web(true)?.generate(folder)
}
