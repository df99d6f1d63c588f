//! `agent pdp`, `agent bundle` and `agent fleet`: start the program for fleets.

use crate::args::FleetProgram;
use crate::command::CommandAnswer;
use agent_host::Failure;
use agent_host::input::reason;
use std::env;
use std::io::ErrorKind;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// The program, beside this one.
const PROGRAM: &str = "agent-pdp";

/// Becomes the program, with a command of it if one is named. Returns only if it can't be started.
pub(super) fn run(command: Option<&str>, args: &FleetProgram) -> Result<CommandAnswer, Failure> {
    let own = env::current_exe().map_err(Failure::internal)?;
    let program = own.with_file_name(PROGRAM);
    let error = Command::new(&program)
        .args(command)
        .args(&args.arguments)
        .exec();
    let shown = program.display();
    Err(match error.kind() {
        ErrorKind::NotFound => Failure::new(format_args!("`{shown}` is not installed")).help(
            "build it with `cargo build --release --package agent-pdp`, and put it beside `agent`",
        ),
        _ => Failure::new(format_args!(
            "`{shown}` can't be started: {}",
            reason(&error)
        )),
    })
}
