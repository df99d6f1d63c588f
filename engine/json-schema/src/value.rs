//! Values compared by what they are: numbers by value, objects whatever the order of their keys.
//!
//! Values are written in a form that equal ones have in common, and the forms are compared: that
//! a list has no two equal members is found by sorting them.

use super::budget::{Budget, OverBudget};
use super::number::Decimal;
use super::types::Types;
use agent_syntax::{Node, Value, write_string};
use agent_text::sort::sort_by;

/// The form of a value that all equal ones have, or none if it is longer than `longest` bytes. A
/// step for each value in it, and for each 8 bytes.
pub(super) fn form(
    node: &Node<'_>,
    longest: usize,
    budget: &mut Budget,
) -> Result<Option<String>, OverBudget> {
    let mut out = String::new();
    write(node, longest, budget, &mut out)?;
    Ok((out.len() <= longest).then_some(out))
}

/// The recursion is bounded by the depth of the document.
fn write(
    node: &Node<'_>,
    longest: usize,
    budget: &mut Budget,
    out: &mut String,
) -> Result<(), OverBudget> {
    budget.charge(1)?;
    if out.len() > longest {
        return Ok(());
    }
    match &node.value {
        Value::Null | Value::Refused => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => {
            budget.charge(number.len() as u64 / 8)?;
            Decimal::new(number).write(out);
        }
        Value::String(text) | Value::Plain(text) => {
            budget.charge(text.len() as u64 / 8)?;
            write_string(text, out);
        }
        Value::Sequence(items) => {
            out.push('[');
            for item in items {
                write(item, longest, budget, out)?;
                out.push(',');
            }
            out.push(']');
        }
        Value::Mapping(entries) => {
            let mut sorted: Vec<_> = entries.iter().collect();
            let bytes = entries
                .iter()
                .map(|entry| entry.key.len() as u64 / 8 + 1)
                .sum();
            charge_sort(entries.len(), bytes, budget)?;
            sort_by(&mut sorted, |a, b| a.key.cmp(&b.key));
            out.push('{');
            for entry in sorted {
                write_string(&entry.key, out);
                write(&entry.value, longest, budget, out)?;
                out.push(',');
            }
            out.push('}');
        }
    }
    Ok(())
}

/// Pay for sorting so many items of so many eighths of bytes together: each is compared as often
/// as they can be halved.
pub(super) fn charge_sort(
    items: usize,
    eighths: u64,
    budget: &mut Budget,
) -> Result<(), OverBudget> {
    budget.charge(eighths.saturating_mul(1 + u64::from(items.max(1).ilog2())))
}

/// Values of which one is asked for.
#[derive(Debug)]
pub(super) struct Members<'a> {
    /// Those that are strings, sorted.
    texts: Vec<&'a str>,
    /// The forms of the others, sorted.
    forms: Vec<String>,
    longest: usize,
    types: Types,
}

impl<'a> Members<'a> {
    pub(super) fn new(
        values: impl Iterator<Item = &'a Node<'a>>,
        budget: &mut Budget,
    ) -> Result<Self, OverBudget> {
        let (mut texts, mut forms) = (Vec::new(), Vec::new());
        let mut types = Types::NONE;
        let mut eighths = 0;
        for value in values {
            types = types.or(Types::of(&value.value));
            if let Value::String(text) | Value::Plain(text) = &value.value {
                budget.charge(1 + text.len() as u64 / 8)?;
                eighths += text.len() as u64 / 8 + 1;
                texts.push(&**text);
            } else if let Some(form) = form(value, usize::MAX, budget)? {
                eighths += form.len() as u64 / 8 + 1;
                forms.push(form);
            }
        }
        charge_sort(texts.len() + forms.len(), eighths, budget)?;
        sort_by(&mut texts, Ord::cmp);
        sort_by(&mut forms, Ord::cmp);
        Ok(Self {
            longest: forms.iter().map(String::len).max().unwrap_or(0),
            texts,
            forms,
            types,
        })
    }

    /// Whether a value is one of them.
    pub(super) fn hold(&self, node: &Node<'_>, budget: &mut Budget) -> Result<bool, OverBudget> {
        if !self.types.holds(Types::of(&node.value)) {
            return Ok(false);
        }
        if let Value::String(text) | Value::Plain(text) = &node.value {
            budget.charge(search_cost(self.texts.len(), text.len()))?;
            return Ok(self.texts.binary_search(&&**text).is_ok());
        }
        let Some(form) = form(node, self.longest, budget)? else {
            return Ok(false);
        };
        budget.charge(search_cost(self.forms.len(), form.len()))?;
        Ok(self.forms.binary_search(&form).is_ok())
    }
}

/// What it costs to look for a text of so many bytes among so many that are sorted, in steps: each
/// comparison may read all of it.
fn search_cost(texts: usize, bytes: usize) -> u64 {
    let halvings = 1 + u64::from(texts.max(1).ilog2());
    halvings * (1 + bytes as u64 / 16)
}

/// The numbers of two equal items, if there are any: of the first pair that is found in the order
/// of their forms.
pub(super) fn equal_pair(
    items: &[Node<'_>],
    budget: &mut Budget,
) -> Result<Option<(usize, usize)>, OverBudget> {
    if items.len() < 2 {
        return Ok(None);
    }
    let mut forms = Vec::with_capacity(items.len());
    let mut eighths = 0;
    for (place, item) in items.iter().enumerate() {
        let form = form(item, usize::MAX, budget)?.unwrap_or_default();
        eighths += form.len() as u64 / 8 + 1;
        forms.push((form, place));
    }
    charge_sort(forms.len(), eighths, budget)?;
    sort_by(&mut forms, Ord::cmp);
    let pair = forms.windows(2).find(|pair| pair[0].0 == pair[1].0);
    Ok(pair.map(|pair| (pair[0].1, pair[1].1)))
}

#[cfg(test)]
mod tests {
    use super::{equal_pair, form};
    use crate::Budget;
    use agent_syntax::Value;
    use agent_syntax::json::{Reader, parse_value};

    fn equal(a: &str, b: &str) -> bool {
        let [a, b] = [a, b].map(|text| {
            let node = parse_value(&mut Reader::new(text)).expect("JSON");
            form(&node, usize::MAX, &mut Budget::new()).expect("cheap")
        });
        a == b
    }

    #[test]
    fn values_are_equal_by_what_they_are() {
        assert!(equal(
            r#"{"a": 1.0, "b": [1e2]}"#,
            r#"{"b": [100], "a": 1}"#
        ));
        assert!(equal(r#""\u0061/""#, r#""a\/""#));
        for (a, b) in [
            ("1", "true"),
            ("0", "false"),
            ("\"1\"", "1"),
            ("[]", "{}"),
            ("[[], []]", "[[[]]]"),
            (r#"["a", "b"]"#, r#"["a,b"]"#),
            (r#"{"a": null}"#, "{}"),
            ("\"null\"", "null"),
        ] {
            assert!(!equal(a, b), "{a} {b}");
        }
    }

    #[test]
    fn equal_items_are_found() {
        let node = parse_value(&mut Reader::new("[3, 1, {\"a\": 2}, [1], 1.0]")).expect("JSON");
        let Value::Sequence(items) = &node.value else {
            panic!("a list");
        };
        assert_eq!(equal_pair(items, &mut Budget::new()), Ok(Some((1, 4))));
        assert_eq!(equal_pair(&items[..4], &mut Budget::new()), Ok(None));
    }
}
