//! Schemas together with the texts that they were compiled from.

use super::arena::Schema;
use super::budget::Budget;
use super::dialect::Draft;
use super::documents::Documents;
use super::flaw::Refused;
use agent_syntax::json::{Reader, parse_value};
use agent_syntax::{Node, Value};
use agent_text::Span;
use self_cell::self_cell;
use std::borrow::Cow;
use std::fmt;
use std::sync::OnceLock;

/// A JSON text by the absolute URI, without a fragment, that it is referred to by.
#[derive(Debug, Clone)]
pub struct NamedText {
    /// The URI.
    pub uri: String,
    /// The text: one JSON value. One that is none counts as `null`, which is no schema.
    pub text: Cow<'static, str>,
}

/// What the schemas of a set are made from.
struct Texts {
    documents: Vec<NamedText>,
    roots: Vec<String>,
}

/// The same, read.
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

/// Schemas that may refer to some documents and to nothing else. Each is compiled once, and by
/// itself.
pub struct SchemaSet(Compiled);

impl SchemaSet {
    /// The schemas of some texts, of draft 2020-12 where they don't say, over some documents.
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

    /// What the schemas may refer to.
    pub(super) fn documents(&self) -> &[NamedText] {
        &self
            .0
            .borrow_owner()
            .borrow_owner()
            .borrow_owner()
            .documents
    }

    /// Compile the schema of a number, if that has not been done. Every schema is done again in
    /// the same way: what is found does not depend on what was compiled before.
    ///
    /// # Errors
    /// It can't be used, or takes more than the budget.
    pub fn compile(&self, number: usize, budget: &mut Budget) -> Result<(), Refused> {
        self.compiled(number, budget, |schema| match schema {
            Ok(_) => Ok(()),
            Err(refused) => Err(refused.clone()),
        })
    }

    /// Look at the schema of a number, which is compiled with a budget of its own if it has not
    /// been.
    ///
    /// # Errors
    /// It can't be used.
    pub fn with<R>(
        &self,
        number: usize,
        look: impl FnOnce(&Schema<'_>) -> R,
    ) -> Result<R, Refused> {
        self.compiled(number, &mut Budget::new(), |schema| match schema {
            Ok(schema) => Ok(look(schema)),
            Err(refused) => Err(refused.clone()),
        })
    }

    fn compiled<R>(
        &self,
        number: usize,
        budget: &mut Budget,
        look: impl for<'s> FnOnce(Result<&'s Schema<'s>, &'s Refused>) -> R,
    ) -> R {
        self.0.with_dependent(|known, slots| {
            let root = &known.borrow_owner().borrow_dependent().roots[number];
            let documents = known.borrow_dependent();
            let slot = slots[number]
                .get_or_init(|| Schema::compile(root, documents, Draft::Draft202012, budget));
            look(slot.as_ref())
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
