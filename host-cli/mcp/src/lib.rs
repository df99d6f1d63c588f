//! Apps from prompts, by the daemon of the five verbs \[2, 6\]: the program `mcp`, and `agent app`.
//!
//! | module | content |
//! |---|---|
//! | `args` | the command line |
//! | `pipeline` | from a prompt to an app that answers: the verbs one after the other |
//! | `client`, `daemon` | the daemon as a command reaches it, and how it is started |
//! | `list` | the tasks of a daemon |
//! | `ci` | the pipeline with a daemon that ends with it |

mod args;
mod ci;
mod client;
mod daemon;
mod list;
mod pipeline;

pub use args::{App, Daemon};

use agent_effects::block_on;
use agent_host::{Failure, diagnostics, output};
use args::{Command, Format, Place};
use client::Client;
use pipeline::{Outcome, Pipeline};
use std::io::stdin;
use std::path::Path;

/// How a program was started.
#[derive(Debug, Clone, Copy)]
pub struct Program<'a> {
    /// The arguments of this program before those of [`App`], such as `app`.
    pub before: &'a [&'a str],
    /// Whether progress is not printed.
    pub quiet: bool,
}

/// Does what a command line says. Returns whether the answer is a yes.
///
/// # Errors
///
/// When there is no answer: no daemon, an unreadable file.
pub fn run(App { command, place }: &App, program: Program<'_>) -> Result<bool, Failure> {
    match command {
        Command::Mcpd(args) => return daemon::run(args, place, program).map(|()| true),
        Command::Ci(args) => return ci::run(args, place, program),
        Command::Supervise => {
            let done = agent_daemon::supervise(stdin().lock());
            return done.map(|()| true);
        }
        _ => {}
    }
    let client = Client::new(daemon::found_or_started(place, program)?);
    block_on(async {
        let pipeline = Pipeline {
            client: &client,
            quiet: program.quiet,
        };
        match command {
            Command::Run(args) => show(pipeline.run(args).await?, place),
            Command::Change(args) => show(pipeline.change(args).await?, place),
            Command::List => listed(&client, place).await,
            Command::Open { task } => open(&client, task, place).await,
            Command::Export { task, folder } => export(&client, task, folder).await,
            Command::Kill { task } => {
                let path = format!("/tasks/{task}/kill");
                let killed = client.post(&path, String::new()).await?;
                Ok(done(killed.failure()))
            }
            Command::Ci(_) | Command::Mcpd(_) | Command::Supervise => Ok(true),
        }
    })
}

/// Serves the five verbs and the apps of tasks until the user or the system ends the program.
///
/// # Errors
///
/// When the folder of tasks, a port or a folder for sockets can't be had.
pub fn serve(Daemon { mcpd, place }: &Daemon, program: Program<'_>) -> Result<(), Failure> {
    daemon::run(mcpd, place, program)
}

fn draw(failure: &Failure) {
    output::note_drawn(&diagnostics::draw_failure(failure));
}

fn show(outcome: Outcome, place: &Place) -> Result<bool, Failure> {
    match outcome {
        Outcome::Failed(failure) => {
            draw(&failure);
            Ok(false)
        }
        Outcome::Passed(report) => {
            match place.format {
                Format::Json => output::print_text(report.text())?,
                Format::Text => {
                    let url = report.data("url").or_else(|| report.data("direct_url"));
                    let text = url.unwrap_or_default();
                    output::print_text(&format!("{text}\n"))?;
                }
            }
            Ok(true)
        }
    }
}

fn done(failure: Option<Failure>) -> bool {
    failure.as_ref().inspect(|it| draw(it)).is_none()
}

async fn listed(client: &Client, place: &Place) -> Result<bool, Failure> {
    let response = client.get("/tasks").await?;
    match place.format {
        Format::Json => output::print_text(response.text())?,
        Format::Text => output::print_text(&list::text(&list::tasks(&response)))?,
    }
    Ok(true)
}

/// Returns a task; without one says so.
async fn task(client: &Client, id: &str) -> Result<Option<list::Task>, Failure> {
    let tasks = list::tasks(&client.get("/tasks").await?);
    let found = tasks.into_iter().find(|task| task.task_id == id);
    if found.is_none() {
        let message = format_args!("there is no task `{id}`");
        draw(&Failure::new(message).help("list the tasks with `mcp list`"));
    }
    Ok(found)
}

async fn open(client: &Client, id: &str, place: &Place) -> Result<bool, Failure> {
    let Some(task) = task(client, id).await? else {
        return Ok(false);
    };
    let url = task.url.or(task.direct_url);
    match place.format {
        Format::Json => {
            let url = url
                .as_deref()
                .map_or_else(|| "null".to_owned(), agent_syntax::json_string);
            let folder = agent_syntax::json_string(&task.artifact_dir);
            output::print_text(&format!("{{\"artifact_dir\":{folder},\"url\":{url}}}\n"))?;
        }
        Format::Text => {
            output::print_text(&format!("{}\n", task.artifact_dir))?;
            if let Some(url) = url {
                output::print_text(&format!("{url}\n"))?;
            }
        }
    }
    Ok(true)
}

async fn export(client: &Client, id: &str, folder: &Path) -> Result<bool, Failure> {
    let Some(task) = task(client, id).await? else {
        return Ok(false);
    };
    agent_daemon::export(Path::new(&task.artifact_dir), folder)?;
    Ok(true)
}
