//! Results of which a policy redacts a part.
//!
//! A server may say the same twice: as `structuredContent`, and as a text that holds the same JSON. A value that is
//! redacted in one place and stands in another is not redacted, so such a block is left out.

use agent_api::policy::{REDACTED, Redactions};
use agent_syntax::json::{Writer, parse_strict, write_string};
use agent_syntax::members::{items, member, string};
use agent_syntax::{Node, Value, canonical_node};
use std::collections::BTreeSet;

/// How deep texts of JSON are looked into that stand in others.
const NESTED_MAX: u32 = 4;

/// A result without what is redacted.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Redacted {
    pub(crate) result: String,
    /// What was redacted: pointers, and `patterns`. Sorted.
    pub(crate) what: Vec<String>,
}

/// Redacts values at JSON pointers into `structuredContent`, and matches of patterns in every text.
///
/// # Errors
/// A sentence: a pattern is none, or the result can't be read.
pub(crate) fn redact(
    text: &str,
    pointers: &[String],
    patterns: &[String],
) -> Result<Redacted, String> {
    let redactions = Redactions::new(patterns)?;
    let root = parse_strict(text).ok_or("the result is not strict JSON")?;
    let structured = member(&root, "structuredContent");
    let mut redaction = Redaction {
        pointers,
        redactions: &redactions,
        lost: BTreeSet::new(),
        what: BTreeSet::new(),
    };
    // The values are known before the blocks are looked at.
    let new_structured = structured.map(|node| redaction.value(node, text, ""));
    let form = structured.map(form);
    let blocks = member(&root, "content").and_then(items).unwrap_or_default();
    let has_structured = structured.is_some();
    let blocks: Vec<_> = blocks
        .iter()
        .map(|block| redaction.block(block, text, form.as_deref(), has_structured))
        .collect();
    let Value::Mapping(members) = &root.value else {
        return Err("the result is no object".to_owned());
    };
    let mut out = String::from("{");
    for (number, entry) in members.iter().enumerate() {
        if number > 0 {
            out.push(',');
        }
        write_string(&entry.key, &mut out);
        out.push(':');
        match (&*entry.key, &new_structured) {
            ("structuredContent", Some(new)) => out.push_str(new),
            ("content", _) => {
                let mut blocks = blocks.clone();
                blocks.extend(redaction.note());
                out.push_str(&format!("[{}]", blocks.join(",")));
            }
            ("resultType", _) => out.push_str(entry.value.span.of(text)),
            // Of all else, such as `_meta`, nothing stays that holds a redacted value.
            _ if redaction.is_in(&entry.value, text, NESTED_MAX) => {
                redaction.what.insert(entry.key.to_string());
                out.push_str(match entry.value.value {
                    Value::Mapping(_) => "{}",
                    _ => "null",
                });
            }
            _ => out.push_str(&redaction.plain(&entry.value, text)),
        }
    }
    out.push('}');
    Ok(Redacted {
        result: out,
        what: redaction.what.into_iter().collect(),
    })
}

struct Redaction<'r> {
    pointers: &'r [String],
    redactions: &'r Redactions,
    /// The redacted values, as a text would have them.
    lost: BTreeSet<String>,
    what: BTreeSet<String>,
}

impl Redaction<'_> {
    /// Returns a value at a pointer without what is redacted.
    fn value(&mut self, node: &Node<'_>, text: &str, at: &str) -> String {
        if !at.is_empty() && self.pointers.iter().any(|it| it == at) {
            self.what.insert(at.to_owned());
            self.lose(node, text);
            // A schema is checked again afterwards.
            return match node.value {
                Value::String(_) => format!("\"{REDACTED}\""),
                _ => "null".to_owned(),
            };
        }
        match &node.value {
            Value::String(found) => match self.redactions.redacted(found) {
                Some(redacted) => {
                    self.what.insert("patterns".to_owned());
                    quoted(&redacted)
                }
                None => node.span.of(text).to_owned(),
            },
            Value::Sequence(items) => {
                let items = items.iter().enumerate();
                let items =
                    items.map(|(number, it)| self.value(it, text, &format!("{at}/{number}")));
                format!("[{}]", items.collect::<Vec<_>>().join(","))
            }
            Value::Mapping(entries) => {
                let entries = entries.iter().map(|entry| {
                    let step = entry.key.replace('~', "~0").replace('/', "~1");
                    let value = self.value(&entry.value, text, &format!("{at}/{step}"));
                    let key = self.redactions.redacted(&entry.key);
                    if key.is_some() {
                        self.what.insert("patterns".to_owned());
                    }
                    format!("{}:{value}", quoted(key.as_deref().unwrap_or(&entry.key)))
                });
                format!("{{{}}}", entries.collect::<Vec<_>>().join(","))
            }
            _ => node.span.of(text).to_owned(),
        }
    }

    /// Returns a value with only its patterns redacted.
    fn plain(&mut self, node: &Node<'_>, text: &str) -> String {
        let pointers = core::mem::take(&mut self.pointers);
        let value = self.value(node, text, "");
        self.pointers = pointers;
        value
    }

    /// Notes every value within one that is redacted.
    fn lose(&mut self, node: &Node<'_>, text: &str) {
        match &node.value {
            Value::Sequence(items) => items.iter().for_each(|it| self.lose(it, text)),
            Value::Mapping(entries) => entries.iter().for_each(|it| self.lose(&it.value, text)),
            Value::String(found) if found.is_empty() => {}
            Value::String(found) => {
                self.lost.insert(found.to_string());
            }
            Value::Null | Value::Bool(_) => {}
            _ => {
                self.lost.insert(node.span.of(text).to_owned());
            }
        }
    }

    /// Returns a content block without what is redacted.
    fn block(
        &mut self,
        block: &Node<'_>,
        text: &str,
        structured: Option<&str>,
        has_structured: bool,
    ) -> String {
        let own = member(block, "text").and_then(string);
        let inner = own.and_then(parse_strict);
        let is_same = match (&inner, structured) {
            (Some(inner), Some(structured)) => form(inner) == structured,
            // Without structured content, a text of JSON is the content.
            (Some(_), None) => !has_structured,
            (None, _) => false,
        };
        if let (Some(own), Some(inner), true) = (own, &inner, is_same) {
            let redacted = self.value(inner, own, "");
            let mut w = Writer::dense();
            w.object(|w| {
                w.key("text").string(&redacted);
                w.key("type").string("text");
            });
            return w.finish().trim_end().to_owned();
        }
        // What a pointer names can't be found in a text that is no JSON.
        let is_opaque = !has_structured && !self.pointers.is_empty();
        if is_opaque || self.is_in(block, text, NESTED_MAX) {
            self.what.insert("content".to_owned());
            return left_out("The gateway left out a content block that holds redacted values.");
        }
        self.plain(block, text)
    }

    /// Returns whether a value holds one that is redacted: in a text, or in the JSON of a text.
    fn is_in(&self, node: &Node<'_>, text: &str, nested: u32) -> bool {
        let holds = |found: &str| self.lost.iter().any(|lost| found.contains(lost));
        match &node.value {
            Value::Sequence(items) => items.iter().any(|it| self.is_in(it, text, nested)),
            Value::Mapping(entries) => entries
                .iter()
                .any(|it| holds(&it.key) || self.is_in(&it.value, text, nested)),
            Value::String(found) => {
                let inner = (nested > 0).then(|| parse_strict(found)).flatten();
                holds(found) || inner.is_some_and(|it| self.is_in(&it, found, nested - 1))
            }
            // A word of JSON is no data.
            Value::Null | Value::Bool(_) => false,
            _ => holds(node.span.of(text)),
        }
    }

    /// Returns a block that tells the model what was redacted.
    fn note(&self) -> Option<String> {
        if self.what.is_empty() {
            return None;
        }
        let what: Vec<_> = self.what.iter().map(|it| format!("`{it}`")).collect();
        let text = format!("The policy redacted {} of this result.", what.join(", "));
        Some(left_out(&text))
    }
}

fn left_out(text: &str) -> String {
    let mut w = Writer::dense();
    w.object(|w| {
        w.key("text").string(text);
        w.key("type").string("text");
    });
    w.finish().trim_end().to_owned()
}

fn quoted(text: &str) -> String {
    let mut out = String::new();
    write_string(text, &mut out);
    out
}

/// Returns the RFC 8785 form of a value.
fn form(node: &Node<'_>) -> String {
    let mut out = String::new();
    canonical_node(node, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::redact;

    fn redacted(text: &str, pointers: &[&str], patterns: &[&str]) -> (String, Vec<String>) {
        let of = |it: &[&str]| it.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        let found = redact(text, &of(pointers), &of(patterns)).expect("a result");
        (found.result, found.what)
    }

    const NOTE: &str = r#"{"text":"The policy redacted `/mail` of this result.","type":"text"}"#;

    #[test]
    fn a_pointer_redacts_each_copy_of_the_same_json() {
        let (result, what) = redacted(
            r#"{"content":[{"type":"text","text":"{\"mail\": \"a@b\", \"id\": 1}"}],"structuredContent":{"id":1,"mail":"a@b"}}"#,
            &["/mail"],
            &[],
        );
        assert_eq!(what, ["/mail"]);
        let expected = format!(
            "{{\"content\":[{{\"text\":\"{{\\\"mail\\\":\\\"[redacted]\\\",\\\"id\\\":1}}\",\"type\":\"text\"}},{NOTE}],\
             \"structuredContent\":{{\"id\":1,\"mail\":\"[redacted]\"}}}}"
        );
        assert_eq!(result, expected);
    }

    #[test]
    fn a_block_with_a_redacted_value_is_left_out() {
        for block in [
            r#"{"type":"text","text":"mail of a@b.example"}"#,
            r#"{"type":"text","text":"{\"other\":\"a@b.example\"}"}"#,
            r#"{"type":"resource","resource":{"uri":"x:a@b.example","text":"t"}}"#,
        ] {
            let text = format!(
                "{{\"content\":[{block}],\"structuredContent\":{{\"mail\":{{\"of\":[\"a@b.example\"]}}}}}}"
            );
            let (result, what) = redacted(&text, &["/mail"], &[]);
            assert!(!result.contains("a@b"), "{result}");
            assert_eq!(what, ["/mail", "content"]);
        }
    }

    #[test]
    fn escapes_hide_no_value() {
        for told in [
            r#"say \"AAA\" to you"#,
            r#"say \"\u0041AA\""#,
            r#"{\"x\":\"say \\\"AAA\\\"\"}"#,
            r#"{\"x\":\"say \\\"\\u0041AA\\\"\"}"#,
            r#"[{\"say \\\"AAA\\\"\":1}]"#,
        ] {
            let text = format!(
                r#"{{"content":[{{"type":"text","text":"{told}"}}],"structuredContent":{{"mail":"say \"AAA\""}}}}"#
            );
            let (result, what) = redacted(&text, &["/mail"], &[]);
            assert!(!result.contains("AA"), "{result}");
            assert_eq!(what, ["/mail", "content"]);
        }
    }

    #[test]
    fn other_values_and_blocks_stay() {
        let text = r#"{"content":[{"type":"text","text":"nothing"}],"structuredContent":{"mail":"a@b","n":1.50}}"#;
        let (result, _) = redacted(text, &["/mail"], &[]);
        assert!(
            result.contains("nothing") && result.contains("1.50"),
            "{result}"
        );
        // A pointer to nothing redacts nothing.
        let (result, what) = redacted(text, &["/other"], &[]);
        assert_eq!((&*result, what.len()), (text, 0));
    }

    #[test]
    fn without_structured_content_only_json_can_be_searched() {
        let text = r#"{"content":[{"type":"text","text":"{\"mail\":\"a@b\"}"},{"type":"text","text":"a@b"}]}"#;
        let (result, what) = redacted(text, &["/mail"], &[]);
        assert!(!result.contains("a@b"), "{result}");
        assert_eq!(what, ["/mail", "content"]);
    }

    #[test]
    fn a_member_beside_the_content_hides_no_value() {
        let text = r#"{"_meta":{"of":["a@b.example"]},"content":[],"structuredContent":{"mail":"a@b.example"}}"#;
        let (result, what) = redacted(text, &["/mail"], &[]);
        assert!(!result.contains("a@b"), "{result}");
        assert!(result.contains(r#""_meta":{}"#), "{result}");
        assert_eq!(what, ["/mail", "_meta"]);
        // The words of the protocol stay, whatever is redacted.
        for short in ["e", "a", "tru"] {
            let text = format!(
                r#"{{"content":[],"isError":false,"resultType":"complete","structuredContent":{{"mail":"{short}"}}}}"#
            );
            let (result, what) = redacted(&text, &["/mail"], &[]);
            let words = r#""isError":false,"resultType":"complete""#;
            assert!(result.contains(words), "{result}");
            assert_eq!(what, ["/mail"]);
        }
    }

    #[test]
    fn patterns_redact_every_text() {
        let text = r#"{"content":[{"type":"text","text":"key AKIA12 and AKIA34"}],"structuredContent":{"k":["AKIA56"]},"_meta":{"k":"AKIA78"}}"#;
        let (result, what) = redacted(text, &[], &["AKIA[0-9]+"]);
        assert!(!result.contains("AKIA"), "{result}");
        assert_eq!(what, ["patterns"]);
        assert!(redact(text, &[], &["(".to_owned()]).is_err());
        // A name holds data too, also in the JSON of a text.
        let text = r#"{"content":[{"type":"text","text":"{\"of AKIA12\":1}"}],"structuredContent":{"of":{"AKIA56":[{"AKIA78":1}]}}}"#;
        let (result, what) = redacted(text, &[], &["AKIA[0-9]+"]);
        assert!(!result.contains("AKIA"), "{result}");
        assert_eq!(what, ["patterns"]);
    }
}
