//! The gateway before the server of the tests: a project as the program's own commands write it.

use super::Server;
use super::proxy;
use agent_pack::{read, write_if_changed};
use anyhow::{Context as _, Result};
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::{folder, process};

/// The id of the server in the index.
const SERVER: &str = "everything-server";

/// What a capture can't say.
const OVERLAY: &str = include_str!("../../../../tests/conformance/overlay.yaml");

const MANIFEST: &str = "\
---
name: conformance
version: 1.0.0
requires:
  mcp:
    - category: everything
      permissions: []
      serve: [prompts, resources]
---
";

/// Starts a gateway before the server of the tests, and returns it with the URL of the proxy before it.
pub(super) fn start(agent: &Path, server: &Path, project: &Path) -> Result<(Server, String)> {
    folder::remove(project)?;
    fs::create_dir_all(project)?;
    let write = |name: &str, text: &str| write_if_changed(&project.join(name), text.as_bytes());
    let run = |line: &str| {
        let mut command = Command::new(agent);
        command.current_dir(project).args(line.split_whitespace());
        process::run(command.stdout(std::io::stderr()))
    };
    write(
        "capture.json",
        &process::output(Command::new(server).arg("capture"))?,
    )?;
    write("overlay.yaml", OVERLAY)?;
    write("agents.md", MANIFEST)?;
    run("index import --overlay overlay.yaml capture.json")?;
    run("resolve")?;
    let program = server
        .to_str()
        .context("the path of the server is not UTF-8")?;
    let operator = format!(
        "servers:\n  {SERVER}:\n    command: ['{program}', stdio]\n    read: ['{program}']\n"
    );
    write("servers.local.yaml", &operator)?;
    only_for_its_owner(&project.join("servers.local.yaml"))?;

    let mut command = Command::new(agent);
    let options = "serve --http 127.0.0.1:0 --token-file token --servers servers.local.yaml";
    let gateway = Server::start(
        command
            .current_dir(project)
            .args(options.split_whitespace()),
    )?;
    // The gateway made it before it printed its URL.
    let token = String::from_utf8(read(&project.join("token"))?)?;
    let url = proxy::start(&gateway.url, token.trim())?;
    Ok((gateway, url))
}

/// The operator's configuration is refused if other users could change it.
fn only_for_its_owner(path: &Path) -> Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}
