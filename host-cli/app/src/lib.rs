//! Apps from prompts, by the daemon of the five verbs \[2, 6\]: the program `mcp`, and `agent app`.
//!
//! | module | content |
//! |---|---|
//! | `args` | the command line |
//! | `pipeline` | from a prompt to an app that answers: the verbs one after the other |
//! | `client`, `daemon` | the daemon as a command reaches it, and how it is started |
//! | `list` | the tasks of a daemon, or of a folder that none serves |
//! | `refusal` | failures, for people and as JSON |
//! | `ci` | the pipeline with a daemon that ends with it |

mod args;
mod ci;
mod client;
mod daemon;
mod list;
mod pipeline;
mod refusal;

pub use args::{App, Command, Daemon, EXIT_CODES, Place};

use agent_host::{Failure, block_on, diagnostics, output};
use args::Format;
use client::{Response, VerbClient};
use pipeline::{Pipeline, PipelineOutcome};
use refusal::Refusal;
use std::io::stdin;
use std::path::Path;

/// Number of entries that are named if an export leaves them out.
const LEFT_OUT: usize = 20;

/// How a program was started.
#[derive(Debug, Clone, Copy)]
pub struct Program<'a> {
    /// The arguments of this program before a [`Command`], such as `app`.
    pub before: &'a [&'a str],
    /// What a user types before a [`Command`]: `mcp`, or `agent app`.
    pub typed: &'a str,
    /// Whether progress is not printed.
    pub quiet: bool,
}

/// Does what a command line says. Returns whether the answer is a yes. With `--format json`, every failure is also printed as
/// the response of a verb.
///
/// # Errors
///
/// When there is no answer: no daemon, an unreadable file.
pub fn run(command: &Command, place: &Place, program: Program<'_>) -> Result<bool, Failure> {
    // Standard output of these is not for answers.
    let is_answer = !matches!(command, Command::Supervise | Command::Mcpd(_));
    answer(command, place, program).map_err(|refusal| {
        if place.format == Format::Json && is_answer {
            // The failure itself goes to standard error.
            let _ = output::print_text(&refusal.envelope);
        }
        advised(refusal.failure, program)
    })
}

/// Returns a failure whose advice names commands as this user types them.
fn advised(mut failure: Failure, program: Program<'_>) -> Failure {
    let typed = format!("`{} ", program.typed);
    failure.help = failure.help.map(|help| help.replace("`mcp ", &typed));
    failure
}

/// Returns the failure of wrong usage as the response of a verb, if the arguments ask for JSON; `None` for help, and
/// without `--format json`.
#[must_use]
pub fn usage_envelope(error: &clap::Error) -> Option<String> {
    let arguments: Vec<_> = std::env::args_os().collect();
    let is_json = arguments.iter().any(|it| it == "--format=json")
        || arguments
            .windows(2)
            .any(|pair| pair[0] == "--format" && pair[1] == "json");
    if !error.use_stderr() || !is_json {
        return None;
    }
    let text = error.render().to_string();
    let message = text.split("\n\n").next().unwrap_or_default();
    let message = message.strip_prefix("error: ").unwrap_or(message).trim();
    let failure = Failure::new(message).help("read the usage with `--help`");
    Some(Refusal::new("E_PLAN", failure, None).envelope)
}

fn answer(command: &Command, place: &Place, program: Program<'_>) -> Result<bool, Refusal> {
    match command {
        Command::Mcpd(args) => daemon::run(args, place, program),
        Command::Ci(args) => ci::run(args, place, program),
        Command::Supervise => {
            agent_daemon::supervise(stdin().lock())?;
            Ok(true)
        }
        Command::Run(args) => {
            let client = VerbClient::new(daemon::found_or_started(place, &args.decides, program)?);
            let pipeline = Pipeline {
                client: &client,
                quiet: program.quiet,
            };
            wait(async { show(pipeline.run(args).await?, place, program) })
        }
        Command::Change(args) => {
            let client = VerbClient::new(daemon::found_or_started(place, &args.decides, program)?);
            let pipeline = Pipeline {
                client: &client,
                quiet: program.quiet,
            };
            wait(async { show(pipeline.change(args).await?, place, program) })
        }
        Command::List => {
            let tasks = tasks(place)?;
            match place.format {
                Format::Json => output::print_text(tasks.text())?,
                Format::Text => output::print_text(&list::text(&list::tasks(&tasks)))?,
            }
            Ok(true)
        }
        Command::Open { task } => open(task, place, program),
        Command::Export {
            written,
            task,
            folder,
        } => export(task, folder, *written, place, program),
        Command::Kill { task } => kill(task, place, program),
    }
}

/// Serves the five verbs and the apps of tasks until the user or the system ends the program. With `--stop`, ends the
/// daemon that does; returns whether there was one.
///
/// # Errors
///
/// When the folder of tasks, a port or a folder for sockets can't be had.
pub fn serve(Daemon { mcpd, place }: &Daemon, program: Program<'_>) -> Result<bool, Failure> {
    daemon::run(mcpd, place, program).map_err(|refusal| advised(refusal.failure, program))
}

/// Runs work to its end, on this thread.
fn wait<T>(work: impl Future<Output = Result<T, Refusal>>) -> Result<T, Refusal> {
    block_on(async { Ok(work.await) })?
}

/// Prints a no.
fn refuse(refusal: Refusal, place: &Place, program: Program<'_>) -> Result<bool, Refusal> {
    if place.format == Format::Json {
        output::print_text(&refusal.envelope)?;
    }
    let failure = advised(refusal.failure, program);
    output::note_drawn(&diagnostics::draw_failure(&failure));
    Ok(false)
}

fn show(outcome: PipelineOutcome, place: &Place, program: Program<'_>) -> Result<bool, Refusal> {
    match outcome {
        PipelineOutcome::Failed(refusal) => refuse(refusal, place, program),
        PipelineOutcome::Passed(report) => {
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

/// Returns the daemon of the folder of tasks; `None` if none runs.
fn running(place: &Place) -> Result<Option<VerbClient>, Refusal> {
    let found = agent_daemon::Place::of(&place.root).map_err(Refusal::of_files)?;
    Ok(found.map(VerbClient::new))
}

/// Returns the list of tasks: of the daemon, or of the folder if no daemon runs.
fn tasks(place: &Place) -> Result<Response, Refusal> {
    match running(place)? {
        Some(client) => wait(client.get("/tasks")),
        None => {
            let tasks = agent_daemon::stored_tasks(&place.root).map_err(Refusal::of_files)?;
            Ok(Response::of(tasks))
        }
    }
}

/// Returns a task of the list.
fn task(id: &str, place: &Place) -> Result<Option<list::Task>, Refusal> {
    let tasks = list::tasks(&tasks(place)?).into_iter();
    Ok(tasks.into_iter().find(|task| task.task_id == id))
}

fn open(id: &str, place: &Place, program: Program<'_>) -> Result<bool, Refusal> {
    let Some(task) = task(id, place)? else {
        return refuse(Refusal::no_task(id), place, program);
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

fn export(
    id: &str,
    folder: &Path,
    written: bool,
    place: &Place,
    program: Program<'_>,
) -> Result<bool, Refusal> {
    let Some(task) = task(id, place)? else {
        return refuse(Refusal::no_task(id), place, program);
    };
    let exported = agent_daemon::export(Path::new(&task.artifact_dir), folder, written);
    let left_out = exported.map_err(Refusal::of_files)?.left_out;
    for path in left_out.iter().take(LEFT_OUT) {
        output::note(format_args!("left out, as the app wrote it: {path:?}"));
    }
    if left_out.len() > LEFT_OUT {
        let more = left_out.len() - LEFT_OUT;
        output::note(format_args!("{more} more are left out"));
    }
    Ok(true)
}

fn kill(id: &str, place: &Place, program: Program<'_>) -> Result<bool, Refusal> {
    match running(place)? {
        Some(client) => {
            let path = format!("/tasks/{id}/kill");
            let killed = wait(client.post(&path, String::new()))?;
            match killed.failure() {
                Some(refusal) => refuse(refusal, place, program),
                None => Ok(true),
            }
        }
        None => match agent_daemon::kill_stored(&place.root, id)? {
            true => Ok(true),
            false => refuse(Refusal::no_task(id), place, program),
        },
    }
}
