//! The columns of an index: its servers and tools as slices and numbers.

use super::dictionary::{Dictionary, Rank, renumber};
use agent_text::Span;
use agent_text::sort::sort_by;
use std::ops::Range;

/// A slice of the text, or of the kept copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slice {
    pub(super) start: u32,
    pub(super) len: u32,
}

impl Slice {
    /// Slices that start after the text refer to the kept copies.
    #[inline]
    pub(super) fn of<'t>(self, text: &'t str, kept: &'t str) -> &'t str {
        let (start, len) = (self.start as usize, self.len as usize);
        match start.checked_sub(text.len()) {
            None => &text[start..start + len],
            Some(start) => &kept[start..start + len],
        }
    }
}

/// The number of a tool in view order, which also breaks ties between tools: by its server's id,
/// then version, then its name \[4, 5\].
pub type ToolNumber = u32;

/// A server.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    pub(super) id: Slice,
    pub(super) version: Slice,
    pub(super) endpoint: Slice,
    pub(super) publisher: Slice,
    pub(super) class: Option<Slice>,
    pub(super) entry: Span,
    pub(super) id_span: Span,
    /// The number of the server's first tool, and the number of its tools.
    pub(super) tools: (ToolNumber, u32),
    /// The start of the server's categories, followed by its scopes, in `memberships`.
    pub(super) members: u32,
    pub(super) categories: u32,
    pub(super) scopes: u32,
}

/// A tool.
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
            let own = run(block.tags, block.len);
            block.len = renumber(&mut self.block_tags[own], tags);
        }
        let block_tags = &self.block_tags;
        for row in &self.rows {
            let own = run(row.blocks, row.len);
            sort_by(&mut self.blocks[own], |a, b| {
                let [a, b] = [a, b].map(|block| {
                    let own = run(block.tags, block.len);
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
            let own = run(row.blocks, row.len);
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

/// Returns the places of a number of adjacent elements.
pub(super) fn run(start: u32, len: u32) -> Range<usize> {
    start as usize..(start + len) as usize
}
