//! The index page: the tasks, with their status, log and probes. Each log is a page, too.

use crate::escape::html;
use crate::limits::LISTED_TASKS;
use crate::reply::Reply;
use crate::tasks::{Log, TaskSummary};
use std::fmt::Write as _;

/// \[2, 12\]
const NAME: &str = "AssertLang";
const SLOGAN: &str = "One port, five verbs, infinite software.";

const STYLE: &str = "\
:root{color-scheme:light dark;--page:#f6f7f9;--card:#fff;--text:#1b1e25;--quiet:#4a4f5c;--line:#d3d7de;--link:#0a47a3;--good:#0a5228;--bad:#8f1414}\
@media (prefers-color-scheme:dark){:root{--page:#14171c;--card:#1d2128;--text:#e9ebef;--quiet:#bbc1cc;--line:#3b414d;--link:#a6caff;--good:#9be3b6;--bad:#ffbcb5}}\
*{box-sizing:border-box}\
body{font:16px/1.5 system-ui,sans-serif;margin:0;color:var(--text);background:var(--page)}\
main{max-width:64rem;margin:0 auto;padding:2rem 1rem}\
h1{font-size:1.75rem;line-height:1.25;margin:0}.quiet{color:var(--quiet)}h1+.quiet{margin:.25rem 0 1.5rem}\
a{color:var(--link);display:inline-block;min-width:1.5rem;min-height:1.5rem}\
a:focus-visible{outline:2px solid;outline-offset:2px;border-radius:2px}\
table,pre{width:100%;background:var(--card);border:1px solid var(--line);border-radius:.5rem}\
table{border-spacing:0}th,td{text-align:left;vertical-align:top;padding:.625rem .75rem;border-top:1px solid var(--line);overflow-wrap:anywhere}\
thead th{border-top:0;font-size:.875rem;color:var(--quiet)}\
tbody th,pre{font-family:ui-monospace,monospace;font-weight:400}tbody th{white-space:nowrap;overflow-wrap:normal}td:nth-child(2){width:45%}td:last-child{white-space:nowrap}td a+a{margin-left:.75rem}\
.good{color:var(--good)}.bad{color:var(--bad)}\
pre{font-size:.875rem;padding:.75rem;white-space:pre-wrap;overflow-wrap:anywhere}\
@media (max-width:44rem){thead{position:absolute;clip-path:inset(50%)}tr,th,td{display:block}\
tbody tr{padding:.625rem .75rem;border-top:1px solid var(--line)}tbody tr:first-child{border-top:0}\
tbody th,td{border:0;padding:0}td:nth-child(2){width:auto}\
td[data-name]::before{content:attr(data-name) \": \";color:var(--quiet)}}";

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
            "<table><thead><tr><th scope=\"col\">Task<th scope=\"col\">What it does\
             <th scope=\"col\">Status<th scope=\"col\">Probes<th scope=\"col\">Files</thead><tbody>",
        );
        for task in tasks.iter().take(LISTED_TASKS) {
            draw(task, &mut body);
        }
        body.push_str("</tbody></table>");
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
    let class = match () {
        () if task.is_running => " class=\"good\"",
        () if task.status.starts_with("failed") => " class=\"bad\"",
        () => "",
    };
    let probes = match &*task.probes {
        "" => "none".to_owned(),
        probes => html(probes),
    };
    let _ = write!(
        out,
        "<tr><th scope=\"row\">{name}<td>{title}{lang}<td data-name=\"Status\"><span{class}>{status}</span>\
         <td data-name=\"Probes\">{probes}<td><a href=\"/tasks/{id}/log\" aria-label=\"log of {id}\">log</a> \
         <a href=\"/tasks/{id}/probes\" aria-label=\"probes of {id}\">probes</a>"
    );
}

/// Draws the end of a log.
pub(crate) fn log(task_id: &str, log: Log, text: &[u8]) -> Reply {
    let name = match log {
        Log::Run => "run.log",
        Log::Probes => "probes.log",
    };
    let mut body = format!(
        "<p><a href=\"/\">All tasks</a></p><h1>{name}</h1><p class=\"quiet\">Task {task_id}</p>"
    );
    if text.is_empty() {
        body.push_str("<p>Nothing yet.</p>");
    } else {
        body.push_str("<pre tabindex=\"0\">");
        let text = String::from_utf8_lossy(text);
        // These two are seen.
        for part in text.split_inclusive(['\n', '\t']) {
            let end = part.len() - usize::from(part.ends_with(['\n', '\t']));
            body.push_str(&html(&part[..end]));
            body.push_str(&part[end..]);
        }
        body.push_str("</pre>");
    }
    Reply::page(200, &format!("{name} of {task_id}"), &body)
}
