//! The inputs of a page at one time, in the form in which browsers and links hold them.

use crate::areas::Area;
use crate::browser;
use crate::content::Content;
use crate::names::field_name as name;
use crate::page::Page;
use agent_answer::DocumentKind;
use agent_answer::link_form::AREA;
use std::collections::BTreeMap;
use wasm_bindgen::JsValue;

/// The field of inputs that are those of an example.
const UNTOUCHED: &str = "untouched";

/// Maximum length of a title, in characters.
const TITLE: usize = 60;

/// All texts by the names of their documents, and further fields. Links stay in use: every later
/// version must read them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SavedInputs(BTreeMap<String, String>);

/// Returns whether a character is a letter, or of another alphabet. The tables of all letters would
/// be a large part of the page.
fn is_letter(c: char) -> bool {
    c.is_ascii_alphabetic() || !c.is_ascii()
}

impl SavedInputs {
    /// Returns the inputs of a page.
    pub fn of<C: Content>(page: &Page<C>) -> Self {
        // A text that belongs in a passing document may contain secrets.
        let kept = C::kinds().filter(|kind| !page.is_diverted(*kind));
        let mut saved = Self::new(kept, |kind| page.editors.text(kind).into());
        for (name, value) in page.content().fields() {
            saved.set(name, value);
        }
        saved.set(AREA, page.state.area.name().to_owned());
        if page.state.untouched {
            saved.set(UNTOUCHED, "yes".to_owned());
        }
        saved
    }

    /// Returns the inputs of a page as an object with the texts of the editors themselves: they may be too large to copy.
    pub(crate) fn object_of<C: Content>(page: &Page<C>) -> JsValue {
        let mut fields = vec![(AREA.to_owned(), page.state.area.name().into())];
        let kept = C::kinds().filter(|kind| !page.is_diverted(*kind));
        fields.extend(kept.map(|kind| (name(kind), page.editors.text(kind).into())));
        let own = page.content().fields().into_iter();
        fields.extend(own.map(|(name, value)| (name.to_owned(), value.into())));
        let fields: Vec<_> = fields
            .iter()
            .map(|(name, value)| (&**name, JsValue::clone(value)))
            .collect();
        browser::object(&fields)
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
        page.update(move |state| {
            C::restore(state, &saved);
            C::show(state, &|name| saved.field(name).to_owned());
            state.untouched = saved.is_of_examples::<C>();
        });
    }

    /// Reads inputs. Unknown fields may be those of a later version.
    ///
    /// # Errors
    /// The problem of the form, for the user.
    pub(crate) fn read<C: Content>(json: &str) -> Result<Self, String> {
        let fields = browser::parse(json).ok_or("it is cut off or damaged")?;
        Self::of_fields::<C>(fields)
    }

    /// Returns the inputs that fields hold, each of which is `None` if it is not a text.
    ///
    /// # Errors
    /// The problem of the form, for the user.
    pub fn of_fields<C: Content>(
        fields: impl IntoIterator<Item = (String, Option<String>)>,
    ) -> Result<Self, String> {
        let names: Vec<_> = C::kinds().map(name).collect();
        let mut saved = Self::default();
        let mut documents = 0;
        for (field, value) in fields {
            let is_document = names.contains(&field);
            documents += usize::from(is_document);
            match value {
                Some(value) => saved.set(&field, value),
                None if is_document => return Err(format!("`{field}` is not a text")),
                None => {}
            }
        }
        if documents == 0 {
            return Err("it holds no document of this page".to_owned());
        }
        Ok(saved)
    }

    /// Returns the text of a document. It is empty if the document is missing.
    pub fn text(&self, kind: DocumentKind) -> &str {
        self.field(&name(kind))
    }

    /// Returns a field. It is empty if it is missing.
    pub fn field(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    /// Sets a field, unless the value is empty.
    pub fn set(&mut self, name: &str, value: String) {
        if !value.is_empty() {
            self.0.insert(name.to_owned(), value);
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
        let mut words = lines.filter(|line| line.contains(is_letter));
        let line = words.next().unwrap_or("empty").trim();
        line.chars().take(TITLE).collect()
    }

    /// Returns whether each text is that of an example, so that no work is lost with it.
    pub fn is_of_examples<C: Content>(&self) -> bool {
        let is_blank = |name: &&str| self.field(name).is_empty();
        C::FIELDS.iter().all(is_blank)
            && (!is_blank(&UNTOUCHED) || C::kinds().all(|kind| self.text(kind).is_empty()))
    }

    /// Returns the inputs as work of somebody, whatever they are.
    pub(crate) fn into_work(mut self) -> Self {
        self.0.remove(UNTOUCHED);
        self
    }

    /// Returns whether the texts and the page's own fields are the same.
    pub fn is_same<C: Content>(&self, other: &Self) -> bool {
        let is_same = |name: &str| self.field(name) == other.field(name);
        C::kinds().all(|kind| is_same(&name(kind))) && C::FIELDS.iter().all(|name| is_same(name))
    }

    /// Returns all fields by their names, in order.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (&**name, &**value))
    }

    /// Returns the inputs as JSON.
    pub(crate) fn to_json(&self) -> String {
        browser::stringify(self.fields())
    }
}
