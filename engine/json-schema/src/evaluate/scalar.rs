//! Keywords that do not depend on the parts of a value.

use super::evaluator::{Evaluator, KeywordLocation, Validity};
use crate::arena::Check;
use crate::correction::{HELD, held, known, retyped, texts};
use crate::keyword::Keyword;
use crate::number::Decimal;
use crate::types::Types;
use crate::wording::{counted, kind, kinds, listed, quoted, shown};
use agent_syntax::{Node, Value};
use std::cmp::Ordering;

impl Evaluator<'_, '_, '_, '_> {
    /// Checks a keyword. It accepts values of other types.
    pub(super) fn scalar(
        &mut self,
        at: KeywordLocation,
        check: &Check<'_>,
        node: &Node<'_>,
    ) -> Validity {
        let found = || shown(node);
        match (check, &node.value) {
            (Check::Type(types), _) => self.types(at, *types, node),
            (Check::Members(members, allowed), _) => {
                let holds = members.contain(node, self.budget)?;
                let verdict = self.require(holds, at, node.span, || {
                    let wanted = match &allowed.value {
                        Value::Sequence(values) if at.keyword == Keyword::Enum => {
                            listed(values.iter(), shown, "or")
                        }
                        _ => shown(allowed),
                    };
                    format!("must be {wanted}, and is {}", found())
                });
                self.expect(&verdict, texts(allowed));
                self.correct(verdict, |it| Ok(known(allowed, node, it.budget.likeness())))
            }
            (Check::MultipleOf(divisor, text), Value::Number(number)) => {
                let holds = Decimal::new(number).is_multiple_of(divisor, self.budget)?;
                self.require(holds, at, node.span, || {
                    let text = quoted(text);
                    format!("must be a multiple of {text}, and is {}", found())
                })
            }
            (Check::Bound(bound, text), Value::Number(number)) => {
                self.budget.charge(number.len() as u64 / 8)?;
                let order = Decimal::new(number).compare(bound);
                let (holds, wanted) = match at.keyword {
                    Keyword::Maximum => (order != Ordering::Greater, "at most"),
                    Keyword::ExclusiveMaximum => (order == Ordering::Less, "less than"),
                    Keyword::Minimum => (order != Ordering::Less, "at least"),
                    _ => (order == Ordering::Greater, "more than"),
                };
                self.require(holds, at, node.span, || {
                    format!("must be {wanted} {}, and is {}", quoted(text), found())
                })
            }
            (Check::Count(limit), _) => self.count(at, *limit, node),
            (Check::Pattern(id, pattern), Value::String(text) | Value::Plain(text)) => {
                let holds = self.schema.patterns[*id as usize].is_match(text, self.budget)?;
                self.require(holds, at, node.span, || {
                    let pattern = quoted(pattern);
                    format!("must match the pattern {pattern}, and is {}", found())
                })
            }
            _ => Ok(true),
        }
    }

    fn types(&mut self, at: KeywordLocation, types: Types, node: &Node<'_>) -> Validity {
        if let Value::Number(number) = &node.value {
            self.budget.charge(number.len() as u64 / 8)?;
        }
        let holds = types.contains(Types::of(&node.value));
        // A string of another type may hold JSON, which is read.
        if let (Value::String(text), false) = (&node.value, holds) {
            self.budget.charge(text.len().min(HELD) as u64 / 16)?;
        }
        let verdict = self.require(holds, at, node.span, || {
            let found = match &node.value {
                // The value explains why a number is not an integer.
                Value::Number(_) if types.contains(Types::INTEGER) => shown(node),
                Value::String(_) if held(types, node).is_some() => {
                    "a string that holds the JSON of one".to_owned()
                }
                value => kind(value).to_owned(),
            };
            format!("must be {}, and is {found}", kinds(types))
        });
        self.correct(verdict, |_| Ok(retyped(types, node)))
    }

    fn count(&mut self, at: KeywordLocation, limit: u64, node: &Node<'_>) -> Validity {
        let (count, one, many) = match (at.keyword, &node.value) {
            (Keyword::MaxLength | Keyword::MinLength, Value::String(text) | Value::Plain(text)) => {
                self.budget.charge(text.len() as u64 / 16)?;
                (text.chars().count(), "character", "characters")
            }
            (Keyword::MaxItems | Keyword::MinItems, Value::Sequence(items)) => {
                (items.len(), "item", "items")
            }
            (Keyword::MaxProperties | Keyword::MinProperties, Value::Mapping(entries)) => {
                (entries.len(), "property", "properties")
            }
            _ => return Ok(true),
        };
        let count = count as u64;
        let (holds, wanted) = match at.keyword {
            Keyword::MinLength | Keyword::MinItems | Keyword::MinProperties => {
                (count >= limit, "at least")
            }
            _ => (count <= limit, "at most"),
        };
        self.require(holds, at, node.span, || {
            let limit = counted(limit, one, many);
            format!("must have {wanted} {limit}, and has {count}")
        })
    }
}
