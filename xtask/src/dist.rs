//! `cargo xtask dist`: builds the release.

use agent_pack::{Build, Workspace, read, write_if_changed};
use anyhow::{Context as _, Result};
use std::env::consts::{ARCH, EXE_SUFFIX, OS};
use std::fs;

use crate::{build, component, no_arguments, resolver, status};

pub(crate) fn command(workspace: &Workspace, arguments: &[&str]) -> Result<()> {
    no_arguments(arguments)?;
    let (_, engine) = component::build(workspace, Build::Released)?;
    let (_, smaller) = resolver::build(workspace)?;
    let program = build::programs(workspace, &["--release"])?;

    let dist = workspace.root().join("target/dist");
    fs::create_dir_all(&dist).with_context(|| format!("{} can't be made", dist.display()))?;
    let program_name = format!("{}-{ARCH}-{OS}{EXE_SUFFIX}", build::PROGRAM);
    // A copy keeps the permissions, so that the unpacked program runs.
    fs::copy(&program, dist.join(&program_name))?;
    write_if_changed(&dist.join(component::FILE_NAME), engine.bytes())?;

    write_if_changed(&dist.join(resolver::FILE_NAME), smaller.bytes())?;

    let mut sums = String::new();
    for name in [component::FILE_NAME, resolver::FILE_NAME, &program_name] {
        let digest = agent_pack::sha256(&read(&dist.join(name))?);
        // The form that `sha256sum --check` reads.
        sums += &format!("{digest}  {name}\n");
    }
    write_if_changed(&dist.join("SHA256SUMS"), sums.as_bytes())?;
    status::doing("Wrote", component::relative(workspace, &dist).display());
    print!("{sums}");
    Ok(())
}
