//! The network of the registries' clients.

use crate::Error;
use agent_way_out::{Proxy, Resolver};
use std::net::{IpAddr, SocketAddr};

/// Makes a proxy that connects to the listed `host:port` and to nothing else.
pub type ProxyMaker = Box<dyn Fn(Vec<String>) -> Result<Proxy, String>>;

/// What a registry's client may reach.
pub enum Network {
    /// The registries of the user's configuration, through a proxy. It needs the bubblewrap tier.
    Registries {
        /// Makes the proxy.
        proxy: ProxyMaker,
        /// Resolves the hosts of the registries, which may have addresses that are not public.
        resolver: Resolver,
        /// More hosts: `host:port`, such as that of a registry's files, or an address that is not public.
        more: Vec<String>,
    },
    /// The network of the machine: weaker.
    Host,
}

impl Network {
    /// Returns the proxy to the registries at some URLs, and to more public ones; `None` if the client has the whole
    /// network.
    ///
    /// A registry may be in a private network, such as a company's mirror: the user's configuration names
    /// it, so its present addresses are destinations, too. Those of a URL that a registry names are not.
    pub(crate) async fn proxy(
        &self,
        registries: &[String],
        public: &[String],
    ) -> Result<Option<Proxy>, Error> {
        let Self::Registries {
            proxy,
            resolver,
            more,
        } = self
        else {
            return Ok(None);
        };
        let mut hosts = Vec::new();
        for host in registries.iter().filter_map(|url| authority(url)) {
            hosts.extend(addresses(&host, resolver).await);
            hosts.push(host);
        }
        hosts.extend(public.iter().filter_map(|url| named(url)));
        hosts.extend(more.iter().cloned());
        proxy(hosts).map(Some).map_err(Error::new)
    }
}

/// Returns the host of a URL, unless it is an address: one that is listed is a destination even if it is not public.
fn named(url: &str) -> Option<String> {
    let host = authority(url)?;
    let (name, _) = host.rsplit_once(':')?;
    let is_address = name.trim_matches(['[', ']']).parse::<IpAddr>().is_ok();
    (!is_address).then_some(host)
}

/// Returns the addresses of a host, each with its port. A name without one fails where it is used.
async fn addresses(host: &str, resolver: &Resolver) -> Vec<String> {
    let Some((name, port)) = host.rsplit_once(':') else {
        return Vec::new();
    };
    let (Ok(port), Ok(found)) = (port.parse::<u16>(), resolver.resolve(name).await) else {
        return Vec::new();
    };
    let destinations = found.into_iter().map(|it| SocketAddr::new(it, port));
    destinations.map(|it| it.to_string()).collect()
}

/// Returns `host:port` of the URL of a registry; `None` for one that needs no network, such as a folder.
fn authority(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let scheme = scheme.to_ascii_lowercase();
    // Cargo's URLs say how an index is read.
    let port = match scheme.strip_prefix("sparse+").unwrap_or(&scheme) {
        "https" => 443,
        "http" => 80,
        _ => return None,
    };
    let (authority, _) = agent_way_out::authority(rest, port);
    let host = authority.rsplit('@').next().unwrap_or_default();
    Some(host.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{addresses, authority, named};
    use agent_way_out::{Lookup, Resolver};
    use std::io;
    use std::net::IpAddr;
    use std::time::Duration;

    /// A company's mirror.
    struct Mirror;

    impl Lookup for Mirror {
        fn lookup(&self, name: &str) -> io::Result<Vec<IpAddr>> {
            match name {
                "mirror.example" => Ok(vec![
                    "10.0.0.7".parse().unwrap(),
                    "fd00::7".parse().unwrap(),
                ]),
                _ => Err(io::ErrorKind::NotFound.into()),
            }
        }
    }

    #[tokio::test]
    async fn a_registry_may_have_addresses_that_are_not_public() {
        let resolver = Resolver::new(Mirror, Duration::from_secs(1));
        let found = addresses("mirror.example:8443", &resolver).await;
        assert_eq!(found, ["10.0.0.7:8443", "[fd00::7]:8443"]);
        for none in ["other.example:443", "mirror.example:x", "mirror.example"] {
            assert!(addresses(none, &resolver).await.is_empty(), "{none}");
        }
    }

    #[test]
    fn an_index_names_hosts_and_no_addresses() {
        let found = named("https://crates.example/x");
        assert_eq!(found.as_deref(), Some("crates.example:443"));
        for url in ["http://127.0.0.1:81/x", "https://[::1]/", "file:///srv"] {
            assert_eq!(named(url), None, "{url}");
        }
    }

    #[test]
    fn a_registry_is_reached_at_the_host_of_its_url() {
        for (url, host) in [
            (
                "https://packages.example.com/",
                Some("packages.example.com:443"),
            ),
            (
                "http://packages.example.com",
                Some("packages.example.com:80"),
            ),
            (
                "https://user:word@a.example:8443/x?y",
                Some("a.example:8443"),
            ),
            ("https://[::1]/", Some("[::1]:443")),
            ("http://[::1]:81/", Some("[::1]:81")),
            ("sparse+https://a.example/x/", Some("a.example:443")),
            ("/srv/packages", None),
            ("file:///srv/packages", None),
        ] {
            assert_eq!(authority(url).as_deref(), host, "{url}");
        }
    }
}
