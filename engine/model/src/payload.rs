//! Payloads: the texts of a tool's result that may serve as evidence.

use agent_syntax::json::raw_offset;
use agent_text::{Place, Span, Text};
use std::ops::Range;

/// A payload: its leaves, which are the values that may serve as evidence, in document order, and its
/// envelope as a result of `tools/call`.
#[derive(Debug, Clone)]
pub struct Payload {
    text: Text,
    parts: PayloadBuilder,
    envelope: Envelope,
}

/// The envelope of a payload: what makes it a `CallToolResult` of MCP.
#[derive(Debug, Clone, Default)]
pub struct Envelope {
    /// The reasons why the payload is no `CallToolResult`, at most [`Envelope::FAULTS`].
    pub faults: Vec<EnvelopeFault>,
    /// Whether the tool reports an error.
    pub is_error: bool,
    /// The bytes of its `structuredContent`, if any.
    pub structured_content: Option<Span>,
}

/// A reason why a payload is no `CallToolResult`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvelopeFault {
    /// The JSON pointer (RFC 6901) to the faulty value.
    pub pointer: String,
    /// The fault, as the predicate of a sentence about that value.
    pub message: String,
}

impl Envelope {
    /// Maximum number of reported faults.
    pub const FAULTS: usize = 16;
}

/// The builder of a payload, which takes leaves in document order. A payload may contain millions of
/// numbers, so one text holds the texts of all leaves, and pointers are built on demand.
#[derive(Debug, Clone, Default)]
pub struct PayloadBuilder {
    /// The texts of all leaves, concatenated.
    texts: String,
    leaves: Vec<Leaf>,
    /// The values that are no evidence. [`PayloadBuilder::finish`] moves them here.
    others: Vec<Leaf>,
    /// The arrays and objects, the outer before the inner.
    around: Vec<Step>,
    /// The names of all members, concatenated.
    names: String,
    members: Vec<Member>,
}

/// The number of a leaf in document order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LeafNumber(u32);

#[derive(Debug, Clone)]
struct Leaf {
    text: Range<u32>,
    span: Span,
    is_string: bool,
    is_evidence: bool,
    step: Step,
}

#[derive(Debug, Clone)]
struct Member {
    name: Range<u32>,
    span: Span,
}

/// The kind of a leaf.
#[derive(Debug, Clone, Copy)]
pub struct LeafKind {
    /// Whether it is a string.
    pub is_string: bool,
    /// Whether it is evidence in a `CallToolResult`.
    pub is_evidence: bool,
}

/// The step to a value from its enclosing array or object, which is given by its number.
#[derive(Debug, Clone, Copy)]
pub enum Step {
    /// The root.
    Root,
    /// An item.
    Item {
        /// The array.
        of: u32,
        /// Its number in the array.
        number: u32,
    },
    /// A member.
    Member {
        /// The object.
        of: u32,
        /// The number of its name among all names.
        name: u32,
    },
}

/// A leaf of a payload.
#[derive(Debug, Clone, Copy)]
pub struct LeafView<'p> {
    payload: &'p Payload,
    number: LeafNumber,
}

impl Payload {
    /// Returns the leaves, in document order.
    pub fn leaves(&self) -> impl Iterator<Item = LeafView<'_>> {
        (0..self.parts.leaves.len() as u32).map(|number| self.leaf(LeafNumber(number)))
    }

    /// Returns a leaf of this payload.
    pub fn leaf(&self, number: LeafNumber) -> LeafView<'_> {
        LeafView {
            payload: self,
            number,
        }
    }

    /// Returns the place of the first member with a name. Names are not texts.
    pub fn place_of_name(&self, name: &str) -> Option<Place> {
        let members = &self.parts.members;
        let known = |member: &&Member| slice(&self.parts.names, &member.name) == name;
        Some(self.text.place(members.iter().find(known)?.span))
    }

    /// Returns the place of the first value with a text that is no evidence: of a type, a name or a
    /// flag of the envelope, or of a boolean.
    pub fn place_of_other(&self, text: &str) -> Option<Place> {
        let equal = |other: &&Leaf| slice(&self.parts.texts, &other.text) == text;
        Some(self.text.place(self.parts.others.iter().find(equal)?.span))
    }

    /// Returns its envelope.
    pub fn envelope(&self) -> &Envelope {
        &self.envelope
    }

    /// Returns the source text of a part of it.
    pub fn source(&self, span: Span) -> &str {
        span.of(self.text.as_str())
    }

    /// Returns the number of leaves.
    pub fn count(&self) -> usize {
        self.parts.leaves.len()
    }

    /// Returns the total size of the texts of all leaves, in bytes.
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

    /// Returns its number.
    pub fn number(self) -> LeafNumber {
        self.number
    }

    /// Returns a string without its quotes and escapes, or a number as written.
    pub fn text(self) -> &'p str {
        slice(&self.payload.parts.texts, &self.leaf().text)
    }

    /// Returns whether it is a string, a part of which can be evidence. A number counts only as a
    /// whole.
    pub fn is_string(self) -> bool {
        self.leaf().is_string
    }

    /// Returns the JSON pointer to it (RFC 6901).
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

    /// Returns the place of a part of its text in the payload, which may contain escapes. The place of
    /// a whole string includes its quotes.
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
        // Only the rest after the start remains to be scanned.
        let to = from + raw_offset(&inner[from - start..], part.len());
        self.payload.text.place(Span::new(from, to))
    }
}

impl PayloadBuilder {
    /// Enters an array or an object at a step. Returns its number.
    pub fn enter(&mut self, step: Step) -> u32 {
        self.around.push(step);
        self.around.len() as u32 - 1
    }

    /// Returns the step to a member of an entered object.
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

    /// Takes a string, a number or a boolean at a step. Returns its number among all of them.
    pub fn leaf(&mut self, step: Step, text: &str, span: Span, kind: LeafKind) -> usize {
        let start = self.texts.len() as u32;
        self.texts.push_str(text);
        self.leaves.push(Leaf {
            text: start..self.texts.len() as u32,
            span,
            is_string: kind.is_string,
            is_evidence: kind.is_evidence,
            step,
        });
        self.leaves.len() - 1
    }

    /// Returns the text of a leaf.
    pub fn text(&self, leaf: usize) -> &str {
        slice(&self.texts, &self.leaves[leaf].text)
    }

    /// Makes a leaf evidence.
    pub fn admit(&mut self, leaf: usize) {
        self.leaves[leaf].is_evidence = true;
    }

    /// Returns the payload of a text. All strings of a payload that is no `CallToolResult` are
    /// evidence.
    pub fn finish(mut self, text: Text, envelope: Envelope) -> Payload {
        let is_result = envelope.faults.is_empty();
        let is_evidence = |leaf: &Leaf| match is_result {
            true => leaf.is_evidence,
            false => leaf.is_string,
        };
        (self.leaves, self.others) = self.leaves.into_iter().partition(is_evidence);
        Payload {
            text,
            parts: self,
            envelope,
        }
    }
}
