//! The canonical form of JSON (RFC 8785), over which digests are computed.

use super::double::double;
use super::json::{Reader, parse_value, write_string};
use super::node::{Node, Value};
use agent_text::sort::sort_by;

/// Returns the canonical form of a JSON text: no white space, keys sorted by UTF-16 code units,
/// numbers as ECMAScript prints doubles. Returns `None` if the text is not JSON.
pub fn canonical(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    canonical_node(&parse_value(&mut Reader::new(text)).ok()?, &mut out);
    Some(out)
}

/// Writes the canonical form of a value.
pub fn canonical_node(node: &Node<'_>, out: &mut String) {
    match &node.value {
        Value::Null | Value::Refused => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        // A whole number of few digits is already canonical, and nearly every number is one.
        Value::Number(number)
            if number.len() <= 15 && number.bytes().all(|b| b.is_ascii_digit()) =>
        {
            out.push_str(number);
        }
        Value::Number(number) => out.push_str(ryu_js::Buffer::new().format(double(number))),
        Value::String(string) | Value::Plain(string) => write_string(string, out),
        Value::Sequence(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                canonical_node(item, out);
            }
            out.push(']');
        }
        Value::Mapping(entries) => {
            let mut sorted: Vec<_> = entries.iter().collect();
            sort_by(&mut sorted, |a, b| {
                a.key.encode_utf16().cmp(b.key.encode_utf16())
            });
            out.push('{');
            for (i, entry) in sorted.into_iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write_string(&entry.key, out);
                out.push(':');
                canonical_node(&entry.value, out);
            }
            out.push('}');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::canonical;

    #[test]
    fn the_example_of_rfc_8785() {
        let text = r#"{
            "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
            "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
            "literals": [null, true, false]
        }"#;
        assert_eq!(
            canonical(text).as_deref(),
            Some(
                "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],\
                 \"string\":\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}"
            )
        );
    }

    #[test]
    fn keys_are_sorted_by_utf16_units() {
        // U+1F600 is D83D DE00 in UTF-16 and sorts before U+FB33, although its code point is larger.
        let text = "{\"\u{fb33}\": 1, \"\u{1f600}\": 2, \"\u{80}\": 3, \"1\": 4}";
        assert_eq!(
            canonical(text).as_deref(),
            Some("{\"1\":4,\"\u{80}\":3,\"\u{1f600}\":2,\"\u{fb33}\":1}")
        );
    }

    #[test]
    fn numbers_are_doubles() {
        let text = "[-0, 123456789012345678901234567890, 1e-400, 0.1, 100, 1e21, 5e-324]";
        assert_eq!(
            canonical(text).as_deref(),
            Some("[0,1.2345678901234568e+29,0,0.1,100,1e+21,5e-324]")
        );
    }
}
