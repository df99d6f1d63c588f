//! `agent app` and `agent mcpd`: apps from prompts, and the daemon of the five verbs.

use super::CommandAnswer;
use crate::args::Global;
use agent_app::{App, Daemon, Program};
use agent_host::Failure;

/// The command with which this program supervises an app, and starts the daemon.
const APP: &[&str] = &["app"];

pub(super) fn run(app: &App, global: &Global) -> Result<CommandAnswer, Failure> {
    agent_app::run(app, program(global)).map(CommandAnswer::yes_if)
}

pub(super) fn serve(daemon: &Daemon, global: &Global) -> Result<CommandAnswer, Failure> {
    agent_app::serve(daemon, program(global)).map(CommandAnswer::yes_if)
}

fn program(global: &Global) -> Program<'static> {
    Program {
        before: APP,
        quiet: global.quiet,
    }
}
