//! Keywords for arrays.

use super::evaluator::{Evaluator, KeywordLocation, Tracker, Validity};
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
        mut evaluated: Tracker<'_>,
    ) -> Validity {
        let rest = items.rest.iter().map(|rest| rest.sub).cycle();
        let subs = items.first.iter().copied().chain(rest);
        self.all(subs.zip(values).enumerate(), |it, (place, (sub, value))| {
            if let Some(evaluated) = &mut evaluated {
                evaluated.add(place);
            }
            it.part(sub, place, value)
        })
    }

    pub(super) fn contains(
        &mut self,
        at: KeywordLocation,
        contains: &Contains,
        span: Span,
        values: &[Node<'_>],
        evaluated: Tracker<'_>,
    ) -> Validity {
        let Contains {
            sub, least, most, ..
        } = *contains;
        let mut evaluated = evaluated.filter(|_| contains.evaluates);
        let mut count = 0;
        for (place, value) in values.iter().enumerate() {
            // Further items can't change the result.
            if evaluated.is_none() && most.is_none() && count >= least {
                break;
            }
            if self.quietly(|it| it.part(sub, place, value))? {
                count += 1;
                if let Some(evaluated) = &mut evaluated {
                    evaluated.add(place);
                }
            }
        }
        let (wanted, bound) = match most {
            _ if count < least => ("at least", least),
            Some(most) if count > most => ("at most", most),
            _ => return Ok(true),
        };
        self.require(false, at, span, || {
            let items = counted(bound, "item", "items");
            format!("must have {wanted} {items} that `contains` accepts, and has {count}")
        })
    }

    pub(super) fn unique(
        &mut self,
        at: KeywordLocation,
        span: Span,
        values: &[Node<'_>],
    ) -> Validity {
        let Some((first, again)) = equal_pair(values, self.budget)? else {
            return Ok(true);
        };
        self.require(false, at, span, || {
            format!("must have no equal items, and items {first} and {again} are equal")
        })
    }

    pub(super) fn unevaluated_items(
        &mut self,
        sub: SubId,
        values: &[Node<'_>],
        evaluated: Tracker<'_>,
    ) -> Validity {
        self.unevaluated(values.len(), evaluated, |it, place| {
            it.part(sub, place, &values[place])
        })
    }
}
