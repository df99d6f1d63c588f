//! Equality of values: numbers by value, objects regardless of the order of their keys.
//!
//! Equal values have equal normal forms. Sorting the forms finds equal items of a list.

use super::budget::{Budget, OverBudget};
use super::number::Decimal;
use super::types::Types;
use agent_syntax::{Node, Value, write_string};
use agent_text::sort::sort_by;

/// Returns the normal form of a value, or `None` if it is longer than `longest` bytes. Charges a
/// step for each value in it, and for each 8 bytes.
fn normal_form(
    node: &Node<'_>,
    longest: usize,
    budget: &mut Budget,
) -> Result<Option<String>, OverBudget> {
    let mut out = String::new();
    write(node, longest, budget, &mut out)?;
    Ok((out.len() <= longest).then_some(out))
}

/// The depth of the document bounds the recursion.
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
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
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
            sort_by_text(&mut sorted, |entry| &entry.key, budget)?;
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

/// Sorts items by a text, after it charges for that.
pub(super) fn sort_by_text<T>(
    items: &mut [T],
    text: impl Fn(&T) -> &str,
    budget: &mut Budget,
) -> Result<(), OverBudget> {
    charge_sort(items.iter().map(|item| text(item).len()), budget)?;
    sort_by(items, |a, b| text(a).cmp(text(b)));
    Ok(())
}

/// Charges for sorting texts of some lengths. Each is compared as often as their number can be
/// halved.
fn charge_sort(
    lengths: impl Iterator<Item = usize>,
    budget: &mut Budget,
) -> Result<(), OverBudget> {
    let add = |(items, eighths), bytes| (items + 1, eighths + bytes as u64 / 8 + 1);
    let (items, eighths) = lengths.fold((0_u64, 0_u64), add);
    budget.charge(eighths.saturating_mul(1 + u64::from(items.max(1).ilog2())))
}

/// The values of `enum` or `const`.
#[derive(Debug)]
pub(super) struct Members<'a> {
    /// The strings, sorted.
    texts: Vec<&'a str>,
    /// The normal forms of the others, sorted.
    forms: Vec<String>,
    longest: usize,
    types: Types,
}

impl<'a> Members<'a> {
    pub(super) fn new(values: &'a [Node<'a>], budget: &mut Budget) -> Result<Self, OverBudget> {
        let (mut texts, mut forms) = (Vec::new(), Vec::new());
        let mut types = Types::NONE;
        for value in values {
            types = types.or(Types::of(&value.value));
            if let Value::String(text) | Value::Plain(text) = &value.value {
                budget.charge(1 + text.len() as u64 / 8)?;
                texts.push(&**text);
            } else {
                forms.extend(normal_form(value, usize::MAX, budget)?);
            }
        }
        let lengths = texts.iter().map(|text| text.len());
        charge_sort(lengths.chain(forms.iter().map(String::len)), budget)?;
        sort_by(&mut texts, Ord::cmp);
        sort_by(&mut forms, Ord::cmp);
        Ok(Self {
            longest: forms.iter().map(String::len).max().unwrap_or(0),
            texts,
            forms,
            types,
        })
    }

    /// Returns whether a value is one of them.
    pub(super) fn contain(&self, node: &Node<'_>, budget: &mut Budget) -> Result<bool, OverBudget> {
        if !self.types.contains(Types::of(&node.value)) {
            return Ok(false);
        }
        if let Value::String(text) | Value::Plain(text) = &node.value {
            budget.charge(search_cost(self.texts.len(), text.len()))?;
            return Ok(self.texts.binary_search(&&**text).is_ok());
        }
        let Some(form) = normal_form(node, self.longest, budget)? else {
            return Ok(false);
        };
        budget.charge(search_cost(self.forms.len(), form.len()))?;
        Ok(self.forms.binary_search(&form).is_ok())
    }
}

/// Returns the steps of a binary search for a text of `bytes` among sorted ones. Each comparison
/// may read all of it.
fn search_cost(texts: usize, bytes: usize) -> u64 {
    let halvings = 1 + u64::from(texts.max(1).ilog2());
    halvings * (1 + bytes as u64 / 16)
}

/// Returns the positions of two equal items: the first pair in the order of their normal forms.
pub(super) fn equal_pair(
    items: &[Node<'_>],
    budget: &mut Budget,
) -> Result<Option<(usize, usize)>, OverBudget> {
    if items.len() < 2 {
        return Ok(None);
    }
    let mut forms = Vec::with_capacity(items.len());
    for (place, item) in items.iter().enumerate() {
        let form = normal_form(item, usize::MAX, budget)?.unwrap_or_default();
        forms.push((form, place));
    }
    charge_sort(forms.iter().map(|(form, _)| form.len()), budget)?;
    sort_by(&mut forms, Ord::cmp);
    let pair = forms.windows(2).find(|pair| pair[0].0 == pair[1].0);
    Ok(pair.map(|pair| (pair[0].1, pair[1].1)))
}

#[cfg(test)]
mod tests {
    use super::{equal_pair, normal_form};
    use crate::Budget;
    use agent_syntax::Value;
    use agent_syntax::json::{Reader, parse_value};

    fn equal(a: &str, b: &str) -> bool {
        let [a, b] = [a, b].map(|text| {
            let node = parse_value(&mut Reader::new(text)).expect("JSON");
            normal_form(&node, usize::MAX, &mut Budget::new()).expect("cheap")
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
