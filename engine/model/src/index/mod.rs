//! `mcp.index.json`, as columns.
//!
//! An index may contain 100,000 servers, and loading it dominates the cost of a resolution. The
//! index therefore keeps servers as slices of its text, numbered once in the order that breaks ties
//! (see [`Rank`]), with a list of ranks for each category and scope. The properties that do not
//! depend on a requirement take one byte per server (see [`ConstraintKey`]).

mod builder;
mod dictionary;
mod tool;

pub use builder::{ByName, Duplicate, IndexBuilder, NewServer, NewTool};
pub use dictionary::Members;
pub use tool::{Advertised, ToolNumber, ToolView};

use super::{ResidencySet, Sensitivity};
use agent_text::sort::sort_by;
use agent_text::{Place, Span, Text};
use dictionary::Dictionary;
use tool::Tools;

/// The number of a server in the order that breaks ties: signed before unsigned, then by id, then by
/// version \[0, 2.3\]. The eligible server of the lowest rank is selected.
pub type Rank = u32;

/// A slice of the text, or of the kept copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slice {
    start: u32,
    len: u32,
}

impl Slice {
    /// Slices that start after the text refer to the kept copies.
    #[inline]
    fn of<'t>(self, text: &'t str, kept: &'t str) -> &'t str {
        let (start, len) = (self.start as usize, self.len as usize);
        match start.checked_sub(text.len()) {
            None => &text[start..start + len],
            Some(start) => &kept[start..start + len],
        }
    }
}

/// The properties of a server that constraints compare, in one byte. Each constraint is decided once
/// for each of 128 values, and looked up for each server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ConstraintKey(u8);

impl ConstraintKey {
    /// Number of values.
    pub const COUNT: usize = 128;

    /// Packs the properties.
    pub fn new(residency: ResidencySet, max_sensitivity: Sensitivity, signed: bool) -> Self {
        Self(residency.bits() | (max_sensitivity as u8) << 3 | u8::from(signed) << 6)
    }

    /// Returns the value of a number below [`ConstraintKey::COUNT`], or `None` if no server can have it.
    pub fn from_number(number: usize) -> Option<Self> {
        let constraint_key = Self(u8::try_from(number).ok().filter(|n| *n < 128)?);
        let level = constraint_key.0 >> 3 & 7;
        (constraint_key.0 & 7 != 0 && (level as usize) < Sensitivity::ALL.len())
            .then_some(constraint_key)
    }

    /// Returns the number of the value, below [`ConstraintKey::COUNT`].
    pub fn number(self) -> usize {
        self.0 as usize
    }

    /// Returns the residencies of the server.
    pub fn residency(self) -> ResidencySet {
        ResidencySet::from_bits(self.0 & 7)
    }

    /// Returns the highest permitted sensitivity.
    pub fn max_sensitivity(self) -> Sensitivity {
        Sensitivity::ALL[(self.0 >> 3 & 7) as usize]
    }

    /// Returns whether the server is signed.
    pub fn signed(self) -> bool {
        self.0 & 64 != 0
    }
}

#[derive(Debug, Clone, Copy)]
struct Row {
    id: Slice,
    version: Slice,
    endpoint: Slice,
    publisher: Slice,
    class: Option<Slice>,
    entry: Span,
    id_span: Span,
    /// The number of the server's first tool, and the number of its tools.
    tools: (ToolNumber, u32),
    /// The start of the server's categories, followed by its scopes, in `memberships`.
    members: u32,
    categories: u32,
    scopes: u32,
}

/// A valid index.
#[derive(Debug)]
pub struct Index {
    text: Text,
    kept: String,
    /// By rank.
    rows: Vec<Row>,
    /// By rank.
    constraint_keys: Vec<ConstraintKey>,
    /// For each server its categories and then its scopes, as numbers of the dictionaries:
    /// sorted, without duplicates.
    memberships: Vec<u32>,
    categories: Dictionary,
    scopes: Dictionary,
    by_name: Vec<Rank>,
    tools: Tools,
}

impl Index {
    /// Returns the number of servers.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns whether there are no servers.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the text of the index.
    pub fn text(&self) -> &Text {
        &self.text
    }

    /// Returns the server of a rank below [`Index::len`].
    pub fn server(&self, rank: Rank) -> ServerView<'_> {
        ServerView {
            index: self,
            row: &self.rows[rank as usize],
            rank,
        }
    }

    /// Returns all servers by rank.
    pub fn servers(&self) -> impl ExactSizeIterator<Item = ServerView<'_>> + Clone {
        self.rows.iter().enumerate().map(|(rank, row)| ServerView {
            index: self,
            row,
            rank: rank as Rank,
        })
    }

    /// Returns the ranks of all servers, ordered by id, then version, as views show them.
    pub fn by_name(&self) -> &[Rank] {
        &self.by_name
    }

    /// Returns the servers with an id, ordered by version.
    pub fn versions(&self, id: &str) -> impl Iterator<Item = ServerView<'_>> {
        let start = self
            .by_name
            .partition_point(|rank| self.server(*rank).id() < id);
        self.by_name[start..]
            .iter()
            .map(|rank| self.server(*rank))
            .take_while(move |server| server.id() == id)
    }

    /// Returns the names of all categories, sorted. A category's number is its position here.
    pub fn category_names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.categories.names().iter().map(|name| &**name)
    }

    /// Returns the names of all scopes, sorted. A scope's number is its position here.
    pub fn scope_names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.scopes.names().iter().map(|name| &**name)
    }

    /// Returns the number of a category, if a server offers it.
    pub fn category(&self, name: &str) -> Option<u32> {
        self.categories.find(name)
    }

    /// Returns the number of a scope, if a server supports it.
    pub fn scope(&self, name: &str) -> Option<u32> {
        self.scopes.find(name)
    }

    /// Returns the properties of each server that constraints compare, by rank.
    pub fn constraint_keys(&self) -> &[ConstraintKey] {
        &self.constraint_keys
    }

    /// Returns the servers that offer a category.
    pub fn with_category(&self, number: u32) -> Members<'_> {
        self.categories.members(number)
    }

    /// Returns the servers that offer a category, ordered by id, then version.
    pub fn servers_of(&self, category: u32) -> Vec<ServerView<'_>> {
        let mut servers: Vec<_> = self
            .with_category(category)
            .ranks
            .iter()
            .map(|rank| self.server(*rank))
            .collect();
        sort_by(&mut servers, |a, b| {
            (a.id(), a.version()).cmp(&(b.id(), b.version()))
        });
        servers
    }

    /// Returns the servers that support a scope.
    pub fn with_scope(&self, number: u32) -> Members<'_> {
        self.scopes.members(number)
    }

    fn slice(&self, slice: Slice) -> &str {
        slice.of(self.text.as_str(), &self.kept)
    }
}

/// A server of an index.
#[derive(Debug, Clone, Copy)]
pub struct ServerView<'i> {
    index: &'i Index,
    row: &'i Row,
    rank: Rank,
}

impl<'i> ServerView<'i> {
    /// Returns its number in the order that breaks ties.
    pub fn rank(self) -> Rank {
        self.rank
    }

    /// Returns `id`.
    pub fn id(self) -> &'i str {
        self.index.slice(self.row.id)
    }

    /// Returns `version`.
    pub fn version(self) -> &'i str {
        self.index.slice(self.row.version)
    }

    /// Returns `endpoint`.
    pub fn endpoint(self) -> &'i str {
        self.index.slice(self.row.endpoint)
    }

    /// Returns `trust.publisher`.
    pub fn publisher(self) -> &'i str {
        self.index.slice(self.row.publisher)
    }

    /// Returns `class`.
    pub fn class(self) -> Option<&'i str> {
        self.row.class.map(|class| self.index.slice(class))
    }

    /// Returns the properties that constraints compare.
    pub fn constraint_key(self) -> ConstraintKey {
        self.index.constraint_keys[self.rank as usize]
    }

    /// Returns the numbers of its categories: sorted, without duplicates.
    pub fn category_numbers(self) -> &'i [u32] {
        let start = self.row.members as usize;
        &self.index.memberships[start..start + self.row.categories as usize]
    }

    /// Returns the numbers of its scopes: sorted, without duplicates.
    pub fn scope_numbers(self) -> &'i [u32] {
        let start = (self.row.members + self.row.categories) as usize;
        &self.index.memberships[start..start + self.row.scopes as usize]
    }

    /// Returns its categories: sorted, without duplicates.
    pub fn categories(self) -> impl ExactSizeIterator<Item = &'i str> {
        let names = self.index.categories.names();
        self.category_numbers()
            .iter()
            .map(|number| &*names[*number as usize])
    }

    /// Returns its scopes: sorted, without duplicates.
    pub fn scopes(self) -> impl ExactSizeIterator<Item = &'i str> {
        let names = self.index.scopes.names();
        self.scope_numbers()
            .iter()
            .map(|number| &*names[*number as usize])
    }

    /// Returns the JSON text of its entry.
    pub fn entry(self) -> &'i str {
        self.row.entry.of(self.index.text.as_str())
    }

    /// Returns the bytes of its entry.
    pub fn entry_span(self) -> Span {
        self.row.entry
    }

    /// Returns the place of its entry.
    pub fn place(self) -> Place {
        self.index.text.place(self.row.entry)
    }

    /// Returns the place of a part of its entry, given as a span of [`ServerView::entry`].
    pub fn place_of(self, part: Span) -> Place {
        let Span { start, .. } = self.row.entry;
        self.index.text.place(Span {
            start: start + part.start,
            end: start + part.end,
        })
    }

    /// Returns the place of its id.
    pub fn place_of_id(self) -> Place {
        self.index.text.place(self.row.id_span)
    }

    /// Returns the span of its id.
    pub fn id_span(self) -> Span {
        self.row.id_span
    }
}
