//! A bar between two parts of the page, which the user drags.

use crate::browser;
use web_sys::{Element, PointerEvent};
use yew::prelude::*;

/// The direction in which two parts follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Axis {
    /// Side by side.
    Columns,
    /// One below the other.
    Rows,
}

#[derive(Properties, PartialEq)]
pub(crate) struct SplitterProps {
    pub(crate) axis: Axis,
    /// What it changes, for screen readers.
    pub(crate) label: &'static str,
}

/// A bar between its neighbours. The style sheet gives them their shares, by the names of the axis.
#[component]
pub(crate) fn Splitter(props: &SplitterProps) -> Html {
    let bar = use_node_ref();
    let percent = use_state(|| 45_u32);
    let rows = props.axis == Axis::Rows;
    let share = {
        let (bar, percent) = (bar.clone(), percent.setter());
        move |next: u32| {
            if let Some(bar) = bar.cast::<Element>() {
                let next = next.clamp(15, 85);
                browser::share(&bar, if rows { "rows" } else { "columns" }, next);
                percent.set(next);
            }
        }
    };
    let grab = {
        let bar = bar.clone();
        move |event: PointerEvent| {
            event.prevent_default();
            if let Some(bar) = bar.cast::<Element>() {
                // Without it, a pointer that leaves the bar stops moving it.
                let _ = bar.set_pointer_capture(event.pointer_id());
            }
        }
    };
    let drag = {
        let (bar, share) = (bar.clone(), share.clone());
        move |event: PointerEvent| {
            let held = |bar: &Element| bar.has_pointer_capture(event.pointer_id());
            if let Some(bar) = bar.cast::<Element>().filter(held) {
                let at = if rows {
                    event.client_y()
                } else {
                    event.client_x()
                };
                share(browser::share_at(&bar, rows, Some(at)));
            }
        }
    };
    let current = *percent;
    let press = {
        let bar = bar.clone();
        move |event: KeyboardEvent| {
            // Until it is moved, the height of the content decides.
            let place = bar.cast::<Element>().filter(|_| rows);
            let current = place.map_or(current, |bar| browser::share_at(&bar, rows, None));
            let next = match event.key().as_str() {
                "ArrowLeft" | "ArrowUp" => current.saturating_sub(2),
                "ArrowRight" | "ArrowDown" => current + 2,
                _ => return,
            };
            event.prevent_default();
            share(next);
        }
    };
    html! {
        <div
            ref={bar}
            class={if rows { "splitter rows" } else { "splitter columns" }}
            role="separator"
            tabindex="0"
            aria-orientation={if rows { "horizontal" } else { "vertical" }}
            aria-label={props.label}
            aria-valuenow={current.to_string()}
            onpointerdown={grab}
            onpointermove={drag}
            onkeydown={press}
        />
    }
}
