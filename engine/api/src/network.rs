//! May a program connect to a destination through the host's proxy \[3\]?

use crate::plan::RunProblem;
use agent_decide::{Authority, admit_authority, authorize_authority};
use agent_explain::{addresses, network_denial};

/// Decides whether a program may connect to a destination, before its host is resolved. Returns its host
/// and port.
///
/// # Errors
/// The reason against it.
pub fn admit(allowed: &[String], wanted: &str) -> Result<Authority, RunProblem> {
    admit_authority(allowed, wanted).map_err(|denial| network_denial(&denial))
}

/// Decides which of the addresses of a destination's host a program may connect to.
///
/// # Errors
/// Every reason why it may connect to none.
pub fn authorize(
    allowed: &[String],
    wanted: &str,
    texts: &[String],
) -> Result<Vec<String>, Vec<RunProblem>> {
    let addresses = addresses(texts).map_err(|problem| vec![problem])?;
    match authorize_authority(allowed, wanted, &addresses) {
        Ok(allowed) => Ok(allowed.iter().map(ToString::to_string).collect()),
        Err(denials) => Err(denials.iter().map(network_denial).collect()),
    }
}
