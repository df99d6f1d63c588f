//! Explanations of everything that a name stands for.

use super::candidate::{render_rejected, write_rejected};
use super::discover::write_server;
use super::explanation::{render_explanation, write_explanation};
use super::json::ObjectMembers;
use super::report::{File, Files};
use super::requirement::{render_requirement, write_requirement};
use super::styled::{Style, Styled, StyledSpan, count};
use agent_decide::{Resolution, locked_loads};
use agent_explain::{Decision, explain_server, explain_tool, subject};
use agent_model::{Name as _, Selection, ServerView, ToolView};
use agent_syntax::json::Writer;

/// Maximum number of rejected candidates for a requirement.
const REJECTED: usize = 10;

/// Explains a server (`id` or `id@version`), a tool, every requirement of a category or a capability,
/// and what offers one that is not required. Returns `None` if nothing has the name. A source that `files` does not name is named
/// by its usual file name.
pub fn why(resolution: &Resolution, name: &str, files: &[File]) -> Option<Vec<StyledSpan>> {
    let files = Files(files);
    let subject = subject(resolution, name)?;
    let mut out = Styled::default();
    for decision in subject.requirements {
        out.gap();
        render_decision(&mut out, decision);
    }
    for server in subject.servers {
        out.gap();
        render_server(&mut out, resolution, server, files);
    }
    for tool in subject.tools {
        out.gap();
        render_tool(&mut out, resolution, tool, files);
    }
    if subject.more > 0 {
        out.gap();
        out.dim(format!("and {} more", subject.more)).end();
    }
    Some(out.finish())
}

fn render_decision(out: &mut Styled, decision: Decision<'_>) {
    render_requirement(out, decision);
    if decision.selected().is_none() {
        // The requirement lists the nearest candidates itself.
        return;
    }
    let rejected = decision.nearest(REJECTED);
    if !rejected.is_empty() {
        out.end()
            .put(Style::Heading, "  rejected, nearest first")
            .end();
    }
    for near in &rejected {
        render_rejected(out, near);
    }
}

fn render_server(
    out: &mut Styled,
    resolution: &Resolution,
    server: ServerView<'_>,
    files: Files<'_>,
) {
    out.put(Style::Heading, server.id())
        .plain(format!(" {}", server.version()))
        .dim(format!("  {}", files.at(&server.place())))
        .end()
        .plain(format!("  {}", server.endpoint()))
        .end();
    for number in 0..resolution.outcomes().len() {
        render_explanation(out, &explain_server(resolution, number, server), files);
    }
    let matching = resolution.matching();
    for number in 0..matching.len() {
        let pair = matching.requirement(number).capability.pair();
        let (able, others): (Vec<_>, Vec<_>) = server
            .tools()
            .partition(|tool| tool.advertised().any(|block| block.pair() == pair));
        for tool in able {
            render_explanation(out, &explain_tool(matching, number, tool), files);
        }
        if others.is_empty() && server.tools().next().is_some() {
            continue;
        }
        let without = match others.len() {
            0 => "  the server lists no tools".to_owned(),
            number => format!("  {} without it", count(number, "tool")),
        };
        out.end()
            .plain("  ")
            .mark(false)
            .put(Style::Heading, pair)
            .dim(without)
            .end();
    }
}

fn render_tool(out: &mut Styled, resolution: &Resolution, tool: ToolView<'_>, files: Files<'_>) {
    let matching = resolution.matching();
    let server = tool.server();
    out.put(Style::Heading, tool.name())
        .plain(format!(" of {} {}", server.id(), server.version()))
        .dim(format!("  {}", files.at(&tool.place())))
        .end();
    if let Some(description) = tool.description() {
        let first = description.lines().next().unwrap_or_default();
        out.plain(format!("  {first}")).end();
    }
    for number in 0..matching.len() {
        render_explanation(out, &explain_tool(matching, number, tool), files);
    }
    for number in of_categories(resolution, server) {
        render_explanation(out, &explain_server(resolution, number, server), files);
        if let Some(selection) = selection_of(resolution, number, server) {
            let (is_locked, reason) = match is_locked(resolution, tool) {
                Some(true) => (true, "locked with its server"),
                _ if !selection.grant.covers(tool.name()) => (false, "not named in `only`"),
                Some(false) => (false, "forbidden by a label of `forbid`"),
                None => (false, "not locked: another requirement is unsatisfied"),
            };
            out.plain("    ")
                .mark(is_locked)
                .plain(format!("{}: {reason}", tool.name()))
                .end();
        }
    }
}

/// Returns the requirements of categories that a server has.
fn of_categories<'r>(
    resolution: &'r Resolution,
    server: ServerView<'r>,
) -> impl Iterator<Item = usize> + 'r {
    let numbers = 0..resolution.outcomes().len();
    numbers.filter(move |number| {
        let category = &resolution.manifest().requirements[*number].category.value;
        server.categories().any(|it| it == category.as_str())
    })
}

/// Returns the selection of a requirement if it is that server.
fn selection_of(
    resolution: &Resolution,
    number: usize,
    server: ServerView<'_>,
) -> Option<Selection> {
    let selected = resolution.selected(number)?;
    let is_own = (selected.id(), selected.version()) == (server.id(), server.version());
    is_own.then(|| resolution.selection(number)).flatten()
}

/// Returns whether the lock of a resolution has a tool; `None` without a lock.
fn is_locked(resolution: &Resolution, tool: ToolView<'_>) -> Option<bool> {
    let lock = resolution.lock()?;
    let locked = locked_loads(&lock, resolution.index());
    Some(locked.iter().any(|(it, _)| it.number() == tool.number()))
}

/// Returns the explanation of [`why`] as JSON with a final newline.
pub fn why_json(resolution: &Resolution, name: &str) -> Option<String> {
    let subject = subject(resolution, name)?;
    let (categories, capabilities): (Vec<_>, Vec<_>) = subject
        .requirements
        .into_iter()
        .partition(|decision| matches!(decision, Decision::Category(..)));
    let mut w = Writer::pretty();
    w.object(|w| {
        w.objects("capabilities", capabilities, write_decision);
        w.key("more").number(subject.more as u32);
        w.objects("requirements", categories, write_decision);
        w.objects("servers", subject.servers, |w, server| {
            w.key("server").object(|w| write_server(w, server));
            let numbers = 0..resolution.outcomes().len();
            w.objects("stories", numbers, |w, number| {
                write_explanation(w, &explain_server(resolution, number, server));
            });
            let matching = resolution.matching();
            let numbers = 0..matching.len();
            let pairs = numbers.flat_map(|number| server.tools().map(move |tool| (number, tool)));
            w.objects("tools", pairs, |w, (number, tool)| {
                write_explanation(w, &explain_tool(matching, number, tool));
            });
        });
        w.objects("tools", subject.tools, |w, tool| {
            let matching = resolution.matching();
            let server = tool.server();
            let categories = of_categories(resolution, server);
            w.objects("categories", categories, |w, number| {
                write_explanation(w, &explain_server(resolution, number, server));
            });
            let is_locked = is_locked(resolution, tool);
            w.key("locked")
                .json(is_locked.map_or("null", |it| if it { "true" } else { "false" }));
            w.key("server").object(|w| write_server(w, server));
            w.objects("stories", 0..matching.len(), |w, number| {
                write_explanation(w, &explain_tool(matching, number, tool));
            });
            w.key("tool").string(tool.name());
        });
    });
    Some(w.finish())
}

fn write_decision(w: &mut Writer, decision: Decision<'_>) {
    w.key("answer").object(|w| write_requirement(w, decision));
    w.objects("rejected", &decision.nearest(REJECTED), write_rejected);
}
