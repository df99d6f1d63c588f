//! Where connections may go \[3\].

use agent_diagnostic::Problems;
use agent_model::{Binding, Origin, UrlError, is_public};
use core::net::IpAddr;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Why a connection may not be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DestinationDenial {
    /// The URL is none that a connection may be made for.
    Url(UrlError),
    /// It is at none of the destinations of the binding.
    Elsewhere {
        /// Where it is.
        origin: Origin,
        /// Where it may be.
        allowed: Arc<[Origin]>,
    },
    /// Its host has no address.
    NoAddress,
    /// An address is not public, and there is no entry for it.
    NonPublic(IpAddr),
}

/// Decide where a connection for a URL may go: to any of the addresses that its host was resolved
/// to, and nowhere else. Redirects are not followed.
///
/// # Errors
/// Every reason against it. One address that it may not go to is one: which of several is
/// connected to would be up to who resolves the name.
pub fn authorize_destination(
    binding: &Binding,
    url: &str,
    addresses: &[IpAddr],
) -> Result<Vec<IpAddr>, Vec<DestinationDenial>> {
    let mut denials = Vec::from_iter(elsewhere(binding, url));
    if addresses.is_empty() {
        denials.push(DestinationDenial::NoAddress);
    }
    let mut told = BTreeSet::new();
    for address in addresses {
        if !may_connect(binding, *address) && told.len() < Problems::LIMIT && told.insert(*address)
        {
            denials.push(DestinationDenial::NonPublic(*address));
        }
    }
    if denials.is_empty() {
        Ok(addresses.to_vec())
    } else {
        Err(denials)
    }
}

/// What speaks against a URL before its host is resolved. An address in it is one of the
/// destinations, and so has its entry, or it is elsewhere.
pub(super) fn elsewhere(binding: &Binding, url: &str) -> Option<DestinationDenial> {
    match Origin::of(url) {
        Err(error) => Some(DestinationDenial::Url(error)),
        Ok(origin) if binding.destinations.contains(&origin) => None,
        Ok(origin) => Some(DestinationDenial::Elsewhere {
            origin,
            allowed: Arc::clone(&binding.destinations),
        }),
    }
}

/// Whether an address is public, or has an entry: as the host of a destination or among the
/// binding's own.
fn may_connect(binding: &Binding, address: IpAddr) -> bool {
    let wanted = address.to_canonical();
    let hosts = binding.destinations.iter().filter_map(Origin::address);
    let own = binding.driver.addresses().iter().copied();
    is_public(address) || hosts.chain(own).any(|it| it.to_canonical() == wanted)
}
