//! The index and views of its servers and tools.

use super::columns::{Block, Row, Slice, ToolNumber, ToolRow, Tools, run};
use super::constraint_key::ConstraintKey;
use super::dictionary::{Dictionary, Members, Rank};
use agent_text::sort::sort_by;
use agent_text::{Place, Span, Text};
use std::cmp::Ordering;
use std::sync::OnceLock;

/// A valid index.
#[derive(Debug)]
pub struct Index {
    pub(super) text: Text,
    pub(super) kept: String,
    /// By rank.
    pub(super) rows: Vec<Row>,
    /// By rank.
    pub(super) constraint_keys: Vec<ConstraintKey>,
    /// For each server its categories and then its scopes, as numbers of the dictionaries:
    /// sorted, without duplicates.
    pub(super) memberships: Vec<u32>,
    pub(super) categories: Dictionary,
    pub(super) scopes: Dictionary,
    pub(super) by_name: Vec<Rank>,
    pub(super) tools: Tools,
    /// The integrities of entries that were asked for, by rank.
    pub(super) integrities: OnceLock<Box<[OnceLock<Box<str>>]>>,
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

    /// Returns the server with an id and a version.
    pub fn find(&self, id: &str, version: &str) -> Option<ServerView<'_>> {
        self.versions(id).find(|server| server.version() == version)
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

    /// Returns the number of tools.
    pub fn tool_count(&self) -> usize {
        self.tools.rows.len()
    }

    /// Returns the tool of a number below [`Index::tool_count`].
    pub fn tool(&self, number: ToolNumber) -> ToolView<'_> {
        ToolView {
            index: self,
            row: &self.tools.rows[number as usize],
            number,
        }
    }

    /// Returns all tools, ordered by their server's id, then version, then their name.
    pub fn tools(&self) -> impl ExactSizeIterator<Item = ToolView<'_>> + Clone {
        (0..self.tools.rows.len() as ToolNumber).map(|number| self.tool(number))
    }

    /// Returns the advertised `verb:resource` pairs, sorted. A pair's number is its position here.
    pub fn pair_names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.tools.pairs.names().iter().map(|name| &**name)
    }

    /// Returns the tags of advertised capabilities, sorted. A tag's number is its position here.
    pub fn tag_names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.tools.tag_names.iter().map(|name| &**name)
    }

    /// Returns the number of a pair, if a tool advertises it.
    pub fn pair(&self, name: &str) -> Option<u32> {
        self.tools.pairs.find(name)
    }

    /// Returns the number of a tag, if a tool has it.
    pub fn tag(&self, name: &str) -> Option<u32> {
        self.tools
            .tag_names
            .binary_search_by(|known| (**known).cmp(name))
            .ok()
            .map(|number| number as u32)
    }

    /// Returns the numbers of the tools that advertise a pair.
    pub fn with_pair(&self, number: u32) -> Members<'_> {
        self.tools.pairs.members(number)
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

    /// Returns the integrity of its entry, which is calculated for the first request.
    pub fn kept_integrity(self, calculate: impl FnOnce(Self) -> String) -> &'i str {
        let all = || (0..self.index.len()).map(|_| OnceLock::new()).collect();
        let integrities = self.index.integrities.get_or_init(all);
        integrities[self.rank as usize].get_or_init(|| calculate(self).into_boxed_str())
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
        &self.index.memberships[run(self.row.members, self.row.categories)]
    }

    /// Returns the numbers of its scopes: sorted, without duplicates.
    pub fn scope_numbers(self) -> &'i [u32] {
        let start = self.row.members + self.row.categories;
        &self.index.memberships[run(start, self.row.scopes)]
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

    /// Returns its tools, ordered by name.
    pub fn tools(self) -> impl ExactSizeIterator<Item = ToolView<'i>> + Clone {
        let (first, len) = self.row.tools;
        (first..first + len).map(move |number| self.index.tool(number))
    }

    /// Returns its tool with a name.
    pub fn tool(self, name: &str) -> Option<ToolView<'i>> {
        let (first, len) = self.row.tools;
        let (mut low, mut high) = (first, first + len);
        while low < high {
            let middle = low + (high - low) / 2;
            let tool = self.index.tool(middle);
            match tool.name().cmp(name) {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => return Some(tool),
            }
        }
        None
    }
}

/// A tool of a server.
#[derive(Debug, Clone, Copy)]
pub struct ToolView<'i> {
    index: &'i Index,
    row: &'i ToolRow,
    number: ToolNumber,
}

impl<'i> ToolView<'i> {
    /// Returns its number in view order.
    pub fn number(self) -> ToolNumber {
        self.number
    }

    /// Returns its server.
    pub fn server(self) -> ServerView<'i> {
        self.index.server(self.row.server)
    }

    /// Returns its key.
    pub fn name(self) -> &'i str {
        self.index.slice(self.row.name)
    }

    /// Returns `description`.
    pub fn description(self) -> Option<&'i str> {
        self.row.description.map(|text| self.index.slice(text))
    }

    /// Returns the JSON text of its entry.
    pub fn entry(self) -> &'i str {
        self.row.entry.of(self.index.text.as_str())
    }

    /// Returns the place of its entry.
    pub fn place(self) -> Place {
        self.index.text.place(self.row.entry)
    }

    /// Returns the place of a part of its entry, given as a span of [`ToolView::entry`].
    pub fn place_of(self, part: Span) -> Place {
        let Span { start, .. } = self.row.entry;
        self.index.text.place(Span {
            start: start + part.start,
            end: start + part.end,
        })
    }

    /// Returns its capabilities, ordered by verb, resource, constraints.
    pub fn advertised(self) -> impl ExactSizeIterator<Item = Advertised<'i>> + Clone {
        let own = run(self.row.blocks, self.row.len);
        self.index.tools.blocks[own]
            .iter()
            .map(move |block| Advertised {
                index: self.index,
                block,
            })
    }

    /// Returns its advertised `verb:resource` pairs: sorted, without duplicates.
    pub fn pairs(self) -> Vec<&'i str> {
        let mut pairs: Vec<_> = self.advertised().map(Advertised::pair).collect();
        pairs.dedup();
        pairs
    }
}

/// One element of `x-summit-capabilities` of a tool \[4, 3\].
#[derive(Debug, Clone, Copy)]
pub struct Advertised<'i> {
    index: &'i Index,
    block: &'i Block,
}

impl<'i> Advertised<'i> {
    /// Returns `verb:resource`.
    pub fn pair(self) -> &'i str {
        &self.index.tools.pairs.names()[self.pair_number() as usize]
    }

    /// Returns the number of the pair.
    pub fn pair_number(self) -> u32 {
        self.block.pair
    }

    /// Returns the verb and the resource.
    pub fn verb_and_resource(self) -> (&'i str, &'i str) {
        // A verb contains no colon, so the first one ends it.
        self.pair().split_once(':').unwrap_or((self.pair(), ""))
    }

    /// Returns the numbers of the constraints: sorted, without duplicates.
    pub fn tag_numbers(self) -> &'i [u32] {
        let own = run(self.block.tags, self.block.len);
        &self.index.tools.block_tags[own]
    }

    /// Returns the constraints: sorted, without duplicates.
    pub fn tags(self) -> impl ExactSizeIterator<Item = &'i str> + Clone {
        let names = &self.index.tools.tag_names;
        self.tag_numbers()
            .iter()
            .map(|number| &*names[*number as usize])
    }
}
