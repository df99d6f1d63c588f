//! The id of a server: that of the client's configuration, unless another server has it.

use crate::{Adoptable, NewEntry, NewSecret};
use agent_host::hex;
use agent_operator::{Network, Operator};
use sha2::{Digest, Sha256};
use std::path::Path;

/// Bytes of the digest behind a known id.
const SUFFIX: usize = 4;

/// What the operator has already.
pub struct Known<'o> {
    /// The configuration.
    pub operator: &'o Operator,
    /// Returns whether a secret of a name has this value.
    pub has_secret: &'o dyn Fn(&str, &NewSecret) -> bool,
    /// The file that the new server stands in.
    pub file: &'o Path,
}

/// Returns the id of a server and its entry, and whether the operator's configuration has both already.
///
/// An id that the operator knows with another origin, otherwise started or with other secrets, is another server: the
/// new one gets the digest of its entry behind its name, and inherits and replaces nothing.
#[must_use]
pub fn identify(
    name: &str,
    server: &Adoptable,
    network: &Network,
    known: &Known<'_>,
) -> (String, NewEntry, bool) {
    let usual = usual_id(name);
    let own = format!("{:?}", server.entry(&usual, network).server);
    // The same server with another secret is one of its file.
    let of_file = format!("{own} {}", known.file.display());
    let mut last = None;
    for suffix in [None, Some(&own), Some(&of_file)] {
        let id = match suffix {
            None => usual.clone(),
            Some(text) => format!("{usual}-{}", hex(&Sha256::digest(text)[..SUFFIX])),
        };
        let entry = server.entry(&id, network);
        let mut secrets = entry.secrets.iter();
        match known.operator.servers.get(&id) {
            // Secrets of such names are those of something else.
            None if !secrets.any(|(name, _)| known.operator.secrets.contains_key(name)) => {
                return (id, entry, false);
            }
            Some(it)
                if *it == entry.server
                    && secrets.all(|(name, it)| (known.has_secret)(name, it)) =>
            {
                return (id, entry, true);
            }
            _ => last = Some((id, entry)),
        }
    }
    let (id, entry) = last.unwrap_or_else(|| (usual.clone(), server.entry(&usual, network)));
    (id, entry, false)
}

/// Returns an id of plain characters for a name of a client's configuration.
#[must_use]
pub fn usual_id(name: &str) -> String {
    let plain = |c: char| match c {
        _ if c.is_ascii_alphanumeric() || "._-/".contains(c) => c,
        _ => '-',
    };
    let id: String = name.chars().map(plain).collect();
    let id = id.trim_matches(['-', '.', '/']);
    match id {
        "" => "server".to_owned(),
        _ => id.chars().take(64).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Known, identify, usual_id};
    use crate::{Surroundings, adoptable};
    use agent_host::contract::clients::{
        InstalledServer, NamedSetting, RemoteServer, ServerStart, SettingPart,
    };
    use agent_operator::{Network, Operator, SecretSource};
    use std::path::Path;

    fn server(url: &str) -> InstalledServer {
        InstalledServer {
            path: "mcpServers.github".to_owned(),
            name: "github".to_owned(),
            is_enabled: true,
            start: ServerStart::Remote(RemoteServer {
                url: vec![SettingPart::Plain(url.to_owned())],
                user_info: None,
                query: Vec::new(),
                headers: vec![NamedSetting {
                    name: "Authorization".to_owned(),
                    value: vec![SettingPart::Secret("a long value".to_owned())],
                }],
            }),
        }
    }

    #[test]
    fn another_server_of_a_known_id_inherits_nothing() {
        let read = |url: &str| adoptable(&server(url), &Surroundings::default()).unwrap();
        let (own, evil) = (
            read("https://github.example/mcp"),
            read("https://evil.example/mcp"),
        );
        let mut operator = Operator::default();
        let with_secret = |server, operator: &Operator, has_secret| {
            let known = Known {
                operator,
                has_secret: &|_, _| has_secret,
                file: Path::new("/home/ada/.cursor/mcp.json"),
            };
            identify("github", server, &Network::None, &known)
        };
        let identified = |server, operator: &Operator| with_secret(server, operator, true);
        let (id, entry, is_known) = identified(&own, &operator);
        assert_eq!((&*id, is_known), ("github", false));
        let names: Vec<_> = entry.secrets.keys().cloned().collect();
        assert_eq!(names, ["github.Authorization"]);
        operator.servers.insert(id, entry.server);
        for name in names {
            let source = SecretSource::Keyring(name.clone());
            operator.secrets.insert(name, source);
        }
        let (id, _, is_known) = identified(&own, &operator);
        assert_eq!((&*id, is_known), ("github", true));
        let (id, entry, is_known) = identified(&evil, &operator);
        assert!(id.starts_with("github-") && !is_known, "{id}");
        let own_secret = format!("{id}.Authorization");
        assert_eq!(entry.secrets.keys().collect::<Vec<_>>(), [&own_secret]);
        // The same server with another secret replaces none.
        let (other, entry, is_known) = with_secret(&own, &operator, false);
        assert!(other.starts_with("github-") && !is_known, "{other}");
        assert!(entry.secrets.keys().all(|name| name.starts_with(&other)));
        // Secrets of such a name without a server are not taken either.
        operator.servers.clear();
        assert_ne!(identified(&own, &operator).0, "github");
    }

    #[test]
    fn an_id_has_plain_characters() {
        for (name, id) in [
            ("GitHub", "GitHub"),
            ("io.github/files", "io.github/files"),
            ("my server@1|x", "my-server-1-x"),
            ("../..", "server"),
            ("", "server"),
        ] {
            assert_eq!(usual_id(name), id);
        }
    }
}
