//! The command line \[2, 6\].

use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// The exit codes of a program that runs a [`Command`].
pub const EXIT_CODES: &str = "\
Exit codes:
  0  Done: the app answers as expected
  1  Not done: a verb failed, or a probe
  2  No answer: wrong usage, an unreadable file, no daemon";

/// Create, test and serve small web services from prompts
///
/// Each service is a task below `.mcpd/`, and its app runs in a sandbox. `run` starts the daemon where none runs.
#[derive(Args, Debug)]
#[command(after_long_help = EXIT_CODES)]
pub struct App {
    /// What is done.
    #[command(subcommand)]
    pub command: Command,
    /// Where tasks are.
    #[command(flatten)]
    pub place: Place,
}

/// Serve the five verbs and the apps of tasks
#[derive(Args, Debug)]
pub struct Daemon {
    #[command(flatten)]
    pub(crate) mcpd: Mcpd,
    #[command(flatten)]
    pub(crate) place: Place,
}

/// Where tasks are, and the form of the output.
#[derive(Args, Debug)]
#[command(next_help_heading = "Options of every command")]
pub struct Place {
    /// The folder of tasks
    #[arg(long, global = true, value_name = "FOLDER", default_value = ".mcpd")]
    pub(crate) root: PathBuf,
    /// The form of the output
    #[arg(long, global = true, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
}

/// The form of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    Text,
    /// One JSON document.
    Json,
}

/// The commands. Each variant has the documentation of its arguments, which is also its help.
#[derive(Debug, Subcommand)]
#[expect(missing_docs, reason = "that of the arguments is the help")]
pub enum Command {
    Run(Run),
    Change(Change),
    /// List tasks with their states and URLs
    List,
    /// Print where a task's artifacts are, and the URL of its app
    Open {
        /// The task
        #[arg(value_parser = task_id)]
        task: String,
    },
    /// Write the files of an app into a folder: what plans wrote
    Export {
        /// Add the files that the app wrote, without links, repositories and names that tools execute
        #[arg(long)]
        written: bool,
        /// The task
        #[arg(value_parser = task_id)]
        task: String,
        /// The folder, which must be new or empty
        folder: PathBuf,
    },
    /// End an app with its route: later requests get 410
    Kill {
        /// The task
        #[arg(value_parser = task_id)]
        task: String,
    },
    Ci(Ci),
    Mcpd(Mcpd),
    /// Run the app of a task, as its description on standard input says
    #[command(hide = true)]
    Supervise,
}

/// Create an app from a prompt: plan, write, start and test it
///
/// The app is expected to answer `GET /` with 200, and with the last text between quotation marks in the prompt.
#[derive(Args, Debug)]
pub struct Run {
    /// What the app should do
    pub(crate) prompt: String,
    /// The language of the app
    #[arg(long, value_name = "LANGUAGE", value_parser = ["python", "node", "go", "rust"])]
    pub(crate) lang: Option<String>,
    #[command(flatten)]
    pub(crate) limits: Limits,
    #[command(flatten)]
    pub(crate) decides: Decides,
}

/// Limits of an app.
#[derive(Args, Debug)]
pub(crate) struct Limits {
    /// Seconds until the app must be ready [1 to 600]
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=600))]
    pub(crate) timeout: u32,
    /// Memory of the app in MiB [32 to 8192]
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u32).range(32..=8192))]
    pub(crate) mem: Option<u32>,
    /// Share of processor time in percent of one processor [1 to 100]
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) cpu: Option<u32>,
    /// Give the app no network, whatever the policy allows
    #[arg(long)]
    pub(crate) no_egress: bool,
}

/// Change an app: plan the change, apply it, start and test the app again
///
/// If the changed app is not ready or a probe fails, the change is taken back.
#[derive(Args, Debug)]
pub struct Change {
    /// The task
    #[arg(value_parser = task_id)]
    pub(crate) task: String,
    /// What to change
    pub(crate) delta: String,
    #[command(flatten)]
    pub(crate) limits: Limits,
    #[command(flatten)]
    pub(crate) decides: Decides,
}

/// Serve the five verbs and the apps of tasks
///
/// Clients come over HTTP on loopback, with the token in `.state/token` of the folder of tasks. Apps outlive the daemon:
/// the next one finds them.
#[derive(Args, Debug)]
pub struct Mcpd {
    #[command(flatten)]
    pub(crate) decides: Decides,
    /// Serve one more client over standard input and output, and end with it; where a daemon serves the folder already,
    /// by that one
    #[arg(long)]
    pub(crate) stdio: bool,
    /// End the daemon that serves the folder; its apps run on
    #[arg(long, conflicts_with = "stdio")]
    pub(crate) stop: bool,
    /// The port at which clients are served [default: that of the folder's last daemon, or a free one]
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) listen: Option<u16>,
    /// Send spans of verbs to an OpenTelemetry collector: OTLP over HTTP
    #[arg(long, value_name = "URL")]
    pub(crate) otlp: Option<String>,
    /// The port of the app gateway
    #[arg(long, value_name = "PORT", default_value_t = 23456)]
    pub(crate) port: u16,
    /// Seconds without a connection after which an app ends; 0 for never
    #[arg(long, value_name = "SECONDS", default_value_t = 3600)]
    pub(crate) idle: u64,
}

/// What plans apps, and what decides on them. A running daemon has its own.
#[derive(Args, Debug)]
#[command(next_help_heading = "Options of the daemon")]
pub(crate) struct Decides {
    /// The file with the policy [default: policy.yaml in the folder of tasks]
    #[arg(long, value_name = "FILE")]
    pub(crate) policy_file: Option<PathBuf>,
    /// `template`, `openai`, or a program that plans, with its arguments: it reads a request on standard input and prints a
    /// file plan
    #[arg(long, value_name = "COMMAND", num_args = 1.., allow_hyphen_values = true)]
    pub(crate) planner: Vec<String>,
    /// The base URL of `--planner openai`, such as `http://127.0.0.1:11434/v1`
    #[arg(long, value_name = "URL", requires = "planner_model")]
    pub(crate) planner_url: Option<String>,
    /// The model of `--planner openai`
    #[arg(long, value_name = "NAME", requires = "planner_url")]
    pub(crate) planner_model: Option<String>,
    /// The secret of the operator that contains the key of `--planner openai`
    #[arg(long, value_name = "SECRET", requires = "planner_url")]
    pub(crate) planner_key: Option<String>,
    /// An executable that runs the apps of a language, in the sandbox
    #[arg(long = "runner", value_name = "LANGUAGE=PROGRAM", value_parser = runner)]
    pub(crate) runners: Vec<(String, PathBuf)>,
}

/// Create and test an app without a daemon that stays, and print annotations for GitHub
///
/// The app ends with the command. Its artifacts stay in the folder of tasks.
#[derive(Args, Debug)]
pub struct Ci {
    #[command(flatten)]
    pub(crate) run: Run,
}

/// Reads a language and its runner.
fn runner(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((language, program)) => Ok((language.to_owned(), program.into())),
        None => Err("a runner is a language, `=` and a program".to_owned()),
    }
}

/// Reads the id of a task.
fn task_id(text: &str) -> Result<String, String> {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    match text.len() == 6 && text.bytes().all(is_digit) {
        true => Ok(text.to_owned()),
        false => Err("an id of a task has 6 hex digits, as `mcp list` prints it".to_owned()),
    }
}
