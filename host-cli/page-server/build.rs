//! Packs the page that `AGENT_PLAYGROUND` names, a folder that `cargo xtask playground --dist` wrote. Without it, the
//! program has no page: to build it takes Node.js.

#[path = "src/archive.rs"]
mod archive;

use std::error::Error;
use std::path::Path;
use std::{env, fs};

const VARIABLE: &str = "AGENT_PLAYGROUND";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-env-changed={VARIABLE}");
    println!("cargo::rerun-if-changed=src/archive.rs");
    let packed = match env::var_os(VARIABLE) {
        None => Vec::new(),
        Some(folder) => {
            println!("cargo::rerun-if-changed={}", Path::new(&folder).display());
            archive::pack(&archive::read(Path::new(&folder))?)
        }
    };
    fs::write(Path::new(&env::var("OUT_DIR")?).join("page"), packed)?;
    Ok(())
}
