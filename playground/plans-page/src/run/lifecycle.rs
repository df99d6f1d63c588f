//! The parts of the lifecycle, and the actions that were answered.

use agent_ui::answer::Sign;
use agent_ui::names::name;
use agent_ui::problems::prose;
use agent_ui::words::count;
use agent_worker_protocol::run::{RunView, Stage, StageGroup, StageOutcome};
use yew::prelude::*;

/// Shows the parts of the lifecycle, those of each step together.
pub(super) fn lifecycle(view: &RunView) -> Html {
    let groups = view.stages.iter().map(group);
    html! {
        <section class="lifecycle" aria-label="Lifecycle">
            <h4>{ "Lifecycle" }</h4>
            { for groups }
        </section>
    }
}

fn group(group: &StageGroup) -> Html {
    let label = group.step.as_ref().map(|step| format!("Step {step}"));
    html! {
        <>
            { for group.step.as_ref().map(|step| html! {
                <h5><span class="quiet">{ "5 " }</span>{ name(step, "") }</h5>
            }) }
            <ol class={classes!("stages", group.step.as_ref().map(|_| "of-step"))} aria-label={label}>
                { for group.stages.iter().map(stage) }
            </ol>
        </>
    }
}

fn stage(stage: &Stage) -> Html {
    let (class, mark, words) = match &stage.outcome {
        StageOutcome::Ahead => ("ahead", "·", "not yet"),
        StageOutcome::Present => ("later", "◔", "under way"),
        StageOutcome::Passed => ("yes", "✓", "passed"),
        StageOutcome::Failed(_) => ("no", "✗", "failed"),
        StageOutcome::Skipped => ("ahead", "–", "skipped"),
    };
    let sign = Sign { class, mark, words };
    let present = (stage.outcome == StageOutcome::Present).then_some("step");
    let title = html! { <><span class="number">{ &stage.number }</span>{ " " }{ &stage.title }</> };
    html! {
        <li {class} aria-current={present}>
            { sign.before(title) }
            if let StageOutcome::Failed(code) = &stage.outcome {
                { " " }<strong class="code">{ code }</strong>
            }
        </li>
    }
}

/// Shows the actions that were answered.
pub(super) fn past(view: &RunView) -> Html {
    if view.past.is_empty() {
        return html! {};
    }
    let actions = view.past.iter().map(|past| {
        html! {
            <li>
                { prose(&past.title) }
                <span class="quiet">{ " → " }</span>
                { prose(&past.outcome) }
                <span class="quiet">{ format!(" · {} ms", past.took_ms) }</span>
            </li>
        }
    });
    html! {
        <details class="past" open=true>
            <summary>{ count(view.past.len() as u32, "answered action") }</summary>
            <ol>{ for actions }</ol>
        </details>
    }
}
