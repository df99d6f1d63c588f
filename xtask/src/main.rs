//! The project's own commands: `cargo xtask`.
//!
//! One module per command. Shared modules: [`cargo`] and [`process`] call programs, [`folder`]
//! handles whole folders, [`status`] reports progress; [`toolchain`], [`browser`], [`python`] and [`apt`]
//! install missing tools.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for people: results on standard output, progress on standard error"
)]

mod cargo;
mod folder;
mod process;
mod status;

mod apt;
mod bench;
mod bless;
mod browser;
mod bubblewrap;
mod build;
mod component;
mod crates;
mod demo;
mod dist;
mod fuzz;
mod handler_python;
mod lint;
mod of_pypi;
mod playground;
mod python;
mod quality;
mod resolver;
mod setup;
mod soak;
mod test;
mod toolchain;
mod wasi;

use agent_pack::Workspace;
use anyhow::{Result, bail};
use std::env;
use std::process::ExitCode;

/// The output of `cargo xtask help`.
const HELP: &str = "\
Commands:
  cargo xtask setup                find, build or install the tools for builds and tests
  cargo xtask build [--release]    build the component and the programs
  cargo xtask demo                 build everything and resolve examples/hello-agent
  cargo xtask test [WORDS]         run the tests of a change, or the parts with one of WORDS in their name
  cargo xtask test --all           run every test, also those that take long
  cargo xtask quality-pos          run the plans that have to run
  cargo xtask quality-neg          run the plans that must not
  cargo xtask lint                 check format, lints, documentation and tidiness
  cargo xtask bless                accept the present output of the corpus tests
  cargo xtask component            build the component and print its file, size and digest
  cargo xtask dist                 build the release into target/dist
  cargo xtask playground [--dist]  serve the playground, or build it into target/dist; --quick: into target/quick
  cargo xtask handler-python       build the handler in Python, and run it in a plan
  cargo xtask bench [ARGUMENTS]    measure, and compare with the baselines
  cargo xtask soak [ARGUMENTS]     load `agent serve` for ten minutes, or for `--seconds N`
  cargo xtask fuzz [SECONDS]       run each fuzz target for a minute, or for SECONDS
";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match dispatch(&Workspace::of_this_build(), &arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            status::error(&error);
            ExitCode::FAILURE
        }
    }
}

fn dispatch(workspace: &Workspace, arguments: &[&str]) -> Result<()> {
    let [name, rest @ ..] = arguments else {
        bail!("a command is missing\n\n{HELP}");
    };
    let command = match *name {
        "help" | "-h" | "--help" => {
            print!("{HELP}");
            return Ok(());
        }
        "setup" => setup::command,
        "build" => build::command,
        "demo" => demo::command,
        "test" => test::command,
        "quality-pos" => quality::positive,
        "quality-neg" => quality::negative,
        "lint" => lint::command,
        "bless" => bless::command,
        "component" => component::command,
        "dist" => dist::command,
        "playground" => playground::command,
        "handler-python" => handler_python::command,
        "bench" => bench::command,
        "soak" => soak::command,
        "fuzz" => fuzz::command,
        _ => bail!("there is no command `{name}`\n\n{HELP}"),
    };
    command(workspace, rest)
}

/// Refuses arguments of a command that takes none.
fn no_arguments(arguments: &[&str]) -> Result<()> {
    match arguments {
        [] => Ok(()),
        [first, ..] => bail!("there is no argument `{first}`"),
    }
}
