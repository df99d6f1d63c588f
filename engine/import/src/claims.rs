//! What sources say that a tool can do, and what all of them say \[4, 3\].

use super::described::member;
use super::field::Scalars;
use super::output::{Base, NewObject, NewValue, Origin};
use super::overlay::string;
use agent_model::HUMAN_IN_THE_LOOP;
use agent_syntax::{Entry, Node, Value, json_string};
use agent_text::sort::sort_by;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry as Slot;

/// The constraint of a tool without side effects.
pub(super) const READONLY: &str = "readonly";

/// A list of capabilities, with its place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source<'a> {
    node: &'a Node<'a>,
    base: Base,
}

/// A word of a source.
type Word<'a> = (&'a str, Origin);

/// A capability of a source.
#[derive(Debug)]
pub(super) struct Block<'a> {
    verb: Word<'a>,
    resource: Word<'a>,
    constraints: BTreeMap<&'a str, Origin>,
}

/// What all sources say.
#[derive(Debug)]
pub(super) struct Agreed<'a> {
    /// The capabilities, sorted.
    pub(super) blocks: Vec<Block<'a>>,
    /// Whether a source says something else.
    pub(super) differ: bool,
}

impl<'a> Source<'a> {
    pub(super) fn new(node: &'a Node<'a>, base: Base) -> Self {
        Self { node, base }
    }

    /// Returns the list.
    pub(super) fn node(self) -> &'a Node<'a> {
        self.node
    }

    /// Returns the base of its spans.
    pub(super) fn base(self) -> Base {
        self.base
    }

    /// Returns whether every capability has its verb and its resource.
    pub(super) fn is_readable(self) -> bool {
        self.blocks().is_some()
    }

    /// Returns the origin of the list.
    pub(super) fn origin(self) -> Origin {
        self.base.origin(self.node.span)
    }

    /// Returns the unchanged list.
    pub(super) fn value(self) -> NewValue<'a> {
        NewValue::Tree {
            node: self.node,
            base: self.base,
            scalars: Scalars::Strings,
        }
    }

    /// Returns the origin of the first constraint `readonly`.
    pub(super) fn readonly(self) -> Option<Origin> {
        let constraints = |block| items(&field(block, "constraints")?.value);
        let blocks = items(self.node)?.iter();
        let mut all = blocks.filter_map(constraints).flatten();
        let found = all.find(|constraint| string(constraint) == Some(READONLY))?;
        Some(self.base.origin(found.span))
    }

    /// Returns the sorted capabilities, or `None` if the loader refuses their form.
    fn blocks(self) -> Option<Vec<Block<'a>>> {
        let blocks = items(self.node)?.iter();
        let mut blocks: Vec<_> = blocks
            .map(|block| self.block(block))
            .collect::<Option<_>>()?;
        sort_by(&mut blocks, |a, b| a.words().cmp(&b.words()));
        blocks.dedup_by(|a, b| a.words() == b.words());
        Some(blocks)
    }

    fn block(self, block: &'a Node<'a>) -> Option<Block<'a>> {
        let word = |node: &'a Node<'a>| Some((string(node)?, self.base.origin(node.span)));
        let constraints = match field(block, "constraints") {
            None => BTreeMap::new(),
            Some(list) => items(&list.value)?
                .iter()
                .map(word)
                .collect::<Option<_>>()?,
        };
        Some(Block {
            verb: word(&field(block, "verb")?.value)?,
            resource: word(&field(block, "resource")?.value)?,
            constraints,
        })
    }
}

fn items<'a>(node: &'a Node<'a>) -> Option<&'a [Node<'a>]> {
    match &node.value {
        Value::Sequence(items) => Some(items),
        _ => None,
    }
}

fn field<'a>(block: &'a Node<'a>, key: &str) -> Option<&'a Entry<'a>> {
    match &block.value {
        Value::Mapping(entries) => member(entries, key),
        _ => None,
    }
}

impl<'a> Block<'a> {
    fn words(&self) -> (&'a str, &'a str, Vec<&'a str>) {
        let constraints = self.constraints.keys().copied();
        (self.verb.0, self.resource.0, constraints.collect())
    }

    /// Removes every constraint that another block lacks, but for the approval of a human, which
    /// either of them demands for both.
    fn narrow(&mut self, other: &Self) {
        let approval = other.constraints.get_key_value(HUMAN_IN_THE_LOOP);
        self.constraints
            .retain(|name, _| *name == HUMAN_IN_THE_LOOP || other.constraints.contains_key(name));
        if let Some((name, origin)) = approval {
            self.constraints.entry(name).or_insert(*origin);
        }
    }

    /// Returns the block to write.
    pub(super) fn value(self) -> NewValue<'a> {
        let text = |(text, origin): Word<'a>| NewValue::Text(Cow::Borrowed(text), origin);
        let mut object = NewObject {
            origin: Some(self.verb.1),
            ..NewObject::default()
        };
        object.set("verb", None, text(self.verb));
        object.set("resource", None, text(self.resource));
        if !self.constraints.is_empty() {
            let constraints = self.constraints.into_iter().map(text).collect();
            object.set("constraints", None, NewValue::List(constraints));
        }
        NewValue::Object(object)
    }

    /// Returns the block as people write it: `search:internet + readonly`.
    pub(super) fn line(&self) -> String {
        let (verb, resource, constraints) = self.words();
        let mut line = format!("{verb}:{resource}");
        if !constraints.is_empty() {
            line.push_str(" + ");
            line.push_str(&constraints.join(", "));
        }
        line
    }
}

/// Returns blocks as a JSON text on one line, without the constraint `without`.
pub(super) fn json(blocks: &[Block<'_>], without: &str) -> String {
    let block = |block: &Block<'_>| {
        let (verb, resource, mut constraints) = block.words();
        constraints.retain(|name| *name != without);
        let mut text = format!(
            "{{ \"verb\": {}, \"resource\": {}",
            json_string(verb),
            json_string(resource)
        );
        if !constraints.is_empty() {
            let names: Vec<_> = constraints.into_iter().map(json_string).collect();
            text.push_str(&format!(", \"constraints\": [{}]", names.join(", ")));
        }
        text + " }"
    };
    let blocks: Vec<_> = blocks.iter().map(block).collect();
    format!("[{}]", blocks.join(", "))
}

/// Returns what all sources say, or the source that the loader refuses.
///
/// Where sources differ, the blocks of one pair of a verb and a resource become one block.
pub(super) fn agree<'a>(sources: &[Source<'a>]) -> Result<Agreed<'a>, Source<'a>> {
    let mut all = Vec::new();
    for source in sources {
        all.push(source.blocks().ok_or(*source)?);
    }
    let words = |blocks: &[Block<'a>]| -> Vec<_> { blocks.iter().map(Block::words).collect() };
    let differ = all.windows(2).any(|two| words(&two[0]) != words(&two[1]));
    let mut all = all.into_iter();
    let Some(mut kept) = all.next() else {
        return Ok(Agreed {
            blocks: Vec::new(),
            differ,
        });
    };
    if differ {
        kept = merged(kept).into_values().collect();
        for blocks in all {
            let others = merged(blocks);
            kept.retain_mut(|block| {
                let other = others.get(&(block.verb.0, block.resource.0));
                other.map(|other| block.narrow(other)).is_some()
            });
        }
    }
    let blocks = kept;
    Ok(Agreed { blocks, differ })
}

/// Merges the blocks of each pair of a verb and a resource.
fn merged<'a>(blocks: Vec<Block<'a>>) -> BTreeMap<(&'a str, &'a str), Block<'a>> {
    let mut merged: BTreeMap<_, Block<'a>> = BTreeMap::new();
    for block in blocks {
        match merged.entry((block.verb.0, block.resource.0)) {
            Slot::Occupied(mut first) => first.get_mut().narrow(&block),
            Slot::Vacant(slot) => {
                slot.insert(block);
            }
        }
    }
    merged
}
