//! The start of a command without a sandbox, for which its caller has made an exception.

use std::os::unix::process::CommandExt;
use std::process::{self, Stdio};

use super::cgroup::Cgroup;
use super::child_setup::ChildSetup;
use super::launch::{Launched, give_up, spawn_error};
use super::tree::Tree;
use crate::Command;

/// Starts a command, with its own environment and in a process group of its own.
pub(super) fn launch(command: &Command) -> Result<Launched, String> {
    let mut run = process::Command::new(&command.program);
    run.args(&command.arguments)
        .env_clear()
        .envs(&command.env)
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    if let Some(cwd) = &command.cwd {
        run.current_dir(cwd);
    }
    ChildSetup::default().prepare(&mut run);
    let child = run
        .spawn()
        .map_err(|error| spawn_error(&command.program, &error))?;
    let tree = match Tree::group(&child) {
        Ok(tree) => tree,
        Err(error) => return Err(give_up(child, &error)),
    };
    Ok(Launched {
        child,
        tree,
        group: Cgroup::none(),
        guarded: None,
        status: None,
        private: None,
        proxy: None,
        inside: None,
    })
}
