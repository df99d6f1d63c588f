//! A folder with input files, and runs of the program in it.

use super::canary;
use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

pub(crate) const MANIFEST: &str = "\
---
name: hello
version: 1.0.0
requires:
  mcp:
    - category: audiences
      permissions: [read:audiences]
constraints:
  data:
    residency: us-only
---
";

pub(crate) const INDEX: &str = r#"[
  {
    "id": "acme", "version": "2.1.0", "endpoint": "https://acme.example/mcp",
    "categories": ["audiences"], "scopes": ["read:audiences", "write:audiences"],
    "data": { "residency": "us-only", "maxSensitivity": "internal" },
    "trust": { "signed": true, "publisher": "Acme" }
  },
  {
    "id": "euro", "version": "1.0.0", "endpoint": "https://euro.example/mcp",
    "categories": ["audiences"], "scopes": ["read:audiences"],
    "data": { "residency": "eu-only", "maxSensitivity": "internal" },
    "trust": { "signed": true, "publisher": "Euro" }
  }
]
"#;

/// A folder with a manifest and an index that satisfies it. The folders of its user are beside it: the
/// operator's configuration, data and cache.
pub(crate) struct Project {
    root: TempDir,
    folder: PathBuf,
}

impl Project {
    pub(crate) fn new() -> Self {
        let project = Self::empty();
        project.write("agents.md", MANIFEST);
        project.write("mcp.index.json", INDEX);
        project
    }

    pub(crate) fn empty() -> Self {
        let root = tempfile::tempdir().unwrap();
        canary::configure(&root.path().join(canary::OPERATOR));
        let folder = root.path().join(canary::WORKING);
        fs::create_dir(&folder).unwrap();
        Self { root, folder }
    }

    /// Creates a project whose requirement no server satisfies.
    pub(crate) fn unsatisfiable() -> Self {
        let project = Self::new();
        project.write("agents.md", MANIFEST.replace("read:", "delete:"));
        project
    }

    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.join(name)
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// Returns the names of all files, sorted.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(&self.folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// Returns a call of the program in this folder, with the operator's secrets.
    pub(crate) fn command<I: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = I>,
    ) -> Command {
        self.command_of(env!("CARGO_BIN_EXE_agent"), arguments)
    }

    /// Returns a call of another program in this folder, which finds `agent` and the operator's secrets.
    pub(crate) fn command_of<I: AsRef<OsStr>>(
        &self,
        program: &str,
        arguments: impl IntoIterator<Item = I>,
    ) -> Command {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(&self.folder)
            .stdin(Stdio::null());
        for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "CI"] {
            command.env_remove(variable);
        }
        canary::give(&mut command, self.root.path());
        command
    }

    /// Runs a command line without quoting.
    pub(crate) fn agent(&self, line: &str) -> Run {
        Run::of(self.command(line.split_whitespace()))
    }

    pub(crate) fn agent_reading(&self, line: &str, input: impl AsRef<[u8]>) -> Run {
        let mut child = self
            .command(line.split_whitespace())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(input.as_ref())
            .unwrap();
        Run::new(child.wait_with_output().unwrap(), &self.folder)
    }
}

/// The result of a run of the program.
#[derive(Debug)]
pub(crate) struct Run {
    /// The exit code; `None` if the program was killed.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    #[track_caller]
    pub(crate) fn of(mut command: Command) -> Self {
        let output = command.output().unwrap();
        Self::new(output, command.get_current_dir().unwrap())
    }

    /// Takes the output of a run in a folder, and looks for secrets in all that it left.
    #[track_caller]
    pub(crate) fn new(output: Output, folder: &Path) -> Self {
        let run = Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        };
        canary::assert_hidden(&run, folder);
        run
    }

    /// Checks the exit code.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    /// Checks that standard output contains a text.
    #[track_caller]
    pub(crate) fn answers(self, text: &str) -> Self {
        assert!(self.stdout.contains(text), "no {text:?} in {self:#?}");
        self
    }

    /// Checks that standard error contains a text.
    #[track_caller]
    pub(crate) fn notes(self, text: &str) -> Self {
        assert!(self.stderr.contains(text), "no {text:?} in {self:#?}");
        self
    }

    /// Checks that standard error does not contain a text.
    #[track_caller]
    pub(crate) fn notes_not(self, text: &str) -> Self {
        assert!(!self.stderr.contains(text), "{text:?} in {self:#?}");
        self
    }

    /// Checks that standard output is empty.
    #[track_caller]
    pub(crate) fn answers_nothing(self) -> Self {
        assert_eq!(self.stdout, "", "{self:#?}");
        self
    }

    /// Checks that standard error is empty.
    #[track_caller]
    pub(crate) fn notes_nothing(self) -> Self {
        assert_eq!(self.stderr, "", "{self:#?}");
        self
    }

    /// Returns standard output as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }
}
