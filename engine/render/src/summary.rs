//! Summaries of all requirements.

use super::json::{ObjectMembers, write_agent, write_constraints};
use super::requirement::{render_requirement, write_requirement};
use super::styled::{Style, Styled, StyledSpan, count};
use agent_decide::{Matching, Resolution};
use agent_explain::Decision;
use agent_model::Name;
use agent_syntax::json::Writer;

/// Maximum number of unsatisfied requirements in a text.
const UNSATISFIED: usize = 100;

/// Returns the selection for each requirement and the reason for it, or the reasons against the
/// nearest candidates and their fixes.
pub fn summary(resolution: &Resolution) -> Vec<StyledSpan> {
    let manifest = resolution.manifest();
    let requirements = manifest.requirements.len() + resolution.matching().len();
    let heading = format!(
        " {}: {}, {} in the index",
        manifest.agent.version,
        count(requirements, "requirement"),
        count(resolution.index().len(), "server"),
    );
    render(
        manifest.agent.name.as_str(),
        heading,
        Decision::all(resolution),
    )
}

/// Returns the summary of a task without an agent, as [`summary`] does.
pub fn match_summary(matching: &Matching) -> Vec<StyledSpan> {
    let task = matching.evaluation_context().task.as_ref();
    let heading = format!(
        ": {}, {} of {} in the index",
        count(matching.len(), "requirement"),
        count(matching.index().tool_count(), "tool"),
        count(matching.index().len(), "server"),
    );
    render(
        task.map_or("no task", |task| task.id.as_str()),
        heading,
        Decision::of_capabilities(matching),
    )
}

fn render<'r>(
    name: &str,
    heading: String,
    decisions: impl Iterator<Item = Decision<'r>>,
) -> Vec<StyledSpan> {
    let mut out = Styled::default();
    out.put(Style::Heading, name).plain(heading).end();
    let (mut unsatisfied, mut left_out) = (0, 0_usize);
    for decision in decisions {
        unsatisfied += usize::from(decision.selected().is_none());
        if decision.selected().is_none() && unsatisfied > UNSATISFIED {
            left_out += 1;
            continue;
        }
        out.end();
        render_requirement(&mut out, decision);
    }
    if left_out > 0 {
        let more = count(left_out, "more unsatisfied requirement");
        out.end();
        out.dim(format!("and {more}, which `--format json` lists"))
            .end();
    }
    out.finish()
}

/// Returns the summary as JSON with a final newline. It has the places in both inputs and the five
/// nearest candidates of each unsatisfied requirement.
pub fn summary_json(resolution: &Resolution) -> String {
    let manifest = resolution.manifest();
    let mut w = Writer::pretty();
    w.object(|w| {
        w.key("agent").object(|w| write_agent(w, &manifest.agent));
        w.key("constraints")
            .object(|w| write_constraints(w, &manifest.constraints));
        w.objects("requirements", Decision::all(resolution), write_requirement);
        w.key("satisfied").bool(resolution.satisfied());
    });
    w.finish()
}
