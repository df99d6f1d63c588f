//! The packages that an app asks for.

use crate::package::{is_exact, is_name, is_part};
use crate::{Error, Registry};
use std::fmt;

/// Maximum number of packages that an app may ask for by name.
pub const MAX_REQUIREMENTS: usize = 256;

/// Maximum length of a range of versions, in bytes.
const RANGE_MAX: usize = 256;

/// The version of a package that an app asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// Any version: the registry's newest one.
    #[default]
    Any,
    /// One version.
    Exact(String),
    /// A range of versions, as the client of the registry writes it: `^4.18`, `>=2,<4`.
    Range(String),
}

/// A package that an app asks for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Requirement {
    /// The name.
    pub name: String,
    /// The extras of a package of PyPI, or the features of a crate.
    pub extras: Vec<String>,
    /// Whether a crate has its default features. The other registries know none.
    pub default_features: bool,
    /// The version. A range of Go is the least version of a module.
    pub version: Version,
}

impl Requirement {
    /// Returns a requirement without extras.
    #[must_use]
    pub fn new(name: impl Into<String>, version: Version) -> Self {
        Self {
            name: name.into(),
            extras: Vec::new(),
            default_features: true,
            version,
        }
    }

    pub(crate) fn check(&self, registry: Registry) -> Result<(), Error> {
        let refused = |why: &str| Err(Error::new(format!("`{self}` can't be installed: {why}")));
        if !is_name(registry, &self.name) {
            return refused("its name is not one of the registry");
        }
        let are_sound = match registry {
            Registry::Npm | Registry::Go => self.extras.is_empty(),
            Registry::PyPi => self.extras.iter().all(|it| is_part(it)),
            Registry::CratesIo => self.extras.iter().all(|it| is_feature(it)),
        };
        if !are_sound {
            return refused("its extras are not those of a package");
        }
        match &self.version {
            Version::Exact(version) if !is_exact(registry, version) => {
                refused("its version is not exact")
            }
            Version::Range(range) if !is_range(registry, range) => {
                refused("its range is malformed")
            }
            _ => Ok(()),
        }
    }
}

/// Returns whether a text is made of the characters of ranges. It is neither an option nor a URL, and needs no
/// quotes. One of PyPI begins with an operator: pip reads it right behind the name, which a letter would change.
fn is_range(registry: Registry, text: &str) -> bool {
    let fits = |b: u8| b.is_ascii_alphanumeric() || b" .*^~<>=!,|+-_".contains(&b);
    let starts = |c: char| match registry {
        Registry::PyPi => "~<>=!".contains(c),
        _ => c.is_ascii_alphanumeric() || "^~<>=!*".contains(c),
    };
    text.len() <= RANGE_MAX && text.starts_with(starts) && text.bytes().all(fits)
}

/// Returns whether a text is the name of a crate's feature, with or without that of a crate before it.
fn is_feature(text: &str) -> bool {
    let fits = |b: u8| b.is_ascii_alphanumeric() || b"-_+./?".contains(&b);
    text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_') && text.bytes().all(fits)
}

impl fmt::Display for Requirement {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.name)?;
        if !self.extras.is_empty() {
            write!(out, "[{}]", self.extras.join(","))?;
        }
        match &self.version {
            Version::Any => Ok(()),
            Version::Exact(version) => write!(out, "@{version}"),
            Version::Range(range) => write!(out, " {range}"),
        }
    }
}

/// The packages of one registry that an app asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirements {
    pub(crate) registry: Registry,
    list: Vec<Requirement>,
    lock: Option<String>,
    manifest: Option<String>,
}

impl Requirements {
    /// Checks a list, whose order does not matter.
    ///
    /// # Errors
    ///
    /// When it is longer than [`MAX_REQUIREMENTS`] or empty, but for Go, one of them is invalid, or a name appears
    /// twice.
    pub fn new(registry: Registry, mut list: Vec<Requirement>) -> Result<Self, Error> {
        // A module of Go may need no other one.
        let is_empty = list.is_empty() && registry != Registry::Go;
        if is_empty || list.len() > MAX_REQUIREMENTS {
            let message = format!("an app must ask for 1 to {MAX_REQUIREMENTS} packages");
            return Err(Error::new(message));
        }
        list.iter().try_for_each(|it| it.check(registry))?;
        list.sort();
        if let Some(pair) = list.windows(2).find(|pair| pair[0].name == pair[1].name) {
            let message = format!("the package `{}` is asked for twice", pair[0].name);
            return Err(Error::new(message));
        }
        Ok(Self {
            registry,
            list,
            lock: None,
            manifest: None,
        })
    }

    /// Adds the lock file of the app, from which the client takes the versions that still fit, and their digests:
    /// `package-lock.json`, `Cargo.lock` or `go.sum`. PyPI ignores it. It must name no place of a package: it decides
    /// versions, and not where they come from.
    #[must_use]
    pub fn with_lock(mut self, lock: Option<String>) -> Self {
        self.lock = lock;
        self
    }

    /// Adds the directives of the app's `go.mod` that it is compiled with: `module`, `go` and others, a line each.
    /// The other registries ignore it.
    #[must_use]
    pub fn with_manifest(mut self, manifest: Option<String>) -> Self {
        self.manifest = manifest;
        self
    }

    pub(crate) fn manifest(&self) -> Option<&str> {
        self.manifest.as_deref()
    }

    pub(crate) fn list(&self) -> &[Requirement] {
        &self.list
    }

    pub(crate) fn lock(&self) -> Option<&str> {
        self.lock.as_deref()
    }
}

impl fmt::Display for Requirements {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, requirement) in self.list.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(out, "{separator}{requirement}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_REQUIREMENTS, Requirement, Requirements, Version};
    use crate::Registry::{self, CratesIo, Npm, PyPi};

    fn checked(registry: Registry, name: &str, extras: &[&str], version: Version) -> String {
        let mut requirement = Requirement::new(name, version);
        requirement.extras = extras.iter().map(|it| (*it).to_owned()).collect();
        match Requirements::new(registry, vec![requirement]) {
            Ok(requirements) => requirements.to_string(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn requirements_are_names_with_or_without_versions() {
        let exact = |text: &str| Version::Exact(text.to_owned());
        let range = |text: &str| Version::Range(text.to_owned());
        for (registry, name, extras, version, shown) in [
            (PyPi, "flask", &[][..], Version::Any, "flask"),
            (
                PyPi,
                "flask",
                &["async", "dotenv"],
                exact("3.0.1"),
                "flask[async,dotenv]@3.0.1",
            ),
            (PyPi, "flask", &[], range(">=2,<4"), "flask >=2,<4"),
            (Npm, "express", &[], exact("4.18.2"), "express@4.18.2"),
            (
                Npm,
                "@acme/a",
                &[],
                range("^1.0 || >=3.0.0-rc.1"),
                "@acme/a ^1.0 || >=3.0.0-rc.1",
            ),
            (
                CratesIo,
                "serde",
                &["derive", "dep?/x"],
                range("1"),
                "serde[derive,dep?/x] 1",
            ),
        ] {
            assert_eq!(checked(registry, name, extras, version), shown);
        }
        for (registry, name, extras, version) in [
            (PyPi, "", &[][..], Version::Any),
            (PyPi, "--index-url=https://a.example", &[], Version::Any),
            (PyPi, "https://a.example/a.whl", &[], Version::Any),
            (PyPi, "./folder", &[], Version::Any),
            (PyPi, "flask", &["a b"], Version::Any),
            (PyPi, "flask", &[], exact("2.*")),
            (PyPi, "flask", &[], exact("1 --hash=x")),
            (PyPi, "flask", &[], range(">=1; python_version<'3'")),
            (PyPi, "flask", &[], range(" @ https://a.example")),
            (PyPi, "flask", &[], range("latest")),
            (PyPi, "flask", &[], range("2")),
            (Npm, "express", &[], exact("^4")),
            (Npm, "express", &[], range("npm:b@1.0.0")),
            (Npm, "express", &[], range("-x")),
            (Npm, "express", &["extra"], Version::Any),
            (Npm, "git+https://a.example/a", &[], Version::Any),
            (Npm, "../a", &[], Version::Any),
            (CratesIo, "a/b", &[], Version::Any),
            (CratesIo, "serde", &["a\"b"], Version::Any),
            (CratesIo, "serde", &[], range("1\"")),
            (CratesIo, "serde", &[], exact("1.0")),
        ] {
            let found = checked(registry, name, extras, version);
            assert!(found.contains("can't be installed"), "{found}");
        }
    }

    #[test]
    fn a_list_has_limits_and_no_name_twice() {
        let list = |names: &[&str]| {
            let list = names.iter().map(|it| Requirement::new(*it, Version::Any));
            Requirements::new(PyPi, list.collect())
        };
        assert_eq!(list(&["b", "a"]).unwrap().to_string(), "a, b");
        assert!(list(&[]).is_err());
        assert!(list(&["a", "a"]).is_err());
        let names: Vec<_> = (0..=MAX_REQUIREMENTS).map(|n| format!("a{n}")).collect();
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        assert!(list(&names).is_err());
        assert!(list(&names[1..]).is_ok());
    }
}
