//! The wheel for `uvx`, `pipx` and `pip`.

use agent_pack::{read, write_if_changed};
use anyhow::{Context as _, Result, bail};
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use super::tarball::copy_program;
use super::{Dist, PAGE, names, program, version};
use crate::folder::{self, Files};
use crate::{build, process};

/// The time of every file in the archive, the first that a wheel can hold, in seconds since 1970.
const EPOCH: &str = "315532800";

/// What starts the program under its second name: a wheel holds no links.
const SECOND: &str =
    "#!/bin/sh\nexec \"$(dirname -- \"$(readlink -f -- \"$0\")\")/agent\" app \"$@\"\n";

/// Lays out and packs the wheel, and lets `auditwheel` check the program's C library.
pub(super) fn write(dist: &Dist<'_>, program: &Path, page: &Files, licences: &str) -> Result<()> {
    let name = names::PYPI.replace('-', "_");
    let root = dist.stage("wheel")?;
    let data = root.join(format!("{name}-{}.data", version()));
    folder::write_all(&data.join("data").join(PAGE), page)?;
    let scripts = data.join("scripts");
    copy_program(program, &scripts.join(build::PROGRAM))?;
    // `uvx NAME` runs the script of this name.
    for (script, text) in [
        (build::SECOND_NAME, SECOND.to_owned()),
        (names::PYPI, SECOND.replace(" app ", " ")),
    ] {
        let path = scripts.join(script);
        fs::write(&path, text)?;
        fs::set_permissions(&path, Permissions::from_mode(0o755))?;
    }
    let info = root.join(format!("{name}-{}.dist-info", version()));
    let readme = String::from_utf8(read(&dist.workspace.root().join("README.md"))?)?;
    let metadata = format!(
        "Metadata-Version: 2.4\nName: {}\nVersion: {}\nSummary: Locks, explains and enforces what an AI agent may use \
         and do\nLicense-Expression: Apache-2.0\nLicense-File: LICENSE\nLicense-File: THIRD-PARTY-LICENCES\n\
         Requires-Python: >=3.8\nDescription-Content-Type: text/markdown\n\n{readme}",
        names::PYPI,
        version(),
    );
    write_if_changed(&info.join("METADATA"), metadata.as_bytes())?;
    let tag = format!(
        "Wheel-Version: 1.0\nGenerator: cargo xtask dist\nRoot-Is-Purelib: false\nTag: py3-none-{}\n",
        program::MANYLINUX
    );
    write_if_changed(&info.join("WHEEL"), tag.as_bytes())?;
    let texts = info.join("licenses");
    write_if_changed(
        &texts.join("LICENSE"),
        &read(&dist.workspace.root().join("LICENSE"))?,
    )?;
    write_if_changed(&texts.join("THIRD-PARTY-LICENCES"), licences.as_bytes())?;

    let python = program::tools(dist.workspace)?;
    let mut pack = Command::new(&python);
    pack.args(["-m", "wheel", "pack", "--dest-dir"])
        .arg(&dist.folder)
        .arg(&root)
        .env("SOURCE_DATE_EPOCH", EPOCH)
        .stdout(io::stderr());
    process::run(&mut pack)?;

    let file = format!("{name}-{}-py3-none-{}.whl", version(), program::MANYLINUX);
    let mut audit = Command::new(&python);
    audit
        .args(["-m", "auditwheel", "show"])
        .arg(dist.path(&file));
    let shown = process::output(&mut audit).context("the wheel can't be audited")?;
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    if !shown.contains(&format!("\"{}\"", program::MANYLINUX)) {
        bail!(
            "the program needs more than {}: {shown}",
            program::MANYLINUX
        );
    }
    Ok(())
}
