//! `agent completions`: a completion script for a shell.

use crate::args::Completions;
use crate::command::CommandAnswer;
use agent_host::{Failure, output};
use clap::Command;

pub(crate) fn run(
    args: &Completions,
    mut program: Command,
    name: &str,
) -> Result<CommandAnswer, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut program, name, &mut script);
    output::print_text(&String::from_utf8_lossy(&script))?;
    Ok(CommandAnswer::Yes)
}
