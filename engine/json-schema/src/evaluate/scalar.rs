//! Keywords that look at a value alone, whatever stands in it.

use super::{At, Evaluator, Verdict};
use crate::arena::Check;
use crate::keyword::Keyword;
use crate::number::Decimal;
use crate::types::Types;
use crate::wording::{counted, kind, kinds, listed, quoted, shown};
use agent_syntax::{Node, Value};
use std::cmp::Ordering;

impl Evaluator<'_, '_, '_, '_> {
    /// Keywords about values of other types hold.
    pub(super) fn scalar(&mut self, at: At, check: &Check<'_>, node: &Node<'_>) -> Verdict {
        match (check, &node.value) {
            (Check::Type(types), _) => self.types(at, *types, node),
            (Check::Members(members, allowed), _) => {
                if members.hold(node, self.budget)? {
                    return Ok(true);
                }
                self.find(at, node.span, || match &allowed.value {
                    Value::Sequence(values) if at.keyword == Keyword::Enum => {
                        let values = listed(values.iter(), shown, "or");
                        format!("must be {values}, and is {}", shown(node))
                    }
                    _ => format!("must be {}, and is {}", shown(allowed), shown(node)),
                })
            }
            (Check::MultipleOf(divisor, text), Value::Number(number)) => {
                if Decimal::new(number).is_multiple_of(divisor, self.budget)? {
                    return Ok(true);
                }
                self.find(at, node.span, || {
                    format!(
                        "must be a multiple of {}, and is {}",
                        quoted(text),
                        shown(node)
                    )
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
                if holds {
                    return Ok(true);
                }
                self.find(at, node.span, || {
                    format!("must be {wanted} {}, and is {}", quoted(text), shown(node))
                })
            }
            (Check::Count(limit), _) => self.count(at, *limit, node),
            (Check::Pattern(id, pattern), Value::String(text) | Value::Plain(text)) => {
                if self.schema.patterns[*id as usize].is_match(text, self.budget)? {
                    return Ok(true);
                }
                self.find(at, node.span, || {
                    format!(
                        "must match the pattern {}, and is {}",
                        quoted(pattern),
                        shown(node)
                    )
                })
            }
            _ => Ok(true),
        }
    }

    fn types(&mut self, at: At, types: Types, node: &Node<'_>) -> Verdict {
        if let Value::Number(number) = &node.value {
            self.budget.charge(number.len() as u64 / 8)?;
        }
        if types.holds(Types::of(&node.value)) {
            return Ok(true);
        }
        self.find(at, node.span, || {
            let found = match &node.value {
                // That it is a number is not what is wrong.
                Value::Number(_) if types.holds(Types::INTEGER) => shown(node),
                value => kind(value).to_owned(),
            };
            format!("must be {}, and is {found}", kinds(types))
        })
    }

    fn count(&mut self, at: At, limit: u64, node: &Node<'_>) -> Verdict {
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
        let least = matches!(
            at.keyword,
            Keyword::MinLength | Keyword::MinItems | Keyword::MinProperties
        );
        let (holds, wanted) = if least {
            (count >= limit, "at least")
        } else {
            (count <= limit, "at most")
        };
        if holds {
            return Ok(true);
        }
        self.find(at, node.span, || {
            format!(
                "must have {wanted} {}, and has {count}",
                counted(limit, one, many)
            )
        })
    }
}
