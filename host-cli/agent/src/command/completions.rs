//! `agent completions`: a completion script for a shell.

use super::CommandAnswer;
use crate::args::{Arguments, Completions};
use agent_host::{Failure, output};
use clap::CommandFactory;

pub(super) fn run(args: &Completions) -> Result<CommandAnswer, Failure> {
    let mut script = Vec::new();
    let mut command = Arguments::command();
    clap_complete::generate(args.shell, &mut command, "agent", &mut script);
    output::print_text(&String::from_utf8_lossy(&script))?;
    Ok(CommandAnswer::Yes)
}
