//! Python with packages from PyPI, for programs that are compared with or tested.

use agent_pack::{Workspace, read, sha256, write_if_changed};
use anyhow::{Context as _, Result};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{process, setup, status};

/// Installs the packages that a file of requirements lists into an environment called `name`, and
/// returns the path of its Python. The caller holds the lock of the set-up.
pub(crate) fn ensure(workspace: &Workspace, name: &str, requirements: &Path) -> Result<PathBuf> {
    let stamp = sha256(&read(requirements)?);
    let folder = workspace.tools().join(name);
    let stamp_file = folder.join(".stamp");
    let programs = folder.join(if cfg!(windows) { "Scripts" } else { "bin" });
    let python = programs.join(if cfg!(windows) {
        "python.exe"
    } else {
        "python"
    });
    if std::fs::read_to_string(&stamp_file).ok().as_ref() != Some(&stamp) {
        let shown = requirements.strip_prefix(workspace.root());
        let shown = shown.unwrap_or(requirements).display();
        status::doing("Installing", format_args!("the Python packages of {shown}"));
        let mut venv = Command::new("python3");
        venv.args(["-m", "venv", "--clear"]).arg(&folder);
        process::run(&mut venv).context("install Python 3 with venv")?;
        let mut pip = Command::new(&python);
        pip.args(["-m", "pip", "install", "--quiet", "--requirement"]);
        // Output of pip is progress; standard output is for results.
        process::run(pip.arg(requirements).stdout(std::io::stderr()))?;
        write_if_changed(&stamp_file, stamp.as_bytes())?;
    }
    Ok(python)
}

/// Runs the tests of a folder with the packages of its `requirements.txt`, in an environment called `name`.
/// Variables name to them what they test.
pub(crate) fn test<V: AsRef<OsStr>>(
    workspace: &Workspace,
    name: &str,
    folder: &str,
    variables: &[(&str, V)],
) -> Result<()> {
    let folder = workspace.root().join(folder);
    let lock = setup::lock(workspace)?;
    let python = ensure(workspace, name, &folder.join("requirements.txt"))?;
    drop(lock);
    let mut tests = Command::new(python);
    tests
        .envs(variables.iter().map(|(name, value)| (name, value)))
        // The repository gets no compiled files.
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .args(["-m", "unittest", "discover", "--start-directory"])
        .arg(folder);
    process::run(&mut tests)
}
