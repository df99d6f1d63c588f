//! Keywords about objects.

use super::{At, Evaluator, Seen, Verdict};
use crate::arena::{Properties, SubId};
use crate::budget::{Budget, OverBudget};
use crate::value::charge_sort;
use crate::wording::{listed, quoted};
use agent_syntax::{Entry, Node, Value};
use agent_text::sort::sort_by_key;
use agent_text::{Span, nearest};
use std::borrow::Cow;

/// So few names are looked at one after the other: most differ in their length already.
const FEW: usize = 8;

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
            if let Some(sub) = find(&properties.named, &entry.key, self.budget)? {
                known = true;
                valid &= self.part(sub, place, &entry.value)?;
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
        Keys::charge(entries, self.budget)?;
        let keys = Keys::new(entries);
        if keys.hold_all(names, self.budget)? {
            return Ok(true);
        }
        self.find(at, span, || missing_names(names, &keys, None))
    }

    pub(super) fn dependent_required(
        &mut self,
        at: At,
        dependencies: &[(&str, Vec<&str>)],
        span: Span,
        entries: &[Entry<'_>],
    ) -> Verdict {
        Keys::charge(entries, self.budget)?;
        let keys = Keys::new(entries);
        let mut valid = true;
        for (name, needed) in dependencies {
            if keys.hold_all(&[name], self.budget)? && !keys.hold_all(needed, self.budget)? {
                valid = self.find(at, span, || missing_names(needed, &keys, Some(name)))?;
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
            if let Some(sub) = find(schemas, &entry.key, self.budget)? {
                valid &= self.check(sub, node, seen.as_deref_mut())?;
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

/// What is said of those of some names that are none of the keys.
fn missing_names(names: &[&str], keys: &Keys<'_>, because: Option<&str>) -> String {
    let missing: Vec<_> = names.iter().filter(|name| !keys.hold(name)).collect();
    let noun = if missing.len() == 1 {
        "the property"
    } else {
        "the properties"
    };
    let names = listed(missing.into_iter(), |name| quoted(name), "and");
    match because {
        Some(name) => format!("must have {noun} {names}, because it has {}", quoted(name)),
        None => format!("must have {noun} {names}"),
    }
}

/// The keys of an object, among which names are looked for.
struct Keys<'k> {
    entries: &'k [Entry<'k>],
    /// The same sorted, if they are many.
    sorted: Vec<&'k str>,
}

impl<'k> Keys<'k> {
    /// Pay for what making them takes.
    fn charge(entries: &[Entry<'_>], budget: &mut Budget) -> Result<(), OverBudget> {
        if entries.len() <= FEW {
            return Ok(());
        }
        let eighths = entries.iter().map(|entry| entry.key.len() as u64 / 8 + 1);
        charge_sort(entries.len(), eighths.sum(), budget)
    }

    fn new(entries: &'k [Entry<'k>]) -> Self {
        let mut sorted = Vec::new();
        if entries.len() > FEW {
            sorted.extend(entries.iter().map(|entry| &*entry.key));
            sort_by_key(&mut sorted, |key| *key);
        }
        Self { entries, sorted }
    }

    fn hold(&self, name: &str) -> bool {
        if self.sorted.is_empty() {
            self.entries.iter().any(|entry| entry.key == name)
        } else {
            self.sorted.binary_search(&name).is_ok()
        }
    }

    fn hold_all(&self, names: &[&str], budget: &mut Budget) -> Result<bool, OverBudget> {
        for name in names {
            budget.charge(search_cost(self.entries.len(), name))?;
            if !self.hold(name) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// What belongs to a name, among sorted ones.
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

/// What it costs to look for a name among so many, in steps: each comparison may read all of it.
fn search_cost(names: usize, name: &str) -> u64 {
    let comparisons = names.checked_ilog2().map_or(0, |log| u64::from(log) + 1);
    1 + comparisons * (name.len() as u64 / 16 + 1) / 4
}
