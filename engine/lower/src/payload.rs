//! Payloads: the values of a tool's result that may serve as evidence \[1\].

use super::read::{Lowered, PAYLOAD_LIMIT, read};
use agent_model::{Envelope, EnvelopeFault, LeafKind, Payload, PayloadBuilder, Step};
use agent_syntax::json::{Kind, Reader, SyntaxError};
use agent_text::{DocumentKind, Span};

/// The strings that a block of content may need, by its type.
const BLOCKS: [(&str, &[&str]); 4] = [
    ("text", &["text"]),
    ("image", &["data", "mimeType"]),
    ("audio", &["data", "mimeType"]),
    ("resource_link", &["name", "uri"]),
];

/// Reads a payload: any value in strict JSON, usually a `CallToolResult` of MCP.
///
/// # Errors
/// Every problem of the text, ordered by place.
pub fn payload(bytes: Vec<u8>) -> Lowered<Payload> {
    read((DocumentKind::Payload, bytes, PAYLOAD_LIMIT), |problems| {
        let mut payload = PayloadReader {
            reader: Reader::new(problems.text().as_str()),
            leaves: PayloadBuilder::default(),
            envelope: Envelope::default(),
            is_structured: false,
        };
        let read = payload.root();
        let PayloadReader {
            reader,
            leaves,
            envelope,
            ..
        } = payload;
        reader.finish(read, problems);
        Some(|text| leaves.finish(text, envelope))
    })
}

type Read<T> = Result<T, Box<SyntaxError>>;

/// A reader of the leaves of a payload, and of its envelope.
struct PayloadReader<'a> {
    reader: Reader<'a>,
    leaves: PayloadBuilder,
    envelope: Envelope,
    /// Whether it reads `structuredContent`, whose strings and numbers are evidence.
    is_structured: bool,
}

/// The string members of an object of the envelope, by their leaves.
#[derive(Default)]
struct Strings {
    leaves: Vec<(&'static str, usize)>,
    /// Those of its member `resource`, if it is an object.
    resource: Option<Box<Strings>>,
}

impl Strings {
    /// Every name of a member that a block or its resource may need.
    const NAMES: [&str; 7] = ["blob", "data", "mimeType", "name", "text", "type", "uri"];

    fn get(&self, name: &str) -> Option<usize> {
        let mut leaves = self.leaves.iter();
        leaves.find(|it| it.0 == name).map(|it| it.1)
    }
}

impl PayloadReader<'_> {
    fn fault(&mut self, pointer: String, message: impl Into<String>) {
        let faults = &mut self.envelope.faults;
        if faults.len() < Envelope::FAULTS {
            faults.push(EnvelopeFault {
                pointer,
                message: message.into(),
            });
        }
    }

    fn root(&mut self) -> Read<()> {
        if self.reader.kind()? != Kind::Object {
            self.fault(String::new(), "is not an object");
            return self.value(Step::Root);
        }
        let mut has_content = false;
        self.object(Step::Root, |payload, name, step| match name {
            "content" => {
                has_content = true;
                payload.content(step)
            }
            "structuredContent" => payload.structured_content(step),
            "isError" => payload.is_error(step),
            _ => payload.value(step),
        })?;
        if !has_content {
            self.fault(String::new(), "has no `content`");
        }
        Ok(())
    }

    fn content(&mut self, step: Step) -> Read<()> {
        if self.reader.kind()? != Kind::Array {
            self.fault("/content".to_owned(), "is not a list of content blocks");
            return self.value(step);
        }
        self.array(step, |payload, number, step| payload.block(number, step))
    }

    fn block(&mut self, number: u32, step: Step) -> Read<()> {
        let pointer = format!("/content/{number}");
        if self.reader.kind()? != Kind::Object {
            self.fault(pointer, "is not an object");
            return self.value(step);
        }
        let block = self.strings(step)?;
        let Some(of_type) = block.get("type") else {
            self.fault(pointer, "has no string `type`");
            return Ok(());
        };
        let name = self.leaves.text(of_type).to_owned();
        if name == "resource" {
            self.resource(pointer, block.resource.as_deref());
        } else if let Some((_, required)) = BLOCKS.iter().find(|it| it.0 == name) {
            for missing in required.iter().filter(|it| block.get(it).is_none()) {
                self.fault(pointer.clone(), format!("has no string `{missing}`"));
            }
        } else {
            self.fault(
                pointer + "/type",
                "is none of `text`, `image`, `audio`, `resource_link` and `resource`",
            );
        }
        if let ("text", Some(text)) = (&*name, block.get("text")) {
            self.leaves.admit(text);
        }
        Ok(())
    }

    fn resource(&mut self, block: String, resource: Option<&Strings>) {
        let Some(resource) = resource else {
            self.fault(block, "has no object `resource`");
            return;
        };
        let pointer = block + "/resource";
        if let Some(text) = resource.get("text") {
            self.leaves.admit(text);
        } else if resource.get("blob").is_none() {
            self.fault(pointer.clone(), "has neither a string `text` nor `blob`");
        }
        if resource.get("uri").is_none() {
            self.fault(pointer, "has no string `uri`");
        }
    }

    /// Reads an object of the envelope, and notes its strings.
    fn strings(&mut self, step: Step) -> Read<Strings> {
        let mut strings = Strings::default();
        self.object(step, |payload, name, step| {
            let known = Strings::NAMES.iter().find(|it| **it == name);
            match (payload.reader.kind()?, known) {
                (Kind::String, Some(name)) => {
                    let leaf = payload.string(step)?;
                    strings.leaves.push((name, leaf));
                }
                (Kind::Object, None) if name == "resource" => {
                    strings.resource = Some(Box::new(payload.strings(step)?));
                }
                _ => payload.value(step)?,
            }
            Ok(())
        })?;
        Ok(strings)
    }

    fn structured_content(&mut self, step: Step) -> Read<()> {
        self.reader.kind()?;
        let start = self.reader.offset();
        self.is_structured = true;
        self.value(step)?;
        self.is_structured = false;
        self.envelope.structured_content = Some(Span::new(start, self.reader.offset()));
        Ok(())
    }

    fn is_error(&mut self, step: Step) -> Read<()> {
        if self.reader.kind()? != Kind::Bool {
            self.fault("/isError".to_owned(), "is not a boolean");
            return self.value(step);
        }
        self.envelope.is_error = self.boolean(step)?;
        Ok(())
    }

    /// Reads a value whose strings and numbers are evidence inside `structuredContent` alone. The
    /// depth limit bounds the recursion.
    fn value(&mut self, step: Step) -> Read<()> {
        match self.reader.kind()? {
            Kind::Null => self.reader.null(),
            Kind::Bool => self.boolean(step).map(|_| ()),
            Kind::Number => {
                let number = self.reader.number()?;
                let kind = LeafKind {
                    is_string: false,
                    is_evidence: self.is_structured,
                };
                self.leaves.leaf(step, &number.value, number.span, kind);
                Ok(())
            }
            Kind::String => self.string(step).map(|_| ()),
            Kind::Array => self.array(step, |payload, _, step| payload.value(step)),
            Kind::Object => self.object(step, |payload, _, step| payload.value(step)),
        }
    }

    fn boolean(&mut self, step: Step) -> Read<bool> {
        let start = self.reader.offset();
        let value = self.reader.bool()?;
        let span = Span::new(start, self.reader.offset());
        let kind = LeafKind {
            is_string: false,
            is_evidence: false,
        };
        let text = if value { "true" } else { "false" };
        self.leaves.leaf(step, text, span, kind);
        Ok(value)
    }

    fn string(&mut self, step: Step) -> Read<usize> {
        let string = self.reader.string()?;
        let kind = LeafKind {
            is_string: true,
            is_evidence: self.is_structured,
        };
        Ok(self.leaves.leaf(step, &string.value, string.span, kind))
    }

    fn array(
        &mut self,
        step: Step,
        mut item: impl FnMut(&mut Self, u32, Step) -> Read<()>,
    ) -> Read<()> {
        self.reader.enter_array()?;
        let of = self.leaves.enter(step);
        let (mut number, mut first) = (0, true);
        while self.reader.element(&mut first)? {
            item(self, number, Step::Item { of, number })?;
            number += 1;
        }
        Ok(())
    }

    fn object(
        &mut self,
        step: Step,
        mut member: impl FnMut(&mut Self, &str, Step) -> Read<()>,
    ) -> Read<()> {
        self.reader.enter_object()?;
        let of = self.leaves.enter(step);
        let keys = self.reader.begin_keys();
        let mut first = true;
        while let Some(key) = self.reader.key(&mut first)? {
            self.reader.note_key(&key);
            let step = self.leaves.member(of, &key.value, key.span);
            member(self, &key.value, step)?;
        }
        self.reader.end_keys(keys);
        Ok(())
    }
}
