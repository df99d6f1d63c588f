//! Keywords about arrays.

use super::{At, Evaluator, Seen, Verdict};
use crate::arena::{Contains, Items, SubId};
use crate::value::equal_pair;
use crate::wording::counted;
use agent_syntax::Node;
use agent_text::Span;

impl Evaluator<'_, '_, '_, '_> {
    pub(super) fn items(
        &mut self,
        items: &Items,
        values: &[Node<'_>],
        mut seen: Option<&mut Seen>,
    ) -> Verdict {
        let mut valid = true;
        let rest = items.rest.map(|rest| rest.sub);
        for (place, value) in values.iter().enumerate() {
            let Some(sub) = items.first.get(place).copied().or(rest) else {
                break;
            };
            if let Some(seen) = &mut seen {
                seen.add(place);
            }
            valid &= self.part(sub, place, value)?;
            if !valid && self.quiet > 0 {
                break;
            }
        }
        Ok(valid)
    }

    pub(super) fn contains(
        &mut self,
        at: At,
        contains: &Contains,
        span: Span,
        values: &[Node<'_>],
        mut seen: Option<&mut Seen>,
    ) -> Verdict {
        let Contains {
            sub, least, most, ..
        } = *contains;
        let mut seen = seen.take_if(|_| contains.evaluates);
        let mut count = 0;
        for (place, value) in values.iter().enumerate() {
            // What comes after can't change anything.
            if seen.is_none() && most.is_none() && count >= least {
                break;
            }
            if self.quietly(|it| it.part(sub, place, value))? {
                count += 1;
                if let Some(seen) = &mut seen {
                    seen.add(place);
                }
            }
        }
        let items = |count| counted(count, "item", "items");
        if count < least {
            return self.find(at, span, || {
                format!(
                    "must have at least {} that `contains` asks for, and has {count}",
                    items(least)
                )
            });
        }
        match most {
            Some(most) if count > most => self.find(at, span, || {
                format!(
                    "must have at most {} that `contains` asks for, and has {count}",
                    items(most)
                )
            }),
            _ => Ok(true),
        }
    }

    pub(super) fn unique(&mut self, at: At, span: Span, values: &[Node<'_>]) -> Verdict {
        match equal_pair(values, self.budget)? {
            Some((first, again)) => self.find(at, span, || {
                format!("must have no equal items, and those at {first} and {again} are equal")
            }),
            None => Ok(true),
        }
    }

    pub(super) fn unevaluated_items(
        &mut self,
        sub: SubId,
        values: &[Node<'_>],
        seen: Option<&mut Seen>,
    ) -> Verdict {
        // Whoever has this keyword tracks.
        let Some(seen) = seen else {
            return Ok(true);
        };
        let mut valid = true;
        for (place, value) in values.iter().enumerate() {
            self.budget.charge(1)?;
            if seen.has(place) {
                continue;
            }
            seen.add(place);
            valid &= self.part(sub, place, value)?;
            if !valid && self.quiet > 0 {
                break;
            }
        }
        Ok(valid)
    }
}
