//! The network of the tests' registries.

use agent_packages::Network;
use agent_way_out::{Gate, Proxy, ProxyLimits, Resolver};
use std::net::IpAddr;

/// Admits what is listed, at any address. The engine, which decides elsewhere, is not part of these tests.
struct Listed(Vec<String>);

impl Gate for Listed {
    fn admit(&mut self, wanted: &str) -> Result<(String, u16), String> {
        let (host, port) = wanted.rsplit_once(':').ok_or("no port")?;
        match self.0.iter().any(|it| it == wanted) {
            true => Ok((host.to_owned(), port.parse().unwrap())),
            false => Err(format!("`{wanted}` is not listed")),
        }
    }

    fn authorize(&mut self, _: &str, addresses: &[IpAddr]) -> Result<Vec<IpAddr>, String> {
        Ok(addresses.to_vec())
    }
}

/// Returns the network of the configured registries, and more hosts.
pub(crate) fn registries<const N: usize>(more: [String; N]) -> Network {
    Network::Registries {
        proxy: Box::new(|hosts| {
            let limits = ProxyLimits::default();
            Ok(Proxy::new(Listed(hosts), Resolver::system(), limits))
        }),
        resolver: Resolver::system(),
        more: more.to_vec(),
    }
}
