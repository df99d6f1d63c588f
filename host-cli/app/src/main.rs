//! The program `mcp`.

#[cfg(not(target_os = "linux"))]
compile_error!("apps and servers run in sandboxes of Linux: other systems are not supported yet");

use agent_app::{App, Program, run, usage_envelope};
use agent_host::{diagnostics, output};
use clap::Parser;
use std::process::ExitCode;

/// The exit code if there is no answer. clap uses the same for wrong usage.
const UNANSWERED: u8 = 2;

/// Creates, tests and serves small web services from prompts.
#[derive(Debug, Parser)]
#[command(name = "mcp", version, max_term_width = 100)]
struct Arguments {
    #[command(flatten)]
    app: App,
    /// Print no progress
    #[arg(long, short, global = true)]
    quiet: bool,
}

fn main() -> ExitCode {
    let Arguments { app, quiet } = Arguments::try_parse().unwrap_or_else(|error| {
        if let Some(envelope) = usage_envelope(&error) {
            let _ = output::print_text(&envelope);
        }
        error.exit()
    });
    let program = Program { before: &[], quiet };
    match run(&app, program) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(failure) => {
            output::note_drawn(&diagnostics::draw_failure(&failure));
            UNANSWERED.into()
        }
    }
}
