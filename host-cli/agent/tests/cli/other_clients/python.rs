//! `mcp` of PyPI, the Python SDK.

use super::{Sdk, folder, installed};

/// The variable with the Python that has the packages.
const PYTHON: &str = "AGENT_TEST_CLIENT_PYTHON";

fn sdk() -> Sdk {
    let program = folder("python").join("client.py");
    Sdk {
        command: vec![installed(PYTHON), program.display().to_string()],
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
