//! The folder of what running gateways leave for their user: tokens, sockets and the addresses of pages.

use agent_host::Failure;
use agent_host::hex;
use agent_ownership::UserFolder;
use sha2::{Digest as _, Sha256};
use std::path::{Path, PathBuf, absolute};

/// Number of bytes of a digest that names a file.
const NAME_BYTES: usize = 8;

/// Returns the folder: `$XDG_STATE_HOME/agent/serve`, or below `~/.local/state`.
///
/// # Errors
///
/// When this user has no folder of their own.
pub(crate) fn folder() -> Result<PathBuf, Failure> {
    let folder = UserFolder::State.path();
    let missing = || Failure::new("there is no folder for the state of the gateway");
    let folder = folder.ok_or_else(|| missing().help("set `HOME` or `XDG_STATE_HOME`"))?;
    Ok(folder.join("agent/serve"))
}

/// Returns the file of the token of a client, which is the same whenever this lock is served. It is not beside
/// the lock: a user who can write there could choose the token.
///
/// # Errors
///
/// When this user has no folder of their own.
pub fn token_path(lock: &Path, client: &str) -> Result<PathBuf, Failure> {
    let lock = absolute(lock).unwrap_or_else(|_| lock.to_owned());
    let mut digest = Sha256::new();
    digest.update(lock.as_os_str().as_encoded_bytes());
    digest.update([0]);
    digest.update(client.as_bytes());
    let name = hex(&digest.finalize()[..NAME_BYTES]);
    Ok(folder()?.join(format!("{name}.token")))
}
