//! Calling programs.

use anyhow::{Context as _, Result, bail};
use std::env;
use std::io::Read as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How often a program with a time limit is looked at.
const POLL: Duration = Duration::from_millis(50);

/// Runs a program to its end; what it prints goes where ours does.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let name = name(command);
    let status = command
        .status()
        .with_context(|| format!("`{name}` can't be started"))?;
    if !status.success() {
        bail!("`{name}` failed: {status}");
    }
    Ok(())
}

/// Runs a program and returns what it printed on standard output.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let name = name(command);
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("`{name}` can't be started"))?;
    if !output.status.success() {
        bail!("`{name}` failed: {}", output.status);
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{name}` printed no text"))
}

/// Runs a program that must end within `limit`, quietly. If it fails, the error has the line in
/// which it says why.
pub(crate) fn run_within(limit: Duration, command: &mut Command) -> Result<()> {
    let name = name(command);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("`{name}` can't be started"))?;

    // Read as it is written: a full pipe would stop the program until its time is over.
    let mut stderr = child.stderr.take().expect("standard error was piped");
    let messages = thread::spawn(move || {
        let mut messages = Vec::new();
        // What can't be read is missing from the message of an error, no more.
        let _ = stderr.read_to_end(&mut messages);
        String::from_utf8_lossy(&messages).into_owned()
    });

    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if started.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            bail!("`{name}` did not end within {} seconds", limit.as_secs());
        }
        thread::sleep(POLL);
    };
    if !status.success() {
        let messages = messages.join().unwrap_or_default();
        match reason(&messages) {
            Some(reason) => bail!("`{name}` failed: {reason}"),
            None => bail!("`{name}` failed: {status}"),
        }
    }
    Ok(())
}

/// The line that says why: the first error, or else the last line. Without the causes that follow
/// after colons, which make a sentence of it no more.
fn reason(messages: &str) -> Option<&str> {
    let lines = || {
        messages
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
    };
    let error = lines()
        .find_map(|line| line.strip_prefix("error: "))
        .or_else(|| lines().next_back())?;
    error.split(": ").next()
}

/// Where the program `name` is, among the folders that programs are looked for in.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let file = format!("{name}{}", env::consts::EXE_SUFFIX);
    env::split_paths(&env::var_os("PATH")?)
        .map(|folder| folder.join(&file))
        .find(|path| path.is_file())
}

/// A command as one would type it, without the folder of the program.
fn name(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program());
    let program = program.file_name().unwrap_or(command.get_program());
    let words = [program].into_iter().chain(command.get_args());
    words
        .map(|word| word.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(all(test, unix))]
mod tests {
    use super::{output, run_within};
    use std::process::Command;
    use std::time::Duration;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_program_that_does_not_end_is_ended() {
        let error = run_within(Duration::ZERO, Command::new("sleep").arg("60")).unwrap_err();
        assert_eq!(error.to_string(), "`sleep 60` did not end within 0 seconds");
    }

    #[test]
    fn the_error_says_what_the_program_said() {
        let limit = Duration::from_secs(60);
        let say = "echo info: one >&2; echo error: two: three >&2; echo four >&2; exit 1";
        let error = run_within(limit, &mut shell(say)).unwrap_err().to_string();
        assert!(error.ends_with("failed: two"), "{error}");
    }

    #[test]
    fn much_output_does_not_stop_a_program() {
        let limit = Duration::from_secs(60);
        run_within(limit, &mut shell("head -c 1000000 /dev/zero >&2")).unwrap();
    }

    #[test]
    fn output_is_what_was_printed() {
        assert_eq!(output(&mut shell("echo yes")).unwrap(), "yes\n");
        assert!(output(&mut shell("exit 3")).is_err());
    }
}
