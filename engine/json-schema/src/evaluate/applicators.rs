//! Keywords that put schemas together.

use super::{At, Evaluator, Seen, Verdict};
use crate::arena::{Condition, Rest, SubId};
use crate::violation::Violation;
use crate::wording::counted;
use agent_syntax::Node;

impl Evaluator<'_, '_, '_, '_> {
    pub(super) fn all_of(
        &mut self,
        subs: &[SubId],
        node: &Node<'_>,
        mut seen: Option<&mut Seen>,
    ) -> Verdict {
        let mut valid = true;
        for sub in subs {
            valid &= self.check(*sub, node, seen.as_deref_mut())?;
            if !valid && self.quiet > 0 {
                break;
            }
        }
        Ok(valid)
    }

    pub(super) fn any_of(
        &mut self,
        at: At,
        subs: &[SubId],
        node: &Node<'_>,
        mut seen: Option<&mut Seen>,
    ) -> Verdict {
        let mut valid = false;
        for sub in subs {
            valid |= self.quietly(|it| it.check(*sub, node, seen.as_deref_mut()))?;
            // The others count only for what they evaluate.
            if valid && seen.is_none() {
                break;
            }
        }
        if valid {
            return Ok(true);
        }
        self.none(at, subs, node)
    }

    pub(super) fn one_of(
        &mut self,
        at: At,
        subs: &[SubId],
        node: &Node<'_>,
        mut seen: Option<&mut Seen>,
    ) -> Verdict {
        let mut first = None;
        for (place, sub) in subs.iter().enumerate() {
            let valid = self.quietly(|it| it.check(*sub, node, seen.as_deref_mut()))?;
            if let Some(first) = first.filter(|_| valid) {
                return self.find(at, node.span, || {
                    format!(
                        "must be as exactly one of {} schemas asks, and is as those at {first} and {place} ask",
                        subs.len()
                    )
                });
            }
            first = first.or(valid.then_some(place));
        }
        if first.is_some() {
            return Ok(true);
        }
        self.none(at, subs, node)
    }

    /// Of several schemas a value is as none asks. What is wrong is collected only now: mostly one
    /// of them holds, and nobody asks about the others.
    fn none(&mut self, at: At, subs: &[SubId], node: &Node<'_>) -> Verdict {
        let mut nearest = Nearest::default();
        if self.quiet == 0 {
            for (place, sub) in subs.iter().enumerate() {
                let before = self.found.len();
                self.check(*sub, node, None)?;
                nearest.offer(place, self.found.split_off(before));
            }
        }
        let Nearest { place, causes, .. } = nearest;
        self.find_because(at, node.span, causes, || {
            let schemas = counted(subs.len() as u64, "schema", "schemas");
            match place {
                Some(place) if subs.len() > 1 => format!(
                    "must be as one of {schemas} asks, and is as none does; that at {place} comes nearest"
                ),
                _ => format!("must be as one of {schemas} asks, and is as none does"),
            }
        })
    }

    pub(super) fn not(&mut self, at: At, sub: SubId, node: &Node<'_>) -> Verdict {
        if self.quietly(|it| it.check(sub, node, None))? {
            return self.find(at, node.span, || {
                "must not be as the schema of `not` asks, and is".to_owned()
            });
        }
        Ok(true)
    }

    pub(super) fn condition(
        &mut self,
        document: u32,
        condition: &Condition,
        node: &Node<'_>,
        mut seen: Option<&mut Seen>,
    ) -> Verdict {
        let Condition {
            condition,
            then,
            otherwise,
        } = condition;
        let holds = self.quietly(|it| it.check(*condition, node, seen.as_deref_mut()))?;
        let Some(Rest { sub, keyword, span }) = *(if holds { then } else { otherwise }) else {
            return Ok(true);
        };
        let before = self.found.len();
        if self.check(sub, node, seen)? {
            return Ok(true);
        }
        let causes = self.found.split_off(before);
        let at = At {
            keyword,
            document,
            span,
        };
        self.find_because(at, node.span, causes, || {
            if holds {
                "must be as `then` asks, because it is as `if` asks".to_owned()
            } else {
                "must be as `else` asks, because it is not as `if` asks".to_owned()
            }
        })
    }
}

/// Of several schemas that a value is not as, the one that it comes nearest to.
#[derive(Debug, Default)]
struct Nearest {
    place: Option<usize>,
    distance: (usize, usize),
    causes: Vec<Violation>,
}

impl Nearest {
    /// Take what is wrong by a schema. A value of another type, or with another mark, is far from
    /// what was meant; otherwise it is the fewer violations the nearer.
    fn offer(&mut self, place: usize, causes: Vec<Violation>) {
        let other = causes
            .iter()
            .filter(|it| matches!(it.keyword, "type" | "const" | "enum"))
            .count();
        let distance = (other, causes.len());
        if self.place.is_none() || distance < self.distance {
            *self = Self {
                place: Some(place),
                distance,
                causes,
            };
        }
    }
}
