//! What services in Rust say of themselves to the tools that encode components.

use std::ascii::escape_default;
use std::path::Path;
use std::{env, fs};
use wit_component::StringEncoding;
use wit_parser::Resolve;

/// Characters of a line.
const WIDTH: usize = 110;

/// Returns `world.rs`, made of `wasi.wit`.
fn world(wit: &str) -> String {
    let mut resolve = Resolve::default();
    let package = resolve.push_str("wasi.wit", wit).unwrap();
    let world = resolve.select_world(&[package], Some("service")).unwrap();
    let section =
        wit_component::metadata::encode(&resolve, world, StringEncoding::UTF8, None).unwrap();
    let mut text = format!(
        "//! The interfaces that `wasi.rs` uses, for the tools that make a component of this crate. It is generated.\n\n\
         #[doc(hidden)]\n\
         #[used]\n\
         #[cfg_attr(target_family = \"wasm\", link_section = \"component-type:service\")]\n\
         pub static WORLD: [u8; {}] = *b\"\\\n",
        section.len()
    );
    let mut line = String::new();
    for byte in section {
        // A blank at the beginning of a line would be lost.
        match byte {
            b' ' if line.is_empty() => line.push_str("\\x20"),
            _ => line.extend(escape_default(byte).map(char::from)),
        }
        if line.len() >= WIDTH {
            text.push_str(&format!("{line}\\\n"));
            line.clear();
        }
    }
    text.push_str(&format!("{line}\";\n"));
    text
}

/// With `AGENT_BLESS=1` in the environment the file is written anew.
#[test]
fn the_world_of_services_is_made_of_their_interfaces() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("services/rust");
    let file = folder.join("world.rs");
    let made = world(&fs::read_to_string(folder.join("wasi.wit")).unwrap());
    if env::var_os("AGENT_BLESS").is_some() {
        fs::write(&file, &made).unwrap();
    }
    assert!(
        fs::read_to_string(file).unwrap() == made,
        "`world.rs` is not made of `wasi.wit`: run this test with AGENT_BLESS=1"
    );
}
