//! What is on this machine of a task: processes, its socket, control groups.

use crate::bed::{Bed, PATIENCE, get};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// What a task may leave.
#[derive(Debug)]
pub(crate) struct Remains {
    id: String,
    /// A word of the command line of its processes.
    marker: String,
    supervisor: i64,
    socket: PathBuf,
}

impl Remains {
    /// Returns what the last run of a task may leave. A word of the command line of its app is `marker`.
    pub(crate) fn of(bed: &Bed, id: &str, marker: &str) -> Self {
        let run = last_run(bed, id);
        Self {
            id: id.to_owned(),
            marker: marker.to_owned(),
            supervisor: run["supervisor"]["pid"].as_i64().unwrap(),
            socket: run["socket"].as_str().unwrap().into(),
        }
    }

    /// Lists what there still is.
    pub(crate) fn list(&self) -> Vec<String> {
        let processes = processes(&self.marker).into_iter();
        let mut found: Vec<_> = processes.map(|pid| format!("process {pid}")).collect();
        if is_alive(self.supervisor) {
            found.push(format!("supervisor {}", self.supervisor));
        }
        if fs::symlink_metadata(&self.socket).is_ok() {
            found.push(format!("socket {}", self.socket.display()));
        }
        found.extend(groups(self.supervisor));
        found
    }

    /// Asserts that nothing is left but the files of the task, and that its route is gone.
    pub(crate) fn are_none(&self, bed: &Bed) {
        let end = Instant::now() + PATIENCE;
        loop {
            let mut left = self.list();
            let task = bed.task(&self.id);
            for url in ["url", "direct_url"] {
                left.extend(task[url].as_str().map(str::to_owned));
            }
            let status = get(&bed.app_url(&self.id)).status;
            if status != 410 {
                left.push(format!("a route with the status {status}"));
            }
            if left.is_empty() {
                break;
            }
            assert!(Instant::now() < end, "{left:?}");
            sleep(Duration::from_millis(20));
        }
        assert!(bed.path(&format!(".mcpd/{}/source", self.id)).is_dir());
    }
}

/// Returns the last run of a task, as its supervisor reported it.
pub(crate) fn last_run(bed: &Bed, id: &str) -> Value {
    let path = bed.path(&format!(".mcpd/.state/{id}.run.json"));
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// Returns whether a process lives, and does not only wait for its parent to notice its end.
pub(crate) fn is_alive(pid: i64) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit(") ").next().and_then(|it| it.chars().next());
    state.is_some_and(|state| !['Z', 'X'].contains(&state))
}

/// Returns the processes that have a word in their command line.
pub(crate) fn processes(word: &str) -> Vec<i64> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let having = processes.filter(|process| {
        let line = fs::read(process.path().join("cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0)
            .any(|it| it == word.as_bytes())
    });
    let id = |process: fs::DirEntry| process.file_name().to_str()?.parse().ok();
    having.filter_map(id).collect()
}

/// Lists the control groups of a supervisor's commands.
fn groups(supervisor: i64) -> Vec<String> {
    let prefix = format!("agent-sandbox-{supervisor}-");
    let mut found = Vec::new();
    let mut folders = vec![Path::new("/sys/fs/cgroup").to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                if entry.file_name().to_string_lossy().starts_with(&prefix) {
                    found.push(format!("group {}", entry.path().display()));
                }
                folders.push(entry.path());
            }
        }
    }
    found
}
