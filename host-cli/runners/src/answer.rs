//! The data of answers, from the JSON that the engine returned.

use serde::Deserialize;
use serde_json::value::RawValue;
use std::net::{Ipv4Addr, SocketAddr};

/// What `apply` answers with.
#[derive(Clone, Debug, Deserialize)]
pub struct Applied {
    /// Number of files that were written.
    pub writes: u64,
    /// The folder of the app, as the runner sees it.
    pub target: String,
    /// The manifest that the runner made, for the engine to read; `None` if the host makes it.
    #[serde(default)]
    pub manifest: Option<Box<RawValue>>,
}

/// What `start` answers with.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Started {
    /// The process of the app, as the runner sees it.
    pub pid: u32,
    /// The address at which the app listens in its own network.
    pub host: Ipv4Addr,
    /// The port at which it listens there.
    pub port: u16,
}

/// What `health` answers with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct Health {
    /// Whether the app runs.
    pub live: bool,
    /// Whether it accepts connections.
    pub ready: bool,
}

impl Applied {
    /// Reads `data` of an answer.
    ///
    /// # Errors
    ///
    /// What is missing or has another type.
    pub fn read(data: &str) -> Result<Self, String> {
        read(data)
    }
}

impl Started {
    /// Reads `data` of an answer.
    ///
    /// # Errors
    ///
    /// What is missing or has another type.
    pub fn read(data: &str) -> Result<Self, String> {
        read(data)
    }

    /// Returns whether the kernel agrees: a process listens there, by
    /// [`Session::listening`](crate::Session::listening).
    #[must_use]
    pub fn is_among(&self, listening: &[SocketAddr]) -> bool {
        let reaches = |ip: std::net::IpAddr| {
            let ip = ip.to_canonical();
            ip == self.host || ip.is_unspecified()
        };
        self.host.is_loopback()
            && listening
                .iter()
                .any(|it| it.port() == self.port && reaches(it.ip()))
    }
}

impl Health {
    /// Reads `data` of an answer.
    ///
    /// # Errors
    ///
    /// What is missing or has another type.
    pub fn read(data: &str) -> Result<Self, String> {
        read(data)
    }
}

fn read<'a, T: Deserialize<'a>>(data: &'a str) -> Result<T, String> {
    serde_json::from_str(data).map_err(|error| format!("`data`: {error}"))
}

#[cfg(test)]
mod tests {
    use super::{Health, Started};

    #[test]
    fn an_address_counts_if_the_kernel_agrees() {
        let started =
            |host: &str| Started::read(&format!(r#"{{"pid": 7, "host": "{host}", "port": 80}}"#));
        let at = |host: &str, listening: &str| {
            let listening = [listening.parse().unwrap()];
            started(host).unwrap().is_among(&listening)
        };
        for listening in [
            "127.0.0.1:80",
            "0.0.0.0:80",
            "[::]:80",
            "[::ffff:127.0.0.1]:80",
        ] {
            assert!(at("127.0.0.1", listening), "{listening}");
        }
        for listening in ["127.0.0.1:81", "127.0.0.2:80", "[::1]:80"] {
            assert!(!at("127.0.0.1", listening), "{listening}");
        }
        assert!(!at("0.0.0.0", "0.0.0.0:80"));
        assert!(started("example.org").is_err());
    }

    #[test]
    fn data_needs_every_member() {
        assert!(Health::read(r#"{"live": true, "ready": false}"#).is_ok());
        let error = Health::read(r#"{"live": true}"#).unwrap_err();
        assert!(error.contains("ready"), "{error}");
    }
}
