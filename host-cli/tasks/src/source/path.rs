//! Paths below `source/`.

use crate::limits::{MAX_DEPTH, MAX_NAME_BYTES, MAX_PATH_BYTES};
use crate::{Error, ErrorKind};

/// A path below `source/`: names joined by `/`. \[2, 2.2\]
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourcePath(String);

impl SourcePath {
    /// Parses a path.
    ///
    /// # Errors
    ///
    /// When it is absolute, empty, too long or too deep, ends with `/`, or has a part that is `.`, `..` or
    /// contains a NUL.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let refused = |why: &str| {
            let message = format!("the path {text:?} is refused: {why}");
            Err(Error::new(ErrorKind::Refused, message))
        };
        if text.len() > MAX_PATH_BYTES {
            return refused("it is too long");
        }
        if text.starts_with('/') {
            return refused("it is absolute");
        }
        let names: Vec<&str> = text.split('/').collect();
        if names.len() > MAX_DEPTH {
            return refused("it has too many folders");
        }
        for name in names {
            match name {
                "" => return refused("a part of it is empty"),
                "." | ".." => return refused("a part of it is `.` or `..`"),
                _ if name.contains('\0') => return refused("it contains U+0000"),
                _ if name.len() > MAX_NAME_BYTES => return refused("a part of it is too long"),
                _ => {}
            }
        }
        Ok(Self(text.to_owned()))
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the names of the folders on the way, and that of the file.
    pub(crate) fn split(&self) -> (Vec<&str>, &str) {
        match self.0.rsplit_once('/') {
            Some((folders, name)) => (folders.split('/').collect(), name),
            None => (Vec::new(), &self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::SourcePath;
    use crate::limits::{MAX_DEPTH, MAX_NAME_BYTES, MAX_PATH_BYTES};

    #[test]
    fn a_path_stays_below() {
        for text in ["a", "a/b.py", ".env", "a/...", "ä/\u{200b}"] {
            assert_eq!(SourcePath::parse(text).unwrap().as_str(), text);
        }
        for text in [
            "",
            "/",
            "/etc/passwd",
            "..",
            "../a",
            "a/../b",
            "a/..",
            ".",
            "./a",
            "a//b",
            "a/",
            "a\0b",
        ] {
            assert!(SourcePath::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn paths_have_limits() {
        let deep = |depth| vec!["a"; depth].join("/");
        assert!(SourcePath::parse(&deep(MAX_DEPTH)).is_ok());
        assert!(SourcePath::parse(&deep(MAX_DEPTH + 1)).is_err());
        assert!(SourcePath::parse(&"a".repeat(MAX_NAME_BYTES)).is_ok());
        assert!(SourcePath::parse(&"a".repeat(MAX_NAME_BYTES + 1)).is_err());
        let long = vec!["a".repeat(MAX_NAME_BYTES); 4].join("/");
        assert!(long.len() <= MAX_PATH_BYTES);
        assert!(SourcePath::parse(&long).is_ok());
        assert!(SourcePath::parse(&format!("{long}/a")).is_err());
    }
}
