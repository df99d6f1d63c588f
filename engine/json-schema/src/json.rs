//! JSON values, for layers without access to syntax trees.

use super::arena::Schema;
use super::budget::{Budget, OverBudget};
use super::documents::Documents;
use super::keyword::{Draft, entries, items, text};
use super::pointer::{at_pointer, child};
use super::schema_error::{Refused, SchemaError, SchemaErrorKind};
use super::violation::Violation;
use agent_syntax::json::{Reader, parse_strict, parse_value};
use agent_syntax::{Node, Value, canonical_node};
use agent_text::Span;

/// The tree of a JSON text.
#[derive(Debug)]
pub struct JsonText<'t>(Node<'t>);

/// A value in it.
#[derive(Debug, Clone, Copy)]
pub struct Json<'n, 't>(&'n Node<'t>);

impl<'t> JsonText<'t> {
    /// Reads a text that was read as strict JSON before, or a part of one. Returns `None` for invalid
    /// JSON.
    pub fn read(text: &'t str) -> Option<Self> {
        parse_value(&mut Reader::new(text)).ok().map(Self)
    }

    /// Reads a text as strict JSON: exactly one value. Returns `None` if it is not.
    pub fn strict(text: &'t str) -> Option<Self> {
        parse_strict(text).map(Self)
    }

    /// Returns the whole value.
    pub fn root(&self) -> Json<'_, 't> {
        Json(&self.0)
    }
}

impl<'n, 't> Json<'n, 't> {
    /// Returns the value of a node that was parsed before.
    pub fn of(node: &'n Node<'t>) -> Self {
        Self(node)
    }

    pub(super) fn node(self) -> &'n Node<'t> {
        self.0
    }

    /// Returns the place in the text.
    pub fn span(self) -> Span {
        self.0.span
    }

    /// Returns the part at a JSON pointer. Returns `None` for an invalid pointer too.
    pub fn at(self, pointer: &str) -> Option<Self> {
        at_pointer(self.0, pointer).map(Self)
    }

    /// Returns a member of an object.
    pub fn member(self, name: &str) -> Option<Self> {
        entries(self.0)?;
        child(self.0, name).map(Self)
    }

    /// Returns the members of an object, in order.
    pub fn members(self) -> Option<impl Iterator<Item = (&'n str, Self)>> {
        let entries = entries(self.0)?.iter();
        Some(entries.map(|entry| (&*entry.key, Self(&entry.value))))
    }

    /// Returns the items of an array.
    pub fn items(self) -> Option<impl ExactSizeIterator<Item = Self>> {
        items(self.0).map(|items| items.iter().map(Self))
    }

    /// Returns the text of a string.
    pub fn string(self) -> Option<&'n str> {
        text(self.0)
    }

    /// Returns whether it is `true`.
    pub fn is_true(self) -> bool {
        self.0.value == Value::Bool(true)
    }

    /// Returns the RFC 8785 form.
    pub fn canonical(self) -> String {
        let mut out = String::new();
        canonical_node(self.0, &mut out);
        out
    }
}

impl Schema<'_> {
    /// Returns all violations by a value, as [`Schema::check`] does.
    ///
    /// # Errors
    /// The evaluation exceeds the budget.
    pub fn check_json(
        &self,
        value: Json<'_, '_>,
        budget: &mut Budget,
    ) -> Result<Vec<Violation>, OverBudget> {
        self.check(value.0, budget)
    }
}

/// Calls a function with the schema of a JSON text, which may refer only to itself and the
/// metaschemas. Returns `None` for invalid JSON.
///
/// A schema that names no draft and has no form of draft 2020-12 is of draft-07, or else of draft-04.
pub fn with_schema<R>(
    text: &str,
    budget: &mut Budget,
    look: impl FnOnce(Result<&Schema<'_>, Refused>, &mut Budget) -> R,
) -> Option<R> {
    looked(look, |look| compiled(text, budget, look))
}

/// A function that looks at a schema.
pub(super) type Look<'l> = dyn FnMut(Result<&Schema<'_>, Refused>, &mut Budget) + 'l;

/// Gives a function to code that is compiled once for all of them. Returns what it returns, or `None` if it was not called.
pub(super) fn looked<R>(
    look: impl FnOnce(Result<&Schema<'_>, Refused>, &mut Budget) -> R,
    give: impl FnOnce(&mut Look<'_>),
) -> Option<R> {
    let (mut look, mut found) = (Some(look), None);
    give(&mut |schema, budget| found = look.take().map(|look| look(schema, budget)));
    found
}

/// Calls a function with the schema of a text, unless it is invalid JSON.
pub(super) fn compiled(text: &str, budget: &mut Budget, look: &mut Look<'_>) {
    if let Err(over) = budget.read(text) {
        return look(Err(Refused::OverBudget(over)), budget);
    }
    if let Ok(root) = parse_value(&mut Reader::new(text)) {
        let documents = Documents::new();
        let schema = compile(&root, &documents, budget);
        look(schema.as_ref().map_err(Clone::clone), budget);
    }
}

/// Compiles a schema in the newest draft whose forms it has.
pub(super) fn compile<'a>(
    root: &'a Node<'a>,
    documents: &'a Documents<'a>,
    budget: &mut Budget,
) -> Result<Schema<'a>, Refused> {
    let newest = Schema::compile(root, documents, Draft::Draft202012, budget);
    let names_draft = entries(root).is_none_or(|it| it.iter().any(|it| it.key == "$schema"));
    if names_draft || !has_other_form(&newest) {
        return newest;
    }
    for older in [Draft::Draft07, Draft::Draft04] {
        let schema = Schema::compile(root, documents, older, budget);
        if !has_other_form(&schema) {
            return schema;
        }
    }
    newest
}

/// Returns whether a keyword has a form that its draft does not have.
fn has_other_form(compiled: &Result<Schema<'_>, Refused>) -> bool {
    let is_form = |it: &SchemaError| matches!(it.kind, SchemaErrorKind::NotASchema { .. });
    matches!(compiled, Err(Refused::Invalid(errors)) if errors.iter().any(is_form))
}
