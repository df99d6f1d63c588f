//! JSON values, for layers that see no syntax.

use super::budget::{Budget, OverBudget};
use super::dialect::Draft;
use super::documents::Documents;
use super::flaw::Refused;
use super::pointer;
use super::violation::Violation;
use super::{Schema, pointer::child};
use agent_syntax::json::{Reader, parse_strict, parse_value};
use agent_syntax::{Node, Value, canonical_node};
use agent_text::Span;

/// A JSON text that was read.
#[derive(Debug)]
pub struct JsonText<'t>(Node<'t>);

/// A value in it.
#[derive(Debug, Clone, Copy)]
pub struct Json<'n, 't>(&'n Node<'t>);

impl<'t> JsonText<'t> {
    /// Read a text that was read as strict JSON before, or is a part of one. None if it can't be
    /// read.
    pub fn read(text: &'t str) -> Option<Self> {
        parse_value(&mut Reader::new(text)).ok().map(Self)
    }

    /// Reads a text as strict JSON: exactly one value. Returns `None` if it is not.
    pub fn strict(text: &'t str) -> Option<Self> {
        parse_strict(text).map(Self)
    }

    /// The value as a whole.
    pub fn root(&self) -> Json<'_, 't> {
        Json(&self.0)
    }
}

impl<'n, 't> Json<'n, 't> {
    pub(super) fn node(self) -> &'n Node<'t> {
        self.0
    }

    /// Where it stands in its text.
    pub fn span(self) -> Span {
        self.0.span
    }

    /// The part that a JSON pointer names. None: there is none, or it is no pointer.
    pub fn at(self, pointer: &str) -> Option<Self> {
        pointer::at_pointer(self.0, pointer).map(Self)
    }

    /// A member of an object.
    pub fn member(self, name: &str) -> Option<Self> {
        match self.0.value {
            Value::Mapping(_) => child(self.0, name).map(Self),
            _ => None,
        }
    }

    /// The items of an array; none of anything else.
    pub fn items(self) -> Option<impl ExactSizeIterator<Item = Self>> {
        match &self.0.value {
            Value::Sequence(items) => Some(items.iter().map(Self)),
            _ => None,
        }
    }

    /// The text of a string.
    pub fn string(self) -> Option<&'n str> {
        match &self.0.value {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// Whether it is `true`.
    pub fn is_true(self) -> bool {
        self.0.value == Value::Bool(true)
    }

    /// Its RFC 8785 form.
    pub fn canonical(self) -> String {
        let mut out = String::new();
        canonical_node(self.0, &mut out);
        out
    }
}

impl Schema<'_> {
    /// All in which a value is not as the schema asks, as [`Schema::check`] says.
    ///
    /// # Errors
    /// It takes more than the budget.
    pub fn check_json(
        &self,
        value: Json<'_, '_>,
        budget: &mut Budget,
    ) -> Result<Vec<Violation>, OverBudget> {
        self.check(value.0, budget)
    }
}

/// Look at the schema that a JSON text is, which refers to itself and the metaschemas alone. None:
/// it can't be read.
pub fn with_schema<R>(
    text: &str,
    budget: &mut Budget,
    look: impl FnOnce(Result<Schema<'_>, Refused>, &mut Budget) -> R,
) -> Option<R> {
    if let Err(over) = budget.read(text) {
        return Some(look(Err(Refused::OverBudget(over)), budget));
    }
    let root = parse_value(&mut Reader::new(text)).ok()?;
    let documents = Documents::new();
    let schema = Schema::compile(&root, &documents, Draft::Draft202012, budget);
    Some(look(schema, budget))
}
