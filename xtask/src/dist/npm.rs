//! The packages for `npx`: a launcher, and the program of one platform with its page.

use agent_pack::{read, write_if_changed};
use anyhow::Result;
use serde_json::{Value, json};
use std::io;
use std::path::Path;
use std::process::Command;

use super::tarball::copy_program;
use super::{Dist, PAGE, names, version};
use crate::folder::{self, Files};
use crate::{build, process};

const LAUNCHER: &str = include_str!("launcher.js");

/// The platform of the program, as Node.js names it, and its C library.
const PLATFORM: (&str, &str, &str) = ("linux", "x64", "glibc");

/// The end of the package's name. The launcher makes it of the same three.
const SUFFIX: &str = "linux-x64-gnu";

/// Lays out and packs both.
pub(super) fn write(dist: &Dist<'_>, program: &Path, page: &Files, licences: &str) -> Result<()> {
    let (os, cpu, libc) = PLATFORM;
    let name = format!("{}-{SUFFIX}", names::NPM);
    let root = dist.stage(&name)?;
    copy_program(program, &root.join("bin").join(build::PROGRAM))?;
    folder::write_all(&root.join(PAGE), page)?;
    write_if_changed(&root.join("THIRD-PARTY-LICENCES"), licences.as_bytes())?;
    let about = format!("The program `agent` for {os} on {cpu} with {libc}");
    let mut package = package(&name, &about);
    package["os"] = json!([os]);
    package["cpu"] = json!([cpu]);
    package["libc"] = json!([libc]);
    pack(dist, &root, &package)?;

    let root = dist.stage(names::NPM)?;
    write_if_changed(&root.join("agent.js"), LAUNCHER.as_bytes())?;
    // npm links a command to a file, whose name is that of the program.
    write_if_changed(
        &root.join("mcp.js"),
        b"#!/usr/bin/env node\nrequire(\"./agent.js\");\n",
    )?;
    write_if_changed(
        &root.join("README.md"),
        &read(&dist.workspace.root().join("README.md"))?,
    )?;
    let about = "Locks, explains and enforces what an AI agent may use and do";
    let mut package = self::package(names::NPM, about);
    package["bin"] = json!({ names::NPM: "agent.js", "agent": "agent.js", "mcp": "mcp.js" });
    package["engines"] = json!({ "node": ">=20" });
    package["optionalDependencies"] = json!({ name: version() });
    pack(dist, &root, &package)
}

fn package(name: &str, about: &str) -> Value {
    json!({
        "name": name,
        "version": version(),
        "description": about,
        "license": "Apache-2.0",
        "repository": { "type": "git", "url": concat!("git+", env!("CARGO_PKG_REPOSITORY"), ".git") },
    })
}

/// Packs a folder as npm does, which gives every file the same time.
fn pack(dist: &Dist<'_>, root: &Path, package: &Value) -> Result<()> {
    let mut text = serde_json::to_string_pretty(package)?;
    text.push('\n');
    write_if_changed(&root.join("package.json"), text.as_bytes())?;
    write_if_changed(
        &root.join("LICENSE"),
        &read(&dist.workspace.root().join("LICENSE"))?,
    )?;
    let mut npm = Command::new("npm");
    npm.args(["pack", "--silent", "--pack-destination"])
        .arg(&dist.folder)
        .current_dir(root)
        .stdout(io::stderr());
    process::run(&mut npm)
}
