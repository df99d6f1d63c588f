//! Passes the target and the folders of reference data to the tests.
//!
//! The repository contains no third-party data: JSONTestSuite, and the schemas, `server.json` files
//! and captures of MCP. The data is in the folder that `AGENT_REFERENCE` names, or else beside the
//! checkout, in `../shared/reference`. A test without its data is ignored with a note: it counts as
//! not run instead of as passed. A folder that `AGENT_REFERENCE` names must contain the public data.

use std::env;
use std::path::{Path, PathBuf};

/// The value of `AGENT_REFERENCE` on a machine without the data.
const ABSENT: &str = "absent";

/// The reference data: the `cfg` that is set if it exists, the variable with its path, its folder,
/// and whether it is public.
const DATA: [(&str, &str, &str, bool); 6] = [
    (
        "json_schema_test_suite",
        "AGENT_JSON_SCHEMA_TEST_SUITE",
        "json-schema-test-suite",
        false,
    ),
    (
        "json_test_suite",
        "AGENT_JSON_TEST_SUITE",
        "json-test-suite/test_parsing",
        true,
    ),
    ("mcp_captures", "AGENT_MCP_CAPTURES", "mcp/captures", false),
    ("mcp_reference", "AGENT_MCP_REFERENCE", "mcp", false),
    ("mcp_wire", "AGENT_MCP_WIRE", "mcp/wire", false),
    (
        "mova_reference",
        "AGENT_MOVA_REFERENCE",
        "mova-4.1.1",
        false,
    ),
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=AGENT_REFERENCE");
    let target = env::var("TARGET").expect("cargo sets TARGET");
    println!("cargo::rustc-env=AGENT_TARGET={target}");
    for (cfg, ..) in DATA {
        println!("cargo::rustc-check-cfg=cfg({cfg})");
    }

    let tests = env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    let root = Path::new(&tests).join("..");
    let named = env::var_os("AGENT_REFERENCE");
    let folder = match &named {
        Some(absent) if absent == ABSENT => return,
        Some(folder) => PathBuf::from(folder),
        None => root.join("../shared/reference"),
    };
    for (cfg, variable, data, public) in DATA {
        let path = folder.join(data);
        if path.is_dir() {
            println!("cargo::rerun-if-changed={}", path.display());
            println!("cargo::rustc-env={variable}={}", path.display());
            println!("cargo::rustc-cfg={cfg}");
        } else if public && named.is_some() {
            println!(
                "cargo::error=AGENT_REFERENCE names a folder without {data}: {}; set it to \
                 `{ABSENT}` to go without",
                folder.display()
            );
        }
    }
}
