//! Where a session's servers are reached.

use super::session::Session;
use agent_api::plan::{self, RunProblem};

/// Where a server over HTTP is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    /// Whether TLS is used.
    pub tls: bool,
    /// The host for TLS and for `Host`; an IPv6 address stands in brackets.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The path and the query.
    pub target: String,
    /// Whether the host is a name, which has to be resolved.
    pub is_name: bool,
}

impl Session {
    /// Returns where a server is reached; `None` if the host starts it.
    ///
    /// # Errors
    /// The lock has no such server, or no connection may be made for its endpoint.
    pub fn destination(&self, server: &str) -> Result<Option<Destination>, String> {
        let endpoint = self.endpoint(server)?;
        if endpoint.starts_with("pkg:") {
            return Ok(None);
        }
        let (origin, target) = plan::endpoint(endpoint).map_err(|(_, message)| message)?;
        Ok(Some(Destination {
            tls: origin.is_secure(),
            host: origin.host().to_owned(),
            port: origin.port(),
            target,
            is_name: origin.address().is_none(),
        }))
    }

    /// Decides which of the addresses of a server's host may be connected to: all, or none.
    ///
    /// # Errors
    /// Every reason against it.
    pub fn authorize(&self, server: &str, addresses: &[String]) -> Result<Vec<String>, String> {
        let endpoint = self.endpoint(server)?;
        plan::authorize_endpoint(endpoint, addresses).map_err(|problems| {
            let messages = problems.into_iter().map(|(_, message): RunProblem| message);
            messages.collect::<Vec<_>>().join("; ")
        })
    }

    fn endpoint(&self, server: &str) -> Result<&str, String> {
        let number = self.basis.server_number(server);
        let number = number.ok_or_else(|| format!("the lock has no server `{server}`"))?;
        Ok(&self.basis.servers[number].endpoint)
    }
}
