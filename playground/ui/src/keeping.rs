//! The inputs that the browser keeps for later visits.
//!
//! Each tab has its own inputs, under its own id. When other inputs replace them, they stay under
//! that id, and the tab goes on with a new one. So no tab overwrites the inputs of another, and the
//! last ones can be opened again.

use crate::browser;
use crate::content::Content;
use crate::examples::{NO_EXAMPLES, first_example};
use crate::notice::Notice;
use crate::page::{Page, use_page_event};
use crate::saved::SavedInputs;
use crate::worker::Edits;
use agent_answer::DocumentKind;
use gloo_timers::callback::Timeout;
use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::rc::Rc;
use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

/// Length of all texts together above which they go to the database of the browser, in UTF-16 units. Its storage of
/// texts keeps about five million, and writing them stops the page for a moment.
const LARGE: u32 = 1 << 20;

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
    /// Whether the tab's inputs are in the database.
    is_large: Cell<bool>,
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
            is_large: Cell::default(),
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
pub(crate) async fn read<C: Content>(id: &str) -> Option<SavedInputs> {
    read_at::<C>(&key::<C>(id)).await
}

async fn read_at<C: Content>(key: &str) -> Option<SavedInputs> {
    match browser::load(key) {
        Some(json) => SavedInputs::read::<C>(&json).ok(),
        None => SavedInputs::of_fields::<C>(browser::load_large(key).await?).ok(),
    }
}

/// Returns the inputs that another page of this tab keeps, by the page's name. Those that this page has no
/// document for are fields of them.
async fn read_other<C: Content>(name: &str) -> Option<SavedInputs> {
    let list = format!("agent-playground/{name}");
    let id = browser::load_from_tab(&list)?;
    read_at::<C>(&format!("{list}/{id}")).await
}

/// Replaces the texts of documents by those that another page of this tab keeps, or by the first example if that page
/// was not seen. The others stay as they are.
pub fn take_over<C: Content>(page: &Page<C>, other: &'static str, kinds: &'static [DocumentKind]) {
    let page = page.clone();
    spawn_local(async move {
        let (saved, text) = match read_other::<C>(other).await {
            Some(saved) => (Some(saved), "Took the documents of the other area"),
            None => (
                first_example(kinds).await,
                "Took the first example of the other area",
            ),
        };
        let Some(saved) = saved else {
            return page.notify(Notice::alarm(NO_EXAMPLES));
        };
        let before = page.keeping.set_aside(&page);
        page.load(kinds.iter().copied(), |kind| saved.text(kind));
        page.notify(Notice::replaced(text, before));
    });
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
        forget_one::<C>(&kept.id);
    }
    store_list::<C>(&list);
}

fn forget_one<C: Content>(id: &str) {
    let key = key::<C>(id);
    browser::forget(&key);
    browser::forget_large(&key);
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
            && let Some(saved) = read::<C>(&id).await
            && browser::claim(&key::<C>(&id), RELOADING).await
        {
            self.take(id);
            return Some(saved);
        }
        let mut latest = None;
        for Kept { id, .. } in kept::<C>() {
            latest = read::<C>(&id).await.map(|saved| (saved, id));
            if latest.is_some() {
                break;
            }
        }
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

    /// Stores the inputs of a page. The oldest inputs make room.
    fn store(&self, page: &Page<C>) {
        self.pending.set(false);
        let id = self.id();
        let length: u32 = C::kinds().map(|it| page.editors.text(it).length()).sum();
        if length > LARGE {
            return store_large(page.clone(), id);
        }
        let saved = SavedInputs::of(page);
        if let Some(opened) = &*self.opened.borrow()
            && opened.is_same::<C>(&saved)
        {
            return;
        }
        self.opened.take();
        let mut others = kept::<C>();
        others.retain(|kept| kept.id != id);
        let json = saved.to_json();
        let reason = loop {
            let reason = browser::store(&key::<C>(&id), &json);
            if reason.is_none() {
                break None;
            }
            match others.pop() {
                Some(oldest) => forget_one::<C>(&oldest.id),
                None => break reason,
            }
        };
        if reason.is_none() && self.is_large.replace(false) {
            browser::forget_large(&key::<C>(&id));
        }
        self.stored(page, id, others, reason);
    }

    /// Notes that inputs are stored besides others, or reports once the reason why they are not.
    fn stored(&self, page: &Page<C>, id: String, mut list: Vec<Kept>, reason: Option<String>) {
        for kept in list.split_off(RECENT.min(list.len())) {
            forget_one::<C>(&kept.id);
        }
        match reason {
            None => {
                let time = browser::now();
                list.insert(0, Kept { id, time });
            }
            // Earlier ones of this id are not in the list.
            Some(_) => forget_one::<C>(&id),
        }
        store_list::<C>(&list);
        if !self.lost.replace(reason.is_some())
            && let Some(reason) = reason
        {
            page.notify(Notice::alarm(format!(
                "These inputs are not kept, because {reason}: save them as files"
            )));
        }
    }

    /// Stores the inputs of a page if they wait for it.
    fn store_now(&self, page: &Page<C>) {
        if self.pending.get() {
            self.store(page);
        }
    }

    /// Stores the inputs of a page that is left, also if the last edit has not been rendered yet.
    fn leave(&self, page: &Page<C>) {
        let stored = browser::load(&key::<C>(&self.id()));
        if self.pending.get() || stored.is_some_and(|it| it != SavedInputs::of(page).to_json()) {
            self.store(page);
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

/// Stores inputs in the database, as the browser has them.
fn store_large<C: Content>(page: Page<C>, id: String) {
    let texts = SavedInputs::object_of(&page);
    spawn_local(async move {
        let reason = browser::store_large(&key::<C>(&id), &texts).await;
        let keeping = Rc::clone(&page.keeping);
        keeping.is_large.set(reason.is_none());
        let mut others = kept::<C>();
        others.retain(|kept| kept.id != id);
        keeping.stored(&page, id, others, reason);
    });
}

/// Stores the inputs when the user pauses, and when the page is left.
#[hook]
pub(crate) fn use_keeping<C: Content>(page: &Page<C>) {
    use_page_event("pagehide", page, |page| page.keeping.leave(page));
    let page = page.clone();
    let inputs = (page.state.edits, page.content().fields());
    use_effect_with(inputs, move |(edits, _)| {
        let timer = (*edits != Edits::default()).then(|| {
            page.keeping.pending.set(true);
            Timeout::new(DELAY, move || page.keeping.store_now(&page))
        });
        move || drop(timer)
    });
}
