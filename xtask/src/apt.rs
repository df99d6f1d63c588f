//! Installation of missing Debian packages, and unpacking without installation.

use anyhow::{Result, bail};
use std::fs;
use std::io::{IsTerminal as _, stderr, stdin};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::{folder, process, status};

/// Installs those of `packages` that are missing.
pub(crate) fn install(packages: &[&str]) -> Result<()> {
    let missing: Vec<_> = packages
        .iter()
        .copied()
        .filter(|package| !is_installed(package))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    status::doing(
        "Installing",
        format_args!("{} with apt-get", missing.join(", ")),
    );
    process::run(apt_get()?.arg("update"))?;
    let install = ["install", "--yes", "--no-install-recommends"];
    process::run(apt_get()?.args(install).args(&missing))
}

/// Unpacks packages into a folder, without what they depend on.
pub(crate) fn unpack(packages: &[&str], folder: &Path) -> Result<()> {
    status::doing(
        "Unpacking",
        format_args!("{} of Debian", packages.join(", ")),
    );
    folder::remove(folder)?;
    fs::create_dir_all(folder)?;
    let mut download = Command::new("apt-get");
    download.current_dir(folder).arg("download").args(packages);
    process::run(download.stdout(stderr()))?;
    let archives: Vec<_> = fs::read_dir(folder)?.collect::<std::io::Result<_>>()?;
    if archives.len() != packages.len() {
        bail!("apt-get downloaded {} files", archives.len());
    }
    for archive in archives {
        let mut unpack = Command::new("dpkg-deb");
        process::run(unpack.arg("--extract").arg(archive.path()).arg(folder))?;
    }
    Ok(())
}

fn is_installed(package: &str) -> bool {
    let query = ["--show", "--showformat=${db:Status-Status}", package];
    let output = Command::new("dpkg-query")
        .args(query)
        .stderr(Stdio::null())
        .output();
    output.is_ok_and(|output| output.stdout == b"installed")
}

/// Returns a call of `apt-get` with the right to install: directly for root, otherwise through
/// sudo.
fn apt_get() -> Result<Command> {
    if !Path::new("/usr/bin/apt-get").exists() {
        bail!("there is no apt-get");
    }
    let mut command = if process::output(Command::new("id").arg("-u"))?.trim_end() == "0" {
        Command::new("apt-get")
    } else {
        let mut sudo = Command::new("sudo");
        if !stdin().is_terminal() {
            // Nobody can type a password.
            sudo.arg("--non-interactive");
        }
        sudo.args(["DEBIAN_FRONTEND=noninteractive", "apt-get"]);
        sudo
    };
    // Output of apt is progress; standard output is for results.
    command
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdout(stderr());
    Ok(command)
}
