//! The destinations of connections \[3\].

use agent_diagnostic::Problems;
use agent_model::{Binding, Origin, UrlError, is_public};
use core::net::IpAddr;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A reason to deny a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DestinationDenial {
    /// The URL is invalid.
    Url(UrlError),
    /// The URL is not at a destination of the binding.
    Elsewhere {
        /// The origin of the URL.
        origin: Origin,
        /// The allowed origins.
        allowed: Arc<[Origin]>,
    },
    /// The host has no address.
    NoAddress,
    /// An address is not public, and no entry allows it.
    NonPublic(IpAddr),
}

/// Decides on a connection for a URL and returns its allowed addresses: those of its host. Redirects
/// are not followed.
///
/// # Errors
/// Every reason against the connection. One denied address suffices, because the resolver would
/// choose between several.
pub fn authorize_destination(
    binding: &Binding,
    url: &str,
    addresses: &[IpAddr],
) -> Result<Vec<IpAddr>, Vec<DestinationDenial>> {
    let own = binding.driver.addresses();
    let denials = Vec::from_iter(elsewhere(binding, url));
    checked(denials, &binding.destinations, own, addresses)
}

/// Decides on a connection for a URL from another party, and returns its allowed addresses.
/// Addresses that are not public must be the hosts of trusted URLs.
///
/// # Errors
/// As [`authorize_destination`].
pub fn authorize_url(
    url: &str,
    trusted: &[&str],
    addresses: &[IpAddr],
) -> Result<Vec<IpAddr>, Vec<DestinationDenial>> {
    let trusted: Vec<_> = trusted
        .iter()
        .filter_map(|it| Origin::of(it).ok())
        .collect();
    match Origin::of(url) {
        Ok(_) => checked(Vec::new(), &trusted, &[], addresses),
        Err(error) => Err(vec![DestinationDenial::Url(error)]),
    }
}

fn checked(
    mut denials: Vec<DestinationDenial>,
    destinations: &[Origin],
    own: &[IpAddr],
    addresses: &[IpAddr],
) -> Result<Vec<IpAddr>, Vec<DestinationDenial>> {
    if addresses.is_empty() {
        denials.push(DestinationDenial::NoAddress);
    }
    let denied = addresses
        .iter()
        .filter(|it| !may_connect(destinations, own, **it));
    let mut seen = BTreeSet::new();
    let denied = denied.filter(|it| seen.insert(**it)).take(Problems::LIMIT);
    denials.extend(denied.copied().map(DestinationDenial::NonPublic));
    if denials.is_empty() {
        Ok(addresses.to_vec())
    } else {
        Err(denials)
    }
}

/// Returns the origin and the target of an allowed URL, before its host is resolved.
///
/// # Errors
/// The URL is not at a destination of the binding.
pub(super) fn allowed_target(
    binding: &Binding,
    url: &str,
) -> Result<(Origin, String), DestinationDenial> {
    match elsewhere(binding, url) {
        Some(denial) => Err(denial),
        None => Origin::with_target(url).map_err(DestinationDenial::Url),
    }
}

/// Returns the reason against a URL before its host is resolved. A URL with an address needs the
/// address among the destinations.
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

/// Returns whether an address is public, or has an entry: as the host of a destination or among the
/// allowed addresses `own`.
fn may_connect(destinations: &[Origin], own: &[IpAddr], address: IpAddr) -> bool {
    let wanted = address.to_canonical();
    let hosts = destinations.iter().filter_map(Origin::address);
    let mut allowed = hosts.chain(own.iter().copied());
    is_public(address) || allowed.any(|it| it.to_canonical() == wanted)
}
