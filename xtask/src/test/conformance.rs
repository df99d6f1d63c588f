//! The conformance tests of the Model Context Protocol, which npm has, against the client, the gateway and the daemon.
//!
//! The suite starts the client, an example of `agent-effects`. The server behind the gateway is an example too. The suite
//! also calls it directly, so that a scenario which fails with the gateway is known to pass without it.

mod daemon;
mod expected;
mod gateway;
mod proxy;
mod report;
mod suite;

use agent_pack::{Workspace, write_if_changed};
use anyhow::{Context as _, Result, bail};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use crate::{build, cargo};
use expected::Expected;
use report::Report;
use suite::{REVISIONS, Suite};

/// The page of the book with the results.
const PAGE: &str = "docs/reference/conformance.md";

/// Tests the gateway in every revision, and compares the results with those in the book.
pub(super) fn gateway(workspace: &Workspace) -> Result<()> {
    let suite = Suite::install(workspace, "gateway")?;
    let program = cargo::build_tested(workspace, "everything-server")?;
    let server = Server::start(Command::new(&program).arg("http"))?;
    for revision in REVISIONS {
        suite.server(&server.url, revision, "server", None)?;
    }
    drop(server);

    let agent = cargo::build_tested(workspace, build::PROGRAM)?;
    let project = suite.results().join("project");
    let (_gateway, url) = gateway::start(&agent, &program, &project)?;
    let mut report = Report::default();
    let expected = Expected::read(&suite.folder().join("gateway.yaml"))?;
    for revision in REVISIONS {
        report.add(suite.server(&url, revision, "gateway", Some(&expected))?);
    }
    expected.check_all_met(report.runs())?;
    compare(workspace, &suite, &report.table(&expected, "withheld"))
}

/// Tests the daemon of the five verbs in every revision, and compares the results with those in the book.
pub(super) fn daemon(workspace: &Workspace) -> Result<()> {
    let suite = Suite::install(workspace, "daemon")?;
    let agent = cargo::build_tested(workspace, build::PROGRAM)?;
    let project = suite.results().join("project");
    let (_daemon, url) = daemon::start(&agent, &project)?;
    let mut report = Report::default();
    let expected = Expected::read(&suite.folder().join("daemon.yaml"))?;
    for revision in REVISIONS {
        report.add(suite.server(&url, revision, "daemon", Some(&expected))?);
    }
    expected.check_all_met(report.runs())?;
    compare(
        workspace,
        &suite,
        &report.table(&expected, "not applicable"),
    )
}

/// Tests the client in every revision, and compares the results with those in the book.
pub(super) fn client(workspace: &Workspace) -> Result<()> {
    let suite = Suite::install(workspace, "client")?;
    let client = cargo::build_tested(workspace, "conformance-client")?;
    let mut report = Report::default();
    let expected = Expected::read(&suite.folder().join("client.yaml"))?;
    for revision in REVISIONS {
        report.add(suite.client(&client, revision, &expected)?);
    }
    expected.check_all_met(report.runs())?;
    compare(workspace, &suite, &report.table(&expected, "withheld"))
}

/// Compares a table with the book. The error names the file that has the present one.
fn compare(workspace: &Workspace, suite: &Suite, table: &str) -> Result<()> {
    let page = workspace.root().join(PAGE);
    let text = std::fs::read_to_string(&page).with_context(|| format!("{PAGE} can't be read"))?;
    if text.contains(table) {
        return Ok(());
    }
    let present = suite.results().join("table.md");
    write_if_changed(&present, table.as_bytes())?;
    bail!(
        "{PAGE} has other results than {}",
        shown(workspace, &present)
    );
}

fn shown(workspace: &Workspace, path: &Path) -> String {
    let path = path.strip_prefix(workspace.root()).unwrap_or(path);
    path.display().to_string()
}

/// A server over HTTP, which ends with this value.
struct Server {
    _running: Running,
    /// It stays open: a server may print more.
    output: BufReader<ChildStdout>,
    url: String,
}

impl Server {
    /// Starts a server, which prints its URL first.
    fn start(command: &mut Command) -> Result<Self> {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .context("the server of the tests can't be started")?;
        let output = child.stdout.take().expect("standard output was piped");
        let mut server = Self {
            _running: Running(child),
            output: BufReader::new(output),
            url: String::new(),
        };
        server.output.read_line(&mut server.url)?;
        server.url.truncate(server.url.trim_end().len());
        if server.url.is_empty() {
            bail!("the server of the tests printed no URL");
        }
        Ok(server)
    }
}

/// A process, which ends with this value.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
