//! Packages of servers: `install`, and a server that starts from its package.

use super::server::Server;
use super::{MCP, evidence, index_of, operator, output, project, step, summary};
use crate::project::{Project, Run};
use base64::prelude::{BASE64_STANDARD, Engine};
use serde_json::{Value, json};
use sha2::{Digest, Sha256, Sha512};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// An MCP server of 2025-11-25 in JavaScript. Its tool returns its arguments and whether it can
/// write into its own folder.
const SERVER: &str = r#"
const fs = require('fs')
const lines = require('readline').createInterface({ input: process.stdin })
const results = {
  initialize: () => ({ protocolVersion: '2025-11-25', capabilities: { tools: {} },
    serverInfo: { name: 'acme', version: '1' } }),
  'tools/list': () => ({ tools: [{ name: 'search', description: 'Searches.', inputSchema: {
    type: 'object', properties: { query: { type: 'string' } }, required: ['query'] } }] }),
  'tools/call': () => {
    let writes = true
    try { fs.writeFileSync(__dirname + '/own', '') } catch { writes = false }
    return { content: [], structuredContent: { given: process.argv.slice(2), writes, env: Object.keys(process.env) } }
  }
}
lines.on('line', line => {
  const { id, method } = JSON.parse(line)
  if (id === undefined) return
  const result = results[method]
  const answer = result ? { result: result() } : { error: { code: -32601, message: 'unknown' } }
  console.log(JSON.stringify({ jsonrpc: '2.0', id, ...answer }))
})
"#;

/// The SHA-256 of `Npm acme@1.0.0`, which names the folder of the package.
pub(crate) const FOLDER: &str =
    "data/agent/packages/ee0ec2c84b2fc7863aa85d309c3ff209335c9cfb49bd24b96d5c320150cb0eb3";

/// A project whose server is locked with a package of npm.
pub(crate) fn locked() -> Project {
    let bindings = json!([{
        "connector_id": MCP, "tool_id": "search", "driver_kind": "mcp_proxy", "server": "acme",
        "tool": "search", "destinations": ["https://unused.example"]
    }]);
    let steps = json!([step(MCP, "search", json!({ "query": "mars" }))]);
    let project = project(bindings, steps);
    index_of(&project, "pkg:npm/acme@1.0.0", "Searches.");
    operator(&project, "servers:\n  acme: { arguments: [--given] }\n");
    project
}

/// Installs the package as `install` does.
fn installed() -> Project {
    let project = locked();
    let own = PathBuf::from(FOLDER).join("node_modules/acme");
    fs::create_dir_all(project.path(&own)).unwrap();
    let packages = project.path("data/agent/packages");
    fs::set_permissions(packages, Permissions::from_mode(0o700)).unwrap();
    project.write(&format!("{}/start.js", own.display()), SERVER);
    // A line for each file: its path and the digest of its content.
    let line = format!("node_modules/acme/start.js {}\n", sha256(SERVER));
    let tree = format!("sha256-{}", sha256(&line));
    let record = json!({
        "package": "acme@1.0.0", "digest": "sha256-0", "tree": tree, "program": "/usr/bin/node",
        "runtime": null, "file": "node_modules/acme/start.js", "libraries": null,
        "closure": [{ "path": "node_modules/acme", "version": "1.0.0", "integrity": "sha512-0" }]
    });
    project.write(&format!("{FOLDER}/installed.json"), record.to_string());
    project
}

/// A registry of npm on loopback with the package.
pub(crate) struct Registry(Server);

impl Registry {
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("package");
        fs::create_dir(&own).unwrap();
        fs::write(own.join("start.js"), SERVER).unwrap();
        let manifest = json!({ "name": "acme", "version": "1.0.0", "bin": "start.js" });
        fs::write(own.join("package.json"), manifest.to_string()).unwrap();
        let mut tar = Command::new("tar");
        tar.args(["-c", "--mode=u+rw", "package"])
            .current_dir(folder.path());
        // An archive of texts is one, with NULs.
        let archive = String::from_utf8(tar.output().unwrap().stdout).unwrap();
        let integrity = BASE64_STANDARD.encode(Sha512::digest(&archive));
        let server = Server::start(move |request| {
            let head = request.head.to_ascii_lowercase();
            if request.head.starts_with("GET /acme.tgz ") {
                return ("200 OK", "application/octet-stream", archive.clone());
            }
            let host = head
                .lines()
                .find_map(|it| it.strip_prefix("host: "))
                .unwrap();
            let mut version = manifest.clone();
            version["dist"] = json!({
                "tarball": format!("http://{host}/acme.tgz"),
                "integrity": format!("sha512-{integrity}")
            });
            let document = json!({
                "name": "acme", "dist-tags": { "latest": "1.0.0" }, "versions": { "1.0.0": version }
            });
            ("200 OK", "application/json", document.to_string())
        });
        Self(server)
    }

    /// Returns the command that installs the package of a project from here.
    pub(crate) fn install(&self, project: &Project) -> Command {
        let mut command = project.command(["servers", "install"]);
        command
            .env("XDG_DATA_HOME", project.path("data"))
            .env("npm_config_registry", self.0.origin())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }
}

fn sha256(text: &str) -> String {
    let digest = Sha256::digest(text);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn agent(project: &Project, line: &str) -> Run {
    let mut command = project.command(line.split_whitespace());
    command
        .env("XDG_DATA_HOME", project.path("data"))
        // No registry is there.
        .env("npm_config_registry", "http://127.0.0.1:1/")
        .env("npm_config_fetch_retries", "0");
    Run::of(command)
}

const RUN: &str = "run-plan --plan plan.json --servers operator/servers.local.yaml";

#[test]
fn a_server_starts_from_its_package_which_it_can_only_read() {
    let project = installed();
    agent(&project, RUN).exits(0);
    let answer = output(&project, "search");
    assert_eq!(answer["given"], json!(["--given"]));
    assert_eq!(answer["writes"], false);
    let env = answer["env"].to_string();
    assert!(!env.contains("npm_config"), "{env}");
    assert_eq!(summary(&project)["steps"][0]["sandbox_tier"], "bubblewrap");
    // The evidence names what was started.
    let episodes = fs::read_dir(evidence(&project).join("episodes")).unwrap();
    let packages = episodes.filter_map(|episode| {
        let text = fs::read_to_string(episode.unwrap().path()).unwrap();
        let episode: Value = serde_json::from_str(&text).ok()?;
        let text = episode["result_details"].to_string();
        text.contains(r#""package":"sha256-0""#).then_some(())
    });
    assert_eq!(packages.count(), 1);
}

#[test]
fn a_package_with_a_changed_file_is_not_started() {
    let project = installed();
    let start = format!("{FOLDER}/node_modules/acme/start.js");
    project.write(&start, SERVER.replace("Searches.", "Searches!"));
    agent(&project, RUN)
        .exits(1)
        .answers("was changed since `acme@1.0.0` was installed");
    assert_eq!(summary(&project)["reason"], "UNAVAILABLE");
    agent(&project, "install")
        .exits(2)
        .notes("was changed since")
        .notes("remove the folder and install the package again");
}

#[test]
fn a_package_that_is_not_installed_is_named_with_its_remedy() {
    let project = locked();
    agent(&project, RUN).exits(1).answers(
        "the package `acme@1.0.0` is not installed: run `agent install pkg:npm/acme@1.0.0`",
    );
    assert_eq!(summary(&project)["reason"], "UNAVAILABLE");
}

#[test]
fn an_installed_package_is_not_fetched_again() {
    let project = installed();
    agent(&project, "install")
        .exits(0)
        .answers("acme  acme@1.0.0  1 package in all  sha256-0");
    let answer = agent(&project, "install acme --format json").exits(0);
    assert_eq!(
        answer.json()["installed"][0]["closure"][0]["integrity"],
        "sha512-0"
    );
    agent(&project, "install other")
        .exits(2)
        .notes("the lock has no server `other`");
}

#[test]
fn a_registry_that_does_not_answer_is_an_error() {
    let project = locked();
    agent(&project, "install")
        .exits(2)
        .notes("npm can't install `acme@1.0.0`")
        .notes("network: ")
        .notes("127.0.0.1:1")
        .notes_not("--allow-host");
}

#[test]
fn npm_reaches_its_registry_and_no_other_host() {
    let project = locked();
    let other = Server::start(|_| ("404 Not Found", "text/plain", String::new()));
    let elsewhere = other.origin();
    let tarball = format!("{elsewhere}/acme.tgz");
    let document = json!({
        "name": "acme", "dist-tags": { "latest": "1.0.0" },
        "versions": { "1.0.0": {
            "name": "acme", "version": "1.0.0",
            "dist": { "tarball": tarball, "integrity": format!("sha512-{}==", "A".repeat(86)) }
        } }
    });
    let registry = Server::start(move |_| ("200 OK", "application/json", document.to_string()));
    let install = |line: &str| {
        let mut command = project.command(line.split_whitespace());
        command
            .env("XDG_DATA_HOME", project.path("data"))
            .env("npm_config_registry", registry.origin())
            .env("npm_config_fetch_retries", "0");
        Run::of(command)
    };
    let host = elsewhere.replace("http://", "");
    install("install")
        .exits(2)
        .notes(&format!("network: `{host}` is not an allowed destination"))
        .notes("--allow-host HOST:PORT");
    assert!(!registry.requests().is_empty());
    assert!(other.requests().is_empty());
    install(&format!("install --allow-host {host}")).exits(2);
    assert!(!other.requests().is_empty());
    install("install --allow-host no-port")
        .exits(2)
        .notes("the entry `no-port` is not `host:port`");
}

#[test]
fn a_folder_of_packages_that_others_can_write_is_refused() {
    let project = installed();
    let packages = project.path("data/agent/packages");
    fs::set_permissions(packages, Permissions::from_mode(0o777)).unwrap();
    agent(&project, RUN)
        .exits(1)
        .answers("can be written by other users");
}
