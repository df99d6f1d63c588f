//! The project's own commands: `cargo xtask`.
//!
//! One module per command. What several of them need: [`cargo`] and [`process`] call programs,
//! [`folder`] handles whole folders, [`status`] tells what goes on; [`toolchain`], [`browser`] and
//! [`apt`] provide what is missing.

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
mod build;
mod component;
mod demo;
mod dist;
mod fuzz;
mod lint;
mod playground;
mod resolver;
mod setup;
mod test;
mod toolchain;

use agent_pack::Workspace;
use anyhow::{Result, bail};
use std::env;
use std::process::ExitCode;

struct Command {
    name: &'static str,
    /// What may stand after the name, as the help shows it.
    arguments: &'static str,
    about: &'static str,
    run: fn(&Workspace, &[&str]) -> Result<()>,
}

const COMMANDS: [Command; 11] = [
    Command {
        name: "setup",
        arguments: "",
        about: "find, build or install what the builds and the tests need",
        run: setup::command,
    },
    Command {
        name: "build",
        arguments: "[--release]",
        about: "build the component and the programs",
        run: build::command,
    },
    Command {
        name: "demo",
        arguments: "",
        about: "build everything and resolve examples/hello-agent",
        run: demo::command,
    },
    Command {
        name: "test",
        arguments: "[WORDS]",
        about: "run every test, or the parts with one of WORDS in their name",
        run: test::command,
    },
    Command {
        name: "lint",
        arguments: "",
        about: "check format, lints, documentation and tidiness",
        run: lint::command,
    },
    Command {
        name: "bless",
        arguments: "",
        about: "accept what the corpus tests produce now as what is expected",
        run: bless::command,
    },
    Command {
        name: "component",
        arguments: "",
        about: "build the component and print its file, size and digest",
        run: component::command,
    },
    Command {
        name: "dist",
        arguments: "",
        about: "build what is released into target/dist",
        run: dist::command,
    },
    Command {
        name: "playground",
        arguments: "[--dist]",
        about: "serve the playground, or build it into target/dist",
        run: playground::command,
    },
    Command {
        name: "bench",
        arguments: "[ARGUMENTS]",
        about: "measure, and compare with the baselines",
        run: bench::command,
    },
    Command {
        name: "fuzz",
        arguments: "[SECONDS]",
        about: "run each fuzz target for a minute, or for SECONDS",
        run: fuzz::command,
    },
];

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
        bail!("which command?\n\n{}", help());
    };
    if matches!(*name, "help" | "-h" | "--help") {
        print!("{}", help());
        return Ok(());
    }
    match COMMANDS.iter().find(|command| command.name == *name) {
        Some(command) => (command.run)(workspace, rest),
        None => bail!("there is no command `{name}`\n\n{}", help()),
    }
}

fn help() -> String {
    let lines = COMMANDS.iter().map(|command| {
        let usage = format!("{} {}", command.name, command.arguments);
        format!("  cargo xtask {usage:<20} {}\n", command.about)
    });
    lines.collect()
}

/// For commands that take no arguments.
fn no_arguments(arguments: &[&str]) -> Result<()> {
    match arguments {
        [] => Ok(()),
        [first, ..] => bail!("there is no argument `{first}`"),
    }
}
