//! The builder of an index.

use super::columns::{Block, Row, Slice, ToolRow, Tools, run};
use super::constraint_key::ConstraintKey;
use super::dictionary::{Dictionary, Rank, renumber};
use super::view::Index;
use crate::capability::CapabilityVerb;
use agent_text::sort::{sort_by, sort_by_number};
use agent_text::{Span, Text};
use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use std::sync::OnceLock;

/// A new server.
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
    /// `class`
    pub class: Option<Slice>,
    /// The whole entry.
    pub entry: Span,
    /// The place of the id.
    pub id_span: Span,
    /// The properties that constraints compare.
    pub constraint_key: ConstraintKey,
}

/// A new tool.
#[derive(Debug, Clone, Copy)]
pub struct NewTool {
    /// Its key.
    pub name: Slice,
    /// `description`
    pub description: Option<Slice>,
    /// The value of its key.
    pub entry: Span,
}

/// Names that servers share, numbered in order of appearance.
#[derive(Debug, Default)]
struct Interner {
    numbers: FxHashMap<Box<str>, u32>,
}

impl Interner {
    /// Returns the number of a name, and whether it is new.
    #[inline]
    fn number(&mut self, name: &str) -> (u32, bool) {
        if let Some(number) = self.numbers.get(name) {
            return (*number, false);
        }
        let number = self.numbers.len() as u32;
        self.numbers.insert(name.into(), number);
        (number, true)
    }

    /// Returns the sorted names, and for each old number the position of its name.
    fn sorted(self) -> (Vec<Box<str>>, Vec<u32>) {
        let mut names: Vec<_> = self.numbers.into_iter().collect();
        sort_by(&mut names, Ord::cmp);
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

/// Two entries with the same id and version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Duplicate {
    /// The first entry of the text.
    pub first: Span,
    /// The other one.
    pub again: Span,
}

/// The builder of an index, which collects its servers.
#[derive(Debug, Default)]
pub struct IndexBuilder {
    /// The length of the text: slices that start after it refer to `kept`.
    text_len: usize,
    kept: String,
    rows: Vec<Row>,
    constraint_keys: Vec<ConstraintKey>,
    memberships: Vec<u32>,
    categories: Interner,
    scopes: Interner,
    /// The categories of the current server.
    own_categories: Vec<u32>,
    /// The scopes of the current server.
    own_scopes: Vec<u32>,
    /// In reading order; the tools of a server are adjacent.
    tools: Vec<ToolRow>,
    blocks: Vec<Block>,
    block_tags: Vec<u32>,
    pairs: Interner,
    tags: Interner,
    /// `verb:resource` of the current block.
    pair: String,
    /// The tags of the current block.
    own_tags: Vec<u32>,
    /// The number of tools before the current server.
    own_tools: usize,
    /// The number of blocks before the current tool.
    own_blocks: usize,
}

impl IndexBuilder {
    /// Returns a builder for the index of a text.
    pub fn new(text: &Text) -> Self {
        Self {
            text_len: text.as_str().len(),
            ..Self::default()
        }
    }

    /// Returns a slice of the text inside the quotes at `span`.
    #[inline]
    pub fn quoted(&self, span: Span) -> Slice {
        Slice {
            start: span.start + 1,
            len: span.end - span.start - 2,
        }
    }

    /// Keeps a copy of a string. Strings with escapes need one; names compared often get one so that
    /// they are adjacent in memory.
    pub fn kept(&mut self, string: &str) -> Slice {
        let start = (self.text_len + self.kept.len()) as u32;
        self.kept.push_str(string);
        Slice {
            start,
            len: string.len() as u32,
        }
    }

    /// Adds a category to the current server. Returns whether it is new and must be checked.
    #[inline]
    pub fn category(&mut self, name: &str) -> bool {
        let (number, new) = self.categories.number(name);
        self.own_categories.push(number);
        new
    }

    /// Adds a scope to the current server. Returns whether it is new.
    #[inline]
    pub fn scope(&mut self, name: &str) -> bool {
        let (number, new) = self.scopes.number(name);
        self.own_scopes.push(number);
        new
    }

    /// Adds a tag to the current block. Returns whether it is new and must be checked.
    pub fn tag(&mut self, name: &str) -> bool {
        let (number, new) = self.tags.number(name);
        self.own_tags.push(number);
        new
    }

    /// Ends the current block; `None` discards it. Returns whether its verb and resource are new, so
    /// that the resource must be checked.
    pub fn end_block(&mut self, pair: Option<(CapabilityVerb, &str)>) -> bool {
        let new = pair.is_some_and(|(verb, resource)| {
            self.pair.clear();
            self.pair.push_str(verb.as_str());
            self.pair.push(':');
            self.pair.push_str(resource);
            let (pair, new) = self.pairs.number(&self.pair);
            self.blocks.push(Block {
                pair,
                tags: self.block_tags.len() as u32,
                len: self.own_tags.len() as u32,
            });
            self.block_tags.append(&mut self.own_tags);
            new
        });
        self.own_tags.clear();
        new
    }

    /// Ends the current tool; `None` discards it.
    pub fn end_tool(&mut self, tool: Option<NewTool>) {
        if let Some(tool) = tool {
            self.tools.push(ToolRow {
                // Set when all servers have been read.
                server: 0,
                name: tool.name,
                description: tool.description,
                entry: tool.entry,
                blocks: self.own_blocks as u32,
                len: (self.blocks.len() - self.own_blocks) as u32,
            });
        }
        self.own_blocks = self.blocks.len();
    }

    /// Ends the current server; `None` discards it.
    pub fn end_server(&mut self, server: Option<NewServer>) {
        if let Some(server) = server {
            let tools = self.tools.len() - self.own_tools;
            self.rows.push(Row {
                id: server.id,
                version: server.version,
                endpoint: server.endpoint,
                publisher: server.publisher,
                class: server.class,
                entry: server.entry,
                id_span: server.id_span,
                tools: (self.own_tools as u32, tools as u32),
                members: self.memberships.len() as u32,
                categories: self.own_categories.len() as u32,
                scopes: self.own_scopes.len() as u32,
            });
            self.constraint_keys.push(server.constraint_key);
            self.memberships.append(&mut self.own_categories);
            self.memberships.append(&mut self.own_scopes);
        }
        self.own_categories.clear();
        self.own_scopes.clear();
        self.own_tools = self.tools.len();
    }

    /// Returns the servers in order of their names.
    pub fn order<'b>(&'b self, text: &'b Text) -> ByName<'b> {
        ByName::new(Names {
            text: text.as_str(),
            kept: &self.kept,
            rows: &self.rows,
        })
    }

    /// Numbers the servers, whose order by name is `order`, and builds the lists. No two servers may
    /// have the same id and version.
    pub fn finish(self, text: Text, order: &[u32]) -> Index {
        let (category_names, category_numbers) = self.categories.sorted();
        let (scope_names, scope_numbers) = self.scopes.sorted();
        let mut index = Index {
            text,
            kept: self.kept,
            rows: self.rows,
            constraint_keys: self.constraint_keys,
            memberships: self.memberships,
            categories: Dictionary::default(),
            scopes: Dictionary::default(),
            by_name: Vec::new(),
            tools: Tools::default(),
            integrities: OnceLock::new(),
        };
        for row in &mut index.rows {
            let members = &mut index.memberships[row.members as usize..];
            let (categories, scopes) = members.split_at_mut(row.categories as usize);
            row.categories = renumber(categories, &category_numbers);
            let kept = renumber(&mut scopes[..row.scopes as usize], &scope_numbers);
            // Closes the gap that duplicates leave between categories and scopes.
            let gap = categories.len();
            members.copy_within(gap..gap + kept as usize, row.categories as usize);
            row.scopes = kept;
        }
        index.number(order);
        let categories = index.servers().map(|server| server.category_numbers());
        index.categories = Dictionary::new(category_names, categories);
        let scopes = index.servers().map(|server| server.scope_numbers());
        index.scopes = Dictionary::new(scope_names, scopes);
        let (pair_names, pair_numbers) = self.pairs.sorted();
        let (tag_names, tag_numbers) = self.tags.sorted();
        let mut tools = Tools {
            rows: self.tools,
            blocks: self.blocks,
            block_tags: self.block_tags,
            tag_names,
            ..Tools::default()
        };
        tools.renumber(&pair_numbers, &tag_numbers);
        index.number_tools(&mut tools.rows);
        tools.list(pair_names);
        index.tools = tools;
        index
    }
}

/// The names of the servers, in text order.
#[derive(Clone, Copy)]
struct Names<'b> {
    text: &'b str,
    kept: &'b str,
    rows: &'b [Row],
}

impl<'b> Names<'b> {
    fn id(self, number: u32) -> &'b str {
        self.rows[number as usize].id.of(self.text, self.kept)
    }

    fn version(self, number: u32) -> &'b str {
        self.rows[number as usize].version.of(self.text, self.kept)
    }

    fn compare(self, a: u32, b: u32) -> Ordering {
        self.id(a)
            .cmp(self.id(b))
            .then_with(|| self.version(a).cmp(self.version(b)))
    }

    /// Returns the length of the longest common prefix of all ids, in bytes.
    fn shared_prefix(self) -> usize {
        if self.rows.is_empty() {
            return 0;
        }
        let first = self.id(0).as_bytes();
        (0..self.rows.len() as u32).fold(first.len(), |shared, number| {
            let id = self.id(number).as_bytes();
            if id.get(..shared) == Some(&first[..shared]) {
                return shared;
            }
            first.iter().zip(id).take_while(|(a, b)| a == b).count()
        })
    }
}

/// The servers of an unfinished index, ordered by id, version and place.
pub struct ByName<'b> {
    names: Names<'b>,
    order: Vec<u32>,
}

impl<'b> ByName<'b> {
    fn new(names: Names<'b>) -> Self {
        // The eight bytes after the common prefix of all ids decide most comparisons.
        let shared = names.shared_prefix();
        let mut keyed: Vec<(u64, u32)> = (0..names.rows.len() as u32)
            .map(|number| {
                let rest = &names.id(number).as_bytes()[shared..];
                let mut first = [0; 8];
                let len = rest.len().min(8);
                first[..len].copy_from_slice(&rest[..len]);
                (u64::from_be_bytes(first), number)
            })
            .collect();
        sort_by_number(&mut keyed);
        for same in keyed.chunk_by_mut(|a, b| a.0 == b.0) {
            sort_by(same, |a, b| names.compare(a.1, b.1));
        }
        Self {
            names,
            order: keyed.into_iter().map(|(_, number)| number).collect(),
        }
    }

    /// Returns the entries that repeat the id and version of an earlier one.
    pub fn duplicates(&self) -> impl Iterator<Item = Duplicate> {
        self.order
            .windows(2)
            .filter(|pair| self.names.compare(pair[0], pair[1]) == Ordering::Equal)
            .map(|pair| Duplicate {
                first: self.names.rows[pair[0] as usize].entry,
                again: self.names.rows[pair[1] as usize].entry,
            })
    }

    /// Returns the order, for [`IndexBuilder::finish`].
    pub fn into_order(self) -> Vec<u32> {
        self.order
    }
}

impl Index {
    /// Reorders the rows, whose order by name is `order`, by rank.
    fn number(&mut self, order: &[u32]) {
        let signed = |number: &&u32| self.constraint_keys[**number as usize].signed();
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
        self.constraint_keys = by_rank
            .iter()
            .map(|number| self.constraint_keys[*number as usize])
            .collect();
        self.rows = by_rank
            .iter()
            .map(|number| self.rows[*number as usize])
            .collect();
    }

    /// Reorders the tools, which are in reading order, into view order: by server, then name.
    fn number_tools(&mut self, tools: &mut Vec<ToolRow>) {
        let mut numbered = Vec::with_capacity(tools.len());
        for rank in &self.by_name {
            let row = &mut self.rows[*rank as usize];
            let (first, len) = row.tools;
            row.tools.0 = numbered.len() as u32;
            numbered.extend(tools[run(first, len)].iter().map(|tool| ToolRow {
                server: *rank,
                ..*tool
            }));
            let (text, kept) = (self.text.as_str(), &*self.kept);
            sort_by(&mut numbered[row.tools.0 as usize..], |a, b| {
                a.name.of(text, kept).cmp(b.name.of(text, kept))
            });
        }
        *tools = numbered;
    }
}
