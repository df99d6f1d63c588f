//! The index page: the tasks, with their status, log and probes.

use crate::escape::html;
use crate::limits::LISTED_TASKS;
use crate::reply::Reply;
use crate::tasks::TaskSummary;
use std::fmt::Write as _;

/// \[2, 12\]
const NAME: &str = "AssertLang";
const SLOGAN: &str = "One port, five verbs, infinite software.";

const STYLE: &str = "\
:root{color-scheme:light dark;--line:#ccc;--quiet:#595959}\
@media (prefers-color-scheme:dark){:root{--line:#555;--quiet:#b3b3b3}}\
body{font:16px/1.5 system-ui,sans-serif;margin:0}\
main{max-width:60em;margin:2em auto;padding:0 1em}\
h1{margin-bottom:0}.quiet{color:var(--quiet)}\
.wide{overflow-x:auto}table{border-collapse:collapse;width:100%}\
th,td{text-align:left;vertical-align:top;padding:.4em .6em .4em 0;border-bottom:1px solid var(--line)}\
td:nth-child(2){overflow-wrap:anywhere}";

/// Returns the style sheet of all own pages.
pub(crate) fn style() -> Reply {
    Reply::new(200, "text/css; charset=utf-8", STYLE.as_bytes().to_vec()).cached()
}

/// Draws the page. A link to an app's own port, where a task has one, is by the daemon's report.
pub(crate) fn index(tasks: &[TaskSummary]) -> Reply {
    let mut body = format!("<h1>{NAME}</h1><p class=\"quiet\">{SLOGAN}</p>");
    if tasks.is_empty() {
        body.push_str("<p>No task yet. Create one with <code>mcp run \"…\"</code>.</p>");
    } else {
        body.push_str(
            "<div class=\"wide\"><table><thead><tr><th scope=\"col\">Task<th scope=\"col\">What it does\
             <th scope=\"col\">Status<th scope=\"col\">Probes<th scope=\"col\">Files</thead><tbody>",
        );
        for task in tasks.iter().take(LISTED_TASKS) {
            draw(task, &mut body);
        }
        body.push_str("</tbody></table></div>");
    }
    if let Some(more) = tasks
        .len()
        .checked_sub(LISTED_TASKS)
        .filter(|more| *more > 0)
    {
        let _ = write!(body, "<p>{more} more tasks are not listed.</p>");
    }
    body.push_str("<p class=\"quiet\">Reload the page for the present state.</p>");
    Reply::page(200, NAME, &body)
}

// Writing into a string can't fail.
fn draw(task: &TaskSummary, out: &mut String) {
    let id = html(&task.task_id);
    let name = match task.is_running {
        true => format!("<a href=\"/apps/{id}/\">{id}</a>"),
        false => id.clone(),
    };
    let lang = match &*task.lang {
        "" => String::new(),
        lang => format!(" <span class=\"quiet\">({})</span>", html(lang)),
    };
    let (title, status) = (html(&task.title), html(&task.status));
    let probes = match &*task.probes {
        "" => "none".to_owned(),
        probes => html(probes),
    };
    let _ = write!(
        out,
        "<tr><td>{name}<td>{title}{lang}<td>{status}<td>{probes}<td><a href=\"/tasks/{id}/log\" aria-label=\"log of {id}\">log</a> \
         <a href=\"/tasks/{id}/probes\" aria-label=\"probes of {id}\">probes</a>"
    );
}
