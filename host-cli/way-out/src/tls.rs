//! TLS: trusted roots, and the one configuration of clients.

use crate::error::{Error, ErrorKind};
use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};
use rustls_native_certs::load_native_certs;
use std::sync::Arc;

/// The protocol to negotiate by ALPN.
const ALPN: &[u8] = b"http/1.1";

/// The certificates that an `https` server's certificate must lead to.
#[derive(Debug, Clone, Default)]
pub struct Roots {
    /// Whether to trust the roots of this machine.
    pub system: bool,
    /// Further roots, in DER.
    pub extra: Vec<Vec<u8>>,
}

impl Roots {
    /// Returns the roots of this machine.
    #[must_use]
    pub fn system() -> Self {
        Self {
            system: true,
            extra: Vec::new(),
        }
    }

    /// Returns the configuration of clients that trust these roots.
    pub(crate) fn configuration(&self) -> Result<Arc<ClientConfig>, Error> {
        let mut store = RootCertStore::empty();
        if self.system {
            // Stores of machines hold certificates that can't be read; the others count.
            store.add_parsable_certificates(load_native_certs().certs);
        }
        for root in &self.extra {
            let root = CertificateDer::from(root.as_slice()).into_owned();
            let added = store.add(root);
            added.map_err(|e| Error::caused(ErrorKind::Tls, "not a root certificate", &e))?;
        }
        if store.is_empty() {
            return Err(Error::new(ErrorKind::Tls, "no root certificate is trusted"));
        }
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|e| Error::caused(ErrorKind::Tls, "no version of TLS", &e))?;
        let mut configuration = builder.with_root_certificates(store).with_no_client_auth();
        configuration.alpn_protocols = vec![ALPN.to_vec()];
        // Nothing is remembered from one call to the next.
        configuration.resumption = rustls::client::Resumption::disabled();
        Ok(Arc::new(configuration))
    }
}
