//! The daemon of the five verbs, in a folder of its own.

use super::{Running, proxy};
use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::folder;

/// Time until the daemon says where it is.
const START: Duration = Duration::from_secs(60);

/// Starts a daemon, and returns it with the URL of the proxy before it.
pub(super) fn start(agent: &Path, project: &Path) -> Result<(Running, String)> {
    folder::remove(project)?;
    fs::create_dir_all(project)?;
    let mut command = Command::new(agent);
    command
        .current_dir(project)
        .args(["mcpd", "--port", "0"])
        .stdin(Stdio::null());
    let daemon = command.spawn().context("the daemon can't be started")?;
    let mut daemon = Running(daemon);
    let state = project.join(".mcpd/.state");
    let until = Instant::now() + START;
    let place = loop {
        // It is written as a whole, after the token.
        if let Ok(place) = fs::read(state.join("daemon.json")) {
            break serde_json::from_slice::<Value>(&place)?;
        }
        if daemon.0.try_wait()?.is_some() || Instant::now() > until {
            bail!("the daemon does not start");
        }
        sleep(Duration::from_millis(20));
    };
    let address = place["address"].as_str();
    let address = address.context("the daemon has no address")?;
    let token = fs::read_to_string(state.join("token"))?;
    let url = proxy::start(&format!("http://{address}/mcp"), token.trim())?;
    Ok((daemon, url))
}
