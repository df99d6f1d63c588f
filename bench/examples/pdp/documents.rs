//! A folder with the documents of an agent, as many locked tools as wanted, and the policy that all engines have.

use serde_json::{Map, Value, json};
use std::error::Error;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

const POLICY: &str = include_str!("../../policies/policy.rego");

/// The number of tools of a server of the index.
const TOOLS_OF_SERVER: usize = 100;

/// Writes the documents, and lets `agent` lock them. Tools of the first server are called `t0`, `t1`…; `counted` is rate
/// limited.
pub(crate) fn folder(agent: &Path, tools: usize) -> Result<TempDir, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let mut servers = Vec::new();
    let mut requirements = String::new();
    for (number, first) in (0..tools).step_by(TOOLS_OF_SERVER).enumerate() {
        let mut own = Map::new();
        for tool in first..tools.min(first + TOOLS_OF_SERVER) {
            let limit = if tool == 1 {
                &["rate_limited"][..]
            } else {
                &[]
            };
            own.insert(format!("t{tool}"), entry(tool, limit));
            let limit = limit.join("");
            requirements.push_str(&format!(
                "    - {{ verb: read, resource: x-t{tool}, constraints: [{limit}] }}\n"
            ));
        }
        servers.push(json!({
            "id": format!("s{number}"), "version": "1", "endpoint": format!("https://s{number}.example/mcp"),
            "categories": ["all"], "scopes": [], "trust": { "signed": true, "publisher": "P" },
            "data": { "residency": "eu-only", "maxSensitivity": "internal" },
            "policy": { "rateLimitPerMin": 1_000_000 }, "capabilities": { "tools": own },
        }));
    }
    let manifest = format!(
        "---\nname: clerk\nversion: 1.0.0\nrequires:\n  capabilities:\n{requirements}---\n"
    );
    for (name, text) in [
        ("agents.md", manifest),
        ("mcp.index.json", json!({ "servers": servers }).to_string()),
        ("policy.rego", POLICY.to_owned()),
    ] {
        std::fs::write(folder.path().join(name), text)?;
    }
    let resolved = Command::new(agent)
        .args(["resolve", "--quiet", "--policy", "policy.rego"])
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .output()?;
    match resolved.status.success() {
        true => Ok(folder),
        false => Err(String::from_utf8_lossy(&resolved.stderr).into()),
    }
}

fn entry(tool: usize, constraints: &[&str]) -> Value {
    json!({
        "description": format!("Reads the record of the table {tool}."),
        "inputSchema": {
            "type": "object",
            "properties": {
                "record": { "type": "string", "maxLength": 64 },
                "status": { "enum": ["active", "archived"] },
                "limit": { "type": "integer", "minimum": 1, "maximum": 100 },
            },
            "required": ["record"],
        },
        "x-summit-capabilities": [{ "verb": "read", "resource": format!("x-t{tool}"), "constraints": constraints }],
    })
}
