//! `serde_json` as the reference of the strict reader.

use agent_diagnostic::{Code, Problems};
use agent_syntax::{Node, Value, json};
use agent_text::{DocumentKind, Text};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use std::collections::BTreeSet;
use std::fmt;

/// A JSON value read by `serde_json`, with every key of an object.
#[derive(Debug)]
enum Tree {
    Null,
    Bool(bool),
    Number(f64),
    String(String),
    List(Vec<Tree>),
    Map(Vec<(String, Tree)>),
}

/// Reads a text with both and checks that they agree. Returns whether it is strict JSON.
pub fn compare(input: &str) -> bool {
    let text = Text::new(DocumentKind::Index, input.to_owned());
    let mut problems = Problems::new(&text);
    let node = json::parse(&mut problems);
    let found = problems.finish();
    crate::check(input.as_bytes(), &found);
    let has = |code| found.iter().any(|diagnostic| diagnostic.code == code);
    if has(Code::NestingTooDeep) {
        return false;
    }
    // Only the engine skips a byte order mark.
    let reference = read(input.strip_prefix('\u{feff}').unwrap_or(input));
    let stops = [
        Code::JsonSyntax,
        Code::LoneSurrogate,
        Code::NumberOutOfRange,
    ];
    if stops.into_iter().any(has) {
        assert!(reference.is_err(), "refused alone: {found:?}");
        return false;
    }
    let reference = reference.expect("accepted alone");
    let node = node.expect("there is no problem that stops the reader");
    if has(Code::DuplicateKey) {
        assert!(
            has_duplicates(&reference),
            "no key appears twice: {found:?}"
        );
        return false;
    }
    assert!(found.is_empty(), "{found:?}");
    assert!(!has_duplicates(&reference), "a duplicate key was accepted");
    assert_same(&node, &reference);
    true
}

fn read(text: &str) -> serde_json::Result<Tree> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    // Callers refuse nesting deeper than 128.
    deserializer.disable_recursion_limit();
    let tree = Tree::deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(tree)
}

fn has_duplicates(tree: &Tree) -> bool {
    match tree {
        Tree::List(items) => items.iter().any(has_duplicates),
        Tree::Map(members) => {
            let keys: BTreeSet<_> = members.iter().map(|(key, _)| key).collect();
            keys.len() < members.len() || members.iter().any(|(_, value)| has_duplicates(value))
        }
        _ => false,
    }
}

fn assert_same(node: &Node<'_>, tree: &Tree) {
    match (&node.value, tree) {
        (Value::Null, Tree::Null) => {}
        (Value::Bool(a), Tree::Bool(b)) => assert_eq!(a, b),
        (Value::Number(a), Tree::Number(b)) => assert_eq!(a.parse(), Ok(*b), "{a}"),
        (Value::String(a), Tree::String(b)) => assert_eq!(a, b),
        (Value::Sequence(a), Tree::List(b)) => {
            assert_eq!(a.len(), b.len());
            a.iter().zip(b).for_each(|(a, b)| assert_same(a, b));
        }
        (Value::Mapping(a), Tree::Map(b)) => {
            assert_eq!(a.len(), b.len());
            for (a, (key, b)) in a.iter().zip(b) {
                assert_eq!(a.key, *key);
                assert_same(&a.value, b);
            }
        }
        (a, b) => panic!("{a:?} and {b:?}"),
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TreeVisitor)
    }
}

struct TreeVisitor;

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = Tree;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Tree::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Tree, E> {
        Ok(Tree::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Tree, E> {
        Ok(Tree::Number(value as f64))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Tree, E> {
        Ok(Tree::Number(value as f64))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Tree, E> {
        Ok(Tree::Number(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Tree, E> {
        Ok(Tree::String(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Tree, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Tree::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Tree, A::Error> {
        let mut map = Vec::new();
        while let Some(member) = members.next_entry()? {
            map.push(member);
        }
        Ok(Tree::Map(map))
    }
}
