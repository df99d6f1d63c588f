//! The program under its second name, `mcp`: the commands of `agent app`.

use crate::args::{Completions, HELP, Man};
use crate::command::CommandAnswer;
use crate::command::performing::{completions, man};
use crate::version;
use agent_app::{Command, Place, Program, usage_envelope};
use agent_host::{Failure, output};
use clap::{CommandFactory as _, Parser, Subcommand};
use std::env;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The second name.
const NAME: &str = "mcp";

/// Creates, tests and serves small web services from prompts
///
/// Each service is a task below `.mcpd/`, and its app runs in a sandbox. `run` starts the daemon where none runs.
#[derive(Debug, Parser)]
#[command(
    name = NAME,
    version,
    long_version = version::long(),
    styles = HELP,
    max_term_width = 100,
    after_long_help = agent_app::EXIT_CODES
)]
pub(crate) struct Mcp {
    #[command(subcommand)]
    command: McpCommand,
    #[command(flatten)]
    place: Place,
    /// Print no progress
    #[arg(long, short, global = true)]
    quiet: bool,
}

#[derive(Debug, Subcommand)]
enum McpCommand {
    #[command(flatten)]
    App(Command),
    Completions(Completions),
    Man(Man),
}

/// Does what a command line of `mcp` says.
pub(crate) fn run(mcp: &Mcp) -> Result<CommandAnswer, Failure> {
    match &mcp.command {
        McpCommand::App(command) => {
            agent_app::run(command, &mcp.place, program(mcp.quiet)).map(CommandAnswer::yes_if)
        }
        McpCommand::Completions(it) => completions::run(it, Mcp::command(), NAME),
        McpCommand::Man(it) => man::run(it, Mcp::command()),
    }
}

/// Prints the answer to a wrong command line for an app, which is JSON.
pub(crate) fn answer_wrong_usage(error: &clap::Error, line: &[OsString]) {
    let is_app = is_the_name() || line.get(1).is_some_and(|it| it == "app");
    if let Some(envelope) = usage_envelope(error).filter(|_| is_app) {
        let _ = output::print_text(&envelope);
    }
}

/// Returns whether this program was started under its second name.
pub(crate) fn is_the_name() -> bool {
    env::args_os()
        .next()
        .is_some_and(|it| is_name(Path::new(&it)))
}

/// Returns how this program starts itself for apps: by the name of its file, which may be a link to another.
pub(crate) fn program(quiet: bool) -> Program<'static> {
    let before: &[&str] = match env::current_exe().is_ok_and(|it| is_name(&it)) {
        true => &[],
        false => &["app"],
    };
    let typed = if is_the_name() { NAME } else { "agent app" };
    Program {
        before,
        typed,
        quiet,
    }
}

fn is_name(path: &Path) -> bool {
    path.file_name() == Some(OsStr::new(NAME))
}
