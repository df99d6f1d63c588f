//! What is kept for the next visit.

use gloo_timers::callback::Timeout;
use yew::prelude::*;

/// The longest texts that are kept, in UTF-16 units, all together: browsers keep some five million,
/// and writing them stops the page for a moment.
pub const LIMIT: u32 = 1 << 20;

/// How long nothing must have been typed before the texts are kept, in milliseconds.
const AFTER: u32 = 700;

/// What is said when they are not.
pub const LOST: &str = "The inputs are too large to be kept for the next visit: save them as files";

/// Keeps texts once nothing is typed for a moment. `edits` says how often each was changed, and `keep`
/// whether they are kept now. Where they are not for the first time, `lose` is called: what was kept
/// before is older than what is here.
#[hook]
pub fn use_keeping<const N: usize>(
    edits: [u32; N],
    keep: impl FnOnce() -> bool + 'static,
    lose: impl FnOnce() + 'static,
) {
    let told = use_mut_ref(|| false);
    use_effect_with(edits, move |edits| {
        let first = *edits == [0; N];
        let timer = (!first).then(|| {
            Timeout::new(AFTER, move || {
                if keep() {
                    *told.borrow_mut() = false;
                } else if !told.replace(true) {
                    lose();
                }
            })
        });
        move || drop(timer)
    });
}
