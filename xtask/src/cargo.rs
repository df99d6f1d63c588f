//! Calls of the ordinary cargo, for programs that run on this machine.

use agent_pack::Workspace;
use anyhow::{Context as _, Result};
use serde_json::Value;
use std::env;
use std::path::PathBuf;
use std::process::Command;

use crate::process;

/// The packages that are built for wasm only.
pub(crate) const GUESTS: [&str; 4] = [
    "agent-component",
    "agent-handlers",
    "agent-language-runners",
    "agent-example-handler",
];

/// The package of the measurements, which have no tests.
pub(crate) const BENCH: &str = "agent-bench";

/// The package of the program that writes the JavaScript of modules, which few need.
pub(crate) const BINDGEN: &str = "xtask-bindgen";

/// The package of the program that composes components, which few need.
pub(crate) const COMPOSE: &str = "xtask-compose";

/// The arguments that select all packages whose programs run here, with every feature that has tests here. All
/// tests are of this one selection: with another one, cargo would compile crates again, with other features.
const TESTED: [&str; 17] = [
    "--workspace",
    "--exclude",
    BINDGEN,
    "--exclude",
    COMPOSE,
    "--exclude",
    BENCH,
    "--exclude",
    GUESTS[0],
    "--exclude",
    GUESTS[1],
    "--exclude",
    GUESTS[2],
    "--exclude",
    GUESTS[3],
    "--features",
    "agent-worker/import,agent-worker/review,agent-worker/run,agent-worker/session",
];

/// Returns the arguments that select what is tested here.
pub(crate) fn tested() -> Vec<&'static str> {
    TESTED.to_vec()
}

/// Returns a call of the cargo that runs this program, in the root of the workspace.
pub(crate) fn cargo(workspace: &Workspace) -> Command {
    // Cargo passes its own path to the programs it runs.
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(workspace.root());
    command
}

/// Builds with `arguments` and returns the path of the program `name`, wherever the user's
/// configuration lets cargo put it.
pub(crate) fn build_program(
    workspace: &Workspace,
    name: &str,
    arguments: &[&str],
) -> Result<PathBuf> {
    let mut command = cargo(workspace);
    command
        .args(["build", "--message-format", "json-render-diagnostics"])
        .args(arguments);
    executable(&process::output(&mut command)?, name)
        .with_context(|| format!("cargo built no program `{name}`"))
}

/// Builds a program or an example as the tests do, and returns its path.
pub(crate) fn build_tested(workspace: &Workspace, name: &str) -> Result<PathBuf> {
    // Examples have the features of tests, and so have the programs that are built with them.
    let arguments = [&TESTED[..], &["--bins", "--examples"]].concat();
    build_program(workspace, name, &arguments)
}

fn executable(messages: &str, name: &str) -> Option<PathBuf> {
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|message| message["target"]["name"] == name)
        .find_map(|message| message["executable"].as_str().map(PathBuf::from))
}

#[cfg(test)]
mod tests {
    use super::executable;
    use std::path::Path;

    #[test]
    fn the_program_is_found_among_cargos_messages() {
        let messages = r#"
            {"reason":"compiler-artifact","target":{"name":"agent"},"executable":null}
            {"reason":"compiler-artifact","target":{"name":"mcp"},"executable":"/t/debug/mcp"}
            {"reason":"compiler-artifact","target":{"name":"agent"},"executable":"/t/debug/agent"}
            {"reason":"build-finished","success":true}"#;
        assert_eq!(
            executable(messages, "agent").as_deref(),
            Some(Path::new("/t/debug/agent"))
        );
        assert_eq!(executable(messages, "agentd"), None);
    }
}
