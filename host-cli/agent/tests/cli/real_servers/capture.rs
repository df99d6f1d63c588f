//! The live catalogue of an installed server, as a document to import.

use super::{RealServer, shared};
use agent_packages::{Package, Store};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

/// Starts an installed server and returns its live catalogue.
pub(super) fn of(server: &RealServer) -> Value {
    let store = Store::new(shared().join("data/agent/packages"));
    let package = Package::parse(&server.endpoint()).unwrap();
    let installed = store.installed(&package).unwrap().expect("is installed");
    let [program, file] = installed.command;
    let mut child = Command::new(program)
        .arg(file)
        .args(server.arguments)
        .env_clear()
        .envs(installed.env)
        .env("PATH", "/usr/bin:/bin")
        // Without the sandbox Python would write beside the package, which counts as a change of it.
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut to = child.stdin.take().unwrap();
    let mut from = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut send = |message: Value| writeln!(to, "{message}").unwrap();
    let mut result = |id: u32| loop {
        let line = from.next().expect("an answer").unwrap();
        let mut message: Value = serde_json::from_str(&line).unwrap();
        if message["id"] == id {
            break message["result"].take();
        }
    };
    send(
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "capture", "version": "1" }
    } }),
    );
    let initialize = result(1);
    send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    send(json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }));
    let tools = result(2);
    child.kill().unwrap();
    child.wait().unwrap();
    json!({
        "package": server.name(), "version": server.version,
        "initialize": initialize, "tools/list": tools
    })
}
