//! Secrets: values that nothing shows, and where they come from.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::{env, error};

/// Minimum size of a secret, in bytes: a shorter one would be found in innocent texts.
pub const SECRET_MIN_BYTES: usize = 8;

/// Maximum size of a secret, in bytes.
const SECRET_MAX_BYTES: u64 = 64 << 10;

/// A value that no message, log or file shows.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Returns the value, to hand it over where it is needed.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{{present, len: {}}}", self.0.len())
    }
}

/// Where a secret comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SecretSource {
    /// `env`: a variable of the program's environment.
    Env(String),
    /// `file`: the content of a file, an absolute path; one line end behind it does not count.
    File(PathBuf),
    /// `keyring`: an item of the user's keyring, stored as `secret-tool store service agent name ITEM`.
    Keyring(String),
    /// `command`: the output of a program; one line end behind it does not count.
    Command(Vec<String>),
}

/// A secret that can't be had. No message contains any of its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretUnavailable(pub String);

impl fmt::Display for SecretUnavailable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl error::Error for SecretUnavailable {}

impl SecretSource {
    /// Gets the value.
    ///
    /// # Errors
    ///
    /// When the source has none, or one that is too short, too long or not UTF-8.
    pub fn value(&self) -> Result<Secret, SecretUnavailable> {
        let (value, from) = match self {
            Self::Env(name) => {
                let value = env::var(name);
                let value = value.map_err(|_| unavailable(format!("`{name}` is not set")))?;
                (value, format!("the variable `{name}`"))
            }
            Self::File(path) => {
                let from = format!("the file `{}`", path.display());
                let file = File::open(path);
                let read = file.and_then(read_bounded);
                let read = read.map_err(|error| unavailable(format!("{from}: {error}")))?;
                (text(read, &from)?, from)
            }
            Self::Keyring(item) => {
                let lookup = ["secret-tool", "lookup", "service", "agent", "name", item];
                let from = format!("the item `{item}` of the keyring");
                (output(&lookup.map(str::to_owned), &from)?, from)
            }
            Self::Command(argv) => {
                let program = argv.first().map_or("", String::as_str);
                let from = format!("the command `{program}`");
                (output(argv, &from)?, from)
            }
        };
        match value.len() {
            len if len < SECRET_MIN_BYTES => Err(unavailable(format!(
                "{from} has {len} bytes; a secret has at least {SECRET_MIN_BYTES}"
            ))),
            len if len as u64 > SECRET_MAX_BYTES => Err(unavailable(format!(
                "{from} has more than {SECRET_MAX_BYTES} bytes"
            ))),
            _ => Ok(Secret(value)),
        }
    }
}

fn unavailable(message: String) -> SecretUnavailable {
    SecretUnavailable(message)
}

fn read_bounded(source: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(SECRET_MAX_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns a value without the line end behind it.
fn text(bytes: Vec<u8>, from: &str) -> Result<String, SecretUnavailable> {
    let mut text =
        String::from_utf8(bytes).map_err(|_| unavailable(format!("{from} is not UTF-8")))?;
    if text.ends_with('\n') {
        text.pop();
        if text.ends_with('\r') {
            text.pop();
        }
    }
    Ok(text)
}

/// Returns the output of the operator's own program.
fn output(argv: &[String], from: &str) -> Result<String, SecretUnavailable> {
    let failed = |error: String| unavailable(format!("{from}: {error}"));
    let (program, arguments) = argv
        .split_first()
        .ok_or_else(|| failed("no program".into()))?;
    let child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn();
    let mut child = child.map_err(|error| failed(error.to_string()))?;
    let stdout = child.stdout.take().map(read_bounded);
    let ended = child.wait().map_err(|error| failed(error.to_string()))?;
    if !ended.success() {
        return Err(failed(ended.to_string()));
    }
    let bytes = stdout
        .transpose()
        .map_err(|error| failed(error.to_string()))?;
    text(bytes.unwrap_or_default(), from)
}

#[cfg(all(test, unix))]
mod tests {
    use super::SecretSource;
    use std::fs;

    #[test]
    fn a_secret_comes_from_a_file_or_a_command_without_its_line_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        fs::write(&path, "a long value \r\n").unwrap();
        let file = SecretSource::File(path).value().unwrap();
        assert_eq!(file.expose(), "a long value ");
        assert_eq!(format!("{file:?}"), "{present, len: 13}");
        let command = ["/bin/echo", "another value"].map(str::to_owned);
        let command = SecretSource::Command(command.to_vec()).value().unwrap();
        assert_eq!(command.expose(), "another value");
    }

    #[test]
    fn a_value_that_is_no_secret_is_refused_without_being_shown() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        for (content, says) in [
            (b"short".to_vec(), "5 bytes"),
            (vec![b'x'; 70_000], "more than"),
            (b"not\xffutf8 text".to_vec(), "UTF-8"),
        ] {
            fs::write(&path, content).unwrap();
            let refused = SecretSource::File(path.clone()).value().unwrap_err();
            assert!(refused.0.contains(says), "{refused}");
            assert!(
                !refused.0.contains("short") && !refused.0.contains("xxx"),
                "{refused}"
            );
        }
        let fails = SecretSource::Command(vec!["/bin/false".to_owned()]).value();
        assert!(fails.unwrap_err().0.contains("exit status: 1"));
        let missing = SecretSource::Env("AGENT_TEST_NO_SUCH_VARIABLE".to_owned()).value();
        assert!(missing.unwrap_err().0.contains("is not set"));
    }
}
