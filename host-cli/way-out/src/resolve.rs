//! Addresses of names.

use crate::error::{Error, ErrorKind};
use crate::target::Host;
use std::io;
use std::net::{IpAddr, ToSocketAddrs as _};
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use tokio::sync::{Semaphore, oneshot};
use tokio::time::timeout;

/// Maximum number of addresses of a name. All of them must be checked, so that more are an error.
const ADDRESSES: usize = 64;
/// Maximum number of running lookups, including those whose caller timed out.
const LOOKUPS: usize = 16;
/// Default time limit of a lookup.
const LOOKUP_TIME: Duration = Duration::from_secs(10);

/// A source of addresses, which may block.
pub trait Lookup: Send + Sync + 'static {
    /// Looks up the addresses of a name, in order of preference.
    ///
    /// # Errors
    ///
    /// When the name has no address, or the source fails.
    fn lookup(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

/// The resolver of the operating system.
#[derive(Debug, Clone, Copy)]
pub struct SystemLookup;

impl Lookup for SystemLookup {
    fn lookup(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        // Addresses do not depend on the port.
        let addresses = (name, 0).to_socket_addrs()?;
        Ok(addresses.map(|address| address.ip()).collect())
    }
}

/// Resolution of names within a bounded time.
#[derive(Clone)]
pub struct Resolver {
    source: Arc<dyn Lookup>,
    limit: Duration,
    permits: Arc<Semaphore>,
}

impl Resolver {
    /// Returns a resolver of the operating system, with a limit of 10 seconds for each lookup.
    #[must_use]
    pub fn system() -> Self {
        Self::new(SystemLookup, LOOKUP_TIME)
    }

    /// Returns a resolver of a source of addresses, with a time limit for each lookup.
    pub fn new(source: impl Lookup, limit: Duration) -> Self {
        Self {
            source: Arc::new(source),
            limit,
            permits: Arc::new(Semaphore::new(LOOKUPS)),
        }
    }

    /// Returns this resolver with another time limit for each lookup.
    #[must_use]
    pub fn within(&self, limit: Duration) -> Self {
        Self {
            limit,
            ..self.clone()
        }
    }

    /// Returns the addresses of a host, without duplicates, in the order of the answer. Returns an IP
    /// address as it is, without a lookup.
    ///
    /// A lookup can't be interrupted. One that takes too long keeps its thread until it returns, and
    /// neither the runtime nor the end of the program waits for it.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Resolve`] when `host` is not a host as a URL parser writes it, or has no address
    /// or more than 64; [`ErrorKind::Timeout`] when there is no answer in time.
    pub async fn resolve(&self, host: &str) -> Result<Vec<IpAddr>, Error> {
        let name = match Host::parse(host) {
            Ok(Host::Address(address)) => return Ok(vec![address]),
            Ok(Host::Name(name)) => name,
            Err(why) => return Err(Error::caused(ErrorKind::Resolve, "not a host name", &why)),
        };
        let found = timeout(self.limit, self.lookup(name)).await;
        let found = found.map_err(|_| {
            let message = format!("no address within {} ms", self.limit.as_millis());
            Error::new(ErrorKind::Timeout, message)
        })??;
        let mut addresses = Vec::new();
        for address in found {
            if !addresses.contains(&address) {
                addresses.push(address);
            }
            if addresses.len() > ADDRESSES {
                let message = format!("the name has more than {ADDRESSES} addresses");
                return Err(Error::new(ErrorKind::Resolve, message));
            }
        }
        if addresses.is_empty() {
            return Err(Error::new(ErrorKind::Resolve, "the name has no address"));
        }
        Ok(addresses)
    }

    async fn lookup(&self, name: String) -> Result<Vec<IpAddr>, Error> {
        let failed =
            |cause: &dyn std::fmt::Display| Error::caused(ErrorKind::Resolve, "no address", cause);
        let permits = Arc::clone(&self.permits);
        let permit = permits.acquire_owned().await.map_err(|e| failed(&e))?;
        let (sender, receiver) = oneshot::channel();
        let source = Arc::clone(&self.source);
        // A separate thread: a runtime waits for the threads of its pool when it ends.
        let thread = thread::Builder::new().name("lookup".to_owned());
        let spawned = thread.spawn(move || {
            // The caller may have timed out.
            let _ = sender.send(source.lookup(&name));
            drop(permit);
        });
        spawned.map_err(|e| failed(&e))?;
        let answer = receiver
            .await
            .map_err(|_| failed(&"the resolver panicked"))?;
        answer.map_err(|e| failed(&e))
    }
}

#[cfg(test)]
mod tests {
    use super::{ADDRESSES, LOOKUPS, Lookup, Resolver};
    use crate::ErrorKind;
    use std::io;
    use std::net::{IpAddr, Ipv4Addr};
    use std::sync::mpsc::{Receiver, channel};
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    /// Returns fixed addresses, and records the requested names.
    struct Stub(Vec<IpAddr>, Arc<Mutex<Vec<String>>>);

    impl Lookup for Stub {
        fn lookup(&self, name: &str) -> io::Result<Vec<IpAddr>> {
            self.1.lock().unwrap().push(name.to_owned());
            Ok(self.0.clone())
        }
    }

    /// Does not answer before its channel is closed.
    struct Stuck(Mutex<Receiver<()>>);

    impl Lookup for Stuck {
        fn lookup(&self, _: &str) -> io::Result<Vec<IpAddr>> {
            let _ = self.0.lock().unwrap().recv();
            Err(io::Error::other("closed"))
        }
    }

    const AMPLE: Duration = Duration::from_secs(60);

    fn stub(addresses: &[&str]) -> (Resolver, Arc<Mutex<Vec<String>>>) {
        let asked = Arc::default();
        let addresses = addresses.iter().map(|it| it.parse().unwrap()).collect();
        (
            Resolver::new(Stub(addresses, Arc::clone(&asked)), AMPLE),
            asked,
        )
    }

    #[tokio::test]
    async fn order_is_kept_and_duplicates_are_removed() {
        let (resolver, asked) = stub(&["10.0.0.2", "::1", "10.0.0.1", "10.0.0.2"]);
        let found = resolver.resolve("example.com").await.unwrap();
        let found: Vec<_> = found.iter().map(ToString::to_string).collect();
        assert_eq!(found, ["10.0.0.2", "::1", "10.0.0.1"]);
        assert_eq!(*asked.lock().unwrap(), ["example.com"]);
    }

    #[tokio::test]
    async fn addresses_never_reach_the_source() {
        let (resolver, asked) = stub(&["192.0.2.1"]);
        for literal in ["203.0.113.7", "::1", "[::1]"] {
            let found = resolver.resolve(literal).await.unwrap();
            assert_eq!(found.len(), 1);
            assert_ne!(found[0].to_string(), "192.0.2.1");
        }
        // Other notations of addresses, and texts that are not hosts.
        for host in [
            "2130706433",
            "0x7f.1",
            "127.1",
            "",
            "a b",
            "user@example.com",
            "[::g]",
        ] {
            let error = resolver.resolve(host).await.unwrap_err();
            assert_eq!(error.kind, ErrorKind::Resolve, "{host}");
        }
        assert!(asked.lock().unwrap().is_empty());
    }

    #[tokio::test]
    async fn no_address_and_too_many_are_errors() {
        let (resolver, _) = stub(&[]);
        let error = resolver.resolve("empty.example").await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Resolve);

        let address = |n: usize| Ipv4Addr::from(n as u32 + 1).to_string();
        let many: Vec<_> = (0..=ADDRESSES).map(address).collect();
        let many: Vec<_> = many.iter().map(String::as_str).collect();
        let (resolver, _) = stub(&many);
        let error = resolver.resolve("many.example").await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Resolve);
        let (resolver, _) = stub(&many[1..]);
        assert_eq!(
            resolver.resolve("many.example").await.unwrap().len(),
            ADDRESSES
        );
    }

    #[tokio::test]
    async fn a_stuck_source_ends_in_time_and_takes_a_bounded_number_of_threads() {
        let (open, receiver) = channel();
        let resolver = Resolver::new(Stuck(Mutex::new(receiver)), Duration::from_millis(5));
        for _ in 0..LOOKUPS + 4 {
            let error = resolver.resolve("slow.example").await.unwrap_err();
            assert_eq!(error.kind, ErrorKind::Timeout);
        }
        assert_eq!(resolver.permits.available_permits(), 0);
        drop(open);
    }

    #[tokio::test]
    async fn the_system_knows_localhost() {
        let found = Resolver::system().resolve("localhost").await.unwrap();
        assert!(found.iter().all(IpAddr::is_loopback), "{found:?}");
    }
}
