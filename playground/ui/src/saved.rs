//! The inputs of a page at one time, in the form in which browsers and links hold them.

use crate::areas::Area;
use crate::content::Content;
use crate::page::Page;
use agent_answer::DocumentKind;
use serde_json::{Map, Value};

/// The field with the visible area.
const AREA: &str = "area";

/// Maximum length of a title, in characters.
const TITLE: usize = 60;

/// All texts by the names of their documents, and further fields. Links stay in use: every later
/// version must read them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SavedInputs(Map<String, Value>);

/// Returns the name of a document's text.
fn name(kind: DocumentKind) -> String {
    match serde_json::to_value(kind) {
        Ok(Value::String(name)) => name,
        _ => unreachable!("a kind is written as its name"),
    }
}

impl SavedInputs {
    /// Returns the inputs of a page.
    pub fn of<C: Content>(page: &Page<C>) -> Self {
        let mut saved = Self::new(C::kinds(), |kind| page.editors.text(kind).into());
        for (name, value) in page.content().fields() {
            saved.set(name, value);
        }
        saved.set(AREA, page.state.area.name().to_owned());
        saved
    }

    /// Returns the texts of documents. Empty ones are left out.
    pub fn new(
        kinds: impl Iterator<Item = DocumentKind>,
        text: impl Fn(DocumentKind) -> String,
    ) -> Self {
        let mut saved = Self::default();
        for kind in kinds {
            saved.set(&name(kind), text(kind));
        }
        saved
    }

    /// Loads the inputs into the editors.
    pub(crate) fn load<C: Content>(&self, page: &Page<C>) {
        page.load(C::kinds(), |kind| self.text(kind));
        let saved = self.clone();
        page.update(move |state| C::restore(state, &saved));
    }

    /// Reads inputs. Unknown fields may be those of a later version.
    ///
    /// # Errors
    /// The problem of the form, for the user.
    pub fn read<C: Content>(json: &str) -> Result<Self, String> {
        let fields: Map<_, _> =
            serde_json::from_str(json).map_err(|_| "it is cut off or damaged")?;
        let mut documents = 0;
        for name in C::kinds().map(name) {
            match fields.get(&name) {
                Some(Value::String(_)) => documents += 1,
                Some(_) => return Err(format!("`{name}` is not a text")),
                None => {}
            }
        }
        if documents == 0 {
            return Err("it holds no document of this page".to_owned());
        }
        Ok(Self(fields))
    }

    /// Returns the text of a document. It is empty if there is none.
    pub fn text(&self, kind: DocumentKind) -> &str {
        self.field(&name(kind))
    }

    /// Returns a field. It is empty if it is missing, or if it is not a text.
    pub fn field(&self, name: &str) -> &str {
        self.0.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// Sets a field, unless the value is empty.
    pub fn set(&mut self, name: &str, value: String) {
        if !value.is_empty() {
            self.0.insert(name.to_owned(), value.into());
        }
    }

    /// Returns the area that was visible, or else the page's first.
    pub fn area<C: Content>(&self) -> Area {
        let areas = C::LAYOUTS.iter().map(|(area, _)| *area);
        let mut named = areas.filter(|area| area.name() == self.field(AREA));
        named.next().unwrap_or(C::LAYOUTS[0].0)
    }

    /// Returns the first words of the document that names these inputs best.
    pub fn title<C: Content>(&self) -> String {
        let documents = C::layout(self.area::<C>()).unwrap_or_default();
        let lines = documents.iter().flat_map(|kind| self.text(*kind).lines());
        let mut words = lines.filter(|line| line.contains(char::is_alphabetic));
        let line = words.next().unwrap_or("empty").trim();
        line.chars().take(TITLE).collect()
    }

    /// Returns whether each text is that of an example, so that nobody loses work with it.
    pub fn is_of_examples<C: Content>(&self) -> bool {
        let is_untouched = |kind| {
            let text = self.text(kind);
            let mut examples = C::GALLERIES.iter().flat_map(|(.., examples)| *examples);
            text.is_empty() || examples.any(|example| example.text(kind, C::BASIS) == text)
        };
        C::FIELDS.iter().all(|name| self.field(name).is_empty()) && C::kinds().all(is_untouched)
    }

    /// Returns whether the texts and the page's own fields are the same.
    pub fn is_same<C: Content>(&self, other: &Self) -> bool {
        let is_same = |name: &str| self.field(name) == other.field(name);
        C::kinds().all(|kind| is_same(&name(kind))) && C::FIELDS.iter().all(|name| is_same(name))
    }

    /// Returns the inputs as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(&self.0).unwrap_or_default()
    }
}
