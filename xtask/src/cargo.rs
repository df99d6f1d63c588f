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

/// The packages of the playground. They also run here, but need separate builds: the features of
/// their procedural macros would compile wasmtime once more.
pub(crate) const PLAYGROUND: [&str; 6] = [
    "agent-ui",
    "agent-plans-page",
    "agent-session-page",
    "agent-playground",
    "agent-worker-protocol",
    "agent-worker",
];

/// Returns the arguments that select all packages except those of the playground.
pub(crate) fn all_but_playground() -> Vec<&'static str> {
    let left_out = PLAYGROUND.iter().flat_map(|package| ["--exclude", package]);
    ["--workspace"].into_iter().chain(left_out).collect()
}

/// Returns the arguments that select the packages of the playground.
pub(crate) fn playground() -> Vec<&'static str> {
    let packages = PLAYGROUND.iter();
    packages
        .flat_map(|package| ["--package", package])
        .collect()
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

/// Builds an example as the tests do, and returns its path. With other packages selected, cargo would
/// compile the engine again, with other features of what it depends on.
pub(crate) fn build_example(workspace: &Workspace, name: &str) -> Result<PathBuf> {
    let mut arguments = all_but_playground();
    arguments.extend(GUESTS.iter().flat_map(|guest| ["--exclude", guest]));
    arguments.extend(["--example", name]);
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
