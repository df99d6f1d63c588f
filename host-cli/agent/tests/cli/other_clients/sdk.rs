//! `@modelcontextprotocol/client` of npm, the TypeScript SDK.

use super::{Sdk, folder};

fn sdk() -> Sdk {
    let program = folder("sdk").join("client.mjs");
    Sdk {
        command: vec!["node".to_owned(), program.display().to_string()],
    }
}

#[test]
fn it_obeys_the_lock_in_a_session() {
    sdk().obeys("legacy", "2025-11-25", "sessions");
}

#[test]
fn it_obeys_the_lock_without_sessions() {
    sdk().obeys("auto", "2026-07-28", "stateless");
}

#[test]
fn it_needs_its_token() {
    sdk().needs_its_token();
}
