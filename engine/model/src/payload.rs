//! What a tool returned, as the texts that evidence can be taken from.

use agent_syntax::json::raw_offset;
use agent_text::{Place, Span, Text};
use std::ops::Range;

/// The texts of a payload, in document order: its strings, numbers and booleans. Names of members
/// are none of them, and `null` says nothing.
#[derive(Debug, Clone)]
pub struct Payload {
    text: Text,
    parts: PayloadBuilder,
}

/// Takes the leaves of a payload in document order. A payload may be millions of numbers: what they
/// say stands in one text, and their pointers are made when they are asked for.
#[derive(Debug, Clone, Default)]
pub struct PayloadBuilder {
    /// The texts of all leaves, one after the other.
    texts: String,
    leaves: Vec<Leaf>,
    /// The arrays and objects, the outer before the inner.
    around: Vec<Step>,
    /// The names of all members, one after the other.
    names: String,
    members: Vec<Member>,
}

/// A leaf, by its number in document order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LeafNumber(u32);

#[derive(Debug, Clone)]
struct Leaf {
    text: Range<u32>,
    span: Span,
    is_string: bool,
    step: Step,
}

#[derive(Debug, Clone)]
struct Member {
    name: Range<u32>,
    span: Span,
}

/// How a value is reached from the array or object around it, given by its number.
#[derive(Debug, Clone, Copy)]
pub enum Step {
    /// It is the whole.
    Root,
    /// It is an item.
    Item {
        /// The array.
        of: u32,
        /// Its number in the array.
        number: u32,
    },
    /// It is a member.
    Member {
        /// The object.
        of: u32,
        /// The number of its name among all names.
        name: u32,
    },
}

/// A leaf that is being looked at.
#[derive(Debug, Clone, Copy)]
pub struct LeafView<'p> {
    payload: &'p Payload,
    number: LeafNumber,
}

impl Payload {
    /// The leaves, in document order.
    pub fn leaves(&self) -> impl Iterator<Item = LeafView<'_>> {
        (0..self.parts.leaves.len() as u32).map(|number| self.leaf(LeafNumber(number)))
    }

    /// A leaf of this payload.
    pub fn leaf(&self, number: LeafNumber) -> LeafView<'_> {
        LeafView {
            payload: self,
            number,
        }
    }

    /// Where a member has this name: the first one. Names are no texts.
    pub fn place_of_name(&self, name: &str) -> Option<Place> {
        let members = &self.parts.members;
        let known = |member: &&Member| slice(&self.parts.names, &member.name) == name;
        Some(self.text.place(members.iter().find(known)?.span))
    }

    /// How many leaves there are.
    pub fn count(&self) -> usize {
        self.parts.leaves.len()
    }

    /// How many bytes the texts of all leaves have together.
    pub fn bytes(&self) -> usize {
        self.parts.texts.len()
    }
}

fn slice<'t>(text: &'t str, range: &Range<u32>) -> &'t str {
    &text[range.start as usize..range.end as usize]
}

impl<'p> LeafView<'p> {
    fn leaf(self) -> &'p Leaf {
        &self.payload.parts.leaves[self.number.0 as usize]
    }

    /// Its number.
    pub fn number(self) -> LeafNumber {
        self.number
    }

    /// A string without its quotes and escapes; a number or a boolean by its source text.
    pub fn text(self) -> &'p str {
        slice(&self.payload.parts.texts, &self.leaf().text)
    }

    /// Whether it is a string, of which a part can be evidence. Otherwise it is a number or a
    /// boolean, which counts only whole.
    pub fn is_string(self) -> bool {
        self.leaf().is_string
    }

    /// The JSON pointer to it (RFC 6901).
    pub fn pointer(self) -> String {
        let parts = &self.payload.parts;
        let mut steps = Vec::new();
        let mut step = self.leaf().step;
        while let Step::Item { of, .. } | Step::Member { of, .. } = step {
            steps.push(step);
            step = parts.around[of as usize];
        }
        let mut pointer = String::new();
        for step in steps.iter().rev() {
            pointer.push('/');
            match step {
                Step::Root => {}
                Step::Item { number, .. } => pointer.push_str(&number.to_string()),
                Step::Member { name, .. } => {
                    let name = slice(&parts.names, &parts.members[*name as usize].name);
                    pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
                }
            }
        }
        pointer
    }

    /// Where a part of its text stands in the payload, which may have it with escapes. The whole of
    /// a string stands there with its quotes.
    pub fn place(self, part: &Range<usize>) -> Place {
        let Leaf {
            span, is_string, ..
        } = *self.leaf();
        let whole = *part == (0..self.text().len());
        if !is_string || whole {
            return self.payload.text.place(span);
        }
        let start = span.start as usize + 1;
        let inner = &self.payload.text.as_str()[start..span.end as usize - 1];
        let from = start + raw_offset(inner, part.start);
        // Only what is behind the start is left to be walked over.
        let to = from + raw_offset(&inner[from - start..], part.len());
        self.payload.text.place(Span::new(from, to))
    }
}

impl PayloadBuilder {
    /// Go into an array or an object that is reached so. The answer is its number.
    pub fn enter(&mut self, step: Step) -> u32 {
        self.around.push(step);
        self.around.len() as u32 - 1
    }

    /// The step to a member of an object that was entered.
    pub fn member(&mut self, of: u32, name: &str, span: Span) -> Step {
        let start = self.names.len() as u32;
        self.names.push_str(name);
        self.members.push(Member {
            name: start..self.names.len() as u32,
            span,
        });
        let name = self.members.len() as u32 - 1;
        Step::Member { of, name }
    }

    /// Take a leaf that is reached so.
    pub fn leaf(&mut self, step: Step, text: &str, span: Span, is_string: bool) {
        let start = self.texts.len() as u32;
        self.texts.push_str(text);
        self.leaves.push(Leaf {
            text: start..self.texts.len() as u32,
            span,
            is_string,
            step,
        });
    }

    /// The payload, with the text that it was read from.
    pub fn finish(self, text: Text) -> Payload {
        Payload { text, parts: self }
    }
}
