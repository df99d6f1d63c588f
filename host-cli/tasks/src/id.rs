//! Ids of tasks.

use crate::{Error, ErrorKind};
use agent_host::{hex, random};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Number of digits.
const DIGITS: usize = 6;

/// The id of a task: 6 hexadecimal digits, as `ab12cd`. \[2, 0\]
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TaskId(String);

impl TaskId {
    /// Parses an id.
    ///
    /// # Errors
    ///
    /// When the text is not 6 lower-case hexadecimal digits.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let is_digit = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        match text.len() == DIGITS && text.bytes().all(is_digit) {
            true => Ok(Self(text.to_owned())),
            false => Err(Error::new(
                ErrorKind::Missing,
                format!("{text:?} is not a task id: it must be {DIGITS} hexadecimal digits"),
            )),
        }
    }

    /// Returns an id by chance.
    pub(crate) fn random() -> Result<Self, Error> {
        let bytes = random::<{ DIGITS / 2 }>();
        let bytes = bytes.map_err(|failure| Error::new(ErrorKind::System, failure.message))?;
        Ok(Self(hex(&bytes)))
    }

    /// Returns the digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl TryFrom<String> for TaskId {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        Self::parse(&text)
    }
}

impl From<TaskId> for String {
    fn from(id: TaskId) -> Self {
        id.0
    }
}

#[cfg(test)]
mod tests {
    use super::TaskId;

    #[test]
    fn an_id_is_six_digits() {
        assert!(TaskId::parse("ab12cd").is_ok());
        for text in [
            "", "ab12c", "ab12cde", "AB12CD", "ab12cg", "../../", "ab/2cd", "a\0b1c2",
        ] {
            assert!(TaskId::parse(text).is_err(), "{text:?}");
        }
        let random = TaskId::random().unwrap();
        assert_eq!(TaskId::parse(random.as_str()), Ok(random));
    }
}
