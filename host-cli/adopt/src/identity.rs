//! The id of a server: that of the client's configuration, unless another server has it.

use crate::{Adoptable, NewEntry};
use agent_host::hex;
use agent_operator::{Network, Operator};
use sha2::{Digest, Sha256};

/// Bytes of the digest behind a known id.
const SUFFIX: usize = 4;

/// Returns the id of a server and its entry, and whether the operator's configuration has both already.
///
/// An id that the operator knows with another origin, or otherwise started, is another server: the new one gets the
/// digest of its entry behind its name, and inherits nothing.
#[must_use]
pub fn identify(
    name: &str,
    server: &Adoptable,
    network: &Network,
    operator: &Operator,
) -> (String, NewEntry, bool) {
    let id = usual_id(name);
    let entry = server.entry(&id, network);
    let mut secrets = entry.secrets.keys();
    match operator.servers.get(&id) {
        // Secrets of such names are those of something else.
        None if !secrets.any(|name| operator.secrets.contains_key(name)) => {
            return (id, entry, false);
        }
        Some(known) if *known == entry.server => return (id, entry, true),
        _ => {}
    }
    let own = format!("{:?}", entry.server);
    let digest = hex(&Sha256::digest(own)[..SUFFIX]);
    let id = format!("{id}-{digest}");
    let entry = server.entry(&id, network);
    let known = operator.servers.get(&id) == Some(&entry.server);
    (id, entry, known)
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
    use super::{identify, usual_id};
    use crate::{Surroundings, adoptable};
    use agent_host::contract::clients::{
        InstalledServer, NamedSetting, RemoteServer, ServerStart, SettingPart,
    };
    use agent_operator::{Network, Operator, SecretSource};

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
        let identified =
            |server, operator: &_| identify("github", server, &Network::None, operator);
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
