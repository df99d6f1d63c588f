//! Keywords about objects.

use super::{At, Evaluator, Seen, Verdict};
use crate::schema::arena::{Properties, SubId};
use crate::schema::budget::{Budget, OverBudget};
use crate::schema::value::charge_sort;
use crate::schema::wording::{listed, quoted};
use crate::sort::sort_by_key;
use crate::syntax::{Entry, Node, Value};
use crate::text::{Span, nearest};
use std::borrow::Cow;

/// Names of at most so many properties are searched for one that is spelled nearly alike.
const SUGGESTED_FROM: usize = 64;

/// What a search for one that is spelled nearly alike costs, in steps for each name.
const SUGGESTION_COST: u64 = 128;

impl Evaluator<'_, '_, '_, '_> {
    pub(super) fn properties(
        &mut self,
        at: At,
        properties: &Properties<'_>,
        entries: &[Entry<'_>],
        mut seen: Option<&mut Seen>,
    ) -> Verdict {
        let mut valid = true;
        for (place, entry) in entries.iter().enumerate() {
            let mut known = false;
            if let Some(found) = find(&properties.named, &entry.key, self.budget)? {
                known = true;
                valid &= self.part(properties.named[found].1, place, &entry.value)?;
            }
            for (pattern, sub) in &properties.patterns {
                let pattern = &self.schema.patterns[*pattern as usize];
                if pattern.is_match(&entry.key, self.budget)? {
                    known = true;
                    valid &= self.part(*sub, place, &entry.value)?;
                }
            }
            if let (false, Some(rest)) = (known, properties.additional) {
                known = true;
                let never = self.schema.sub(rest.sub).is_never();
                valid &= if never {
                    let at = At {
                        keyword: rest.keyword,
                        span: rest.span,
                        ..at
                    };
                    self.unknown(at, properties, place, entry)?
                } else {
                    self.part(rest.sub, place, &entry.value)?
                };
            }
            if let (true, Some(seen)) = (known, &mut seen) {
                seen.add(place);
            }
            if !valid && self.quiet > 0 {
                break;
            }
        }
        Ok(valid)
    }

    /// A property that may not be there.
    fn unknown(
        &mut self,
        at: At,
        properties: &Properties<'_>,
        place: usize,
        entry: &Entry<'_>,
    ) -> Verdict {
        if self.quiet > 0 {
            return Ok(false);
        }
        let names = || properties.named.iter().map(|(name, _)| *name);
        let meant = if properties.named.len() <= SUGGESTED_FROM && entry.key.len() <= 64 {
            self.budget.charge(SUGGESTION_COST * names().len() as u64)?;
            let short = names().filter(|name| name.len() <= 64);
            nearest(&entry.key, short, 1).first().copied()
        } else {
            None
        };
        self.path.push(place as u32);
        let verdict = self.find(at, entry.key_span, || {
            let known = listed(names(), quoted, "and");
            match meant {
                Some(meant) => format!(
                    "is no known property; known are {known}; did you mean {}?",
                    quoted(meant)
                ),
                None if names().len() == 0 => "is no known property".to_owned(),
                None => format!("is no known property; known are {known}"),
            }
        });
        self.path.pop();
        verdict
    }

    pub(super) fn property_names(&mut self, at: At, sub: SubId, entries: &[Entry<'_>]) -> Verdict {
        let mut valid = true;
        for (place, entry) in entries.iter().enumerate() {
            let name = Node {
                value: Value::String(Cow::Borrowed(&*entry.key)),
                span: entry.key_span,
            };
            let before = self.found.len();
            self.path.push(place as u32);
            if !self.check(sub, &name, None)? {
                valid = false;
                let causes = self.found.split_off(before);
                self.find_because(at, entry.key_span, causes, || {
                    format!("has a name that is not allowed: {}", quoted(&entry.key))
                })?;
            }
            self.path.pop();
            if !valid && self.quiet > 0 {
                break;
            }
        }
        Ok(valid)
    }

    pub(super) fn required(
        &mut self,
        at: At,
        names: &[&str],
        span: Span,
        entries: &[Entry<'_>],
    ) -> Verdict {
        self.budget.charge(names.len() as u64 / 8)?;
        let mut there = vec![false; names.len()];
        for entry in entries {
            if let Some(found) = find_by(names, |name| name, &entry.key, self.budget)? {
                there[found] = true;
            }
        }
        if there.iter().all(|it| *it) {
            return Ok(true);
        }
        let all = names.iter().zip(&there);
        let missing: Vec<_> = all
            .filter(|(_, there)| !**there)
            .map(|(name, _)| *name)
            .collect();
        self.find(at, span, || missing_names(&missing, None))
    }

    pub(super) fn dependent_required(
        &mut self,
        at: At,
        dependencies: &[(&str, Vec<&str>)],
        span: Span,
        entries: &[Entry<'_>],
    ) -> Verdict {
        let mut keys: Vec<&str> = entries.iter().map(|entry| &*entry.key).collect();
        let eighths = keys.iter().map(|key| key.len() as u64 / 8 + 1).sum();
        charge_sort(keys.len(), eighths, self.budget)?;
        sort_by_key(&mut keys, |key| *key);
        let mut valid = true;
        for (name, needed) in dependencies {
            if find_by(&keys, |key| key, name, self.budget)?.is_none() {
                continue;
            }
            let mut missing = Vec::new();
            for needed in needed {
                if find_by(&keys, |key| key, needed, self.budget)?.is_none() {
                    missing.push(*needed);
                }
            }
            if !missing.is_empty() {
                valid = self.find(at, span, || missing_names(&missing, Some(name)))?;
            }
        }
        Ok(valid)
    }

    pub(super) fn dependent_schemas(
        &mut self,
        schemas: &[(&str, SubId)],
        node: &Node<'_>,
        entries: &[Entry<'_>],
        mut seen: Option<&mut Seen>,
    ) -> Verdict {
        let mut valid = true;
        for entry in entries {
            if let Some(found) = find(schemas, &entry.key, self.budget)? {
                valid &= self.check(schemas[found].1, node, seen.as_deref_mut())?;
            }
        }
        Ok(valid)
    }

    pub(super) fn unevaluated_properties(
        &mut self,
        at: At,
        sub: SubId,
        entries: &[Entry<'_>],
        seen: Option<&mut Seen>,
    ) -> Verdict {
        // Whoever has this keyword tracks.
        let Some(seen) = seen else {
            return Ok(true);
        };
        let never = self.schema.sub(sub).is_never();
        let mut valid = true;
        for (place, entry) in entries.iter().enumerate() {
            self.budget.charge(1)?;
            if seen.has(place) {
                continue;
            }
            seen.add(place);
            valid &= if never {
                self.path.push(place as u32);
                self.find(at, entry.key_span, || {
                    "is no property that any part of the schema knows".to_owned()
                })?;
                self.path.pop();
                false
            } else {
                self.part(sub, place, &entry.value)?
            };
            if !valid && self.quiet > 0 {
                break;
            }
        }
        Ok(valid)
    }
}

fn missing_names(missing: &[&str], because: Option<&str>) -> String {
    let names = listed(missing.iter(), |name| quoted(name), "and");
    let noun = if missing.len() == 1 {
        "the property"
    } else {
        "the properties"
    };
    match because {
        Some(name) => format!("must have {noun} {names}, because it has {}", quoted(name)),
        None => format!("must have {noun} {names}"),
    }
}

/// The place of a name among sorted ones.
fn find<T>(
    named: &[(&str, T)],
    name: &str,
    budget: &mut Budget,
) -> Result<Option<usize>, OverBudget> {
    find_by(named, |(name, _)| name, name, budget)
}

fn find_by<T>(
    sorted: &[T],
    name_of: impl Fn(&T) -> &str,
    name: &str,
    budget: &mut Budget,
) -> Result<Option<usize>, OverBudget> {
    if sorted.is_empty() {
        budget.charge(1)?;
        return Ok(None);
    }
    // Each comparison may read all of the name.
    let comparisons = u64::from(sorted.len().ilog2()) + 1;
    budget.charge(1 + comparisons * (name.len() as u64 / 16 + 1) / 4)?;
    Ok(sorted.binary_search_by(|it| name_of(it).cmp(name)).ok())
}
