//! A run of a task: what is asked for, and what its supervisor reports.

use crate::limits::{
    DEFAULT_CPU_PCT, DEFAULT_DISK_MB, DEFAULT_FILES, DEFAULT_MEM_MB, DEFAULT_PIDS, DEFAULT_WALL_SEC,
};
use crate::{Identity, TaskId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// What to run. \[2, 2.3\]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// The app.
    pub app: App,
    /// The environment. In a sandbox `PATH` is that of the system if it is not given, and `PORT` is always
    /// [`Self::port`].
    pub env: BTreeMap<String, String>,
    /// The port at which the app is asked to listen. It is one of the app's own network, so several apps may
    /// have the same.
    pub port: u16,
    /// The socket at which the app is reached.
    pub socket: PathBuf,
    /// A regular expression for the line that says the app is ready, in the syntax of the crate `regex`. A component
    /// needs none.
    #[serde(default)]
    pub ready_regex: Option<String>,
    /// How long the app may take to be ready.
    pub ready_timeout: Duration,
    /// The limits that were asked for.
    pub limits: AskedLimits,
    /// How long the app may take to end when it is asked to.
    pub grace: Duration,
    /// The time without a connection after which the app is ended.
    #[serde(default)]
    pub idle: Option<Duration>,
    /// Folders that the app can read, by their path inside.
    #[serde(default)]
    pub folders: BTreeMap<PathBuf, PathBuf>,
    /// Files and folders of the machine that the app can read at their own path.
    #[serde(default)]
    pub read: Vec<PathBuf>,
    /// Whether the app may read its files only. It may still write to its private `/tmp` and home.
    #[serde(default)]
    pub readonly: bool,
    /// Each `host:port` that the app may connect to, through a proxy. Without one it has no way out.
    #[serde(default)]
    pub egress: Vec<String>,
    /// Secrets, each by the name of its variable. They replace variables of [`Self::env`].
    #[serde(default)]
    pub secrets: BTreeMap<String, Secret>,
}

/// A secret of an app. `run.log` contains none of its forms.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Secret {
    /// The value.
    pub value: String,
    /// What it may look like in a text, encoded in some way.
    pub forms: Vec<String>,
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{{present, len: {}}}", self.value.len())
    }
}

/// What an app is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum App {
    /// Commands in the sandbox, each as its words. Each begins when the one before has ended well; the last one is
    /// the app.
    Commands(Vec<Vec<String>>),
    /// What a foreign runner starts in the sandbox.
    Runner(ForeignRunner),
    /// The file of a component that answers requests. The supervisor runs it, and reads the file once.
    Component(PathBuf),
}

/// A foreign runner of an app. \[2, 3\]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForeignRunner {
    /// The executable, as an absolute path.
    pub program: PathBuf,
    /// The manifest that it gets, a JSON object.
    pub manifest: String,
}

/// A foreign runner's answer to `start`, not yet judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reply {
    /// Its standard output; empty if it is not text.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
    /// Its exit code; 128 and the number of the signal that ended it.
    pub exit_code: i32,
}

/// The limits that were asked for. Those that were not have a default. \[2, 2.3\]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AskedLimits {
    /// Share of processor time, in percent of one processor.
    #[serde(default)]
    pub cpu_pct: Option<u32>,
    /// Memory, in MiB.
    #[serde(default)]
    pub mem_mb: Option<u64>,
    /// Time from start to end, in seconds.
    #[serde(default)]
    pub wall_sec: Option<u64>,
    /// Number of processes and threads.
    #[serde(default)]
    pub pids: Option<u32>,
    /// Size of all files of the app, in MiB.
    #[serde(default)]
    pub disk_mb: Option<u64>,
    /// Number of files and folders of the app, with the descriptors of all processes.
    #[serde(default)]
    pub files: Option<u64>,
}

/// The limits of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunLimits {
    /// Share of processor time, in percent of one processor; `None` if this machine can't enforce one.
    pub cpu_pct: Option<u32>,
    /// Memory, in MiB.
    pub mem_mb: u64,
    /// Time from start to end, in seconds.
    pub wall_sec: u64,
    /// Number of processes and threads.
    pub pids: u32,
    /// Size of all files of the app, in MiB.
    pub disk_mb: u64,
    /// Number of files and folders of the app, with the descriptors of all processes.
    pub files: u64,
}

impl AskedLimits {
    /// Returns the limits of a run, and those by name that this machine can't enforce.
    ///
    /// # Errors
    ///
    /// When a limit was asked for and can't be enforced.
    pub(crate) fn settle(self, has_share: bool) -> Result<(RunLimits, Vec<String>), String> {
        const SHARE: &str = "cpu_pct";
        if self.cpu_pct.is_some() && !has_share {
            return Err(format!(
                "the limit `{SHARE}` can't be enforced on this machine"
            ));
        }
        let limits = RunLimits {
            cpu_pct: has_share.then_some(self.cpu_pct.unwrap_or(DEFAULT_CPU_PCT)),
            mem_mb: self.mem_mb.unwrap_or(DEFAULT_MEM_MB),
            wall_sec: self.wall_sec.unwrap_or(DEFAULT_WALL_SEC),
            pids: self.pids.unwrap_or(DEFAULT_PIDS),
            disk_mb: self.disk_mb.unwrap_or(DEFAULT_DISK_MB),
            files: self.files.unwrap_or(DEFAULT_FILES),
        };
        let unenforced = (!has_share).then(|| SHARE.to_owned());
        Ok((limits, unenforced.into_iter().collect()))
    }
}

/// A run as its supervisor reports it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// The task.
    pub task_id: TaskId,
    /// The supervisor.
    pub supervisor: Identity,
    /// How far it is.
    pub phase: Phase,
    /// The id of the app's process outside of its sandbox.
    #[serde(default)]
    pub pid: Option<i32>,
    /// The port at which the app listens in its own network.
    #[serde(default)]
    pub port: Option<u16>,
    /// The socket at which the app is reached.
    pub socket: PathBuf,
    /// The limits; `None` before they are settled.
    #[serde(default)]
    pub limits: Option<RunLimits>,
    /// The limits by name that this machine can't enforce.
    #[serde(default)]
    pub unenforced: Vec<String>,
    /// When the supervisor was started, in milliseconds since 1970.
    pub started_ms: u64,
    /// When the app was launched in its sandbox, in milliseconds since 1970.
    #[serde(default)]
    pub launched_ms: Option<u64>,
    /// When the app was ready, in milliseconds since 1970.
    #[serde(default)]
    pub ready_ms: Option<u64>,
    /// What the foreign runner answered that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<Reply>,
    /// How it ended.
    #[serde(default)]
    pub end: Option<End>,
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// The app is not ready.
    Starting,
    /// The app is ready.
    Ready,
    /// The app was not ready in time. It runs on.
    NotReady,
    /// The app and its supervisor have ended.
    Ended,
}

/// The end of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct End {
    /// The reason.
    pub cause: Cause,
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
}

/// Why a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind", deny_unknown_fields)]
pub enum Cause {
    /// By itself, with an exit code.
    Exited {
        /// The code.
        code: i32,
    },
    /// By its own signal.
    Signal {
        /// The number of the signal.
        signal: i32,
    },
    /// It reached a limit.
    Limit {
        /// The name of the limit: `wall_sec`, `mem_mb`, `pids`, `file_size`, `disk` or `files`.
        limit: String,
    },
    /// It was stopped.
    Stopped,
    /// No client connected to it for long.
    Idle,
    /// It does not listen any more, and its foreign runner does not say that it lives.
    Gone,
    /// It was not started.
    NotStarted {
        /// The reason.
        reason: String,
    },
    /// Its supervisor was killed, or the machine was restarted.
    Lost,
}

#[cfg(test)]
mod tests {
    use super::AskedLimits;

    #[test]
    fn a_limit_that_cannot_be_enforced_is_refused_only_if_it_was_asked_for() {
        let none = AskedLimits::default();
        let (limits, unenforced) = none.settle(false).unwrap();
        assert_eq!(limits.cpu_pct, None);
        assert_eq!(unenforced, ["cpu_pct"]);
        assert!(none.settle(true).unwrap().1.is_empty());
        let asked = AskedLimits {
            cpu_pct: Some(50),
            ..none
        };
        let refused = asked.settle(false).unwrap_err();
        assert_eq!(
            refused,
            "the limit `cpu_pct` can't be enforced on this machine"
        );
        assert_eq!(asked.settle(true).unwrap().0.cpu_pct, Some(50));
    }
}
