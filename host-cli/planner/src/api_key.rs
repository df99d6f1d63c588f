//! The key of a server.

use crate::error::{PlannerError, PlannerErrorKind};
use crate::redaction::PART_BYTES;
use agent_way_out::header::HeaderValue;
use std::fmt;

/// The key of a server. Neither errors nor `Debug` show it.
#[derive(Clone)]
pub struct ApiKey(String);

impl ApiKey {
    /// Returns a key.
    ///
    /// # Errors
    ///
    /// [`PlannerErrorKind::InvalidConfiguration`] when it has less than 8 bytes, as no secret may, or a
    /// character other than visible ASCII.
    pub fn new(key: impl Into<String>) -> Result<Self, PlannerError> {
        let key = key.into();
        let invalid = |message| PlannerError::new(PlannerErrorKind::InvalidConfiguration, message);
        if key.len() < PART_BYTES {
            return Err(invalid("the key is shorter than 8 bytes"));
        }
        if !key.bytes().all(|b| b.is_ascii_graphic()) {
            return Err(invalid("the key has a character other than visible ASCII"));
        }
        Ok(Self(key))
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// Returns the value of the header `Authorization`.
    pub(crate) fn authorization(&self) -> Option<HeaderValue> {
        let mut value = HeaderValue::try_from(format!("Bearer {}", self.0)).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("ApiKey([redacted])")
    }
}

#[cfg(test)]
mod tests {
    use super::ApiKey;

    #[test]
    fn keys_that_no_header_carries_are_refused_without_being_shown() {
        for key in ["", "1234567", "canary 89", "canary\r\n89", "canäry89"] {
            let error = ApiKey::new(key).unwrap_err();
            assert!(key.is_empty() || !error.message.contains(key), "{error}");
        }
        let key = ApiKey::new("12345678").unwrap();
        assert_eq!(format!("{key:?}"), "ApiKey([redacted])");
        let header = key.authorization().unwrap();
        assert_eq!(header, "Bearer 12345678");
        assert!(header.is_sensitive());
    }
}
