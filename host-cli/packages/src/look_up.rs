//! What a registry says of a package before anything of it is installed.

use crate::package::is_exact;
use crate::store::private;
use crate::{Error, Network, Registry, Requirement, Requirements, Store, Version, npm, pip};
use agent_sandbox::Sandbox;
use serde_json::Value;

/// Maximum number of characters of a publisher's name.
const NAME_MAX: usize = 100;

/// The length of a day in a time of RFC 3339: `2026-03-28`.
const DAY: usize = 10;

/// What a registry says of a version of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The exact version.
    pub version: String,
    /// Who published it, if the registry says it.
    pub publisher: Option<String>,
    /// The day of its publication, `YYYY-MM-DD`, if the registry says it.
    pub published: Option<String>,
}

impl Store {
    /// Returns what a registry says of a package of a server: of a version, a tag such as `latest`, or else of the
    /// newest version. Nothing is installed, and no code of the package is run. Needs a tokio runtime with I/O.
    ///
    /// # Errors
    ///
    /// When the client fails, the registry has no such package, or a range comes to several versions.
    pub async fn look_up(
        &self,
        registry: Registry,
        name: &str,
        version: Option<&str>,
        sandbox: &Sandbox,
        network: &Network,
    ) -> Result<Facts, Error> {
        let wanted = match version {
            None => Version::Any,
            Some(version) if is_exact(registry, version) => Version::Exact(version.to_owned()),
            Some(version) => Version::Range(version.to_owned()),
        };
        let requirement = Requirement::new(name, wanted);
        let requirements = Requirements::new(registry, vec![requirement])?;
        private(self.root())?;
        let staged = tempfile::Builder::new()
            .prefix(".staged-")
            .tempdir_in(self.root())
            .map_err(Error::file(self.root()))?;
        let folder = staged.path();
        let said = match registry {
            Registry::Npm => npm::view(&requirements, folder, sandbox, network).await?,
            Registry::PyPi => pip::view(&requirements, folder, sandbox, network).await?,
            Registry::CratesIo | Registry::Go => return Err(Error::no_server()),
        };
        facts(registry, &said).ok_or_else(|| {
            let message = format!("the registry names no single version of `{requirements}`");
            Error::new(message).with_help("name an exact version")
        })
    }
}

/// Reads the answer of a client: the members of a package's version, or the version alone.
fn facts(registry: Registry, said: &Value) -> Option<Facts> {
    let version = said.as_str().or_else(|| said["version"].as_str())?;
    let publisher = [
        &said["_npmUser"],
        &said["maintainers"][0],
        &said["author"],
        &said["maintainer"],
    ];
    let published = said["time"][version].as_str().and_then(|it| it.get(..DAY));
    is_exact(registry, version).then(|| Facts {
        version: version.to_owned(),
        publisher: publisher.into_iter().find_map(person),
        published: published.filter(|it| is_day(it)).map(str::to_owned),
    })
}

/// Returns the name of a person: `{"name": …}`, or `NAME <ADDRESS>`.
fn person(value: &Value) -> Option<String> {
    let text = value.as_str().or_else(|| value["name"].as_str())?;
    let name = text.split(" <").next().unwrap_or_default().trim();
    let is_shown = |c: char| !c.is_control();
    (!name.is_empty() && name.chars().all(is_shown)).then(|| name.chars().take(NAME_MAX).collect())
}

fn is_day(text: &str) -> bool {
    let fits = |(at, byte): (usize, u8)| match at {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    };
    text.len() == DAY && text.bytes().enumerate().all(fits)
}

#[cfg(test)]
mod tests {
    use super::{Facts, facts};
    use crate::Registry;
    use serde_json::{Value, json};

    fn of(said: &Value) -> Option<(String, Option<String>, Option<String>)> {
        let facts = facts(Registry::Npm, said);
        facts.map(|it: Facts| (it.version, it.publisher, it.published))
    }

    #[test]
    fn a_registry_says_as_much_as_it_wants() {
        let some = |text: &str| Some(text.to_owned());
        let version = || "1.2.3".to_owned();
        for (said, publisher, published) in [
            (json!("1.2.3"), None, None),
            (json!({ "version": "1.2.3" }), None, None),
            (
                json!({
                    "version": "1.2.3", "_npmUser": "ada <ada@example.com>",
                    "time": { "1.2.3": "2026-03-28T22:10:06.456Z", "1.2.4": "x" }
                }),
                some("ada"),
                some("2026-03-28"),
            ),
            (
                json!({ "version": "1.2.3", "maintainers": [{ "name": "ada" }], "author": "x" }),
                some("ada"),
                None,
            ),
            (
                json!({ "version": "1.2.3", "author": "a\nb", "time": { "1.2.3": "yesterday!" } }),
                None,
                None,
            ),
            (
                json!({ "version": "1.2.3", "author": 1, "maintainer": "x".repeat(1000), "time": [] }),
                Some("x".repeat(100)),
                None,
            ),
        ] {
            assert_eq!(of(&said), Some((version(), publisher, published)), "{said}");
        }
        for said in [
            json!(["1.2.3", "1.2.4"]),
            json!({}),
            json!({ "version": 1 }),
            json!("--help"),
            json!({ "version": "1.2.3 x" }),
        ] {
            assert_eq!(of(&said), None, "{said}");
        }
    }
}
