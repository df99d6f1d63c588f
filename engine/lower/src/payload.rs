//! Payloads: the texts of a tool's result that may serve as evidence.

use super::read::{Lowered, PAYLOAD_LIMIT, read};
use agent_model::{Payload, PayloadBuilder, Step};
use agent_syntax::json::{Kind, Reader, Syntax, report};
use agent_text::{DocumentKind, Span};

/// Reads a payload: any value in strict JSON.
///
/// # Errors
/// Every problem of the text, ordered by place.
pub fn payload(bytes: Vec<u8>) -> Lowered<Payload> {
    read((DocumentKind::Payload, bytes, PAYLOAD_LIMIT), |problems| {
        let mut reader = Reader::new(problems.text().as_str());
        let mut leaves = PayloadBuilder::default();
        let read = match value(&mut reader, &mut leaves, Step::Root) {
            Ok(()) => reader.finish(problems),
            Err(syntax) => {
                reader.report_flaws(problems);
                Err(syntax)
            }
        };
        if let Err(syntax) = read {
            report(*syntax, problems);
        }
        Some(|text| leaves.finish(text))
    })
}

/// Reads the value at a step. The depth limit bounds the recursion.
fn value(
    reader: &mut Reader<'_>,
    leaves: &mut PayloadBuilder,
    step: Step,
) -> Result<(), Box<Syntax>> {
    match reader.kind()? {
        Kind::Null => reader.null()?,
        Kind::Bool => {
            let start = reader.offset();
            let value = reader.bool()?;
            let span = Span::new(start, reader.offset());
            leaves.leaf(step, if value { "true" } else { "false" }, span, false);
        }
        Kind::Number => {
            let number = reader.number()?;
            leaves.leaf(step, &number.value, number.span, false);
        }
        Kind::String => {
            let string = reader.string()?;
            leaves.leaf(step, &string.value, string.span, true);
        }
        Kind::Array => {
            reader.enter_array()?;
            let of = leaves.enter(step);
            let (mut number, mut first) = (0, true);
            while reader.element(&mut first)? {
                value(reader, leaves, Step::Item { of, number })?;
                number += 1;
            }
        }
        Kind::Object => {
            reader.enter_object()?;
            let of = leaves.enter(step);
            let keys = reader.begin_keys();
            let mut first = true;
            while let Some(key) = reader.key(&mut first)? {
                reader.note_key(&key);
                let step = leaves.member(of, &key.value, key.span);
                value(reader, leaves, step)?;
            }
            reader.end_keys(keys);
        }
    }
    Ok(())
}
