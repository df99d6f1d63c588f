//! The command line.

mod deciding;
#[cfg(not(target_family = "wasm"))]
mod performing;

pub(crate) use deciding::*;
#[cfg(not(target_family = "wasm"))]
pub(crate) use performing::*;

pub(crate) use agent_host::session_files::{INDEX, LOCK};

use crate::version;
use anstyle::{AnsiColor, Effects};
use clap::builder::Styles;
use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum, ValueHint};
use std::path::PathBuf;

/// The colours of `--help` and of wrong usage.
pub(crate) const HELP: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().effects(Effects::BOLD))
    .usage(AnsiColor::Green.on_default().effects(Effects::BOLD))
    .literal(AnsiColor::Cyan.on_default().effects(Effects::BOLD))
    .placeholder(AnsiColor::Cyan.on_default());

/// The default path of an MCP client's configuration.
pub(crate) const CLIENT: &str = ".mcp.json";

/// Locks and explains what an AI agent may use and do.
///
/// `agent` resolves the requirements of a manifest, agents.md, against an index of MCP servers,
/// mcp.index.json, and writes the selection to agents.lock. The same inputs give the same bytes
/// everywhere. For every server it explains why it was accepted or rejected, and which change would
/// reverse the decision.
#[derive(Debug, Parser)]
#[command(
    name = "agent",
    version,
    long_version = version::long(),
    styles = HELP,
    max_term_width = 100,
    after_long_help = "\
Exit codes:
  0  The answer is yes
  1  The answer is no: invalid input, an unsatisfied requirement, a drift
  2  No answer: wrong usage, an unreadable file, a limit of the engine"
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) global: Global,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    #[command(flatten)]
    Deciding(Box<Deciding>),
    #[cfg(not(target_family = "wasm"))]
    #[command(flatten)]
    Performing(Box<Performing>),
    /// Check plans
    #[cfg(target_family = "wasm")]
    #[command(subcommand)]
    Plan(Box<PlanCommand>),
}

/// Options of every command.
#[derive(Args, Debug)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// When to use colours
    ///
    /// `auto` uses colours on a terminal, and honours NO_COLOR and CLICOLOR_FORCE.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,

    /// Work in this folder, as if the command were typed there
    #[arg(long, global = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) directory: Option<PathBuf>,

    /// Print no warnings and no summary
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,

    /// Report the files read and the engine used, and print notes
    #[arg(long, short, global = true, conflicts_with = "quiet", action = ArgAction::SetTrue)]
    pub(crate) verbose: bool,

    /// Run this engine instead of the one in this program
    ///
    /// A WebAssembly component of the world `agent:engine/engine`, compiled once and kept in the
    /// user's cache directory.
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) engine: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}
