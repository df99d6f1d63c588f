//! Signatures with an Ed25519 key of the user, and with those of others.

use agent_host::input::reason;
use agent_host::{Failure, hex};
use ring::digest::{SHA256, digest};
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use rustls_pki_types::PrivatePkcs8KeyDer;
use rustls_pki_types::pem::PemObject;
use std::fs::{File, Metadata};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Maximum size of a file with a key, in bytes.
const KEY_MAX: u64 = 64 << 10;

/// What precedes the bytes of an Ed25519 public key in its DER form (RFC 8410).
const PUBLIC_KEY: [u8; 12] = [
    0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00,
];

/// An Ed25519 private key.
pub struct SigningKey {
    pair: Ed25519KeyPair,
}

impl SigningKey {
    /// Reads a key in PKCS#8, as PEM or DER.
    ///
    /// # Errors
    ///
    /// When the file can't be read, other users can read it, or it is no such key.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let shown = path.display();
        let unreadable = |error: std::io::Error| {
            Failure::new(format_args!("can't read `{shown}`: {}", reason(&error)))
        };
        let file = File::open(path).map_err(unreadable)?;
        let metadata = file.metadata().map_err(unreadable)?;
        if is_readable_by_others(&metadata) {
            return Err(
                Failure::new(format_args!("other users can read the key `{shown}`"))
                    .help("take the permission from them with `chmod 600`"),
            );
        }
        let mut bytes = Vec::new();
        let read = file.take(KEY_MAX).read_to_end(&mut bytes);
        read.map_err(unreadable)?;
        Self::parse(&bytes, &format!("`{shown}`"))
    }

    /// Reads a key in PKCS#8, as PEM or DER. `shown` names its source in messages.
    ///
    /// # Errors
    ///
    /// When it is no such key.
    pub fn parse(bytes: &[u8], shown: &str) -> Result<Self, Failure> {
        let pem = PrivatePkcs8KeyDer::from_pem_slice(bytes);
        let der = pem.as_ref().map_or(bytes, |it| it.secret_pkcs8_der());
        // OpenSSL writes keys without their public half.
        match Ed25519KeyPair::from_pkcs8_maybe_unchecked(der) {
            Ok(pair) => Ok(Self { pair }),
            Err(_) => Err(Failure::new(format_args!(
                "{shown} is not an Ed25519 private key in PKCS#8"
            ))
            .help("make one with `openssl genpkey -algorithm ed25519 -out FILE`")),
        }
    }

    /// Returns the id of the key: the SHA-256 of the public key's DER form, in hexadecimal digits.
    #[must_use]
    pub fn id(&self) -> String {
        let public = [&PUBLIC_KEY, self.pair.public_key().as_ref()].concat();
        hex(digest(&SHA256, &public).as_ref())
    }

    /// Returns the signature of bytes.
    #[must_use]
    pub fn sign(&self, bytes: &[u8]) -> Vec<u8> {
        self.pair.sign(bytes).as_ref().to_vec()
    }
}

fn is_readable_by_others(metadata: &Metadata) -> bool {
    metadata.mode() & 0o077 != 0
}

/// Returns whether a signature of bytes is that of an Ed25519 public key of 32 bytes.
#[must_use]
pub fn is_signed_by(public_key: &[u8], bytes: &[u8], signature: &[u8]) -> bool {
    let key = UnparsedPublicKey::new(&ED25519, public_key);
    key.verify(bytes, signature).is_ok()
}
