//! What a registry says of a package of a server, before the package is installed.

use crate::package::is_exact;
use crate::store::not_of_servers;
use crate::{Error, Network, Registry, Requirement, Store, Version, npm, pip};
use agent_sandbox::Sandbox;
use agent_way_out::quote;
use serde_json::Value;

/// What messages say that a client does.
pub(crate) const PURPOSE: &str = "look up";

/// Maximum number of characters of a publisher.
const PUBLISHER_CHARS: usize = 200;

/// Maximum number of characters of a client's answer in a message.
const QUOTED_CHARS: usize = 80;

/// What a registry says of one version of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The exact version, as the registry writes it.
    pub version: String,
    /// The name of the publisher: at most 200 characters and `…`, with the code points of hidden characters.
    ///
    /// npm: the user who published the version, else a maintainer, else the author.
    /// PyPI: the author or the maintainer. The package itself names an author, and the registry does not check it.
    pub publisher: Option<String>,
    /// The date of the publication as `YYYY-MM-DD`. `None` if the client does not report it, such as pip.
    pub published: Option<String>,
}

impl Facts {
    /// Returns the facts of a client's answer.
    pub(crate) fn new(
        registry: Registry,
        version: &str,
        publishers: &[&Value],
        published: &Value,
    ) -> Result<Self, Error> {
        if !is_exact(registry, version) {
            let version = quote(version, QUOTED_CHARS);
            let message = format!("the registry's version `{version}` is not exact");
            return Err(Error::new(message));
        }
        Ok(Self {
            version: version.to_owned(),
            publisher: publishers.iter().find_map(|it| person(it)),
            published: published.as_str().and_then(date).map(str::to_owned),
        })
    }
}

impl Store {
    /// Asks a registry for a package of a server, by the client of the registry in the sandbox. Nothing is installed,
    /// and no code of the package is run. Without `version` it is the newest one. npm accepts a range or a tag, and
    /// PyPI a range. Needs a tokio runtime with I/O.
    ///
    /// # Errors
    ///
    /// When the registry has no packages of servers, the name or the version is malformed, or the client fails.
    pub async fn look_up(
        &self,
        registry: Registry,
        name: &str,
        version: Option<&str>,
        sandbox: &Sandbox,
        network: &Network,
    ) -> Result<Facts, Error> {
        let wanted = wanted(registry, name, version)?;
        let staged = self.stage()?;
        match registry {
            Registry::Npm => npm::look_up(&wanted, staged.path(), sandbox, network).await,
            Registry::PyPi => pip::look_up(&wanted, staged.path(), sandbox, network).await,
            Registry::CratesIo | Registry::Go => Err(not_of_servers()),
        }
    }
}

fn wanted(registry: Registry, name: &str, version: Option<&str>) -> Result<Requirement, Error> {
    let version = match version {
        None => Version::Any,
        Some(text) if is_exact(registry, text) => Version::Exact(text.to_owned()),
        Some(text) => Version::Range(text.to_owned()),
    };
    let wanted = Requirement::new(name, version);
    wanted.check(registry)?;
    Ok(wanted)
}

/// Returns the name of a person, or of the first person of a list. A registry writes a person as an object with a
/// `name`, or as `Name <address> (URL)`; without a name the address is returned.
fn person(value: &Value) -> Option<String> {
    let text = match value {
        Value::Array(list) => return list.first().and_then(person),
        Value::Object(members) => members.get("name")?,
        other => other,
    };
    let text = text.as_str()?;
    let (before, _) = text.split_once('<').unwrap_or((text, ""));
    let (name, _) = before.split_once(" (http").unwrap_or((before, ""));
    let trimmed = |text: &str| {
        let is_around = |c: char| c.is_whitespace() || "\"<>".contains(c);
        text.trim_matches(is_around).to_owned()
    };
    let name = Some(trimmed(name)).filter(|it| !it.is_empty());
    let name = name.unwrap_or_else(|| trimmed(text));
    (!name.is_empty()).then(|| quote(&name, PUBLISHER_CHARS))
}

/// Returns the date of a time of RFC 3339.
fn date(time: &str) -> Option<&str> {
    let (date, rest) = time.split_at_checked("YYYY-MM-DD".len())?;
    let in_place = |(at, b): (usize, u8)| match at {
        4 | 7 => b == b'-',
        _ => b.is_ascii_digit(),
    };
    let is_date = date.bytes().enumerate().all(in_place)
        && ("01"..="12").contains(&&date[5..7])
        && ("01"..="31").contains(&&date[8..]);
    (is_date && (rest.is_empty() || rest.starts_with('T'))).then_some(date)
}

#[cfg(test)]
mod tests {
    use super::{Facts, PUBLISHER_CHARS, date, person, wanted};
    use crate::Registry::{Npm, PyPi};
    use serde_json::{Value, json};

    #[test]
    fn a_version_is_exact_or_a_range_or_a_tag() {
        for (registry, name, version, shown) in [
            (Npm, "@acme/a", None, "@acme/a"),
            (Npm, "acme", Some("1.2.3"), "acme@1.2.3"),
            (Npm, "acme", Some("latest"), "acme latest"),
            (Npm, "acme", Some("^1"), "acme ^1"),
            (PyPi, "acme", Some("1.0"), "acme@1.0"),
            (PyPi, "acme", Some(">=1,<2"), "acme >=1,<2"),
        ] {
            assert_eq!(wanted(registry, name, version).unwrap().to_string(), shown);
        }
        let long = format!("1.0.0-{}", "1".repeat(300));
        for (registry, name, version) in [
            (Npm, "", None),
            (Npm, "--registry=x", None),
            (Npm, "acme@1.0.0", None),
            (Npm, "https://acme.example/a.tgz", None),
            (Npm, "../acme", None),
            (Npm, "acme", Some("")),
            (Npm, "acme", Some(&*long)),
            (Npm, "acme", Some("--registry=x")),
            (Npm, "acme", Some("https://acme.example/a.tgz")),
            (Npm, "acme", Some("npm:other")),
            (Npm, "acme", Some("file:x")),
            (Npm, "acme", Some("1.0.0\n")),
            (PyPi, "acme[extra]", None),
            (PyPi, "--index-url=x", None),
            (PyPi, "acme", Some("latest")),
            (PyPi, "acme", Some("@ https://acme.example/a.whl")),
            (PyPi, "acme", Some(">=1; python_version<'3'")),
        ] {
            assert!(
                wanted(registry, name, version).is_err(),
                "{name} {version:?}"
            );
        }
    }

    #[test]
    fn a_person_has_a_name_or_an_address() {
        for (value, name) in [
            (json!("Ann"), Some("Ann")),
            (
                json!("Ann Lee <ann@acme.example> (https://acme.example)"),
                Some("Ann Lee"),
            ),
            (json!("Ann (https://acme.example)"), Some("Ann")),
            (json!("Acme (Berlin)"), Some("Acme (Berlin)")),
            (json!("<ann@acme.example>"), Some("ann@acme.example")),
            (json!({ "name": "Ann", "email": "x" }), Some("Ann")),
            (json!([{ "name": "Ann" }, { "name": "Bob" }]), Some("Ann")),
            (json!(["Ann <a>", "Bob"]), Some("Ann")),
            (json!([]), None),
            (json!({ "name": 1 }), None),
            (json!({}), None),
            (json!(" <> "), None),
            (json!(7), None),
            (Value::Null, None),
            (
                json!("Ann\u{1b}[2J\u{202e}\n!"),
                Some("Ann<U+001B>[2J<U+202E><U+000A>!"),
            ),
        ] {
            assert_eq!(person(&value).as_deref(), name, "{value}");
        }
        let long = person(&json!("a".repeat(100_000))).unwrap();
        assert_eq!(long.chars().count(), PUBLISHER_CHARS + 1);
    }

    #[test]
    fn a_publication_has_a_date() {
        for (time, expected) in [
            ("2025-03-01", Some("2025-03-01")),
            ("2025-03-01T10:00:00.000Z", Some("2025-03-01")),
            ("2025-03-01T10:00:00.000000+00:00", Some("2025-03-01")),
            ("2025-13-01", None),
            ("2025-03-00", None),
            ("2025-03-011", None),
            ("2025/03/01", None),
            ("2025-03", None),
            ("2025-03-\u{661}", None),
            ("", None),
        ] {
            assert_eq!(date(time), expected, "{time}");
        }
    }

    #[test]
    fn a_version_of_a_registry_is_exact() {
        let none = Value::Null;
        let facts = Facts::new(Npm, "1.0.0", &[&none], &json!(5)).unwrap();
        assert_eq!((facts.publisher, facts.published), (None, None));
        for version in ["", "1", "1.0.0\u{1b}[2J", "^1.0.0", "--x"] {
            let refused = Facts::new(Npm, version, &[&none], &none).unwrap_err();
            assert!(!refused.to_string().contains('\u{1b}'), "{refused}");
        }
    }
}
