//! Secrets: values that nothing shows, and where they come from.

use agent_ownership::create_private;
use rustix::process::{Pid, Signal, kill_process_group};
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use std::{env, error, thread};

/// Minimum size of a secret, in bytes: a shorter one would be found in innocent texts.
pub const SECRET_MIN_BYTES: usize = 8;

/// Maximum size of a secret, in bytes.
const SECRET_MAX_BYTES: u64 = 64 << 10;

/// Maximum time of a program that prints a secret.
const TIME: Duration = Duration::from_secs(10);

/// How often to look whether it has ended, once it has printed.
const LOOK: Duration = Duration::from_millis(2);

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
    /// `keyring`: an item of the user's keyring, stored as `secret-tool store service agent name ITEM`. It has
    /// 10 seconds.
    Keyring(String),
    /// `command`: the output of a program, which has 10 seconds; one line end behind it does not count.
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
    /// Gets the value. A program that supplies it can't ask on the terminal: it is not in its foreground group,
    /// so that it can be ended with all that it started, in time or when `is_cancelled` becomes true.
    ///
    /// # Errors
    ///
    /// When the source has no value, or one that is too short, too long or not UTF-8.
    pub fn value(&self, is_cancelled: &AtomicBool) -> Result<Secret, SecretUnavailable> {
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
                let from = format!("the item `{item}` of the keyring");
                let argv = keyring("lookup", item);
                (output(&argv, None, &from, TIME, is_cancelled)?, from)
            }
            Self::Command(argv) => {
                let program = argv.first().map_or("", String::as_str);
                let from = format!("the command `{program}`");
                (output(argv, None, &from, TIME, is_cancelled)?, from)
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

impl SecretSource {
    /// Keeps a value in the user's keyring, or in a file that only this user can read.
    ///
    /// # Errors
    ///
    /// When it can't be kept there within 10 seconds, or the source is a variable or a command.
    pub fn keep(&self, value: &str, is_cancelled: &AtomicBool) -> Result<(), SecretUnavailable> {
        match self {
            Self::Keyring(item) => {
                let mut argv = keyring("store", item);
                argv.insert(2, format!("--label=agent: {item}"));
                let from = format!("the item `{item}` of the keyring");
                output(&argv, Some(value), &from, TIME, is_cancelled).map(drop)
            }
            Self::File(path) => write(path, value)
                .map_err(|error| unavailable(format!("the file `{}`: {error}", path.display()))),
            Self::Env(_) | Self::Command(_) => {
                Err(unavailable("its source keeps no value".to_owned()))
            }
        }
    }

    /// Removes a value that [`Self::keep`] kept. One that is not there is no error.
    ///
    /// # Errors
    ///
    /// As [`Self::keep`].
    pub fn forget(&self, is_cancelled: &AtomicBool) -> Result<(), SecretUnavailable> {
        match self {
            Self::Keyring(item) => {
                let from = format!("the item `{item}` of the keyring");
                output(&keyring("clear", item), None, &from, TIME, is_cancelled).map(drop)
            }
            Self::File(path) => match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    let path = path.display();
                    Err(unavailable(format!("the file `{path}`: {error}")))
                }
                _ => Ok(()),
            },
            Self::Env(_) | Self::Command(_) => Ok(()),
        }
    }
}

/// Returns the command that does something with an item of the user's keyring.
fn keyring(action: &str, item: &str) -> Vec<String> {
    let argv = ["secret-tool", action, "service", "agent", "name", item];
    argv.map(str::to_owned).to_vec()
}

/// Writes a file that only this user can read, in a folder that only this user can read.
fn write(path: &Path, value: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    create_private(folder)?;
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".tmp");
    let staged = folder.join(name);
    // One that a killed program left may belong to nobody else: the folder is this user's.
    let _ = fs::remove_file(&staged);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    let mut file = options.open(&staged)?;
    file.write_all(value.as_bytes())?;
    file.sync_all()?;
    fs::rename(&staged, path)
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

/// Returns the output of the operator's own program, which gets a text, and ends in time or is ended with all of its
/// group.
fn output(
    argv: &[String],
    given: Option<&str>,
    from: &str,
    time: Duration,
    is_cancelled: &AtomicBool,
) -> Result<String, SecretUnavailable> {
    let failed = |error: String| unavailable(format!("{from}: {error}"));
    let io = |error: io::Error| failed(error.to_string());
    let (program, arguments) = argv
        .split_first()
        .ok_or_else(|| failed("no program".into()))?;
    let end = Instant::now() + time;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(match given {
            Some(_) => Stdio::piped(),
            None => Stdio::null(),
        })
        .stdout(Stdio::piped())
        .process_group(0);
    if given.is_some() {
        // The caller says why it can't be kept.
        command.stderr(Stdio::null());
    }
    let mut child = command.spawn().map_err(io)?;
    if let (Some(mut stdin), Some(given)) = (child.stdin.take(), given) {
        let given = given.to_owned();
        // A program that does not read it fails by itself.
        thread::spawn(move || stdin.write_all(given.as_bytes()));
    }
    let (sender, printed) = mpsc::channel();
    if let Some(stdout) = child.stdout.take() {
        thread::spawn(move || {
            // The receiver no longer waits for a late value.
            let _ = sender.send(read_bounded(stdout));
        });
    }
    let mut received = None;
    let ended = loop {
        received = received.or_else(|| printed.try_recv().ok());
        if received.is_some()
            && let Some(ended) = child.try_wait().map_err(io)?
        {
            break ended;
        }
        let is_late = Instant::now() >= end;
        if is_late || is_cancelled.load(Ordering::Relaxed) {
            kill(&mut child);
            let lacking = if received.is_some() { "end" } else { "secret" };
            return Err(failed(match is_late {
                true => format!("no {lacking} within {} s", time.as_secs()),
                false => "interrupted".to_owned(),
            }));
        }
        thread::sleep(LOOK);
    };
    if !ended.success() {
        return Err(failed(ended.to_string()));
    }
    text(received.transpose().map_err(io)?.unwrap_or_default(), from)
}

/// Ends a program that was not waited for, with all of its group.
fn kill(child: &mut Child) {
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    // What has ended needs no signal.
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(test)]
mod tests {
    use super::{SecretSource, output};
    use rustix::process::{Pid, test_kill_process};
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;
    use std::sync::atomic::AtomicBool;
    use std::thread;
    use std::time::{Duration, Instant};

    static NEVER: AtomicBool = AtomicBool::new(false);

    #[test]
    fn an_interrupt_ends_a_program_at_once() {
        let argv = ["/bin/sleep", "600"].map(str::to_owned);
        let begin = Instant::now();
        let cancelled = AtomicBool::new(true);
        let refused = SecretSource::Command(argv.to_vec()).value(&cancelled);
        assert!(refused.unwrap_err().0.contains("interrupted"));
        assert!(begin.elapsed() < Duration::from_secs(5));
    }

    #[test]
    fn a_secret_comes_from_a_file_or_a_command_without_its_line_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        fs::write(&path, "a long value \r\n").unwrap();
        let file = SecretSource::File(path).value(&NEVER).unwrap();
        assert_eq!(file.expose(), "a long value ");
        assert_eq!(format!("{file:?}"), "{present, len: 13}");
        let command = ["/bin/echo", "another value"].map(str::to_owned);
        let command = SecretSource::Command(command.to_vec())
            .value(&NEVER)
            .unwrap();
        assert_eq!(command.expose(), "another value");
    }

    #[test]
    fn a_value_is_kept_where_only_this_user_reads_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secrets/key");
        let source = SecretSource::File(path.clone());
        for value in ["a long value", "another value"] {
            source.keep(value, &NEVER).unwrap();
            assert_eq!(source.value(&NEVER).unwrap().expose(), value);
        }
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        // A folder that can't be written has no part of it.
        fs::create_dir(folder.path().join("secrets/other")).unwrap();
        let other = SecretSource::File(folder.path().join("secrets/other"));
        let refused = other.keep("a long value", &NEVER).unwrap_err();
        assert!(!refused.0.contains("a long value"), "{refused}");
        source.forget(&NEVER).unwrap();
        source.forget(&NEVER).unwrap();
        assert!(!path.exists());
        let variable = SecretSource::Env("AGENT_TEST".to_owned());
        assert!(variable.keep("a long value", &NEVER).is_err());
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
            let refused = SecretSource::File(path.clone()).value(&NEVER).unwrap_err();
            assert!(refused.0.contains(says), "{refused}");
            assert!(
                !refused.0.contains("short") && !refused.0.contains("xxx"),
                "{refused}"
            );
        }
        let fails = SecretSource::Command(vec!["/bin/false".to_owned()]).value(&NEVER);
        assert!(fails.unwrap_err().0.contains("exit status: 1"));
        let missing = SecretSource::Env("AGENT_TEST_NO_SUCH_VARIABLE".to_owned()).value(&NEVER);
        assert!(missing.unwrap_err().0.contains("is not set"));
    }

    #[test]
    fn a_program_that_does_not_end_is_ended_with_what_it_started() {
        let folder = tempfile::tempdir().unwrap();
        for (number, script) in [
            // One keeps the output open, the other has printed everything.
            "sleep 600 & echo $! > FILE; sleep 600",
            "sleep 600 > /dev/null & echo $! > FILE; echo a long value; exec > /dev/null; sleep 600",
        ]
        .iter()
        .enumerate()
        {
            let file = folder.path().join(number.to_string());
            let script = script.replace("FILE", file.to_str().unwrap());
            let argv = ["/bin/sh", "-c", &script].map(str::to_owned);
            let begin = Instant::now();
            let refused = output(&argv, None, "the command", Duration::from_secs(1), &NEVER).unwrap_err();
            assert!(refused.0.contains("within 1 s"), "{refused}");
            assert!(begin.elapsed() < Duration::from_secs(60));
            let started = fs::read_to_string(file).unwrap();
            let started = Pid::from_raw(started.trim().parse().unwrap()).unwrap();
            // Another process may have to wait for it.
            let is_over = || {
                let status = fs::read_to_string(format!("/proc/{}/stat", started.as_raw_pid()));
                test_kill_process(started).is_err()
                    || status.is_ok_and(|status| status.contains(") Z "))
            };
            let end = Instant::now() + Duration::from_secs(60);
            while !is_over() {
                assert!(Instant::now() < end, "it still runs");
                thread::sleep(Duration::from_millis(10));
            }
        }
    }
}
