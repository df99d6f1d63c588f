//! `agent app` and `agent mcpd`: apps from prompts, and the daemon of the five verbs.

use crate::args::Global;
use crate::command::CommandAnswer;
use crate::mcp::program;
use agent_app::{App, Daemon};
use agent_host::Failure;

pub(super) fn run(app: &App, global: &Global) -> Result<CommandAnswer, Failure> {
    agent_app::run(&app.command, &app.place, program(global.quiet)).map(CommandAnswer::yes_if)
}

pub(super) fn serve(daemon: &Daemon, global: &Global) -> Result<CommandAnswer, Failure> {
    agent_app::serve(daemon, program(global.quiet)).map(CommandAnswer::yes_if)
}
