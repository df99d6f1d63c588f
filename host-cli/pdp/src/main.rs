//! The program `agent-pdp`.

use std::process::ExitCode;

fn main() -> ExitCode {
    agent_pdp::main().into()
}
