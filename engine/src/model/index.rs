//! `mcp.index.json`, as columns.
//!
//! An index may hold 100,000 servers, and loading it is the cost that matters. So the servers
//! are kept as slices of the text they came from, numbered once in the order in which ties are
//! broken (see [`Rank`]), with a list of ranks for each category and scope. What doesn't depend
//! on a requirement is one byte a server (see [`Gate`]).

use super::{ResidencySet, Sensitivity};
use crate::text::{Place, Span, Text};
use rustc_hash::FxHashMap;
use std::cmp::Ordering;

/// The number of a server in the order in which ties are broken: signed before unsigned, then by
/// id, then by version \[0, 2.3\]. Of two eligible servers the one of lower rank is selected.
pub type Rank = u32;

/// A piece of the text, or of what the text holds in an escaped form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slice {
    start: u32,
    len: u32,
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

#[derive(Debug)]
struct Row {
    id: Slice,
    version: Slice,
    endpoint: Slice,
    publisher: Slice,
    entry: Span,
    /// Where the server's categories and then its scopes stand in `memberships`.
    members: u32,
    categories: u32,
    scopes: u32,
    gate: Gate,
}

/// Names that servers have in common, sorted, each with the ranks of the servers that have it.
#[derive(Debug, Default)]
struct Dictionary {
    names: Vec<Box<str>>,
    /// Where each name's ranks begin in `ranks`; one more for the end.
    starts: Vec<u32>,
    ranks: Vec<Rank>,
}

impl Dictionary {
    fn find(&self, name: &str) -> Option<u32> {
        self.names
            .binary_search_by(|known| (**known).cmp(name))
            .ok()
            .map(|number| number as u32)
    }

    fn ranks(&self, number: u32) -> &[Rank] {
        let number = number as usize;
        &self.ranks[self.starts[number] as usize..self.starts[number + 1] as usize]
    }
}

/// An index without errors.
#[derive(Debug)]
pub struct Index {
    text: Text,
    unescaped: String,
    rows: Vec<Row>,
    /// For each server its categories and then its scopes, as numbers of the dictionaries:
    /// sorted, without duplicates.
    memberships: Vec<u32>,
    categories: Dictionary,
    scopes: Dictionary,
    by_name: Vec<Rank>,
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
    pub fn servers(&self) -> impl ExactSizeIterator<Item = ServerView<'_>> {
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
        self.categories.names.iter().map(|name| &**name)
    }

    /// The names of all scopes, sorted; the number of a scope is its place here.
    pub fn scope_names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.scopes.names.iter().map(|name| &**name)
    }

    /// The number of a category. None if no server offers it.
    pub fn category(&self, name: &str) -> Option<u32> {
        self.categories.find(name)
    }

    /// The number of a scope. None if no server supports it.
    pub fn scope(&self, name: &str) -> Option<u32> {
        self.scopes.find(name)
    }

    /// The ranks of the servers that offer a category, lowest first.
    pub fn with_category(&self, number: u32) -> &[Rank] {
        self.categories.ranks(number)
    }

    /// The servers that offer a category, ordered by id, then version.
    pub fn servers_of(&self, category: u32) -> Vec<ServerView<'_>> {
        let mut servers: Vec<_> = self
            .with_category(category)
            .iter()
            .map(|rank| self.server(*rank))
            .collect();
        servers.sort_unstable_by_key(|server| (server.id(), server.version()));
        servers
    }

    /// The ranks of the servers that support a scope, lowest first.
    pub fn with_scope(&self, number: u32) -> &[Rank] {
        self.scopes.ranks(number)
    }

    fn slice(&self, slice: Slice) -> &str {
        let (start, len) = (slice.start as usize, slice.len as usize);
        let text = self.text.as_str();
        match start.checked_sub(text.len()) {
            None => &text[start..start + len],
            Some(start) => &self.unescaped[start..start + len],
        }
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

    /// What the constraints look at.
    pub fn gate(self) -> Gate {
        self.row.gate
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
        let names = &self.index.categories.names;
        self.category_numbers()
            .iter()
            .map(|number| &*names[*number as usize])
    }

    /// Its scopes: sorted, without duplicates.
    pub fn scopes(self) -> impl ExactSizeIterator<Item = &'i str> {
        let names = &self.index.scopes.names;
        self.scope_numbers()
            .iter()
            .map(|number| &*names[*number as usize])
    }

    /// The JSON text of its entry.
    pub fn entry(self) -> &'i str {
        self.row.entry.of(self.index.text.as_str())
    }

    /// Where its entry stands.
    pub fn place(self) -> Place {
        self.index.text.place(self.row.entry)
    }

    /// Where its id stands; its entry where the id is escaped.
    pub fn id_span(self) -> Span {
        let Slice { start, len } = self.row.id;
        if (start as usize) < self.index.text.as_str().len() {
            Span {
                start: start - 1,
                end: start + len + 1,
            }
        } else {
            self.row.entry
        }
    }
}

/// A server as it is read.
#[derive(Debug, Clone, Copy)]
pub struct NewServer {
    /// `id`
    pub id: Slice,
    /// `version`
    pub version: Slice,
    /// `endpoint`
    pub endpoint: Slice,
    /// `trust.publisher`
    pub publisher: Slice,
    /// The whole entry.
    pub entry: Span,
    /// What the constraints look at.
    pub gate: Gate,
}

/// Names that servers have in common, numbered as they come.
#[derive(Debug, Default)]
struct Interner {
    numbers: FxHashMap<Box<str>, u32>,
}

impl Interner {
    /// The number of a name, and whether it is new.
    #[inline]
    fn number(&mut self, name: &str) -> (u32, bool) {
        if let Some(number) = self.numbers.get(name) {
            return (*number, false);
        }
        let number = self.numbers.len() as u32;
        self.numbers.insert(name.into(), number);
        (number, true)
    }

    /// The names, sorted, and for each old number the place of its name among them.
    fn sorted(self) -> (Vec<Box<str>>, Vec<u32>) {
        let mut names: Vec<_> = self.numbers.into_iter().collect();
        names.sort_unstable();
        let mut renumbered = vec![0; names.len()];
        for (place, (_, number)) in names.iter().enumerate() {
            renumbered[*number as usize] = place as u32;
        }
        (
            names.into_iter().map(|(name, _)| name).collect(),
            renumbered,
        )
    }
}

/// Two entries that have the same id and version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unfit {
    /// The entry that stands first in the text.
    pub first: Span,
    /// The other one.
    pub again: Span,
}

/// Collects the servers of an index.
#[derive(Debug, Default)]
pub struct IndexBuilder {
    /// The length of the text: slices that start behind it are of `unescaped`.
    text_len: usize,
    unescaped: String,
    rows: Vec<Row>,
    memberships: Vec<u32>,
    categories: Interner,
    scopes: Interner,
    /// The categories of the server that is being read.
    own_categories: Vec<u32>,
    /// The scopes of the server that is being read.
    own_scopes: Vec<u32>,
}

impl IndexBuilder {
    /// Begin an index of a text.
    pub fn new(text: &Text) -> Self {
        Self {
            text_len: text.as_str().len(),
            ..Self::default()
        }
    }

    /// Keep a string that stands in the text as it is, within these quotes.
    #[inline]
    pub fn quoted(&self, span: Span) -> Slice {
        Slice {
            start: span.start + 1,
            len: span.end - span.start - 2,
        }
    }

    /// Keep a string that stands in the text in an escaped form.
    pub fn unescaped(&mut self, string: &str) -> Slice {
        let start = (self.text_len + self.unescaped.len()) as u32;
        self.unescaped.push_str(string);
        Slice {
            start,
            len: string.len() as u32,
        }
    }

    /// Add a category to the server that is being read. Whether no server had it yet, so that it
    /// has to be checked.
    #[inline]
    pub fn category(&mut self, name: &str) -> bool {
        let (number, new) = self.categories.number(name);
        self.own_categories.push(number);
        new
    }

    /// Add a scope to the server that is being read. Whether no server had it yet.
    #[inline]
    pub fn scope(&mut self, name: &str) -> bool {
        let (number, new) = self.scopes.number(name);
        self.own_scopes.push(number);
        new
    }

    /// End the server that is being read. None: it is of no use.
    pub fn end_server(&mut self, server: Option<NewServer>) {
        if let Some(server) = server {
            self.rows.push(Row {
                id: server.id,
                version: server.version,
                endpoint: server.endpoint,
                publisher: server.publisher,
                entry: server.entry,
                members: self.memberships.len() as u32,
                categories: self.own_categories.len() as u32,
                scopes: self.own_scopes.len() as u32,
                gate: server.gate,
            });
            self.memberships.append(&mut self.own_categories);
            self.memberships.append(&mut self.own_scopes);
        }
        self.own_categories.clear();
        self.own_scopes.clear();
    }

    /// Number the servers and make the lists.
    ///
    /// # Errors
    /// The entries of equal id and version, if there are such.
    pub fn finish(self, text: Text) -> Result<Index, (Text, Vec<Unfit>)> {
        let (category_names, category_numbers) = self.categories.sorted();
        let (scope_names, scope_numbers) = self.scopes.sorted();
        let mut memberships = self.memberships;
        let mut index = Index {
            text,
            unescaped: self.unescaped,
            rows: self.rows,
            memberships: Vec::new(),
            categories: Dictionary::default(),
            scopes: Dictionary::default(),
            by_name: Vec::new(),
        };

        let order = index.order_by_name();
        let unfit: Vec<_> = order
            .windows(2)
            .filter(|pair| index.compare(pair[0], pair[1]) == Ordering::Equal)
            .map(|pair| {
                let (a, b) = (
                    index.rows[pair[0] as usize].entry,
                    index.rows[pair[1] as usize].entry,
                );
                Unfit {
                    first: a.min(b),
                    again: a.max(b),
                }
            })
            .collect();
        if !unfit.is_empty() {
            return Err((index.text, unfit));
        }

        for row in &mut index.rows {
            let members = &mut memberships[row.members as usize..];
            let (categories, scopes) = members.split_at_mut(row.categories as usize);
            row.categories = renumber(categories, &category_numbers);
            let kept = renumber(&mut scopes[..row.scopes as usize], &scope_numbers);
            // Close the gap that duplicates leave between categories and scopes.
            let gap = categories.len();
            members.copy_within(gap..gap + kept as usize, row.categories as usize);
            row.scopes = kept;
        }
        index.memberships = memberships;
        index.number(&order);
        index.categories = index.dictionary(category_names, ServerView::category_numbers);
        index.scopes = index.dictionary(scope_names, ServerView::scope_numbers);
        Ok(index)
    }
}

/// Renumber, sort and remove duplicates in place; the answer is how many are left.
fn renumber(numbers: &mut [u32], renumbered: &[u32]) -> u32 {
    for number in &mut *numbers {
        *number = renumbered[*number as usize];
    }
    numbers.sort_unstable();
    let mut kept = 0;
    for i in 0..numbers.len() {
        if kept == 0 || numbers[kept - 1] != numbers[i] {
            numbers[kept] = numbers[i];
            kept += 1;
        }
    }
    kept as u32
}

impl Index {
    fn compare(&self, a: u32, b: u32) -> Ordering {
        let (a, b) = (&self.rows[a as usize], &self.rows[b as usize]);
        self.slice(a.id)
            .cmp(self.slice(b.id))
            .then_with(|| self.slice(a.version).cmp(self.slice(b.version)))
    }

    /// The rows, ordered by id, then version, then place in the text.
    fn order_by_name(&self) -> Vec<u32> {
        // Most comparisons are decided by the eight bytes behind what all ids begin with.
        let shared = self.shared_prefix();
        let mut keyed: Vec<(u64, u32)> = self
            .rows
            .iter()
            .zip(0..)
            .map(|(row, number)| {
                let rest = &self.slice(row.id).as_bytes()[shared..];
                let mut first = [0; 8];
                let len = rest.len().min(8);
                first[..len].copy_from_slice(&rest[..len]);
                (u64::from_be_bytes(first), number)
            })
            .collect();
        keyed.sort_unstable_by(|a, b| {
            a.0.cmp(&b.0)
                .then_with(|| self.compare(a.1, b.1))
                .then(a.1.cmp(&b.1))
        });
        keyed.into_iter().map(|(_, number)| number).collect()
    }

    /// How many bytes all ids begin with in common.
    fn shared_prefix(&self) -> usize {
        let Some(first) = self.rows.first() else {
            return 0;
        };
        let first = self.slice(first.id).as_bytes();
        self.rows.iter().fold(first.len(), |shared, row| {
            let id = self.slice(row.id).as_bytes();
            if id.get(..shared) == Some(&first[..shared]) {
                return shared;
            }
            first.iter().zip(id).take_while(|(a, b)| a == b).count()
        })
    }

    /// Put the rows, which `order` has by name, into the order of ranks.
    fn number(&mut self, order: &[u32]) {
        let signed = |number: &&u32| self.rows[**number as usize].gate.signed();
        let by_rank: Vec<u32> = order
            .iter()
            .filter(signed)
            .chain(order.iter().filter(|number| !signed(number)))
            .copied()
            .collect();
        let mut ranks = vec![0; by_rank.len()];
        for (rank, number) in by_rank.iter().enumerate() {
            ranks[*number as usize] = rank as Rank;
        }
        self.by_name = order.iter().map(|number| ranks[*number as usize]).collect();
        let rows = std::mem::take(&mut self.rows);
        let mut placed: Vec<Option<Row>> = rows.into_iter().map(Some).collect();
        self.rows = by_rank
            .iter()
            .filter_map(|number| placed[*number as usize].take())
            .collect();
    }

    fn dictionary<'i>(
        &'i self,
        names: Vec<Box<str>>,
        members: fn(ServerView<'i>) -> &'i [u32],
    ) -> Dictionary {
        let mut starts = vec![0; names.len() + 1];
        for server in self.servers() {
            for number in members(server) {
                starts[*number as usize + 1] += 1;
            }
        }
        for i in 0..names.len() {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut ranks = vec![0; starts[names.len()] as usize];
        for server in self.servers() {
            for number in members(server) {
                let place = &mut next[*number as usize];
                ranks[*place as usize] = server.rank();
                *place += 1;
            }
        }
        Dictionary {
            names,
            starts,
            ranks,
        }
    }
}
