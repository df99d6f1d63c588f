//! The documents that schemas may refer to, and the names in them.

use super::keyword::{Dialect, Draft, Fields, Keyword, entries, text};
use super::pointer::{child, locate};
use super::uri;
use agent_syntax::json::{Reader, parse_value};
use agent_syntax::{Node, Value};
use agent_text::Span;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// The metaschemas of both drafts, which are public standards, as one list.
const METASCHEMAS: &str = include_str!("metaschemas.json");

/// Maximum length of a resolved identifier, in bytes.
pub const URI_LIMIT: usize = 2_048;

/// Maximum number of schemas with their own identifier within a document.
pub const IDENTIFIER_LIMIT: usize = 1_000;

/// The place of a value: the number of its document, and the offset of its first byte. No two values
/// of a document have the same offset.
pub(super) type Place = (u32, u32);

/// Schemas that others may refer to, by their URIs. Nothing else is ever loaded: a reference to an
/// unknown document is an error.
#[derive(Debug, Default)]
pub struct Documents<'a> {
    registry: Registry<'a>,
    metaschemas: OnceLock<Vec<Node<'static>>>,
}

impl<'a> Documents<'a> {
    /// Returns the metaschemas of both drafts.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a document under an absolute URI without a fragment, and under its own `$id`. `draft`
    /// applies if it has no `$schema`.
    ///
    /// The tree must come from a text, because spans identify values. The first of two documents
    /// with the same URI is kept.
    pub fn add(&mut self, uri: &str, root: &'a Node<'a>, draft: Draft) {
        self.registry.add(uri, root, draft);
    }

    pub(super) fn registry(&self) -> &Registry<'a> {
        &self.registry
    }

    /// Returns whether a schema has referred to a metaschema.
    #[cfg(any(test, feature = "kept-schemas"))]
    pub(super) fn has_metaschemas(&self) -> bool {
        self.metaschemas.get().is_some()
    }

    /// Returns the metaschemas. The first call reads them.
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

/// A schema resource: a schema with its own identifier, or the root of a document.
#[derive(Debug)]
pub(super) struct Resource<'a> {
    /// Absolute; relative without an absolute base; empty for a root without a name.
    pub(super) uri: String,
    pub(super) document: u32,
    pub(super) root: &'a Node<'a>,
    metaschema: Metaschema<'a>,
    /// The schemas with an anchor, by its name, and whether the anchor is dynamic.
    pub(super) anchors: BTreeMap<&'a str, (&'a Node<'a>, bool)>,
}

/// The metaschema of a resource: that of its own `$schema`, or of the surrounding resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Metaschema<'a> {
    Draft(Draft),
    /// Another metaschema: its `$schema` and the URI in it.
    Other(&'a Node<'a>, &'a str),
}

impl Metaschema<'_> {
    /// Returns the draft that defines where subschemas are.
    fn draft(self) -> Draft {
        match self {
            Self::Draft(draft) => draft,
            Self::Other(..) => Draft::Draft202012,
        }
    }
}

/// The named schemas of some documents. Those of another registry are shared, and have the lower
/// numbers.
#[derive(Debug, Default)]
pub(super) struct Registry<'a> {
    shared: Option<&'a Registry<'a>>,
    pub(super) documents: SharedList<'a, Document<'a>>,
    pub(super) resources: SharedList<'a, Resource<'a>>,
    by_uri: BTreeMap<String, u32>,
    by_place: BTreeMap<Place, u32>,
    /// Identifiers that another resource has already.
    pub(super) taken: Vec<&'a Node<'a>>,
    /// Identifiers that are too long, or too many.
    pub(super) excessive: Vec<&'a Node<'a>>,
    /// The number of identifiers within the last document.
    embedded: usize,
}

/// A list that continues a shared one.
#[derive(Debug)]
pub(super) struct SharedList<'a, T> {
    shared: &'a [T],
    own: Vec<T>,
}

impl<T> Default for SharedList<'_, T> {
    fn default() -> Self {
        Self {
            shared: &[],
            own: Vec::new(),
        }
    }
}

impl<'a, T> SharedList<'a, T> {
    /// Returns a list that continues one without a shared part.
    fn after(other: &'a Self) -> Self {
        Self {
            shared: &other.own,
            own: Vec::new(),
        }
    }

    pub(super) fn get(&self, number: u32) -> &T {
        let number = number as usize;
        match number.checked_sub(self.shared.len()) {
            Some(number) => &self.own[number],
            None => &self.shared[number],
        }
    }

    /// Returns an item of the list's own: shared items don't change.
    fn get_mut(&mut self, number: u32) -> &mut T {
        &mut self.own[number as usize - self.shared.len()]
    }

    /// Adds an item and returns its number.
    fn push(&mut self, item: T) -> u32 {
        self.own.push(item);
        (self.shared.len() + self.own.len()) as u32 - 1
    }
}

impl SharedList<'_, Document<'_>> {
    /// Returns the URI of a document, if it has one, and the pointer to a place in it.
    pub(super) fn locate(&self, document: u32, span: Span) -> (Option<String>, String) {
        let Document { uri, root } = self.get(document);
        let uri = (!uri.is_empty()).then(|| uri.clone());
        (uri, locate(root, span.start))
    }
}

/// A document with the URI of [`Documents::add`], which is empty for the compiled schema.
#[derive(Debug)]
pub(super) struct Document<'a> {
    uri: String,
    root: &'a Node<'a>,
}

impl<'a> Registry<'a> {
    /// Returns a registry that shares the content of another.
    pub(super) fn after(shared: &'a Self) -> Self {
        Self {
            shared: Some(shared),
            documents: SharedList::after(&shared.documents),
            resources: SharedList::after(&shared.resources),
            ..Self::default()
        }
    }

    /// Adds a document and returns the number of its root resource.
    pub(super) fn add(&mut self, uri: &str, root: &'a Node<'a>, draft: Draft) -> u32 {
        self.embedded = 0;
        let document = self.documents.push(Document {
            uri: uri.to_owned(),
            root,
        });
        let uri = uri::split(uri).0.to_owned();
        let resource = self.new_resource(uri, document, root, Metaschema::Draft(draft));
        self.scan(root, resource, true);
        resource
    }

    /// Adds a metaschema under its own identifier.
    pub(super) fn add_metaschema(&mut self, root: &'a Node<'a>) {
        let id = child(root, "$id").and_then(text).unwrap_or_default();
        self.add(uri::split(id).0, root, Draft::Draft202012);
    }

    fn new_resource(
        &mut self,
        uri: String,
        document: u32,
        root: &'a Node<'a>,
        metaschema: Metaschema<'a>,
    ) -> u32 {
        let number = self.resources.push(Resource {
            uri: uri.clone(),
            document,
            root,
            metaschema,
            anchors: BTreeMap::new(),
        });
        self.name(uri, number);
        self.by_place.insert((document, root.span.start), number);
        number
    }

    /// Registers a resource under a URI, unless another one has it.
    fn name(&mut self, uri: String, resource: u32) {
        if self.at(&uri).is_none() {
            self.by_uri.insert(uri, resource);
        }
    }

    /// Registers the names of a schema in a resource, and of the schemas in it. The depth of the
    /// document bounds the recursion.
    fn scan(&mut self, node: &'a Node<'a>, mut resource: u32, is_root: bool) {
        let Some(entries) = entries(node) else {
            return;
        };
        let fields = Fields::new(entries);
        let mut metaschema = self.resources.get(resource).metaschema;
        if let (Some(node), Some(uri)) = (fields.get(Keyword::Schema), fields.text(Keyword::Schema))
        {
            metaschema = Draft::of(uri).map_or(Metaschema::Other(node, uri), Metaschema::Draft);
        }
        // A resource may have another draft than the one around it, which applies to its `$id`.
        let older = metaschema.draft() != Draft::Draft202012;
        // In the older drafts `$ref` disables the keywords beside it.
        let id = fields.text(Keyword::Id);
        let id = id.filter(|_| !older || fields.get(Keyword::Ref).is_none());
        let (name, fragment) = id.map_or(("", None), uri::split);
        if is_root {
            self.resources.get_mut(resource).metaschema = metaschema;
        }
        let Resource { uri, document, .. } = self.resources.get(resource);
        let document = *document;
        let uri = if name.len() <= URI_LIMIT {
            uri::resolve(uri, name)
        } else {
            String::new()
        };
        let many = !is_root && self.embedded >= IDENTIFIER_LIMIT;
        if name.is_empty() {
            // The schema belongs to the resource around it.
        } else if uri.is_empty() || uri.len() > URI_LIMIT || many {
            self.excessive.extend(fields.get(Keyword::Id));
        } else if is_root {
            // A document has both names. The compiled schema takes precedence over shared ones.
            if self.documents.get(document).uri.is_empty() {
                self.by_uri.insert(uri.clone(), resource);
            } else {
                self.name(uri.clone(), resource);
            }
            self.resources.get_mut(resource).uri = uri;
        } else {
            if self.at(&uri).is_some() {
                self.taken.extend(fields.get(Keyword::Id));
            }
            self.embedded += 1;
            resource = self.new_resource(uri, document, node, metaschema);
        }
        let target = self.resources.get_mut(resource);
        if older {
            if let Some(fragment) = fragment.filter(|fragment| !fragment.is_empty()) {
                target.anchors.entry(fragment).or_insert((node, false));
            }
        } else {
            for (keyword, dynamic) in [(Keyword::DynamicAnchor, true), (Keyword::Anchor, false)] {
                if let Some(anchor) = fields.text(keyword) {
                    target.anchors.entry(anchor).or_insert((node, dynamic));
                }
            }
        }
        for subschema in fields.subschemas(target.metaschema.draft()) {
            self.scan(subschema, resource, false);
        }
    }

    /// Returns the resource of a URI.
    pub(super) fn at(&self, uri: &str) -> Option<u32> {
        let own = self.by_uri.get(uri).copied();
        own.or_else(|| self.shared?.at(uri))
    }

    /// Returns the resource whose root is at a place.
    pub(super) fn rooted(&self, place: Place) -> Option<u32> {
        let own = self.by_place.get(&place).copied();
        own.or_else(|| self.shared?.rooted(place))
    }

    /// Returns the dialect of a resource.
    ///
    /// # Errors
    /// The `$schema` is unknown.
    pub(super) fn dialect(&self, resource: u32) -> Result<Dialect, &'a Node<'a>> {
        match self.resources.get(resource).metaschema {
            Metaschema::Draft(draft) => Ok(Dialect::all(draft)),
            Metaschema::Other(node, uri) => {
                let resource = self.at(uri::split(uri).0);
                let resource = resource.map(|it| self.resources.get(it));
                // A metaschema of draft 2020-12 may omit vocabularies.
                let declared = resource
                    .filter(|it| it.metaschema == Metaschema::Draft(Draft::Draft202012))
                    .and_then(|it| child(it.root, "$vocabulary"));
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
