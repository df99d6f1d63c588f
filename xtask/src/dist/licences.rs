//! The licences of all packages in the release.

use anyhow::{Result, ensure};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use super::packages::{Package, Packages};

/// How the names of files with a licence or a notice begin, in small letters.
const NAMES: [&str; 5] = ["license", "licence", "copying", "notice", "unlicense"];

/// Returns each text once, below the packages that have it.
pub(super) fn text(packages: &Packages) -> Result<String> {
    let mut holders: BTreeMap<String, Vec<&Package>> = BTreeMap::new();
    let mut without = Vec::new();
    for package in packages.all.values().filter(|package| !package.is_own) {
        let texts = texts(package)?;
        if texts.is_empty() {
            without.push(package);
        }
        for text in texts {
            holders.entry(text).or_default().push(package);
        }
    }
    let mut out = String::from("The licences of the packages in this release.\n");
    for (text, packages) in holders {
        let _ = write!(out, "\n{}\n\n", "=".repeat(80));
        for package in packages {
            let _ = writeln!(out, "{}", name(package)?);
        }
        let _ = write!(out, "\n{}\n", text.trim_end());
    }
    if !without.is_empty() {
        let _ = write!(
            out,
            "\n{}\n\nThese packages hold no text. That of their licence is above.\n\n",
            "=".repeat(80)
        );
        for package in without {
            let _ = writeln!(out, "{}", name(package)?);
        }
    }
    Ok(out)
}

fn name(package: &Package) -> Result<String> {
    let Package { name, version, .. } = package;
    ensure!(
        package.licence.is_some(),
        "the package {name} {version} has no licence"
    );
    let licence = package.licence.as_deref().unwrap_or_default();
    Ok(format!("{name} {version}: {licence}"))
}

/// Returns the texts in the folder of a package, in the order of their files.
fn texts(package: &Package) -> Result<Vec<String>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(&package.folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = name.to_lowercase();
        if NAMES.iter().any(|begin| name.starts_with(begin)) && path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    let texts = files.iter().map(|path| {
        let text = String::from_utf8_lossy(&fs::read(path)?).into_owned();
        Ok(text.replace("\r\n", "\n"))
    });
    texts.collect()
}
