//! The texts that the browser keeps for the next visit.

use crate::content::Content;
use crate::notice::Notice;
use crate::page::Page;
use crate::worker::Edits;
use gloo_timers::callback::Timeout;
use yew::prelude::*;

/// Maximum length of all texts together, in UTF-16 units. Browsers keep about five million, and
/// writing them stops the page for a moment.
const LIMIT: u32 = 1 << 20;

/// Time without an edit after which the page stores the texts, in milliseconds.
const DELAY: u32 = 700;

/// Stores the texts when the user pauses. If the browser can't store them, this removes the older
/// stored texts, and shows a notice once.
#[hook]
pub(crate) fn use_keeping<C: Content>(page: &Page<C>) {
    let lost = use_mut_ref(|| false);
    let page = page.clone();
    use_effect_with(page.state.edits, move |edits| {
        let timer = (*edits != Edits::default()).then(|| {
            Timeout::new(DELAY, move || {
                let length: u32 = C::kinds().map(|it| page.editors.text(it).length()).sum();
                let kept = length <= LIMIT && C::keep(&page);
                if !lost.replace(!kept) && !kept {
                    C::forget();
                    page.notify(Notice::alarm(
                        "The inputs are too large for the browser to keep: save them as files",
                    ));
                }
            })
        });
        move || drop(timer)
    });
}
