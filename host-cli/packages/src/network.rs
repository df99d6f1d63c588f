//! The network of the registries' clients.

use crate::Error;
use agent_way_out::Proxy;

/// Makes a proxy that connects to the listed `host:port` and to nothing else.
pub type ProxyMaker = Box<dyn Fn(Vec<String>) -> Result<Proxy, String>>;

/// What a registry's client may reach.
pub enum Network {
    /// The registries of the user's configuration, through a proxy. It needs the bubblewrap tier.
    Registries {
        /// Makes the proxy.
        proxy: ProxyMaker,
        /// More hosts: `host:port`, such as that of a registry's files, or an address that is not public.
        more: Vec<String>,
    },
    /// The network of the machine: weaker.
    Host,
}

impl Network {
    /// Returns the proxy to the registries at some URLs; `None` if the client has the whole network.
    pub(crate) fn proxy(&self, registries: &[String]) -> Result<Option<Proxy>, Error> {
        let Self::Registries { proxy, more } = self else {
            return Ok(None);
        };
        let hosts = registries.iter().filter_map(|url| authority(url));
        let hosts = hosts.chain(more.iter().cloned());
        proxy(hosts.collect()).map(Some).map_err(Error::new)
    }
}

/// Returns `host:port` of the URL of a registry; `None` for one that needs no network, such as a folder.
fn authority(url: &str) -> Option<String> {
    let (rest, port) = match url.split_once("://")? {
        ("https", rest) => (rest, 443),
        ("http", rest) => (rest, 80),
        _ => return None,
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let host = rest[..end].rsplit('@').next().unwrap_or_default();
    let has_port = !host.ends_with(']') && host.contains(':');
    Some(match has_port {
        true => host.to_owned(),
        false => format!("{host}:{port}"),
    })
}

#[cfg(test)]
mod tests {
    use super::authority;

    #[test]
    fn a_registry_is_reached_at_the_host_of_its_url() {
        for (url, host) in [
            (
                "https://registry.example.com/",
                Some("registry.example.com:443"),
            ),
            (
                "http://registry.example.com",
                Some("registry.example.com:80"),
            ),
            (
                "https://user:word@a.example:8443/x?y",
                Some("a.example:8443"),
            ),
            ("https://[::1]/", Some("[::1]:443")),
            ("http://[::1]:81/", Some("[::1]:81")),
            ("/srv/packages", None),
            ("file:///srv/packages", None),
        ] {
            assert_eq!(authority(url).as_deref(), host, "{url}");
        }
    }
}
