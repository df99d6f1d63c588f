//! Values and names in messages, cut to a readable size.

use super::types::Types;
use agent_syntax::json::write_string;
use agent_syntax::{Node, Value};

/// Bytes to show of a value or a name, approximately.
const SHOWN: usize = 60;

/// Maximum values or names to show of a list.
const LISTED: usize = 10;

/// Returns a value in backquotes.
pub(super) fn shown(node: &Node<'_>) -> String {
    let mut out = String::new();
    write(node, &mut out);
    format!("`{}`", cut(&out))
}

/// Returns a name in backquotes.
pub(super) fn quoted(name: &str) -> String {
    format!("`{}`", cut(name))
}

/// Returns the first of some items, with a conjunction before the last.
pub(super) fn listed<T>(
    items: impl ExactSizeIterator<Item = T>,
    show: impl Fn(T) -> String,
    conjunction: &str,
) -> String {
    let count = items.len();
    let shown: Vec<_> = items.take(LISTED).map(show).collect();
    let more = count - shown.len();
    match shown.split_last() {
        None => "nothing".to_owned(),
        Some(_) if more > 0 => format!("{} {conjunction} {more} more", shown.join(", ")),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} {conjunction} {last}", rest.join(", ")),
    }
}

/// Returns the name of a value's type, with an article.
pub(super) fn kind(value: &Value<'_>) -> &'static str {
    match value {
        Value::Null | Value::Refused => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) | Value::Plain(_) => "a string",
        Value::Sequence(_) => "an array",
        Value::Mapping(_) => "an object",
    }
}

/// Returns the names of some types, with articles.
pub(super) fn kinds(types: Types) -> String {
    let names = types.names();
    listed(
        names.into_iter(),
        |name| match name {
            "null" => name.to_owned(),
            "integer" | "array" | "object" => format!("an {name}"),
            _ => format!("a {name}"),
        },
        "or",
    )
}

/// Returns a number with its noun.
pub(super) fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

fn cut(text: &str) -> String {
    if text.len() <= SHOWN {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(SHOWN);
    format!("{}…", &text[..end])
}

/// Writes JSON until it is long enough. The depth of the document bounds the recursion.
fn write(node: &Node<'_>, out: &mut String) {
    let part = |text: &str, out: &mut String| {
        // The rest is never shown, wherever a character ends.
        let end = text.floor_char_boundary((SHOWN + 4).min(text.len()));
        write_string(&text[..end], out);
    };
    match &node.value {
        Value::Null | Value::Refused => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Number(number) => out.push_str(&number[..number.len().min(SHOWN + 1)]),
        Value::String(text) | Value::Plain(text) => part(text, out),
        Value::Sequence(items) => write_list(['[', ']'], items, out, write),
        Value::Mapping(entries) => write_list(['{', '}'], entries, out, |entry, out| {
            part(&entry.key, out);
            out.push_str(": ");
            write(&entry.value, out);
        }),
    }
}

fn write_list<T>(
    [open, close]: [char; 2],
    items: &[T],
    out: &mut String,
    write: impl Fn(&T, &mut String),
) {
    out.push(open);
    for (place, item) in items.iter().enumerate() {
        if out.len() > SHOWN {
            break;
        }
        if place > 0 {
            out.push_str(", ");
        }
        write(item, out);
    }
    out.push(close);
}

#[cfg(test)]
mod tests {
    use super::{listed, quoted, shown};
    use agent_syntax::json::{Reader, parse_value};

    #[test]
    fn values_are_cut() {
        let show = |text: &str| shown(&parse_value(&mut Reader::new(text)).expect("JSON"));
        assert_eq!(
            show(r#"{"a": [1, "b"], "c": null}"#),
            r#"`{"a": [1, "b"], "c": null}`"#
        );
        for long in [
            format!("\"{}\"", "é".repeat(100)),
            format!("[{}1]", "1, ".repeat(1000)),
            format!("{{\"{}\": 1}}", "a".repeat(1000)),
            "9".repeat(100),
        ] {
            let shown = show(&long);
            assert!(shown.len() < 70 && shown.ends_with("…`"), "{shown}");
        }
        assert_eq!(show(&format!("\"{}\"", "a".repeat(59))).len(), 65);
        assert_eq!(quoted("a"), "`a`");
    }

    #[test]
    fn lists_are_sentences() {
        let list = |count: u32| listed(0..count as usize, |it| it.to_string(), "and");
        assert_eq!(list(1), "0");
        assert_eq!(list(3), "0, 1 and 2");
        assert_eq!(list(12), "0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more");
    }
}
