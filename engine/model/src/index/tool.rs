//! The tools of servers, with their capabilities.

use super::builder::renumber;
use super::dictionary::Dictionary;
use super::{Index, Members, Rank, ServerView, Slice};
use agent_text::sort::sort_by;
use agent_text::{Place, Span};

/// The number of a tool in view order, which also breaks ties between tools: by its server's id,
/// then version, then its name \[4, 5\].
pub type ToolNumber = u32;

#[derive(Debug, Clone, Copy)]
pub(super) struct ToolRow {
    pub(super) server: Rank,
    pub(super) name: Slice,
    pub(super) description: Option<Slice>,
    pub(super) entry: Span,
    /// The start of the tool's blocks, and their number.
    pub(super) blocks: u32,
    pub(super) len: u32,
}

/// One element of `x-summit-capabilities`, as numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    pub(super) pair: u32,
    /// The start of the block's tags, and their number.
    pub(super) tags: u32,
    pub(super) len: u32,
}

/// All tools of an index.
#[derive(Debug, Default)]
pub(super) struct Tools {
    /// By number.
    pub(super) rows: Vec<ToolRow>,
    /// The blocks of a tool are ordered by pair, then tags.
    pub(super) blocks: Vec<Block>,
    /// The tags of a block are sorted, without duplicates.
    pub(super) block_tags: Vec<u32>,
    pub(super) tag_names: Vec<Box<str>>,
    /// `verb:resource`, each with the tools that advertise it.
    pub(super) pairs: Dictionary,
}

impl Tools {
    /// Renumbers pairs and tags by the order of their names, and sorts the blocks.
    pub(super) fn renumber(&mut self, pairs: &[u32], tags: &[u32]) {
        for block in &mut self.blocks {
            block.pair = pairs[block.pair as usize];
            let own = block.tags as usize..(block.tags + block.len) as usize;
            block.len = renumber(&mut self.block_tags[own], tags);
        }
        let block_tags = &self.block_tags;
        for row in &self.rows {
            let own = row.blocks as usize..(row.blocks + row.len) as usize;
            sort_by(&mut self.blocks[own], |a, b| {
                let [a, b] = [a, b].map(|block| {
                    let own = block.tags as usize..(block.tags + block.len) as usize;
                    (block.pair, &block_tags[own])
                });
                a.cmp(&b)
            });
        }
    }

    /// Lists the tools that advertise each pair.
    pub(super) fn list(&mut self, names: Vec<Box<str>>) {
        let mut pairs = Vec::with_capacity(self.blocks.len());
        let mut ends = Vec::with_capacity(self.rows.len());
        for row in &self.rows {
            let start = pairs.len();
            let own = row.blocks as usize..(row.blocks + row.len) as usize;
            for block in &self.blocks[own] {
                if pairs[start..].last() != Some(&block.pair) {
                    pairs.push(block.pair);
                }
            }
            ends.push((start, pairs.len()));
        }
        let lists = ends.iter().map(|(start, end)| &pairs[*start..*end]);
        self.pairs = Dictionary::new(names, lists);
    }
}

impl Index {
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
}

impl<'i> ServerView<'i> {
    /// Returns its tools, ordered by name.
    pub fn tools(self) -> impl ExactSizeIterator<Item = ToolView<'i>> + Clone {
        let (first, len) = self.row.tools;
        (first..first + len).map(move |number| self.index.tool(number))
    }

    /// Returns its tool with a name.
    pub fn tool(self, name: &str) -> Option<ToolView<'i>> {
        self.tools().find(|tool| tool.name() == name)
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

    /// Returns its capabilities, ordered by verb, resource, constraints.
    pub fn advertised(self) -> impl ExactSizeIterator<Item = Advertised<'i>> + Clone {
        let own = self.row.blocks as usize..(self.row.blocks + self.row.len) as usize;
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
        let own = self.block.tags as usize..(self.block.tags + self.block.len) as usize;
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
