//! The tasks of a daemon.

use crate::client::Response;
use agent_host::output;
use agent_syntax::members::{items, member, string};
use std::fmt::Write as _;

/// A task.
#[derive(Debug, Clone)]
pub(crate) struct Task {
    pub(crate) task_id: String,
    pub(crate) state: String,
    pub(crate) lang: String,
    pub(crate) prompt: String,
    pub(crate) probes: String,
    pub(crate) artifact_dir: String,
    pub(crate) start: Option<String>,
    pub(crate) url: Option<String>,
    pub(crate) direct_url: Option<String>,
    /// Why its app failed or ended.
    pub(crate) reason: Option<String>,
}

/// Returns the tasks of a response.
pub(crate) fn tasks(response: &Response) -> Vec<Task> {
    let tasks = response.read(|root| {
        let tasks = items(member(root, "tasks")?)?.iter().map(|task| {
            let text = |name| Some(string(member(task, name)?)?.to_owned());
            Some(Task {
                task_id: text("task_id")?,
                state: text("state")?,
                lang: text("lang")?,
                prompt: text("prompt")?,
                probes: text("probes")?,
                artifact_dir: text("artifact_dir")?,
                start: text("start"),
                url: text("url"),
                direct_url: text("direct_url"),
                reason: text("reason"),
            })
        });
        tasks.collect()
    });
    tasks.unwrap_or_default()
}

/// Returns the list for people.
pub(crate) fn text(tasks: &[Task]) -> String {
    let mut out = String::new();
    for task in tasks {
        let url = task.url.as_deref().or(task.direct_url.as_deref());
        let place = url.or(task.reason.as_deref()).unwrap_or("-");
        let place = place.replace(['\n', '\r'], " ");
        let (id, state, lang) = (&task.task_id, &task.state, &task.lang);
        let probes = &task.probes;
        let prompt: String = task.prompt.chars().take(60).collect();
        let prompt = prompt.replace(['\n', '\r'], " ");
        // Writing into a string can't fail.
        let _ = writeln!(
            out,
            "{id}  {state:<10}  {lang:<6}  {probes:<13}  {place}  {prompt}"
        );
    }
    // The author of a prompt does not write to the terminal on which it is listed.
    output::visible(&out).into_owned()
}
