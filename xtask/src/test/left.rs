//! Processes that tests left: a program that ends must end what it started.

use agent_pack::Workspace;
use anyhow::{Result, bail};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// How long a process whose parent has ended may take to end too.
const PATIENCE: Duration = Duration::from_secs(20);
const INTERVAL: Duration = Duration::from_millis(100);

/// The first options of each bubblewrap that is started by this project.
const SANDBOX: [&str; 2] = ["--json-status-fd", "--block-fd"];

/// The orphans that were there before the tests.
pub(super) struct Left {
    programs: PathBuf,
    before: BTreeMap<u32, String>,
}

impl Left {
    pub(super) fn before(workspace: &Workspace) -> Self {
        let programs = workspace.root().join("target");
        Self {
            before: orphans(&programs),
            programs,
        }
    }

    /// Fails if the tests left a process.
    pub(super) fn check(&self) -> Result<()> {
        let began = Instant::now();
        loop {
            let mut left = orphans(&self.programs);
            left.retain(|id, command| self.before.get(id) != Some(command));
            if left.is_empty() {
                return Ok(());
            }
            if began.elapsed() > PATIENCE {
                let lines = left
                    .iter()
                    .map(|(id, command)| format!("\n  {id}: {command}"));
                bail!("the tests left processes:{}", lines.collect::<String>());
            }
            thread::sleep(INTERVAL);
        }
    }
}

/// Returns the command lines of processes without a parent that are programs of a folder or sandboxes of this project,
/// by process.
fn orphans(programs: &Path) -> BTreeMap<u32, String> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let orphans = entries.filter_map(|entry| {
        let id = entry.file_name().to_str()?.parse().ok()?;
        let process = entry.path();
        let command = fs::read(process.join("cmdline")).ok()?;
        let command = String::from_utf8_lossy(&command).replace('\0', " ");
        let is_program =
            fs::read_link(process.join("exe")).is_ok_and(|it| it.starts_with(programs));
        let is_sandbox = SANDBOX.iter().all(|option| command.contains(option));
        let status = fs::read_to_string(process.join("status")).ok()?;
        let is_orphan = status.contains("\nPPid:\t1\n");
        (is_orphan && (is_program || is_sandbox)).then_some((id, command))
    });
    orphans.collect()
}

#[cfg(test)]
mod tests {
    use super::orphans;
    use std::path::Path;
    use std::process::Command;

    #[test]
    fn a_child_is_no_orphan() {
        let mut child = Command::new("sleep").arg("100").spawn().unwrap();
        let found = orphans(Path::new("/"));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!found.contains_key(&child.id()));
    }

    #[test]
    fn an_orphan_is_found_by_its_program() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("sleeper");
        std::fs::copy("/bin/sleep", &program).unwrap();
        // The shell ends at once, and its child is without a parent.
        let script = r#""$0" 100 >/dev/null 2>&1 & echo $!"#;
        let output = Command::new("/bin/sh")
            .args(["-c", script])
            .arg(&program)
            .output();
        let id = String::from_utf8(output.unwrap().stdout).unwrap();
        let found = orphans(folder.path());
        let left = id.trim().parse().unwrap();
        let killed = Command::new("kill")
            .args(["-KILL", id.trim()])
            .status()
            .unwrap();
        assert!(killed.success());
        assert!(found[&left].ends_with("sleeper 100 "), "{found:?}");
    }
}
