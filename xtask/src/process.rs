//! Calls of programs.

use anyhow::{Context as _, Result, bail};
use std::env;
use std::io::Read as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The interval between checks on a program with a time limit.
const POLL: Duration = Duration::from_millis(50);

/// Runs a program to its end, with inherited output.
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

/// Runs a program and returns its standard output.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let name = name(command);
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("`{name}` can't be started"))?;
    if !output.status.success() {
        bail!("`{name}` failed: {}", output.status);
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{name}` printed invalid UTF-8"))
}

/// Runs a program without output, which must end within `limit`. The error of a failed program
/// contains the line with its reason.
pub(crate) fn run_within(limit: Duration, command: &mut Command) -> Result<()> {
    let name = name(command);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("`{name}` can't be started"))?;

    // Read at once: a full pipe would stop the program.
    let mut stderr = child.stderr.take().expect("standard error was piped");
    let messages = thread::spawn(move || {
        let mut messages = Vec::new();
        // Unreadable output is only missing from the error's message.
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

/// Returns the reason in a program's messages: the first error, or else the last line. Causes after
/// a colon are left out, to keep one sentence.
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

/// Finds the program `name` in the folders of `PATH`.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let file = format!("{name}{}", env::consts::EXE_SUFFIX);
    env::split_paths(&env::var_os("PATH")?)
        .map(|folder| folder.join(&file))
        .find(|path| path.is_file())
}

/// Returns a command line without the folder of the program.
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
    fn a_program_over_its_time_limit_is_killed() {
        let error = run_within(Duration::ZERO, Command::new("sleep").arg("60")).unwrap_err();
        assert_eq!(error.to_string(), "`sleep 60` did not end within 0 seconds");
    }

    #[test]
    fn the_error_contains_the_reason_of_the_program() {
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
    fn output_is_the_printed_text() {
        assert_eq!(output(&mut shell("echo yes")).unwrap(), "yes\n");
        assert!(output(&mut shell("exit 3")).is_err());
    }
}
