//! Keywords that combine subschemas.

use super::evaluator::{Evaluator, KeywordLocation, Tracker, Validity};
use crate::arena::{Body, Check, Condition, SubId};
use crate::violation::Violation;
use crate::wording::{counted, listed, quoted};
use agent_syntax::{Node, Value};

impl<'s> Evaluator<'s, '_, '_, '_> {
    pub(super) fn all_of(
        &mut self,
        subs: &[SubId],
        node: &Node<'_>,
        mut evaluated: Tracker<'_>,
    ) -> Validity {
        self.all(subs, |it, sub| {
            it.check(*sub, node, evaluated.as_deref_mut())
        })
    }

    pub(super) fn any_of(
        &mut self,
        at: KeywordLocation,
        subs: &[SubId],
        node: &Node<'_>,
        mut evaluated: Tracker<'_>,
    ) -> Validity {
        let mut valid = false;
        for sub in subs {
            valid |= self.quietly(|it| it.check(*sub, node, evaluated.as_deref_mut()))?;
            // Further subschemas matter only for the parts that they evaluate.
            if valid && evaluated.is_none() {
                break;
            }
        }
        if valid {
            return Ok(true);
        }
        self.no_match(at, subs, node)
    }

    pub(super) fn one_of(
        &mut self,
        at: KeywordLocation,
        subs: &[SubId],
        node: &Node<'_>,
        mut evaluated: Tracker<'_>,
    ) -> Validity {
        let mut first = None;
        for (place, sub) in subs.iter().enumerate() {
            let valid = self.quietly(|it| it.check(*sub, node, evaluated.as_deref_mut()))?;
            if let Some(first) = first.filter(|_| valid) {
                let choices = self.choices(subs, node);
                let verdict = self.require(false, at, node.span, || match &*choices {
                    [] => {
                        let schemas = subs.len();
                        format!("must match exactly one of {schemas} schemas, and matches those at {first} and {place}")
                    }
                    names => {
                        let both = [names[first], names[place]].map(quoted).join(" and ");
                        format!("has both {both}, and may have only one of them")
                    }
                });
                self.expect(&verdict, choices.into_iter());
                return verdict;
            }
            first = first.or(valid.then_some(place));
        }
        if first.is_some() {
            return Ok(true);
        }
        self.no_match(at, subs, node)
    }

    /// Reports that no subschema accepts a value. Violations are collected only here, because
    /// usually one of the subschemas accepts it.
    fn no_match(&mut self, at: KeywordLocation, subs: &[SubId], node: &Node<'_>) -> Validity {
        let choices = self.choices(subs, node);
        if !choices.is_empty() {
            let names = listed(choices.iter().copied(), quoted, "and");
            let verdict = self.require(false, at, node.span, || {
                format!("has none of {names}, and needs one of them")
            });
            self.expect(&verdict, choices.into_iter());
            return verdict;
        }
        let mut nearest: Option<(usize, Vec<Violation>)> = None;
        let explained = if self.quiet == 0 { subs } else { &[] };
        for (place, sub) in explained.iter().enumerate() {
            let (_, causes) = self.causes(|it| it.check(*sub, node, None))?;
            let nearer = |(_, known): &(_, Vec<_>)| distance(&causes) < distance(known);
            if nearest.as_ref().is_none_or(nearer) {
                nearest = Some((place, causes));
            }
        }
        let (place, causes) = nearest.unwrap_or_default();
        self.report(at, node.span, causes, || {
            let schemas = counted(subs.len() as u64, "schema", "schemas");
            let nearest = match subs.len() {
                1 => String::new(),
                _ => format!("; the nearest is that at {place}"),
            };
            format!("must match one of {schemas}, and matches none{nearest}")
        })
    }

    /// Returns the names of an object's alternatives that each require one property and nothing else; otherwise
    /// none.
    fn choices(&self, subs: &[SubId], node: &Node<'_>) -> Vec<&'s str> {
        if self.quiet > 0 || subs.len() < 2 || !matches!(node.value, Value::Mapping(_)) {
            return Vec::new();
        }
        let name = |sub: &SubId| {
            let Body::Rules(rules) = &self.schema.subs[*sub as usize].body else {
                return None;
            };
            let mut rules = rules
                .iter()
                .filter(|it| !matches!(it.check, Check::Type(_)));
            match (&rules.next()?.check, rules.next()) {
                (Check::Required(names), None) if names.len() == 1 => names.first().copied(),
                _ => None,
            }
        };
        let names: Option<Vec<_>> = subs.iter().map(name).collect();
        names.unwrap_or_default()
    }

    pub(super) fn not(&mut self, at: KeywordLocation, sub: SubId, node: &Node<'_>) -> Validity {
        let valid = self.quietly(|it| it.check(sub, node, None))?;
        self.require(!valid, at, node.span, || {
            "must not match the schema of `not`".to_owned()
        })
    }

    pub(super) fn condition(
        &mut self,
        at: KeywordLocation,
        condition: &Condition,
        node: &Node<'_>,
        mut evaluated: Tracker<'_>,
    ) -> Validity {
        let holds =
            self.quietly(|it| it.check(condition.condition, node, evaluated.as_deref_mut()))?;
        let (branch, message) = if holds {
            (
                &condition.then,
                "must match `then`, because it matches `if`",
            )
        } else {
            (
                &condition.otherwise,
                "must match `else`, because it does not match `if`",
            )
        };
        let Some(branch) = branch else {
            return Ok(true);
        };
        let (valid, causes) = self.causes(|it| it.check(branch.sub, node, evaluated))?;
        if valid {
            return Ok(true);
        }
        self.report(at.of(branch), node.span, causes, || message.to_owned())
    }
}

/// Returns the distance of a value from a schema. A value of another type or tag is far from the
/// intended one; otherwise the number of violations counts.
fn distance(causes: &[Violation]) -> (usize, usize) {
    let other = causes
        .iter()
        .filter(|it| matches!(it.keyword, "type" | "const" | "enum"));
    (other.count(), causes.len())
}
