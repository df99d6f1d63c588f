//! What the system knows about processes (Linux).

use std::fs;
use std::io;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The size of a page of memory in `/proc`, in bytes.
const PAGE_BYTES: u64 = 4096;

/// The length of a tick in `/proc/PID/stat`: `USER_HZ` is 100 on every system that has it.
const TICK: Duration = Duration::from_millis(10);

/// A process.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Process {
    /// Its id.
    pub pid: u32,
    /// When it started: two processes of one id differ in it.
    pub started: u64,
    /// Its arguments.
    pub arguments: Vec<String>,
}

/// Returns the time that a process has used the processor, in its own code and in the system.
#[must_use]
pub fn processor_time(pid: u32) -> Option<Duration> {
    let fields = stat(pid)?;
    let ticks: u32 = fields.get(11)?.parse().ok()?;
    let in_system: u32 = fields.get(12)?.parse().ok()?;
    Some(TICK * (ticks + in_system))
}

/// Returns the memory of a process that is in use, in bytes.
#[must_use]
pub fn memory(pid: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
    let pages: u64 = text.split(' ').nth(1)?.parse().ok()?;
    Some(pages * PAGE_BYTES)
}

/// Returns the number of open descriptors of a process.
#[must_use]
pub fn descriptors(pid: u32) -> Option<usize> {
    Some(fs::read_dir(format!("/proc/{pid}/fd")).ok()?.count())
}

/// Returns the processes below a process that have not ended.
#[must_use]
pub fn descendants(pid: u32) -> Vec<Process> {
    let Ok(folder) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let mut all = Vec::new();
    for entry in folder.flatten() {
        let name = entry.file_name();
        let Some(pid) = name.to_str().and_then(|it| it.parse().ok()) else {
            continue;
        };
        let Some(fields) = stat(pid).filter(|it| !is_over(it)) else {
            continue;
        };
        let parent: u32 = fields.get(1).and_then(|it| it.parse().ok()).unwrap_or(0);
        let started = fields.get(19).and_then(|it| it.parse().ok()).unwrap_or(0);
        let arguments = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let arguments = String::from_utf8_lossy(&arguments);
        let arguments = arguments.split_terminator('\0').map(str::to_owned);
        let arguments = arguments.collect();
        let process = Process {
            pid,
            started,
            arguments,
        };
        all.push((parent, process));
    }
    let mut found = Vec::new();
    let mut parents = vec![pid];
    while let Some(pid) = parents.pop() {
        let children = all.iter().filter(|(parent, _)| *parent == pid);
        for (_, child) in children {
            parents.push(child.pid);
            found.push(child.clone());
        }
    }
    found
}

impl Process {
    /// Returns whether it still runs.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        let fields = stat(self.pid).filter(|it| !is_over(it));
        let started = fields.and_then(|it| it.get(19)?.parse().ok());
        started == Some(self.started)
    }

    /// Ends it at once.
    ///
    /// # Errors
    ///
    /// When the program `kill` can't be run.
    pub fn kill(&self) -> io::Result<()> {
        signal(self.pid, "KILL")
    }
}

/// Sends a signal to a process that this program, or one that it started, has started.
///
/// # Errors
///
/// When the program `kill` can't be run.
pub fn signal(pid: u32, name: &str) -> io::Result<()> {
    let mut kill = Command::new("kill");
    kill.args([format!("-{name}"), pid.to_string()]);
    // The process may have ended by itself.
    kill.stderr(Stdio::null()).status().map(drop)
}

fn is_over(fields: &[String]) -> bool {
    fields.first().is_some_and(|it| it == "Z" || it == "X")
}

/// Returns the fields of `/proc/PID/stat` behind the name, which may have spaces: the first is the state.
fn stat(pid: u32) -> Option<Vec<String>> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = text.rsplit_once(") ")?;
    Some(fields.split_ascii_whitespace().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::{descendants, descriptors, memory, signal};
    use std::process::{Command, Stdio};

    #[test]
    fn a_child_is_found_until_it_has_ended() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let own = std::process::id();
        let found = descendants(own);
        let found = found.iter().find(|it| it.pid == child.id()).unwrap();
        assert!(found.is_alive());
        signal(child.id(), "KILL").unwrap();
        child.wait().unwrap();
        assert!(!found.is_alive());
        assert!(!descendants(own).contains(found));
    }

    #[test]
    fn descriptors_and_memory_are_counted() {
        let own = std::process::id();
        let before = descriptors(own).unwrap();
        let child = Command::new("true").stdin(Stdio::piped()).spawn();
        assert!(descriptors(own).unwrap() > before);
        drop(child);
        assert!(memory(own).unwrap() > 100_000);
    }
}
