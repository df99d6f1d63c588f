//! Keywords for objects.

use super::evaluator::{Evaluator, KeywordLocation, Tracker, Validity};
use crate::arena::{Properties, SubId};
use crate::budget::{Budget, OverBudget};
use crate::correction::{completed, renamed};
use crate::value::sort_by_text;
use crate::wording::{listed, quoted};
use agent_syntax::{Entry, Node, Value};
use agent_text::{Span, nearest};
use std::borrow::Cow;

/// Maximum names to compare one by one: most differ in their length already.
const FEW: usize = 8;

/// Maximum properties among which to search for a similar name.
const SUGGESTED_FROM: usize = 64;

/// Cost of a search for a similar name, in steps for each name.
const SUGGESTION_COST: u64 = 128;

impl Evaluator<'_, '_, '_, '_> {
    pub(super) fn properties(
        &mut self,
        at: KeywordLocation,
        properties: &Properties<'_>,
        entries: &[Entry<'_>],
        mut evaluated: Tracker<'_>,
    ) -> Validity {
        self.all(entries.iter().enumerate(), |it, (place, entry)| {
            let (mut known, mut valid) = (false, true);
            if let Some(sub) = find(&properties.named, &entry.key, it.budget)? {
                known = true;
                valid &= it.part(sub, place, &entry.value)?;
            }
            for (pattern, sub) in &properties.patterns {
                let pattern = &it.schema.patterns[*pattern as usize];
                if pattern.is_match(&entry.key, it.budget)? {
                    known = true;
                    valid &= it.part(*sub, place, &entry.value)?;
                }
            }
            if let (false, Some(rest)) = (known, &properties.additional) {
                known = true;
                valid &= if it.schema.sub(rest.sub).is_never() {
                    it.unknown(at.of(rest), properties, place, entries)?
                } else {
                    it.part(rest.sub, place, &entry.value)?
                };
            }
            if let (true, Some(evaluated)) = (known, &mut evaluated) {
                evaluated.add(place);
            }
            Ok(valid)
        })
    }

    /// Reports a property that `additionalProperties` forbids.
    fn unknown(
        &mut self,
        at: KeywordLocation,
        properties: &Properties<'_>,
        place: usize,
        entries: &[Entry<'_>],
    ) -> Validity {
        let entry = &entries[place];
        if self.quiet > 0 {
            return Ok(false);
        }
        let names = || properties.named.iter().map(|(name, _)| *name);
        let mut message = "is not a known property".to_owned();
        if names().len() > 0 {
            message += &format!("; known are {}", listed(names(), quoted, "and"));
        }
        if names().len() <= SUGGESTED_FROM && entry.key.len() <= 64 {
            self.budget.charge(SUGGESTION_COST * names().len() as u64)?;
            let short = names().filter(|name| name.len() <= 64);
            if let Some(meant) = nearest(&entry.key, short, 1).first() {
                message += &format!("; did you mean {}?", quoted(meant));
            }
        }
        let verdict = self.within(place, |it| {
            it.require(false, at, entry.key_span, || message)
        });
        self.correct(verdict, |it| {
            Ok(renamed(entry, entries, names(), it.budget.likeness()))
        })
    }

    pub(super) fn property_names(
        &mut self,
        at: KeywordLocation,
        sub: SubId,
        entries: &[Entry<'_>],
    ) -> Validity {
        self.all(entries.iter().enumerate(), |it, (place, entry)| {
            let name = Node {
                value: Value::String(Cow::Borrowed(&*entry.key)),
                span: entry.key_span,
            };
            it.within(place, |it| {
                let (valid, causes) = it.causes(|it| it.check(sub, &name, None))?;
                if valid {
                    return Ok(true);
                }
                it.report(at, entry.key_span, causes, || {
                    format!("has a name that is not allowed: {}", quoted(&entry.key))
                })
            })
        })
    }

    pub(super) fn required(
        &mut self,
        at: KeywordLocation,
        names: &[&str],
        span: Span,
        entries: &[Entry<'_>],
    ) -> Validity {
        let keys = Keys::new(entries, self.budget)?;
        let holds = keys.contain_all(names, self.budget)?;
        if holds || self.quiet > 0 {
            return Ok(holds);
        }
        let missing: Vec<_> = names
            .iter()
            .copied()
            .filter(|it| !keys.contain(it))
            .collect();
        let declared = self.schema.declared_within(self.present, self.budget)?;
        let mut found = completed(entries, &missing, self.budget.likeness());
        found.retain(|it| !it.is_of(&declared));
        // The rest is missing, whatever the misspelt ones are.
        let is_misspelt = |name: &&str| found.iter().any(|it| it.writes(name));
        let (misspelt, rest): (Vec<_>, Vec<_>) = missing.into_iter().partition(is_misspelt);
        if !misspelt.is_empty() {
            let verdict = self.require(false, at, span, || missing_names(&misspelt));
            self.correct(verdict, |_| Ok(found))?;
        }
        let verdict = self.require(rest.is_empty(), at, span, || missing_names(&rest));
        self.expect(&verdict, rest.into_iter());
        verdict.and(Ok(false))
    }

    pub(super) fn dependent_required(
        &mut self,
        at: KeywordLocation,
        dependencies: &[(&str, Vec<&str>)],
        span: Span,
        entries: &[Entry<'_>],
    ) -> Validity {
        let keys = Keys::new(entries, self.budget)?;
        let mut valid = true;
        for (name, needed) in dependencies {
            let applies = keys.contain_all(&[name], self.budget)?;
            let holds = !applies || keys.contain_all(needed, self.budget)?;
            valid &= self.require(holds, at, span, || {
                let missing = needed.iter().copied().filter(|it| !keys.contain(it));
                let missing = missing_names(&missing.collect::<Vec<_>>());
                format!("{missing}, because it has {}", quoted(name))
            })?;
        }
        Ok(valid)
    }

    pub(super) fn dependent_schemas(
        &mut self,
        schemas: &[(&str, SubId)],
        node: &Node<'_>,
        entries: &[Entry<'_>],
        mut evaluated: Tracker<'_>,
    ) -> Validity {
        let mut valid = true;
        for entry in entries {
            if let Some(sub) = find(schemas, &entry.key, self.budget)? {
                valid &= self.check(sub, node, evaluated.as_deref_mut())?;
            }
        }
        Ok(valid)
    }

    pub(super) fn unevaluated_properties(
        &mut self,
        at: KeywordLocation,
        sub: SubId,
        entries: &[Entry<'_>],
        evaluated: Tracker<'_>,
    ) -> Validity {
        let never = self.schema.sub(sub).is_never();
        self.unevaluated(entries.len(), evaluated, |it, place| {
            let entry = &entries[place];
            if !never {
                return it.part(sub, place, &entry.value);
            }
            let verdict = it.within(place, |it| {
                it.require(false, at, entry.key_span, || {
                    "is not a property that any part of the schema declares".to_owned()
                })
            });
            if it.quiet > 0 {
                return verdict;
            }
            let known = it.schema.declared_within(it.present, it.budget)?;
            it.expect(&verdict, known.iter().copied());
            it.correct(verdict, |it| {
                let search = it.budget.likeness();
                Ok(renamed(entry, entries, known.into_iter(), search))
            })
        })
    }
}

/// Returns the message for missing names.
fn missing_names(missing: &[&str]) -> String {
    let noun = if missing.len() == 1 {
        "the property"
    } else {
        "the properties"
    };
    let names = listed(missing.iter(), |name| quoted(name), "and");
    format!("must have {noun} {names}")
}

/// The keys of an object.
struct Keys<'k> {
    entries: &'k [Entry<'k>],
    /// The same sorted, if they are many.
    sorted: Vec<&'k str>,
}

impl<'k> Keys<'k> {
    fn new(entries: &'k [Entry<'k>], budget: &mut Budget) -> Result<Self, OverBudget> {
        let mut sorted = Vec::new();
        if entries.len() > FEW {
            sorted.extend(entries.iter().map(|entry| &*entry.key));
            sort_by_text(&mut sorted, |key| key, budget)?;
        }
        Ok(Self { entries, sorted })
    }

    fn contain(&self, name: &str) -> bool {
        if self.sorted.is_empty() {
            self.entries.iter().any(|entry| entry.key == name)
        } else {
            self.sorted.binary_search(&name).is_ok()
        }
    }

    fn contain_all(&self, names: &[&str], budget: &mut Budget) -> Result<bool, OverBudget> {
        for name in names {
            budget.charge(search_cost(self.entries.len(), name))?;
            if !self.contain(name) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Returns the value of a name among sorted ones.
fn find<T: Copy>(
    named: &[(&str, T)],
    name: &str,
    budget: &mut Budget,
) -> Result<Option<T>, OverBudget> {
    budget.charge(search_cost(named.len(), name))?;
    let found = if named.len() <= FEW {
        named.iter().position(|(known, _)| *known == name)
    } else {
        named.binary_search_by_key(&name, |(known, _)| known).ok()
    };
    Ok(found.map(|found| named[found].1))
}

/// Returns the steps of a search for a name among a number of them. Each comparison may read all of
/// it.
fn search_cost(names: usize, name: &str) -> u64 {
    let comparisons = names.checked_ilog2().map_or(0, |log| u64::from(log) + 1);
    1 + comparisons * (name.len() as u64 / 16 + 1) / 4
}
