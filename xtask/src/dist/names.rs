//! The names under which the release is published.

use anyhow::{Context as _, Result, bail};
use std::process::Command;

use crate::status;

/// The name of the wheel.
pub(super) const PYPI: &str = "agent-engine";

/// The name of the launcher. The package of a platform has it as its prefix.
pub(super) const NPM: &str = "agent-engine";

/// The name of the package for `cargo install`.
pub(super) const CRATE: &str = "agent-engine";

/// The name of the package with its machine code for one target.
pub(super) const CODE: &str = "agent-engine-x86_64-linux-gnu";

/// Asks the registries whether the names are free. Needs a network, so no test does.
pub(super) fn check(crates: &[String]) -> Result<()> {
    let mut npm = Command::new("npm");
    npm.args(["view", NPM, "name"]);
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "index", "versions", PYPI]);
    let mut asked = vec![
        (format!("{NPM} of npm"), npm),
        (format!("{PYPI} of PyPI"), pip),
    ];
    for name in crates {
        let mut cargo = Command::new("cargo");
        cargo.args(["info", "--registry", "crates-io", name]);
        asked.push((format!("{name} of crates.io"), cargo));
    }
    for (name, mut command) in asked {
        let asked = command.output();
        let asked = asked.with_context(|| format!("{name} can't be looked up"))?;
        let message = String::from_utf8_lossy(&asked.stderr);
        match asked.status.success() {
            true => status::doing("Taken", name),
            false if is_unknown(&message) => status::doing("Free", name),
            // A registry that can't be reached frees no name.
            false => bail!("{name} can't be looked up: {}", message.trim()),
        }
    }
    Ok(())
}

/// Returns whether a registry's client failed because there is no such package.
fn is_unknown(message: &str) -> bool {
    let message = message.to_lowercase();
    ["404", "could not find `", "no matching distribution"]
        .iter()
        .any(|it| message.contains(it))
}

#[cfg(test)]
mod tests {
    use super::is_unknown;

    #[test]
    fn a_registry_that_is_not_there_frees_no_name() {
        assert!(is_unknown("`npm` failed: npm error code E404"));
        assert!(is_unknown(
            "`python3` failed: ERROR: No matching distribution found for x"
        ));
        assert!(!is_unknown("`npm` failed: npm error code ENOTFOUND"));
    }
}
