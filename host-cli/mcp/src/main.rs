//! `mcp`: apps from prompts, by the daemon of the five verbs \[2, 6\].

mod args;
mod client;
mod daemon;
mod list;
mod pipeline;

use agent_effects::block_on;
use agent_host::{Failure, diagnostics, output};
use args::{Arguments, Command, Format, Global};
use clap::Parser;
use client::Client;
use pipeline::{Outcome, Pipeline};
use std::io::stdin;
use std::path::Path;
use std::process::ExitCode;

/// The exit code if there is no answer. clap uses the same for wrong usage.
const UNANSWERED: u8 = 2;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(failure) => {
            draw(&failure);
            UNANSWERED.into()
        }
    }
}

fn draw(failure: &Failure) {
    output::note_drawn(&diagnostics::draw_failure(failure));
}

/// Returns whether the answer is a yes.
fn run(Arguments { command, global }: &Arguments) -> Result<bool, Failure> {
    match command {
        Command::Mcpd(args) => return daemon::run(args, global).map(|()| true),
        Command::Supervise => {
            let done = agent_daemon::supervise(stdin().lock());
            return done.map(|()| true).map_err(Failure::new);
        }
        _ => {}
    }
    let client = Client::new(daemon::found_or_started(global)?);
    block_on(async {
        let pipeline = Pipeline {
            client: &client,
            global,
        };
        match command {
            Command::Run(args) => show(pipeline.run(args).await?, global),
            Command::Change(args) => show(pipeline.change(args).await?, global),
            Command::List => listed(&client, global).await,
            Command::Open { task } => open(&client, task, global).await,
            Command::Export { task, folder } => export(&client, task, folder).await,
            Command::Kill { task } => {
                let path = format!("/tasks/{task}/kill");
                let killed = client.post(&path, String::new()).await?;
                Ok(done(killed.failure()))
            }
            Command::Mcpd(_) | Command::Supervise => Ok(true),
        }
    })
}

fn show(outcome: Outcome, global: &Global) -> Result<bool, Failure> {
    match outcome {
        Outcome::Failed(failure) => {
            draw(&failure);
            Ok(false)
        }
        Outcome::Passed(report) => {
            match global.format {
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

async fn listed(client: &Client, global: &Global) -> Result<bool, Failure> {
    let response = client.get("/tasks").await?;
    match global.format {
        Format::Json => output::print_text(response.text())?,
        Format::Text => output::print_text(&list::text(&list::tasks(&response)))?,
    }
    Ok(true)
}

async fn task(client: &Client, id: &str) -> Result<list::Task, Failure> {
    let tasks = list::tasks(&client.get("/tasks").await?);
    let found = tasks.into_iter().find(|task| task.task_id == id);
    found.ok_or_else(|| {
        Failure::new(format_args!("there is no task `{id}`")).help("list the tasks with `mcp list`")
    })
}

async fn open(client: &Client, id: &str, global: &Global) -> Result<bool, Failure> {
    let task = task(client, id).await?;
    let url = task.url.or(task.direct_url);
    match global.format {
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
    let task = task(client, id).await?;
    agent_daemon::export(Path::new(&task.artifact_dir), folder)?;
    Ok(true)
}
