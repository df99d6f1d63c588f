//! Bearer tokens: which client a request over HTTP comes from.

use agent_host::{Failure, hex, random};
use agent_ownership::{create_private, refuse_foreign};
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use subtle::ConstantTimeEq as _;

/// Minimum number of characters of a token that a file gives.
const TOKEN_MIN: usize = 32;

/// Maximum number of characters of a token.
const TOKEN_MAX: usize = 256;

/// A secret that a client sends with each request. Nothing prints it.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// Reads the token of a file that only this user can read, or makes one of 256 random bits in a new file.
    ///
    /// # Errors
    ///
    /// When the file can't be read or written, another user can read or change it, or it holds no token of
    /// 32 to 256 visible characters of ASCII.
    pub fn of_file(path: &Path) -> Result<Self, Failure> {
        let unusable = |error: io::Error| {
            Failure::new(format_args!(
                "the token file `{}` can't be used: {error}",
                path.display()
            ))
        };
        match File::open(path) {
            Ok(file) => Self::read(path, file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let token = Self::random()?;
                if let Some(folder) = path.parent() {
                    create_private(folder).map_err(unusable)?;
                }
                let mut file = private().create_new(true).open(path).map_err(unusable)?;
                let written = file.write_all(format!("{}\n", token.0).as_bytes());
                written.map_err(unusable)?;
                Ok(token)
            }
            Err(error) => Err(unusable(error)),
        }
    }

    fn read(path: &Path, file: File) -> Result<Self, Failure> {
        let refused = |why: String| {
            let help = "write 32 to 256 visible characters into a file of mode 0600, or remove it";
            Failure::new(format_args!(
                "the token file `{}` can't be used: {why}",
                path.display()
            ))
            .help(help)
        };
        refuse_foreign(path).map_err(|foreign| refused(foreign.to_string()))?;
        let metadata = file
            .metadata()
            .map_err(|error| refused(error.to_string()))?;
        if metadata.mode() & 0o077 != 0 {
            return Err(refused("other users can read it".to_owned()));
        }
        let mut text = String::new();
        let read = file.take(TOKEN_MAX as u64 + 3).read_to_string(&mut text);
        read.map_err(|error| refused(error.to_string()))?;
        let text = text.trim_end_matches(['\n', '\r']);
        let is_visible = text.bytes().all(|byte| byte.is_ascii_graphic());
        if !(TOKEN_MIN..=TOKEN_MAX).contains(&text.len()) || !is_visible {
            let why = "it is not a token of 32 to 256 visible characters";
            return Err(refused(why.to_owned()));
        }
        Ok(Self(text.to_owned()))
    }

    /// Makes a token of 256 random bits.
    ///
    /// # Errors
    ///
    /// When the system has no random bytes.
    pub fn random() -> Result<Self, Failure> {
        Ok(Self(hex(&random::<32>()?)))
    }

    /// Compares a given token with this one, in a time that does not depend on where they differ.
    pub fn is(&self, given: &str) -> bool {
        self.0.as_bytes().ct_eq(given.as_bytes()).into()
    }

    /// Returns the token, for a URL that only the user gets.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

/// Returns how a file is opened that only this user may read and write.
pub fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).mode(0o600);
    options
}

#[cfg(test)]
mod tests {
    use super::Token;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_token_is_made_once_in_a_private_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("inner").join("token");
        let token = Token::of_file(&path).unwrap();
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let again = Token::of_file(&path).unwrap();
        assert!(again.is(token.reveal()));
        assert_eq!(token.reveal().len(), 64);
        assert!(!Token::random().unwrap().is(token.reveal()));
    }

    #[test]
    fn a_file_that_others_read_or_that_is_no_token_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        for (text, mode, is_usable) in [
            ("x".repeat(32), 0o600, true),
            ("x".repeat(32) + "\r\n", 0o400, true),
            ("x".repeat(32), 0o640, false),
            ("x".repeat(31), 0o600, false),
            ("x".repeat(257), 0o600, false),
            ("x y".repeat(20), 0o600, false),
            (String::new(), 0o600, false),
        ] {
            let _ = fs::remove_file(&path);
            fs::write(&path, &text).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            assert_eq!(
                Token::of_file(&path).is_ok(),
                is_usable,
                "{text:?} {mode:o}"
            );
        }
    }
}
