//! What the release was made of, as an in-toto statement with the predicate of SLSA.

use agent_pack::{Workspace, write_if_changed};
use anyhow::Result;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

use super::{Dist, program, version};
use crate::process;

/// The statement, and its envelope if there is a key.
const STATEMENT: &str = "provenance.json";
const ENVELOPE: &str = "provenance.dsse.json";

/// Writes the statement about every file so far. With a private key of Ed25519 in PEM, it is also signed.
pub(super) fn write(dist: &Dist<'_>, key: Option<&Path>) -> Result<()> {
    let subjects = dist.digests()?.into_iter();
    let subjects =
        subjects.map(|(name, digest)| json!({ "name": name, "digest": { "sha256": digest } }));
    let statement = statement(dist.workspace, subjects.collect())?;
    let path = dist.path(STATEMENT);
    write_if_changed(&path, serde_json::to_string(&statement)?.as_bytes())?;
    if let Some(key) = key {
        let script = dist.workspace.root().join("xtask/src/dist/sign.py");
        let mut sign = Command::new(program::tools(dist.workspace)?);
        sign.arg(script)
            .arg(key)
            .arg(&path)
            .arg(dist.path(ENVELOPE));
        process::run(&mut sign)?;
    }
    Ok(())
}

fn statement(workspace: &Workspace, subjects: Vec<Value>) -> Result<Value> {
    let mut git = Command::new("git");
    git.args(["rev-parse", "HEAD"])
        .current_dir(workspace.root());
    let commit = process::output(&mut git)?;
    let commit = commit.trim();
    let repository = env!("CARGO_PKG_REPOSITORY");
    let rustc = process::output(Command::new("rustc").arg("--version"))?;
    Ok(json!({
        "_type": "https://in-toto.io/Statement/v1",
        "subject": subjects,
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": format!("{repository}/blob/main/docs/reference/releases.md#provenance"),
                "externalParameters": { "command": "cargo xtask dist", "target": program::TARGET },
                "internalParameters": { "rustc": rustc.trim() },
                "resolvedDependencies": [{
                    "uri": format!("git+{repository}.git"),
                    "digest": { "gitCommit": commit },
                }],
            },
            "runDetails": {
                "builder": { "id": format!("{repository}/cargo-xtask-dist"), "version": { "xtask": version() } },
            },
        },
    }))
}
