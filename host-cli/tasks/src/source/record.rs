//! The record of a batch: each file before and after it, so that it can be taken back.

use crate::handle::FileRead;
use crate::source::path::SourcePath;
use crate::{Error, ErrorKind};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

/// A batch that was applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// The number of the batch; the first is 1.
    pub number: u32,
    /// The batch that this one takes back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reverts: Option<u32>,
    /// The changes, in the order in which they are made.
    pub changes: Vec<Recorded>,
    /// The folders that the batch makes, the outer before the inner.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<String>,
}

/// A recorded change of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recorded {
    /// The path below `source/`.
    pub path: String,
    /// The file before; `None` if it did not exist.
    pub before: Option<Version>,
    /// The file after; `None` if it was removed.
    pub after: Option<Version>,
}

/// A file as it was or is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Version {
    /// The permissions, such as 420 for `0o644`.
    pub mode: u32,
    /// The content, if it is Unicode text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The content in Base64 otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base64: Option<String>,
}

impl Version {
    pub(crate) fn new(mode: u32, content: Vec<u8>) -> Self {
        let (text, base64) = match String::from_utf8(content) {
            Ok(text) => (Some(text), None),
            Err(error) => (None, Some(STANDARD.encode(error.as_bytes()))),
        };
        Self { mode, text, base64 }
    }

    /// Returns the content.
    ///
    /// # Errors
    ///
    /// When the record does not have exactly one content.
    pub fn content(&self) -> Result<Vec<u8>, Error> {
        match (&self.text, &self.base64) {
            (Some(text), None) => Ok(text.clone().into_bytes()),
            (None, Some(base64)) => STANDARD.decode(base64).map_err(|_| damaged()),
            _ => Err(damaged()),
        }
    }
}

impl From<FileRead> for Version {
    fn from(file: FileRead) -> Self {
        Self::new(file.mode, file.content)
    }
}

impl Recorded {
    pub(crate) fn path(&self) -> Result<SourcePath, Error> {
        SourcePath::parse(&self.path)
    }
}

fn damaged() -> Error {
    Error::new(
        ErrorKind::Damaged,
        "the record of a batch has a file without content",
    )
}

#[cfg(test)]
mod tests {
    use super::Version;

    #[test]
    fn content_survives_whether_it_is_text_or_not() {
        for content in [&b"text\n"[..], b"", b"\xff\0\x80"] {
            let version = Version::new(0o644, content.to_vec());
            let json = serde_json::to_string(&version).unwrap();
            let read: Version = serde_json::from_str(&json).unwrap();
            assert_eq!(read.content().unwrap(), content);
        }
        let none = r#"{"mode":420}"#;
        assert!(
            serde_json::from_str::<Version>(none)
                .unwrap()
                .content()
                .is_err()
        );
    }
}
