//! The commands in the order in which `--help` lists them: by what people want to do.

use crate::args::HELP;
use clap::Command;
use clap::builder::StyledStr;
use std::fmt::Write as _;

/// Each group with its commands.
const GROUPS: [(&str, &[&str]); 6] = [
    (
        "Start",
        &[
            "init",
            "adopt",
            "connect",
            "disconnect",
            "clients",
            "doctor",
        ],
    ),
    (
        "Ask",
        &[
            "validate",
            "discover",
            "resolve",
            "match",
            "tools",
            "expand",
            "why",
            "diff",
            "verify",
            "ground",
            "playground",
            "share",
            "explain",
        ],
    ),
    (
        "Operate",
        &[
            "serve", "status", "pdp", "bundle", "fleet", "login", "logout", "install", "index",
            "policy", "audit", "replay",
        ],
    ),
    (
        "Plans",
        &["plan", "run", "run-plan", "rerun", "ask", "evidence"],
    ),
    ("Apps", &["app", "mcpd"]),
    (
        "Tools",
        &[
            "check-handler",
            "test-runner",
            "sandbox",
            "schema",
            "completions",
            "man",
            "help",
        ],
    ),
];

/// Lets the help of a program list its commands in groups.
pub(crate) fn grouped(program: Command) -> Command {
    let header = HELP.get_header();
    let literal = HELP.get_literal();
    let mut list = String::new();
    for (group, names) in GROUPS {
        // A component has few of the commands.
        let listed = names
            .iter()
            .filter_map(|name| Some((name, about(&program, name)?)));
        let lines: String = listed
            .map(|(name, about)| format!("  {literal}{name:14}{literal:#} {about}\n"))
            .collect();
        if !lines.is_empty() {
            let _ = writeln!(list, "{header}{group}:{header:#}\n{lines}");
        }
    }
    program.help_template(format!(
        "{{before-help}}{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}{header}Options:{header:#}\n\
         {{options}}{{after-help}}"
    ))
}

/// Returns what a command does, if the program has it.
fn about(program: &Command, name: &str) -> Option<StyledStr> {
    match program.find_subcommand(name) {
        Some(command) => Some(command.get_about().cloned().unwrap_or_default()),
        None => (name == "help").then(|| "Print the help of a command".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::GROUPS;
    use crate::args::Arguments;
    use clap::CommandFactory as _;

    #[test]
    fn every_command_is_in_one_group() {
        let mut program = Arguments::command();
        program.build();
        let commands = program.get_subcommands().filter(|it| !it.is_hide_set());
        let mut commands: Vec<_> = commands.map(|it| it.get_name().to_owned()).collect();
        let mut listed: Vec<_> = GROUPS.iter().flat_map(|(_, names)| *names).collect();
        commands.sort();
        listed.sort();
        assert_eq!(listed, commands.iter().collect::<Vec<_>>());
    }
}
