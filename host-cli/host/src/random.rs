//! Random bytes of the system.

use super::failure::Failure;

/// Returns random bytes of the system.
///
/// # Errors
///
/// When the system has none.
pub fn random<const N: usize>() -> Result<[u8; N], Failure> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)
        .map_err(|error| Failure::internal(format_args!("no random bytes: {error}")))?;
    Ok(bytes)
}

/// Returns bytes as hexadecimal digits.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
