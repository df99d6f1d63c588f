//! Builds the handlers and compiles them ahead of time, for the crate to embed.
//!
//! `AGENT_HANDLER_NOOP` and so on are the paths of the machine code, for
//! `include_bytes!(env!(...))`; `AGENT_HANDLER_NOOP_DIGEST` and so on are the digests of the components:
//! `sha256-` and base64.

use agent_pack::{Embedding, HandlerKind, Result, Workspace, World};
use base64::prelude::{BASE64_STANDARD, Engine};

fn main() {
    if let Err(error) = embed() {
        // This line alone fails the build. With a failing exit code, cargo would also print all
        // output of this script.
        println!("cargo::error={error}");
    }
}

fn embed() -> Result<()> {
    let embedding = Embedding::begin(Workspace::handler_inputs)?;
    for kind in HandlerKind::ALL {
        let name = kind.world().to_uppercase().replace('-', "_");
        let variable = format!("AGENT_HANDLER_{name}");
        let component = embedding.embed(World::Handler(kind), kind.world(), &variable)?;
        let digest = integrity(component.sha256());
        println!("cargo::rustc-env={variable}_DIGEST={digest}");
    }
    Ok(())
}

/// Returns a SHA-256 of 64 hexadecimal digits as evidence writes it: `sha256-` and base64.
fn integrity(digits: &str) -> String {
    let byte = |pair: &[u8]| {
        let pair = str::from_utf8(pair).expect("ASCII");
        u8::from_str_radix(pair, 16).expect("two digits")
    };
    let bytes: Vec<u8> = digits.as_bytes().chunks(2).map(byte).collect();
    format!("sha256-{}", BASE64_STANDARD.encode(bytes))
}
