//! The funnel: how many servers each check lets through.

use agent_protocol::Stage;
use agent_ui::words::thousands;
use yew::prelude::*;

#[derive(Properties, PartialEq)]
pub(crate) struct FunnelProps {
    pub(crate) all: u32,
    /// What all of them are called.
    pub(crate) noun: &'static str,
    pub(crate) stages: Vec<Stage>,
    pub(crate) selected: bool,
    /// The check whose servers are listed.
    pub(crate) open: Option<u8>,
    /// Called with the number of a check.
    pub(crate) on_stage: Callback<u8>,
}

/// The funnel of a requirement: a column each for all servers, for those that each check leaves,
/// and for the selected one.
#[component]
pub(crate) fn Funnel(props: &FunnelProps) -> Html {
    let mut left = vec![props.all];
    left.extend(props.stages.iter().map(|stage| stage.left));
    left.push(u32::from(props.selected));
    let checks = (0_u8..)
        .zip(props.stages.iter().map(|stage| stage.name.as_str()))
        .zip(left.windows(2))
        .map(|((check, name), step)| {
            let fell = step[0] - step[1];
            let open = props.open == Some(check);
            let onclick = {
                let on_stage = props.on_stage.clone();
                Callback::from(move |_: MouseEvent| on_stage.emit(check))
            };
            html! {
                <li>
                    <button
                        {onclick}
                        aria-expanded={open.to_string()}
                        disabled={fell == 0}
                    >
                        <span class="name">{ name }</span>
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
    let ends = |number: u32, name: &'static str| {
        html! {
            <li class="end">
                <span class="name">{ name }</span>
                <span class="left">{ thousands(number) }</span>
                <span class="fell" />
            </li>
        }
    };
    html! {
        <div class={format!("funnel of-{}", left.len())}>
            { picture(&left) }
            <ol aria-label="Funnel">
                { ends(props.all, props.noun) }
                { for checks }
                { ends(u32::from(props.selected), "selected") }
            </ol>
        </div>
    }
}

/// The size of the picture in its own units; it is stretched to the width that there is.
const COLUMN: usize = 100;
const HALF: f64 = 200.0;

/// Each column narrows to the next over its whole width, so that the loss at a check is the slope
/// of its column.
fn picture(left: &[u32]) -> Html {
    let half = |number: u32| (share(number, left[0]) * HALF) as u32;
    let middle = HALF as u32;
    let size = format!("0 0 {} {}", left.len() * COLUMN, 2 * middle);
    // Along the upper edge from left to right, and back along the lower one.
    let corners: Vec<_> = left
        .iter()
        .enumerate()
        .flat_map(|(at, number)| {
            let from = left[at.saturating_sub(1)];
            let x = at * COLUMN;
            [(x, half(from)), (x + COLUMN, half(*number))]
        })
        .collect();
    let upper = corners.iter().map(|(x, half)| (x, middle - half));
    let lower = corners.iter().rev().map(|(x, half)| (x, middle + half));
    let points: Vec<_> = upper
        .chain(lower)
        .map(|(x, y)| format!("{x},{y}"))
        .collect();
    html! {
        <svg viewBox={size} preserveAspectRatio="none" aria-hidden="true">
            <polygon points={points.join(" ")} />
        </svg>
    }
}

/// How high a number stands, from 0 to 1. By its logarithm: of 10,000 servers the last three
/// should still be seen.
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
