//! Collects the pages of codes, so that `agent explain CODE` prints them.

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

/// The folders with pages, below the manifest of this package. Names in small letters have a folder of their own.
const FOLDERS: [&str; 2] = [
    "../../docs/reference/codes",
    "../../docs/reference/codes/plan",
];

fn main() -> Result<(), Box<dyn Error>> {
    let manifest = env::var("CARGO_MANIFEST_DIR")?;
    let mut pages = Vec::new();
    for folder in FOLDERS {
        println!("cargo::rerun-if-changed={folder}");
        for entry in fs::read_dir(Path::new(&manifest).join(folder))? {
            let path = entry?.path();
            let name = path.file_stem().unwrap_or_default().display().to_string();
            if path.extension().is_some_and(|it| it == "md") && name != "index" {
                pages.push((name, path));
            }
        }
    }
    pages.sort();
    let mut list = String::from("&[");
    for (name, path) in pages {
        write!(list, "({name:?}, include_str!({path:?})),")?;
    }
    list.push(']');
    fs::write(Path::new(&env::var("OUT_DIR")?).join("pages.rs"), list)?;
    Ok(())
}
