//! Schemas together with the texts that they were compiled from.

use super::arena::Schema;
use super::budget::Budget;
use super::documents::Documents;
use super::keyword::Draft;
use super::schema_error::Refused;
use agent_syntax::json::{Reader, parse_value};
use agent_syntax::{Node, Value};
use agent_text::Span;
use self_cell::self_cell;
use std::borrow::Cow;
use std::fmt;
use std::sync::OnceLock;

/// A JSON text with the absolute URI, without a fragment, that schemas use in references to it.
#[derive(Debug, Clone)]
pub struct NamedText {
    /// The URI.
    pub uri: String,
    /// The text: one JSON value. Invalid JSON counts as `null`, which is not a schema.
    pub text: Cow<'static, str>,
}

/// The texts of the documents and of the schemas.
struct Texts {
    documents: Vec<NamedText>,
    roots: Vec<String>,
}

/// The trees of [`Texts`].
struct Trees<'a> {
    documents: Vec<Node<'a>>,
    roots: Vec<Node<'a>>,
}

type Slots<'a> = Vec<OnceLock<Result<Schema<'a>, Refused>>>;

self_cell!(
    struct Read {
        owner: Texts,
        #[covariant]
        dependent: Trees,
    }
);

self_cell!(
    struct Known {
        owner: Read,
        #[covariant]
        dependent: Documents,
    }
);

self_cell!(
    struct Compiled {
        owner: Known,
        #[not_covariant]
        dependent: Slots,
    }
);

/// Schemas that may refer only to some documents. Each is compiled once, and separately.
pub struct SchemaSet(Compiled);

impl SchemaSet {
    /// Returns the schemas of some texts, over some documents. Without `$schema` they are of draft
    /// 2020-12.
    pub fn new(documents: Vec<NamedText>, roots: Vec<String>) -> Self {
        let known = Known::new(
            Read::new(Texts { documents, roots }, |texts| Trees {
                documents: texts.documents.iter().map(|it| tree(&it.text)).collect(),
                roots: texts.roots.iter().map(|text| tree(text)).collect(),
            }),
            |read| {
                let mut known = Documents::new();
                let documents = &read.borrow_owner().documents;
                for (document, root) in documents.iter().zip(&read.borrow_dependent().documents) {
                    known.add(&document.uri, root, Draft::Draft202012);
                }
                known
            },
        );
        Self(Compiled::new(known, |known| {
            let roots = &known.borrow_owner().borrow_dependent().roots;
            roots.iter().map(|_| OnceLock::new()).collect()
        }))
    }

    /// Returns the documents that the schemas may refer to.
    pub(super) fn documents(&self) -> &[NamedText] {
        &self
            .0
            .borrow_owner()
            .borrow_owner()
            .borrow_owner()
            .documents
    }

    /// Compiles a schema by its number, if that was not done before. The result does not depend on
    /// the schemas that were compiled before.
    ///
    /// # Errors
    /// The schema is invalid, or compiling it exceeds the budget.
    pub fn compile(&self, number: usize, budget: &mut Budget) -> Result<(), Refused> {
        self.compiled(number, budget, |_| ())
    }

    /// Calls a function with a schema by its number. A schema that was not compiled before is
    /// compiled within a separate budget.
    ///
    /// # Errors
    /// The schema can't be used.
    pub fn with<R>(
        &self,
        number: usize,
        look: impl FnOnce(&Schema<'_>) -> R,
    ) -> Result<R, Refused> {
        self.compiled(number, &mut Budget::new(), look)
    }

    fn compiled<R>(
        &self,
        number: usize,
        budget: &mut Budget,
        look: impl FnOnce(&Schema<'_>) -> R,
    ) -> Result<R, Refused> {
        self.0.with_dependent(|known, slots| {
            let root = &known.borrow_owner().borrow_dependent().roots[number];
            let documents = known.borrow_dependent();
            let slot = slots[number]
                .get_or_init(|| Schema::compile(root, documents, Draft::Draft202012, budget));
            slot.as_ref().map(look).map_err(Clone::clone)
        })
    }
}

impl fmt::Debug for SchemaSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SchemaSet")
    }
}

fn tree(text: &str) -> Node<'_> {
    parse_value(&mut Reader::new(text)).unwrap_or(Node {
        value: Value::Null,
        span: Span::default(),
    })
}
