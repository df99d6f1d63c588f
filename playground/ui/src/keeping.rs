//! The inputs that the browser keeps for later visits.
//!
//! Each tab has its own inputs, under its own id. When other inputs replace them, they stay under
//! that id, and the tab goes on with a new one. So no tab overwrites the inputs of another, and the
//! last ones can be opened again.

use crate::browser;
use crate::content::Content;
use crate::notice::Notice;
use crate::page::{Page, use_page_event};
use crate::saved::SavedInputs;
use crate::worker::Edits;
use agent_answer::DocumentKind;
use gloo_timers::callback::Timeout;
use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

/// Maximum length of all texts together, in UTF-16 units. Browsers keep about five million, and
/// writing them stops the page for a moment.
const LIMIT: u32 = 1 << 20;

/// Maximum number of inputs that are kept, besides those of the tab itself.
pub(crate) const RECENT: usize = 10;

/// Time without an edit after which the page stores the texts, in milliseconds.
const DELAY: u32 = 700;

/// Time for which a page that is loaded again may still have its inputs, in milliseconds.
const RELOADING: u32 = 200;

/// Inputs that the browser keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Kept {
    /// Their id.
    pub(crate) id: String,
    /// The time of the last edit, in milliseconds since 1970.
    pub(crate) time: u64,
}

/// The place of a tab's inputs among those that the browser keeps.
pub(crate) struct Keeping<C> {
    /// The id of the tab's inputs. It is empty before they are open.
    id: RefCell<String>,
    /// The inputs as they were opened, until the tab has stored others.
    opened: RefCell<Option<SavedInputs>>,
    /// Whether an edit waits to be stored.
    pending: Cell<bool>,
    /// Whether the browser can't store the present texts.
    lost: Cell<bool>,
    page: PhantomData<C>,
}

impl<C> PartialEq for Keeping<C> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl<C> Default for Keeping<C> {
    fn default() -> Self {
        Self {
            id: RefCell::default(),
            opened: RefCell::default(),
            pending: Cell::default(),
            lost: Cell::default(),
            page: PhantomData,
        }
    }
}

/// Returns the key of the list of all kept inputs, which is also that of a tab's id.
fn list_key<C: Content>() -> String {
    format!("agent-playground/{}", C::NAME)
}

/// Returns the key of kept inputs.
fn key<C: Content>(id: &str) -> String {
    format!("agent-playground/{}/{id}", C::NAME)
}

/// Returns what the browser keeps, the latest first.
pub(crate) fn kept<C: Content>() -> Vec<Kept> {
    let list = browser::load(&list_key::<C>()).unwrap_or_default();
    let kept = list.lines().filter_map(|line| {
        let (id, time) = line.split_once(' ')?;
        let (id, time) = (id.to_owned(), time.parse().ok()?);
        Some(Kept { id, time })
    });
    kept.collect()
}

/// Returns kept inputs, if this version can read them.
pub(crate) fn read<C: Content>(id: &str) -> Option<SavedInputs> {
    SavedInputs::read::<C>(&browser::load(&key::<C>(id))?).ok()
}

/// Returns the inputs that another page of this tab keeps, by the page's name. Those that this page has no
/// document for are fields of them.
fn read_other<C: Content>(name: &str) -> Option<SavedInputs> {
    let list = format!("agent-playground/{name}");
    let id = browser::load_from_tab(&list)?;
    SavedInputs::read::<C>(&browser::load(&format!("{list}/{id}"))?).ok()
}

/// Replaces the texts of documents by those that another page of this tab keeps. The others stay as they are.
pub fn take_over<C: Content>(page: &Page<C>, other: &str, kinds: &[DocumentKind]) {
    let Some(saved) = read_other::<C>(other) else {
        let text = "There is nothing to take: the other area has no documents";
        return page.notify(Notice::alarm(text));
    };
    let before = page.keeping.set_aside(page);
    page.load(kinds.iter().copied(), |kind| saved.text(kind));
    page.notify(Notice::replaced(
        "Took the documents of the other area",
        before,
    ));
}

/// Stores the list of what the browser keeps, a line for each: its id and time.
fn store_list<C: Content>(list: &[Kept]) {
    let lines = list
        .iter()
        .map(|Kept { id, time }| format!("{id} {time}\n"));
    let list: String = lines.collect();
    // It is short: where the inputs found room, it does too.
    browser::store(&list_key::<C>(), &list);
}

/// Deletes kept inputs.
pub(crate) fn forget<C: Content>(is_forgotten: impl Fn(&str) -> bool) {
    let (forgotten, list): (Vec<_>, Vec<_>) =
        kept::<C>().into_iter().partition(|it| is_forgotten(&it.id));
    for kept in forgotten {
        browser::forget(&key::<C>(&kept.id));
    }
    store_list::<C>(&list);
}

/// Inputs that others replaced, and their id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Before {
    id: String,
    saved: SavedInputs,
}

impl<C: Content> Keeping<C> {
    /// Returns the id of the tab's inputs.
    pub(crate) fn id(&self) -> String {
        self.id.borrow().clone()
    }

    /// Gives the tab an id.
    fn take(&self, id: String) {
        browser::store_in_tab(&list_key::<C>(), &id);
        self.id.replace(id);
        self.opened.take();
    }

    /// Gives the tab a new id.
    fn start(&self) {
        let id = browser::new_id();
        // No other tab has it.
        spawn_local({
            let name = key::<C>(&id);
            async move {
                browser::claim(&name, 0).await;
            }
        });
        self.take(id);
    }

    /// Finds the inputs of the tab, or else the latest of all. If those are in another tab, this one
    /// gets a copy.
    pub(crate) async fn claim(&self) -> Option<SavedInputs> {
        if let Some(id) = browser::load_from_tab(&list_key::<C>())
            && let Some(saved) = read::<C>(&id)
            && browser::claim(&key::<C>(&id), RELOADING).await
        {
            self.take(id);
            return Some(saved);
        }
        let latest = kept::<C>()
            .into_iter()
            .find_map(|kept| Some((read::<C>(&kept.id)?, kept.id)));
        let Some((saved, id)) = latest else {
            self.start();
            return None;
        };
        if browser::claim(&key::<C>(&id), 0).await {
            self.take(id);
        } else {
            self.start();
            self.opened.replace(Some(saved.clone()));
        }
        Some(saved)
    }

    /// Stores the inputs of a page. Returns whether the browser did. The oldest inputs make room.
    fn store(&self, page: &Page<C>) -> bool {
        self.pending.set(false);
        let id = self.id();
        let length: u32 = C::kinds().map(|it| page.editors.text(it).length()).sum();
        if length > LIMIT {
            forget::<C>(|each| each == id);
            return false;
        }
        let saved = SavedInputs::of(page);
        if let Some(opened) = &*self.opened.borrow()
            && opened.is_same::<C>(&saved)
        {
            return true;
        }
        self.opened.take();
        let mut list = kept::<C>();
        list.retain(|kept| kept.id != id);
        let json = saved.to_json();
        while list.len() > RECENT || !browser::store(&key::<C>(&id), &json) {
            let Some(oldest) = list.pop() else {
                forget::<C>(|each| each == id);
                return false;
            };
            browser::forget(&key::<C>(&oldest.id));
        }
        let time = browser::now();
        list.insert(0, Kept { id, time });
        store_list::<C>(&list);
        true
    }

    /// Stores the inputs of a page if they wait for it, and reports once that the browser can't.
    fn store_now(&self, page: &Page<C>) {
        let kept = !self.pending.get() || self.store(page);
        if !self.lost.replace(!kept) && !kept {
            page.notify(Notice::alarm(
                "The inputs are too large for the browser to keep: save them as files",
            ));
        }
    }

    /// Prepares for other inputs: these stay as they are, for an undo and under “Recent”. Texts of
    /// examples can be had again, and are not kept for that.
    pub(crate) fn set_aside(&self, page: &Page<C>) -> Before {
        self.store_now(page);
        let saved = SavedInputs::of(page);
        let before = Before {
            id: self.id(),
            saved,
        };
        if !before.saved.is_of_examples::<C>() {
            self.start();
        }
        before
    }

    /// Goes back to the inputs that others replaced.
    pub(crate) fn restore(&self, page: &Page<C>, before: &Before) {
        let replaced = self.set_aside(page);
        if replaced.saved.is_of_examples::<C>() && replaced.id != before.id {
            forget::<C>(|id| id == replaced.id);
        }
        self.take(before.id.clone());
        before.saved.load(page);
    }
}

/// Stores the texts when the user pauses, and when the page is left.
#[hook]
pub(crate) fn use_keeping<C: Content>(page: &Page<C>) {
    use_page_event("pagehide", page, |page| page.keeping.store_now(page));
    let page = page.clone();
    use_effect_with(page.state.edits, move |edits| {
        let timer = (*edits != Edits::default()).then(|| {
            page.keeping.pending.set(true);
            Timeout::new(DELAY, move || page.keeping.store_now(&page))
        });
        move || drop(timer)
    });
}
