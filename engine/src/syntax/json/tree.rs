//! JSON texts as trees.

use super::problem::Syntax;
use super::reader::{Kind, Reader};
use super::report;
use crate::diagnostic::Problems;
use crate::syntax::{Entry, Node, Value};
use crate::text::Span;

/// Read a JSON text. None if it can't be read, which is then among the problems, as is everything
/// else that strict JSON forbids.
pub fn parse<'t>(problems: &mut Problems<'t>) -> Option<Node<'t>> {
    let mut reader = Reader::new(problems.text().as_str());
    let read = value(&mut reader);
    let read = match read {
        Ok(node) => reader.finish(problems).map(|()| node),
        Err(syntax) => {
            reader.report_flaws(problems);
            Err(syntax)
        }
    };
    match read {
        Ok(node) => Some(node),
        Err(syntax) => {
            report(*syntax, problems);
            None
        }
    }
}

/// Read the next value of a reader as a tree. The recursion is bounded by the limit of depth.
pub fn value<'a>(reader: &mut Reader<'a>) -> Result<Node<'a>, Box<Syntax>> {
    let kind = reader.kind()?;
    let start = reader.offset();
    let read = match kind {
        Kind::Null => {
            reader.null()?;
            Value::Null
        }
        Kind::Bool => Value::Bool(reader.bool()?),
        Kind::Number => {
            let span = reader.number()?.span;
            Value::Number(reader.source(span))
        }
        Kind::String => Value::String(reader.string()?.value),
        Kind::Array => {
            reader.enter_array()?;
            let (mut items, mut first) = (Vec::new(), true);
            while reader.element(&mut first)? {
                items.push(value(reader)?);
            }
            Value::Sequence(items)
        }
        Kind::Object => {
            reader.enter_object()?;
            let keys = reader.begin_keys();
            let (mut entries, mut first) = (Vec::new(), true);
            while let Some(key) = reader.key(&mut first)? {
                reader.note_key(&key);
                entries.push(Entry {
                    key: key.value,
                    key_span: key.span,
                    value: value(reader)?,
                });
            }
            reader.end_keys(keys);
            Value::Mapping(entries)
        }
    };
    Ok(Node {
        value: read,
        span: Span::new(start, reader.offset()),
    })
}
