//! The program `agent`.

use std::process::ExitCode;

fn main() -> ExitCode {
    agent::main().into()
}
