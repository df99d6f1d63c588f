//! The archives that are unpacked below `/usr/local` or `~/.local`: of the program, of the decision point, and of the page.

use agent_pack::{read, write_if_changed};
use anyhow::{Context as _, Result, ensure};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use super::{Dist, PAGE, PDP, program, version};
use crate::folder::{self, Files};
use crate::{build, process, status};

/// Maximum size of an archive with a program, in bytes.
const LIMIT: u64 = 25 << 20;

/// The shells, and where each looks for the completions of a program.
const SHELLS: [(&str, &str); 3] = [
    ("bash", "share/bash-completion/completions/NAME"),
    ("zsh", "share/zsh/site-functions/_NAME"),
    ("fish", "share/fish/vendor_completions.d/NAME.fish"),
];

/// Lays out and packs the program under its two names, with its pages, completions and licences.
pub(super) fn write(dist: &Dist<'_>, program: &Path, licences: &str) -> Result<()> {
    let name = format!("agent-{}-{}", version(), program::TARGET);
    let root = dist.stage(&name)?;
    let agent = root.join("bin").join(build::PROGRAM);
    copy_program(program, &agent)?;
    let mcp = agent.with_file_name(build::SECOND_NAME);
    symlink(build::PROGRAM, &mcp)?;

    let pages = dist.stage(&format!("{name}/share/man/man1"))?;
    for program in [&agent, &mcp] {
        process::run(Command::new(program).args(["man", "--folder"]).arg(&pages))?;
        for (shell, place) in SHELLS {
            let name = program.file_name().unwrap_or_default().to_string_lossy();
            let place = root.join(place.replace("NAME", &name));
            let script = process::output(Command::new(program).args(["completions", shell]))?;
            write_if_changed(&place, script.as_bytes())?;
        }
    }
    let documents = root.join("share/doc/agent");
    for name in ["LICENSE", "README.md"] {
        let text = read(&dist.workspace.root().join(name))?;
        write_if_changed(&documents.join(name), &text)?;
    }
    write_if_changed(&documents.join("THIRD-PARTY-LICENCES"), licences.as_bytes())?;

    pack_small(dist, &name)
}

/// Packs the decision point with its licences, for the prefix of the program: `agent pdp` finds it there.
pub(super) fn write_pdp(dist: &Dist<'_>, program: &Path, licences: &str) -> Result<()> {
    let name = format!("{PDP}-{}-{}", version(), program::TARGET);
    let root = dist.stage(&name)?;
    copy_program(program, &root.join("bin").join(PDP))?;
    let documents = root.join("share/doc").join(PDP);
    let licence = read(&dist.workspace.root().join("LICENSE"))?;
    write_if_changed(&documents.join("LICENSE"), &licence)?;
    write_if_changed(&documents.join("THIRD-PARTY-LICENCES"), licences.as_bytes())?;
    pack_small(dist, &name)
}

fn pack_small(dist: &Dist<'_>, name: &str) -> Result<()> {
    let size = pack(dist, name)?;
    ensure!(
        size <= LIMIT,
        "{name}.tar.gz has {size} bytes; at most {LIMIT} are allowed"
    );
    Ok(())
}

/// Packs the page, which the program finds below the same prefix.
pub(super) fn write_page(dist: &Dist<'_>, page: &Files) -> Result<()> {
    let name = format!("agent-playground-{}", version());
    folder::write_all(&dist.stage(&name)?.join(PAGE), page)?;
    pack(dist, &name)?;
    Ok(())
}

/// Packs a folder of the stage, and returns the size of the archive in bytes.
fn pack(dist: &Dist<'_>, name: &str) -> Result<u64> {
    let archive = dist.path(&format!("{name}.tar.gz"));
    let mut tar = Command::new("tar");
    // Equal content gives equal bytes: no times, no owners, and `gzip` without its own time.
    tar.args([
        "--sort=name",
        "--mtime=@0",
        "--owner=0",
        "--group=0",
        "--numeric-owner",
    ])
    .args([
        "--mode=u+rw,go+r-w,a+X",
        "--use-compress-program=gzip -9 --no-name",
        "--create",
    ])
    .arg("--file")
    .arg(&archive)
    .arg("--directory")
    .arg(&dist.stage)
    .arg(name);
    process::run(&mut tar)?;
    let size = fs::metadata(&archive)?.len();
    status::doing("Packed", format_args!("{name}.tar.gz, {size} bytes"));
    Ok(size)
}

/// Copies the program with the mode of one, into a folder that is made.
pub(super) fn copy_program(program: &Path, to: &Path) -> Result<()> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)
            .with_context(|| format!("{} can't be made", folder.display()))?;
    }
    fs::copy(program, to).with_context(|| format!("{} can't be copied", program.display()))?;
    Ok(fs::set_permissions(to, Permissions::from_mode(0o755))?)
}
