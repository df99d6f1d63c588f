//! `agent.wasm`: the program, composed with its engine to a command of WASI.
//!
//! It is the library of the package `agent`, compiled for the target of the engine: its commands that answer from
//! documents alone.

use agent_pack::{
    Aim, Build, Component, QUICK_PROFILE, TARGET, Workspace, read, reproducible, write_if_changed,
};
use anyhow::Result;
use std::path::PathBuf;
use std::process::Command;

use crate::cargo::{COMPOSE, build_program};
use crate::{build, component, process, setup, status};

/// The file name of the component.
pub(crate) const FILE_NAME: &str = "agent.wasm";

/// What it imports: files, streams, arguments and its end. Of the clock it has the type of a file's times, and no
/// function.
const IMPORTS: [&str; 13] = [
    "wasi:cli/environment@0.2.12",
    "wasi:cli/exit@0.2.12",
    "wasi:cli/stderr@0.2.12",
    "wasi:cli/stdin@0.2.12",
    "wasi:cli/stdout@0.2.12",
    "wasi:cli/terminal-output@0.2.12",
    "wasi:cli/terminal-stderr@0.2.12",
    "wasi:cli/terminal-stdout@0.2.12",
    "wasi:clocks/wall-clock@0.2.12",
    "wasi:filesystem/preopens@0.2.12",
    "wasi:filesystem/types@0.2.12",
    "wasi:io/error@0.2.12",
    "wasi:io/streams@0.2.12",
];

/// What the program alone imports besides: the interfaces of the engine that it uses.
const ENGINE: [&str; 18] = [
    "agent:engine/audit@0.1.0",
    "agent:engine/capability@0.1.0",
    "agent:engine/catalogue@0.1.0",
    "agent:engine/clients@0.1.0",
    "agent:engine/diagnostic@0.1.0",
    "agent:engine/expansion@0.1.0",
    "agent:engine/explanation@0.1.0",
    "agent:engine/fixes@0.1.0",
    "agent:engine/grounding@0.1.0",
    "agent:engine/importer@0.1.0",
    "agent:engine/inputs@0.1.0",
    "agent:engine/lockfile@0.1.0",
    "agent:engine/plan@0.1.0",
    "agent:engine/policy@0.1.0",
    "agent:engine/resolver@0.1.0",
    "agent:engine/schemas@0.1.0",
    "agent:engine/session@0.1.0",
    "agent:engine/view@0.1.0",
];

/// Builds the program for the digest of its engine, and composes both.
pub(crate) fn build(workspace: &Workspace, build: Build) -> Result<(PathBuf, Component)> {
    let (engine_path, engine) = component::build(workspace, build)?;
    status::doing("Building", "the program as a component");
    let module = module(workspace, build, &engine)?;
    let program = Component::with_imports(&module, &[&IMPORTS[..], &ENGINE].concat())?;
    let folder = workspace.component_target_dir();
    let [alone, composed] =
        ["alone", "composed"].map(|name| folder.join(format!("agent.{name}.wasm")));
    write_if_changed(&alone, program.bytes())?;
    let compose = build_program(workspace, COMPOSE, &["--package", COMPOSE])?;
    process::run(Command::new(compose).args([&alone, &engine_path, &composed]))?;
    let component = Component::composed(&read(&composed)?, &IMPORTS)?;
    Ok((
        component::write(workspace, FILE_NAME, build, &component)?,
        component,
    ))
}

fn module(workspace: &Workspace, build: Build, engine: &Component) -> Result<Vec<u8>> {
    let (profile, aim) = match build {
        Build::Quick => (QUICK_PROFILE, Aim::Speed),
        Build::Released => ("resolver-only", Aim::Size),
    };
    let toolchain = setup::toolchain(workspace)?;
    let target_dir = workspace.component_target_dir();
    let mut cargo = toolchain.cargo();
    reproducible(&mut cargo, workspace, &toolchain, &target_dir, aim)?;
    cargo
        .current_dir(workspace.root())
        .args(["rustc", "--locked", "--package", build::PROGRAM])
        .args(["--lib", "--crate-type", "cdylib", "--target", TARGET])
        .args(["--profile", profile, "--target-dir"])
        .arg(&target_dir)
        .env("AGENT_ENGINE_SHA256", engine.sha256());
    process::run(&mut cargo)?;
    Ok(read(
        &target_dir.join(TARGET).join(profile).join(FILE_NAME),
    )?)
}
