//! The funnel: the number of candidates that each check lets through.

use agent_answer::{Outcome, Rejected, Requirement, Stage};
use agent_ui::problems::prose;
use agent_ui::words::thousands;
use yew::prelude::*;

/// A check that candidates fail, or several in a row that none fails.
#[derive(Debug, Default, PartialEq)]
struct Step<'r> {
    /// The number of the first check.
    check: u8,
    /// The checks in words.
    name: String,
    /// Number of candidates that pass.
    left: u32,
    /// Number of candidates that fail.
    fell: u32,
    /// Those that fail, if they are few.
    lost: &'r [Rejected],
}

/// Returns the steps of a funnel from all candidates to the eligible ones.
fn steps(mut left: u32, stages: &[Stage]) -> Vec<Step<'_>> {
    let mut steps: Vec<Step<'_>> = Vec::new();
    for (check, stage) in (0..).zip(stages) {
        let fell = left - stage.left;
        left = stage.left;
        match steps.last_mut() {
            Some(last) if last.fell + fell == 0 => {
                last.name += ", ";
                last.name += &stage.name;
            }
            _ => steps.push(Step {
                check,
                name: stage.name.clone(),
                left,
                fell,
                lost: &stage.lost,
            }),
        }
    }
    steps
}

/// Shows the funnel of a requirement: a column for all candidates, for those that each step leaves, and
/// for the selected one. Of few candidates it is a list of rows, which say who was lost and why. `open` is the
/// check whose candidates are listed, and `server` shows the name of a candidate.
pub(crate) fn funnel(
    requirement: &Requirement,
    open: Option<u8>,
    on_stage: &Callback<u8>,
    server: impl Fn(&Rejected) -> Html,
) -> Html {
    let selected = matches!(requirement.outcome, Outcome::Selected(_));
    let all = requirement.all;
    let is_tool = requirement.capability.is_some();
    let end = |left: u32, name: &str| Step {
        name: name.to_owned(),
        left,
        ..Step::default()
    };
    let mut steps = steps(all, &requirement.funnel);
    steps.insert(0, end(all, if is_tool { "all tools" } else { "all" }));
    steps.push(end(u32::from(selected), "selected"));
    let in_words = all <= Stage::NAMED;
    let left: Vec<_> = steps.iter().map(|step| step.left).collect();
    let items = steps.iter().enumerate().map(|(at, step)| {
        let is_end = at == 0 || at + 1 == steps.len();
        let lost = step.lost.iter();
        let lost =
            lost.map(|it| html! { <span class="lost">{ server(it) }{ ": " }{ prose(&it.reason.text) }</span> });
        let cells = html! {
            <>
                <span class="name">{ &step.name }</span>
                <span class="left">
                    { thousands(step.left) }
                    if !is_end { <span class="visually-hidden">{ " left" }</span> }
                </span>
                if step.fell > 0 {
                    <span class="fell">
                        { format!("−{}", thousands(step.fell)) }
                        <span class="visually-hidden">{ " held back" }</span>
                        { for lost }
                    </span>
                }
            </>
        };
        if step.fell == 0 || in_words {
            return html! { <li>{ cells }</li> };
        }
        let check = step.check;
        html! {
            <li>
                <button
                    onclick={on_stage.reform(move |_| check)}
                    aria-expanded={(open == Some(check)).to_string()}
                >
                    { cells }
                </button>
            </li>
        }
    });
    html! {
        <div class={classes!("funnel", in_words.then_some("in-words"))}>
            if !in_words { { picture(&left) } }
            <ol aria-label="Funnel">{ for items }</ol>
        </div>
    }
}

/// The size of the picture in its own units. It is stretched to the available width.
const COLUMN: usize = 100;
const HALF: f64 = 200.0;

/// Draws columns, each of which narrows to the next over its whole width. The slope of a column is
/// the loss at its check.
fn picture(left: &[u32]) -> Html {
    let half = |number: u32| (share(number, left[0]) * HALF) as u32;
    let middle = HALF as u32;
    let size = format!("0 0 {} {}", left.len() * COLUMN, 2 * middle);
    // Along the upper edge from left to right, and back along the lower edge.
    let corners = left.iter().enumerate().flat_map(|(at, number)| {
        let x = at * COLUMN;
        let from = left[at.saturating_sub(1)];
        [(x, half(from)), (x + COLUMN, half(*number))]
    });
    let corners: Vec<_> = corners.collect();
    let upper = corners.iter().map(|(x, half)| (x, middle - half));
    let lower = corners.iter().rev().map(|(x, half)| (x, middle + half));
    let points = upper.chain(lower).map(|(x, y)| format!("{x},{y}"));
    html! {
        <svg viewBox={size} preserveAspectRatio="none" aria-hidden="true">
            <polygon points={points.collect::<Vec<_>>().join(" ")} />
        </svg>
    }
}

/// Returns the height of a number, from 0 to 1. It is logarithmic: the last three of 10,000 servers
/// should still be visible.
fn share(number: u32, all: u32) -> f64 {
    let height = |number: u32| f64::from(number + 1).ln();
    if all == 0 {
        0.0
    } else {
        height(number) / height(all)
    }
}

#[cfg(test)]
mod tests {
    use super::{Step, share, steps};
    use agent_answer::{Code, Stage};

    #[test]
    fn equal_steps_fold() {
        let stages = |left: &[u32]| -> Vec<Stage> {
            let stages = left.iter().zip(["a", "b", "c", "d"]);
            stages
                .map(|(left, name)| Stage {
                    code: Code::MissingScope,
                    name: name.to_owned(),
                    left: *left,
                    lost: vec![],
                })
                .collect()
        };
        for (all, left, expected) in [
            (
                4,
                [3, 3, 3, 2],
                &[(0, "a", 3, 1), (1, "b, c", 3, 0), (3, "d", 2, 1)][..],
            ),
            (
                4,
                [4, 4, 1, 1],
                &[(0, "a, b", 4, 0), (2, "c", 1, 3), (3, "d", 1, 0)],
            ),
            (
                4,
                [3, 2, 1, 0],
                &[
                    (0, "a", 3, 1),
                    (1, "b", 2, 1),
                    (2, "c", 1, 1),
                    (3, "d", 0, 1),
                ],
            ),
            (0, [0, 0, 0, 0], &[(0, "a, b, c, d", 0, 0)]),
        ] {
            let stages = stages(&left);
            let found = steps(all, &stages);
            let expected = expected.iter().map(|(check, name, left, fell)| Step {
                check: *check,
                name: (*name).to_owned(),
                left: *left,
                fell: *fell,
                lost: &[],
            });
            assert_eq!(found, expected.collect::<Vec<_>>(), "{left:?}");
        }
    }

    #[test]
    fn none_is_nothing_and_all_is_everything() {
        for all in [1, 2, 10_000, 4_000_000_000] {
            assert_eq!(share(0, all), 0.0);
            assert_eq!(share(all, all), 1.0);
        }
        assert_eq!(share(0, 0), 0.0);
    }

    #[test]
    fn more_is_higher_and_a_few_of_many_are_seen() {
        let heights: Vec<_> = [0, 1, 2, 3, 10, 100, 1_000, 10_000]
            .into_iter()
            .map(|number| share(number, 10_000))
            .collect();
        assert!(heights.is_sorted_by(|a, b| a < b), "{heights:?}");
        assert!(share(3, 10_000) > 0.1);
    }
}
