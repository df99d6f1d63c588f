//! A menu of buttons: those of the head that are no next action.

use crate::browser::has_inside;
use web_sys::{Element, FocusEvent, HtmlElement, KeyboardEvent};
use yew::prelude::*;

#[derive(Properties, PartialEq)]
pub(crate) struct MenuProps {
    pub(crate) children: Html,
}

/// A button that shows other buttons. They go when one is pressed, the keyboard leaves them, or Escape is pressed.
#[component]
pub(crate) fn Menu(props: &MenuProps) -> Html {
    let open = use_state_eq(|| false);
    let (menu, button) = (use_node_ref(), use_node_ref());
    let set = |is_open: bool| {
        let open = open.setter();
        move |_: MouseEvent| open.set(is_open)
    };
    let onfocusout = {
        let (open, menu) = (open.setter(), menu.clone());
        move |event: FocusEvent| {
            let next = event.related_target();
            let menu = menu.cast::<Element>();
            if menu.is_none_or(|menu| !has_inside(&menu, next.as_ref())) {
                open.set(false);
            }
        }
    };
    let onkeydown = {
        let (open, button) = (open.clone(), button.clone());
        move |event: KeyboardEvent| {
            if event.key() != "Escape" || !*open {
                return;
            }
            // It closes nothing else.
            event.stop_propagation();
            open.set(false);
            if let Some(button) = button.cast::<HtmlElement>() {
                let _ = button.focus();
            }
        }
    };
    html! {
        <div class="menu" ref={menu} {onfocusout} {onkeydown}>
            <button ref={button} aria-expanded={open.to_string()} onclick={set(!*open)}>
                { "Menu" }
            </button>
            <div class="items" hidden={!*open} onclick={set(false)}>{ props.children.clone() }</div>
        </div>
    }
}
