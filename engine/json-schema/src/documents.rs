//! The documents that schemas may refer to, and what in them has a name.

use super::dialect::{Dialect, Draft};
use super::keyword::{Fields, Keyword};
use super::uri;
use agent_syntax::json::{Reader, parse_value};
use agent_syntax::{Node, Value};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// The metaschemas of both drafts, which are public standards, as one list.
const METASCHEMAS: &str = include_str!("metaschemas.json");

/// How long an identifier may be once it is resolved, in bytes.
pub const URI_LIMIT: usize = 2_048;

/// How many schemas within a document may have an identifier of their own.
pub const IDENTIFIER_LIMIT: usize = 1_000;

/// Where a value stands: the number of its document, and its first byte there. No two values of a
/// document begin at the same one.
pub(super) type Place = (u32, u32);

/// Schemas that others may refer to, by their URIs. Nothing else is ever loaded: a reference to
/// what is not here is a flaw.
#[derive(Debug, Default)]
pub struct Documents<'a> {
    known: Names<'a>,
    metaschemas: OnceLock<Vec<Node<'static>>>,
}

impl<'a> Documents<'a> {
    /// None, apart from the metaschemas of both drafts.
    pub fn new() -> Self {
        Self::default()
    }

    /// Add a document under the absolute URI, without a fragment, that it is to be found at. Its
    /// own `$id` is known as well. `draft` is what it is read by where it has no `$schema`.
    ///
    /// The tree has to be one that was read from a text: its spans tell its values apart. Of two
    /// documents of one URI the first is kept.
    pub fn add(&mut self, uri: &str, root: &'a Node<'a>, draft: Draft) {
        self.known.add(uri, root, draft);
    }

    pub(super) fn names(&self) -> &Names<'a> {
        &self.known
    }

    /// The metaschemas, read when they are first asked for.
    pub(super) fn metaschemas(&'a self) -> &'a [Node<'a>] {
        self.metaschemas.get_or_init(|| {
            let list = parse_value(&mut Reader::new(METASCHEMAS)).map(|list| list.value);
            match list {
                Ok(Value::Sequence(documents)) => documents,
                // A test reads them.
                _ => Vec::new(),
            }
        })
    }
}

/// A schema with an identifier of its own, or the root of a document.
#[derive(Debug)]
pub(super) struct Resource<'a> {
    /// Absolute, or relative where nothing says to what; empty for a root without a name.
    pub(super) uri: String,
    pub(super) document: u32,
    pub(super) root: &'a Node<'a>,
    /// What it is read by, which is told by its own `$schema`, or that of what it stands in.
    pub(super) schema: Schema<'a>,
    /// The schemas in it that have a name, whether for `$dynamicRef` as well, by name.
    pub(super) anchors: BTreeMap<&'a str, (&'a Node<'a>, bool)>,
}

/// What tells the draft of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Schema<'a> {
    /// One of the two drafts.
    Draft(Draft),
    /// Another metaschema.
    Other(&'a Node<'a>, &'a str),
}

impl Schema<'_> {
    /// The draft by which schemas are found in schemas.
    fn draft(self) -> Draft {
        match self {
            Self::Draft(draft) => draft,
            Self::Other(..) => Draft::Draft202012,
        }
    }
}

/// All that has a name in some documents, beside those of others, which are shared and not copied:
/// their numbers go before.
#[derive(Debug, Default)]
pub(super) struct Names<'a> {
    others: Option<&'a Names<'a>>,
    pub(super) documents: List<'a, Document<'a>>,
    pub(super) resources: List<'a, Resource<'a>>,
    /// Resources by URI.
    by_uri: BTreeMap<String, u32>,
    /// Resources by where they stand.
    by_place: BTreeMap<Place, u32>,
    /// Identifiers that another resource has already.
    pub(super) taken: Vec<&'a Node<'a>>,
    /// Identifiers that are too long, or too many.
    pub(super) excessive: Vec<&'a Node<'a>>,
    /// How many schemas within the last document have an identifier.
    embedded: usize,
}

/// A list that goes on behind another one, which is shared.
#[derive(Debug)]
pub(super) struct List<'a, T> {
    shared: &'a [T],
    own: Vec<T>,
}

impl<T> Default for List<'_, T> {
    fn default() -> Self {
        Self {
            shared: &[],
            own: Vec::new(),
        }
    }
}

impl<'a, T> List<'a, T> {
    /// One that goes on behind another, which goes on behind none.
    fn behind(other: &'a Self) -> Self {
        Self {
            shared: &other.own,
            own: Vec::new(),
        }
    }

    fn len(&self) -> usize {
        self.shared.len() + self.own.len()
    }

    pub(super) fn get(&self, number: u32) -> &T {
        let number = number as usize;
        match number.checked_sub(self.shared.len()) {
            Some(number) => &self.own[number],
            None => &self.shared[number],
        }
    }

    /// One of its own: what is shared does not change.
    fn get_mut(&mut self, number: u32) -> &mut T {
        &mut self.own[number as usize - self.shared.len()]
    }

    /// Add an item. The answer is its number.
    fn push(&mut self, item: T) -> u32 {
        self.own.push(item);
        self.len() as u32 - 1
    }
}

/// A document, and the URI it was added under, which is empty for the schema that is compiled.
#[derive(Debug)]
pub(super) struct Document<'a> {
    pub(super) uri: String,
    pub(super) root: &'a Node<'a>,
}

impl<'a> Names<'a> {
    /// None of its own yet.
    pub(super) fn beside(others: &'a Self) -> Self {
        Self {
            others: Some(others),
            documents: List::behind(&others.documents),
            resources: List::behind(&others.resources),
            ..Self::default()
        }
    }

    /// Add a document. The answer is the number of its root resource.
    pub(super) fn add(&mut self, uri: &str, root: &'a Node<'a>, draft: Draft) -> u32 {
        self.embedded = 0;
        let document = self.documents.push(Document {
            uri: uri.to_owned(),
            root,
        });
        let resource = self.new_resource(
            uri::split(uri).0.to_owned(),
            document,
            root,
            Schema::Draft(draft),
        );
        self.scan(root, resource, true);
        resource
    }

    /// Add a metaschema, by its own identifier.
    pub(super) fn add_metaschema(&mut self, root: &'a Node<'a>) {
        if let Value::Mapping(entries) = &root.value {
            let id = Fields::new(entries).text(Keyword::Id).unwrap_or_default();
            self.add(uri::split(id).0, root, Draft::Draft202012);
        }
    }

    fn new_resource(
        &mut self,
        uri: String,
        document: u32,
        root: &'a Node<'a>,
        schema: Schema<'a>,
    ) -> u32 {
        let number = self.resources.push(Resource {
            uri: uri.clone(),
            document,
            root,
            schema,
            anchors: BTreeMap::new(),
        });
        self.name(uri, number);
        self.by_place.insert((document, root.span.start), number);
        number
    }

    /// Let a resource be found by a URI, if no other one is.
    fn name(&mut self, uri: String, resource: u32) {
        if self.at(&uri).is_none() {
            self.by_uri.insert(uri, resource);
        }
    }

    /// Note the names in a schema, which stands in a resource, and in the schemas in it. The
    /// recursion is bounded by the depth of the document.
    fn scan(&mut self, node: &'a Node<'a>, mut resource: u32, is_root: bool) {
        let Value::Mapping(entries) = &node.value else {
            return;
        };
        let fields = Fields::new(entries);
        let within = self.resources.get(resource).schema;
        let schema = match (fields.get(Keyword::Schema), fields.text(Keyword::Schema)) {
            (Some(node), Some(text)) => {
                Draft::of(text).map_or(Schema::Other(node, text), Schema::Draft)
            }
            _ => within,
        };
        // A resource may be of another draft than what it stands in, and so is its `$id`.
        let draft = schema.draft();
        let older = draft == Draft::Draft07;
        // In draft-07 a reference stands alone, whatever is beside it.
        let id = fields.text(Keyword::Id);
        let id = id.filter(|_| !older || fields.get(Keyword::Ref).is_none());
        let (name, fragment) = id.map_or(("", None), uri::split);
        if is_root {
            self.resources.get_mut(resource).schema = schema;
        }
        let named = !name.is_empty();
        let base = &self.resources.get(resource).uri;
        let uri = if name.len() <= URI_LIMIT {
            uri::resolve(base, name)
        } else {
            String::new()
        };
        let many = !is_root && self.embedded >= IDENTIFIER_LIMIT;
        if named && (uri.is_empty() || uri.len() > URI_LIMIT || many) {
            self.excessive.extend(fields.get(Keyword::Id));
        } else if named {
            let known = self.at(&uri);
            if is_root {
                // A document has both names. What is compiled goes before what it is told of.
                let document = self.resources.get(resource).document;
                if self.documents.get(document).uri.is_empty() {
                    self.by_uri.insert(uri.clone(), resource);
                } else {
                    self.name(uri.clone(), resource);
                }
                self.resources.get_mut(resource).uri = uri;
            } else {
                if known.is_some() {
                    self.taken.extend(fields.get(Keyword::Id));
                }
                self.embedded += 1;
                let document = self.resources.get(resource).document;
                resource = self.new_resource(uri, document, node, schema);
            }
        }
        let anchors = &mut self.resources.get_mut(resource).anchors;
        if older {
            if let Some(fragment) = fragment.filter(|fragment| !fragment.is_empty()) {
                anchors.entry(fragment).or_insert((node, false));
            }
        } else {
            for (keyword, dynamic) in [(Keyword::DynamicAnchor, true), (Keyword::Anchor, false)] {
                if let Some(anchor) = fields.text(keyword) {
                    anchors.entry(anchor).or_insert((node, dynamic));
                }
            }
        }
        let draft = self.resources.get(resource).schema.draft();
        for subschema in fields.subschemas(draft) {
            self.scan(subschema, resource, false);
        }
    }

    /// The resource of a URI.
    pub(super) fn at(&self, uri: &str) -> Option<u32> {
        let own = self.by_uri.get(uri).copied();
        own.or_else(|| self.others?.at(uri))
    }

    /// The resource whose root stands at a place.
    pub(super) fn rooted(&self, place: Place) -> Option<u32> {
        let own = self.by_place.get(&place).copied();
        own.or_else(|| self.others?.rooted(place))
    }

    /// What a resource is read by; the inner error is the `$schema` that is not known.
    pub(super) fn dialect(&self, resource: u32) -> Result<Dialect, &'a Node<'a>> {
        match self.resources.get(resource).schema {
            Schema::Draft(draft) => Ok(Dialect::all(draft)),
            Schema::Other(node, uri) => {
                let metaschema = self.at(uri::split(uri).0);
                let metaschema = metaschema.map(|it| self.resources.get(it));
                // One of draft 2020-12, which may leave out vocabularies.
                let declared = metaschema
                    .filter(|it| it.schema == Schema::Draft(Draft::Draft202012))
                    .and_then(|it| match &it.root.value {
                        Value::Mapping(entries) => Fields::new(entries).get(Keyword::Vocabulary),
                        _ => None,
                    });
                declared.and_then(Dialect::declared).ok_or(node)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Documents;

    #[test]
    fn the_metaschemas_are_there() {
        assert_eq!(Documents::new().metaschemas().len(), 10);
    }
}
