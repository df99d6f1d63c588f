//! JSON pointers (RFC 6901).

use agent_syntax::{Node, Value};

/// Appends a name to a pointer.
pub(super) fn push_name(pointer: &mut String, name: &str) {
    pointer.push('/');
    for c in name.chars() {
        match c {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            _ => pointer.push(c),
        }
    }
}

/// Returns a name as a token of a pointer.
pub fn token(name: &str) -> String {
    let mut pointer = String::new();
    push_name(&mut pointer, name);
    pointer.split_off(1)
}

/// Appends the position of an item to a pointer.
pub(super) fn push_index(pointer: &mut String, index: usize) {
    pointer.push('/');
    pointer.push_str(&index.to_string());
}

/// Returns a token of a pointer without its escapes. Returns `None` for an invalid escape.
pub fn unescaped(token: &str) -> Option<String> {
    let mut name = String::with_capacity(token.len());
    let mut chars = token.chars();
    while let Some(c) = chars.next() {
        name.push(match c {
            '~' => match chars.next()? {
                '0' => '~',
                '1' => '/',
                _ => return None,
            },
            _ => c,
        });
    }
    Some(name)
}

/// Returns the tokens of a pointer, without escapes. Returns `None` for an invalid pointer.
pub(super) fn tokens(pointer: &str) -> Option<Vec<String>> {
    if pointer.is_empty() {
        return Some(Vec::new());
    }
    let rest = pointer.strip_prefix('/')?;
    rest.split('/').map(unescaped).collect()
}

/// Returns the part of a value at a pointer. Returns `None` for an invalid pointer too.
pub fn at_pointer<'n, 'a>(root: &'n Node<'a>, pointer: &str) -> Option<&'n Node<'a>> {
    let tokens = tokens(pointer)?;
    tokens
        .iter()
        .try_fold(root, |node, token| child(node, token))
}

/// Returns the part of a value that a token names.
pub fn child<'n, 'a>(node: &'n Node<'a>, token: &str) -> Option<&'n Node<'a>> {
    match &node.value {
        Value::Mapping(entries) => entries
            .iter()
            .find(|entry| entry.key == token)
            .map(|entry| &entry.value),
        Value::Sequence(items) => items.get(index(token)?),
        _ => None,
    }
}

/// Returns the position that a token denotes: digits without a leading zero.
pub(super) fn index(token: &str) -> Option<usize> {
    let digits = token.bytes().all(|byte| byte.is_ascii_digit());
    if !digits || token.len() > 1 && token.starts_with('0') {
        return None;
    }
    token.parse().ok()
}

/// Returns the pointer to the innermost value that contains an offset of the document's text.
pub(super) fn locate(root: &Node<'_>, offset: u32) -> String {
    let mut pointer = String::new();
    let mut node = root;
    while node.span.start != offset {
        // Items and entries are in the order of the text.
        let next = match &node.value {
            Value::Sequence(items) => {
                let place = items.partition_point(|item| item.span.start <= offset);
                place.checked_sub(1).map(|place| {
                    push_index(&mut pointer, place);
                    &items[place]
                })
            }
            Value::Mapping(entries) => {
                let place = entries.partition_point(|entry| entry.key_span.start <= offset);
                let entry = place.checked_sub(1).map(|place| &entries[place]);
                entry
                    .filter(|entry| entry.value.span.start <= offset)
                    .map(|entry| {
                        push_name(&mut pointer, &entry.key);
                        &entry.value
                    })
            }
            _ => None,
        };
        match next {
            Some(next) => node = next,
            None => break,
        }
    }
    pointer
}

#[cfg(test)]
mod tests {
    use super::{at_pointer, index, locate, tokens};
    use agent_syntax::json::{Reader, parse_value};

    #[test]
    fn there_and_back() {
        let text = r#"{"a~b/c": [1, {"": [true, [null]]}], "x": {}}"#;
        let root = parse_value(&mut Reader::new(text)).expect("JSON");
        for pointer in [
            "",
            "/a~0b~1c",
            "/a~0b~1c/0",
            "/a~0b~1c/1",
            "/a~0b~1c/1//1/0",
            "/x",
        ] {
            let node = at_pointer(&root, pointer).unwrap_or_else(|| panic!("{pointer}"));
            assert_eq!(locate(&root, node.span.start), pointer);
        }
    }

    #[test]
    fn what_is_no_pointer() {
        for broken in ["a", "/~", "/~2", "#/a"] {
            assert_eq!(tokens(broken), None, "{broken}");
        }
        for (token, expected) in [
            ("0", Some(0)),
            ("10", Some(10)),
            ("01", None),
            ("-1", None),
            ("", None),
        ] {
            assert_eq!(index(token), expected, "{token}");
        }
    }
}
