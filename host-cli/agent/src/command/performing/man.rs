//! `agent man`: manual pages.

use crate::args::Man;
use crate::command::CommandAnswer;
use agent_host::input::reason;
use agent_host::{Failure, output};
use clap::Command;

pub(crate) fn run(args: &Man, mut program: Command) -> Result<CommandAnswer, Failure> {
    if let Some(folder) = &args.folder {
        clap_mangen::generate_to(program, folder).map_err(|error| {
            let (folder, reason) = (folder.display(), reason(&error));
            Failure::new(format_args!("`{folder}` can't be written: {reason}"))
        })?;
        return Ok(CommandAnswer::Yes);
    }
    // Gives the commands their full names and the global options.
    program.build();
    let mut command = program;
    for name in &args.command {
        command = command
            .find_subcommand(name)
            .cloned()
            .ok_or_else(|| Failure::new(format_args!("there is no command `{name}`")))?;
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(command)
        .render(&mut page)
        .map_err(|error| Failure::internal(format_args!("the page can't be rendered: {error}")))?;
    output::print_text(&String::from_utf8_lossy(&page))?;
    Ok(CommandAnswer::Yes)
}
