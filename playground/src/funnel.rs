//! The funnel: the number of candidates that each check lets through.

use agent_answer::{Outcome, Requirement};
use agent_ui::words::thousands;
use yew::prelude::*;

/// Shows the funnel of a requirement: a column for all candidates, for those that each check
/// leaves, and for the selected one. `open` is the check whose candidates are listed.
pub(crate) fn funnel(requirement: &Requirement, open: Option<u8>, on_stage: &Callback<u8>) -> Html {
    let selected = matches!(requirement.outcome, Outcome::Selected(_));
    let mut left = vec![requirement.all];
    left.extend(requirement.funnel.iter().map(|stage| stage.left));
    left.push(u32::from(selected));
    let stages = (0_u8..).zip(&requirement.funnel).zip(left.windows(2));
    let stages = stages.map(|((check, stage), step)| {
        let fell = step[0] - step[1];
        html! {
            <li>
                <button
                    onclick={on_stage.reform(move |_| check)}
                    aria-expanded={(open == Some(check)).to_string()}
                    disabled={fell == 0}
                >
                    <span class="name">{ &stage.name }</span>
                    <span class="left">
                        { thousands(step[1]) }<span class="visually-hidden">{ " left" }</span>
                    </span>
                    <span class="fell">
                        if fell > 0 {
                            { format!("−{}", thousands(fell)) }
                            <span class="visually-hidden">{ " held back" }</span>
                        }
                    </span>
                </button>
            </li>
        }
    });
    let end = |number: u32, name: &'static str| {
        html! {
            <li class="end">
                <span class="name">{ name }</span>
                <span class="left">{ thousands(number) }</span>
                <span class="fell" />
            </li>
        }
    };
    let is_tool = requirement.capability.is_some();
    html! {
        <div class={format!("funnel of-{}", left.len())}>
            { picture(&left) }
            <ol aria-label="Funnel">
                { end(requirement.all, if is_tool { "all tools" } else { "all" }) }
                { for stages }
                { end(u32::from(selected), "selected") }
            </ol>
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
    use super::share;

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
