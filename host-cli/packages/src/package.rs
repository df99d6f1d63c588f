//! Package URLs, as far as they name a package of npm or PyPI.

use crate::Error;
use std::fmt;

/// Maximum length of a name, in bytes: that of npm.
const NAME_MAX: usize = 214;

/// Maximum length of an exact version, in bytes: that of npm.
const VERSION_MAX: usize = 256;

/// A registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Registry {
    /// npm, for Node.js.
    Npm,
    /// PyPI, for Python.
    PyPi,
    /// crates.io, for Rust. It has packages of apps alone.
    CratesIo,
    /// The module proxies of Go. They have packages of apps alone.
    Go,
}

/// A package in an exact version: `pkg:npm/%40scope/name@1.2.3` or `pkg:pypi/name@1.2.3`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Package {
    registry: Registry,
    name: String,
    version: String,
}

impl Package {
    /// Parses a package URL.
    ///
    /// # Errors
    ///
    /// When it is of another registry, its name is not one of the registry, its version is missing or not
    /// exact, or it has qualifiers.
    pub fn parse(url: &str) -> Result<Self, Error> {
        let refused = |why: &str| Error::new(format!("`{url}` can't be installed: {why}"));
        let of = |prefix, registry| Some((url.strip_prefix(prefix)?, registry));
        let (rest, registry) = of("pkg:npm/", Registry::Npm)
            .or_else(|| of("pkg:pypi/", Registry::PyPi))
            .ok_or_else(|| refused("only packages of npm and PyPI can"))?;
        let (name, version) = rest
            .rsplit_once('@')
            .filter(|(name, _)| !name.is_empty())
            .ok_or_else(|| refused("it has no version"))?;
        // A scope begins with `@`, which a package URL encodes.
        let name = match name.strip_prefix("%40") {
            Some(scoped) => format!("@{scoped}"),
            None => name.to_owned(),
        };
        if !is_name(registry, &name) {
            return Err(refused("its name is not one of the registry"));
        }
        if !is_exact(registry, version) {
            return Err(refused("its version is not exact"));
        }
        Ok(Self {
            registry,
            name,
            version: version.to_owned(),
        })
    }

    /// Returns the registry.
    #[must_use]
    pub fn registry(&self) -> Registry {
        self.registry
    }

    /// Returns the name, such as `@scope/name`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the version.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }
}

impl fmt::Display for Package {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}@{}", self.name, self.version)
    }
}

/// Returns whether a text is the name of a package.
pub(crate) fn is_name(registry: Registry, name: &str) -> bool {
    match registry {
        Registry::Npm => is_name_of_npm(name),
        Registry::PyPi => is_part(name),
        Registry::CratesIo => is_name_of_crate(name),
        Registry::Go => is_path_of_go(name),
    }
}

/// Returns whether a text is one version of a package.
pub(crate) fn is_exact(registry: Registry, version: &str) -> bool {
    let is_valid = match registry {
        Registry::Npm | Registry::CratesIo => is_semantic(version),
        Registry::PyPi => is_exact_of_pypi(version),
        Registry::Go => version.strip_prefix('v').is_some_and(is_semantic),
    };
    is_valid && version.len() <= VERSION_MAX
}

/// Returns whether a text is the part of a name. It is also the name of a file.
pub(crate) fn is_part(part: &str) -> bool {
    let fits = |b: u8| b.is_ascii_alphanumeric() || b"-_.~".contains(&b);
    let is_short = part.len() <= NAME_MAX;
    is_short && !part.is_empty() && !part.starts_with(['.', '_', '-']) && part.bytes().all(fits)
}

/// Returns whether a text is a name of npm, with or without a scope. It is also a path below `node_modules`.
fn is_name_of_npm(name: &str) -> bool {
    let is_valid = match name.strip_prefix('@') {
        Some(scoped) => scoped
            .split_once('/')
            .is_some_and(|(scope, name)| is_part(scope) && is_part(name)),
        None => is_part(name),
    };
    is_valid && name.len() <= NAME_MAX
}

/// Returns whether a text is one version of PyPI, and no pattern.
fn is_exact_of_pypi(version: &str) -> bool {
    let fits = |b: u8| b.is_ascii_alphanumeric() || b"-+.!".contains(&b);
    version.starts_with(|c: char| c.is_ascii_digit()) && version.bytes().all(fits)
}

/// Returns whether a text is a name of crates.io. It is also the name of a file and a key of TOML.
fn is_name_of_crate(name: &str) -> bool {
    let fits = |b: u8| b.is_ascii_alphanumeric() || b"-_".contains(&b);
    name.len() <= NAME_MAX
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.bytes().all(fits)
}

/// Returns whether a text is the path of a module of Go, or of a package in one. It is no option and no path of a
/// file.
fn is_path_of_go(path: &str) -> bool {
    path.len() <= NAME_MAX && path.contains('/') && path.split('/').all(is_part)
}

/// Returns whether a text is one version of semantic versioning, and neither a range nor a tag.
fn is_semantic(version: &str) -> bool {
    let core = version.split(['-', '+']).next().unwrap_or_default();
    let numbers: Vec<_> = core.split('.').collect();
    let is_number = |it: &&str| !it.is_empty() && it.bytes().all(|b| b.is_ascii_digit());
    let fits = |b: u8| b.is_ascii_alphanumeric() || b"-+.".contains(&b);
    numbers.len() == 3 && numbers.iter().all(is_number) && version.bytes().all(fits)
}

#[cfg(test)]
mod tests {
    use super::Package;

    #[test]
    fn exact_versions_are_packages() {
        for (url, shown) in [
            (
                "pkg:pypi/mcp-server-time@2026.8.31",
                "mcp-server-time@2026.8.31",
            ),
            ("pkg:pypi/acme@1.0rc1", "acme@1.0rc1"),
            ("pkg:npm/acme@1.2.3", "acme@1.2.3"),
            (
                "pkg:npm/%40acme/a.b-c_d@1.2.3-rc.1",
                "@acme/a.b-c_d@1.2.3-rc.1",
            ),
        ] {
            assert_eq!(Package::parse(url).unwrap().to_string(), shown);
        }
    }

    #[test]
    fn everything_else_is_refused() {
        for url in [
            "pkg:npm/acme",
            "pkg:npm/acme@",
            "pkg:npm/acme@latest",
            "pkg:npm/acme@^1.2.3",
            "pkg:npm/acme@1.2",
            "pkg:npm/acme@1.2.3 --registry=x",
            "pkg:npm/acme@1.2.3?x=y",
            "pkg:npm/../acme@1.2.3",
            "pkg:npm/%40acme/../../x@1.2.3",
            "pkg:npm/.acme@1.2.3",
            "pkg:npm/-acme@1.2.3",
            "pkg:npm/a/b@1.2.3",
            "pkg:npm/%2e%2e@1.2.3",
            "pkg:pypi/acme@1.*",
            "pkg:pypi/acme@>=1",
            "pkg:pypi/acme[extra]@1.0",
            "pkg:pypi/a/b@1.0",
            "pkg:gem/acme@1.2.3",
            "pkg:generic/acme@1.2.3",
            "https://acme.example/x@1.2.3",
        ] {
            assert!(Package::parse(url).is_err(), "{url}");
        }
    }
}
