//! `mcp ci`: the pipeline with a daemon that ends with it, and annotations for GitHub.

use crate::args::{self, Ci, Format};
use crate::client::{Response, VerbClient};
use crate::daemon::{await_start, setup};
use crate::pipeline::{Pipeline, PipelineOutcome};
use crate::refusal::Refusal;
use crate::{Program, list, show, wait};
use agent_daemon::{kill_stored, prepare, serve, stored_tasks};
use agent_host::{Engine, Signals, output};
use std::collections::BTreeSet;
use std::path::Path;

/// Creates an app, tests it and ends it. Returns whether it answers as expected.
pub(crate) fn run(args: &Ci, place: &args::Place, program: Program<'_>) -> Result<bool, Refusal> {
    let root = prepare(&place.root).map_err(Refusal::of_files)?;
    // Any free port will do: only this command connects.
    let setup = setup(&args.run.decides, place, program, 0)?;
    let engine = Engine::embedded()?;
    let present = stored(&root)?;
    let tested = wait(async {
        let serving = serve(engine, setup, Signals::new()?);
        let testing = async {
            let client = VerbClient::new(await_start(&root, None).await?);
            let pipeline = Pipeline {
                client: &client,
                quiet: program.quiet,
            };
            let outcome = pipeline.run(&args.run).await;
            // None of its tasks is left running.
            for id in ids(&client).await?.difference(&present) {
                let path = format!("/tasks/{id}/kill");
                client.post(&path, String::new()).await?;
            }
            match place.format {
                Format::Text => annotate(outcome?),
                Format::Json => show(outcome?, place, program),
            }
        };
        tokio::select! {
            served = serving => Ok(served.map(|()| false)?),
            tested = testing => tested,
        }
    });
    // A signal ends the daemon, and leaves apps alone.
    for id in stored(&root)?.difference(&present) {
        kill_stored(&root, id)?;
    }
    tested
}

/// Returns the ids of the tasks that have not ended, when no daemon runs.
fn stored(root: &Path) -> Result<BTreeSet<String>, Refusal> {
    let tasks = stored_tasks(root).map_err(Refusal::of_files)?;
    let tasks = list::tasks(&Response::of(tasks)).into_iter();
    let open = tasks.filter(|task| task.state != "ended");
    Ok(open.map(|task| task.task_id).collect())
}

/// Returns the ids of all tasks.
async fn ids(client: &VerbClient) -> Result<BTreeSet<String>, Refusal> {
    let tasks = list::tasks(&client.get("/tasks").await?).into_iter();
    Ok(tasks.map(|task| task.task_id).collect())
}

/// Prints the outcome as an annotation of GitHub.
fn annotate(outcome: PipelineOutcome) -> Result<bool, Refusal> {
    let (kind, text, passes) = match outcome {
        PipelineOutcome::Passed(report) => {
            let folder = report.data("artifact_dir").unwrap_or_default();
            (
                "notice",
                format!("the app passes; its artifacts are in {folder}"),
                true,
            )
        }
        PipelineOutcome::Failed(Refusal { failure, .. }) => {
            let help = failure.help.map(|help| format!("\nhelp: {help}"));
            ("error", failure.message + &help.unwrap_or_default(), false)
        }
    };
    output::print_data(&format!("::{kind} title=mcp::{}\n", escaped(&text)))?;
    Ok(passes)
}

/// Returns a text as the message of a workflow command.
fn escaped(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}
