//! `mcp.index.json`, as columns.
//!
//! An index may hold 100,000 servers, and loading it is the cost that matters. So the servers
//! are kept as slices of the text they came from, numbered once in the order in which ties are
//! broken (see [`Rank`]), with a list of ranks for each category and scope. What doesn't depend
//! on a requirement is one byte a server (see [`Gate`]).

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

/// The number of a server in the order in which ties are broken: signed before unsigned, then by
/// id, then by version \[0, 2.3\]. Of two eligible servers the one of lower rank is selected.
pub type Rank = u32;

/// A piece of the text, or of what was kept of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slice {
    start: u32,
    len: u32,
}

impl Slice {
    /// Those that start behind the text are of what was kept of it.
    #[inline]
    fn of<'t>(self, text: &'t str, kept: &'t str) -> &'t str {
        let (start, len) = (self.start as usize, self.len as usize);
        match start.checked_sub(text.len()) {
            None => &text[start..start + len],
            Some(start) => &kept[start..start + len],
        }
    }
}

/// What of a server the constraints look at, in a byte, so that they are decided once for each
/// of 128 values and looked up for each server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Gate(u8);

impl Gate {
    /// How many values there are.
    pub const COUNT: usize = 128;

    /// Pack.
    pub fn new(residency: ResidencySet, max_sensitivity: Sensitivity, signed: bool) -> Self {
        Self(residency.bits() | (max_sensitivity as u8) << 3 | u8::from(signed) << 6)
    }

    /// The value of a number below [`Gate::COUNT`]. None where no server can have it.
    pub fn from_number(number: usize) -> Option<Self> {
        let gate = Self(u8::try_from(number).ok().filter(|n| *n < 128)?);
        let level = gate.0 >> 3 & 7;
        (gate.0 & 7 != 0 && (level as usize) < Sensitivity::ALL.len()).then_some(gate)
    }

    /// The number of the value, below [`Gate::COUNT`].
    pub fn number(self) -> usize {
        self.0 as usize
    }

    /// Where the server keeps data.
    pub fn residency(self) -> ResidencySet {
        ResidencySet::from_bits(self.0 & 7)
    }

    /// How sensitive data may be.
    pub fn max_sensitivity(self) -> Sensitivity {
        Sensitivity::ALL[(self.0 >> 3 & 7) as usize]
    }

    /// Whether the server is signed.
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
    /// The number of the server's first tool, and how many it has.
    tools: (ToolNumber, u32),
    /// Where the server's categories and then its scopes stand in `memberships`.
    members: u32,
    categories: u32,
    scopes: u32,
}

/// An index without errors.
#[derive(Debug)]
pub struct Index {
    text: Text,
    kept: String,
    /// By rank.
    rows: Vec<Row>,
    /// By rank.
    gates: Vec<Gate>,
    /// For each server its categories and then its scopes, as numbers of the dictionaries:
    /// sorted, without duplicates.
    memberships: Vec<u32>,
    categories: Dictionary,
    scopes: Dictionary,
    by_name: Vec<Rank>,
    tools: Tools,
}

impl Index {
    /// How many servers there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The text it was read from.
    pub fn text(&self) -> &Text {
        &self.text
    }

    /// The server of a rank below [`Index::len`].
    pub fn server(&self, rank: Rank) -> ServerView<'_> {
        ServerView {
            index: self,
            row: &self.rows[rank as usize],
            rank,
        }
    }

    /// All servers by rank.
    pub fn servers(&self) -> impl ExactSizeIterator<Item = ServerView<'_>> + Clone {
        self.rows.iter().enumerate().map(|(rank, row)| ServerView {
            index: self,
            row,
            rank: rank as Rank,
        })
    }

    /// The ranks of all servers, ordered by id, then version: the order of views.
    pub fn by_name(&self) -> &[Rank] {
        &self.by_name
    }

    /// The servers of an id, ordered by version.
    pub fn versions(&self, id: &str) -> impl Iterator<Item = ServerView<'_>> {
        let start = self
            .by_name
            .partition_point(|rank| self.server(*rank).id() < id);
        self.by_name[start..]
            .iter()
            .map(|rank| self.server(*rank))
            .take_while(move |server| server.id() == id)
    }

    /// The names of all categories, sorted; the number of a category is its place here.
    pub fn category_names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.categories.names().iter().map(|name| &**name)
    }

    /// The names of all scopes, sorted; the number of a scope is its place here.
    pub fn scope_names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.scopes.names().iter().map(|name| &**name)
    }

    /// The number of a category. None if no server offers it.
    pub fn category(&self, name: &str) -> Option<u32> {
        self.categories.find(name)
    }

    /// The number of a scope. None if no server supports it.
    pub fn scope(&self, name: &str) -> Option<u32> {
        self.scopes.find(name)
    }

    /// What the constraints look at of each server, by rank.
    pub fn gates(&self) -> &[Gate] {
        &self.gates
    }

    /// The servers that offer a category.
    pub fn with_category(&self, number: u32) -> Members<'_> {
        self.categories.members(number)
    }

    /// The servers that offer a category, ordered by id, then version.
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

    /// The servers that support a scope.
    pub fn with_scope(&self, number: u32) -> Members<'_> {
        self.scopes.members(number)
    }

    fn slice(&self, slice: Slice) -> &str {
        slice.of(self.text.as_str(), &self.kept)
    }
}

/// One server of an index.
#[derive(Debug, Clone, Copy)]
pub struct ServerView<'i> {
    index: &'i Index,
    row: &'i Row,
    rank: Rank,
}

impl<'i> ServerView<'i> {
    /// Its number in the order in which ties are broken.
    pub fn rank(self) -> Rank {
        self.rank
    }

    /// `id`
    pub fn id(self) -> &'i str {
        self.index.slice(self.row.id)
    }

    /// `version`
    pub fn version(self) -> &'i str {
        self.index.slice(self.row.version)
    }

    /// `endpoint`
    pub fn endpoint(self) -> &'i str {
        self.index.slice(self.row.endpoint)
    }

    /// `trust.publisher`
    pub fn publisher(self) -> &'i str {
        self.index.slice(self.row.publisher)
    }

    /// `class`
    pub fn class(self) -> Option<&'i str> {
        self.row.class.map(|class| self.index.slice(class))
    }

    /// What the constraints look at.
    pub fn gate(self) -> Gate {
        self.index.gates[self.rank as usize]
    }

    /// The numbers of its categories: sorted, without duplicates.
    pub fn category_numbers(self) -> &'i [u32] {
        let start = self.row.members as usize;
        &self.index.memberships[start..start + self.row.categories as usize]
    }

    /// The numbers of its scopes: sorted, without duplicates.
    pub fn scope_numbers(self) -> &'i [u32] {
        let start = (self.row.members + self.row.categories) as usize;
        &self.index.memberships[start..start + self.row.scopes as usize]
    }

    /// Its categories: sorted, without duplicates.
    pub fn categories(self) -> impl ExactSizeIterator<Item = &'i str> {
        let names = self.index.categories.names();
        self.category_numbers()
            .iter()
            .map(|number| &*names[*number as usize])
    }

    /// Its scopes: sorted, without duplicates.
    pub fn scopes(self) -> impl ExactSizeIterator<Item = &'i str> {
        let names = self.index.scopes.names();
        self.scope_numbers()
            .iter()
            .map(|number| &*names[*number as usize])
    }

    /// The JSON text of its entry.
    pub fn entry(self) -> &'i str {
        self.row.entry.of(self.index.text.as_str())
    }

    /// The bytes of its entry.
    pub fn entry_span(self) -> Span {
        self.row.entry
    }

    /// Where its entry stands.
    pub fn place(self) -> Place {
        self.index.text.place(self.row.entry)
    }

    /// Where a part of its entry stands, which is given in the bytes of [`ServerView::entry`].
    pub fn place_of(self, part: Span) -> Place {
        let Span { start, .. } = self.row.entry;
        self.index.text.place(Span {
            start: start + part.start,
            end: start + part.end,
        })
    }

    /// Where its id stands, as a place.
    pub fn place_of_id(self) -> Place {
        self.index.text.place(self.row.id_span)
    }

    /// Where its id stands.
    pub fn id_span(self) -> Span {
        self.row.id_span
    }
}
