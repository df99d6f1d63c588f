//! Files that other users may not change, or not even read.

use agent_host::Failure;
use agent_host::input::{Input, TEXT_MAX, reason};
use agent_ownership::refuse_foreign;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// Reads a file that no other user may change.
///
/// # Errors
///
/// When it can't be read, or another user may change it.
pub(crate) fn own(path: &Path) -> Result<Vec<u8>, Failure> {
    let text = Input::File(path.to_owned()).read(TEXT_MAX)?;
    refuse_foreign(path).map_err(|foreign| unusable(path, &foreign.to_string()))?;
    Ok(text)
}

/// Reads a file that only this user may read.
///
/// # Errors
///
/// As [`own`], or another user may read it.
pub(crate) fn private(path: &Path) -> Result<Vec<u8>, Failure> {
    let text = own(path)?;
    let metadata = std::fs::metadata(path).map_err(|error| unusable(path, &reason(&error)))?;
    if metadata.mode() & 0o077 != 0 {
        let shown = path.display();
        return Err(
            Failure::new(format_args!("other users can read the key `{shown}`"))
                .help("take the permission from them with `chmod 600`"),
        );
    }
    Ok(text)
}

pub(crate) fn unusable(path: &Path, why: &str) -> Failure {
    Failure::new(format_args!("`{}` can't be used: {why}", path.display()))
}
