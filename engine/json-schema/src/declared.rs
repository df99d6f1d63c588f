//! What a schema says about its values before there is one.

use super::arena::{Check, Condition, Properties, Schema, SubId};
use super::budget::{Budget, OverBudget};
use super::pointer::{index, tokens};
use super::types::Types;
use std::collections::BTreeSet;

/// Which of the schemas that are put together are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// All that may say something: every branch, but not what stands under `not`.
    Any,
    /// Those that hold for every value: through references and `allOf`.
    Always,
}

impl<'a> Schema<'a> {
    /// Whether `properties` or `patternProperties` declare a name for the whole value: in the
    /// schema, or in one that is reached from it through references, `allOf`, `anyOf`, `oneOf`,
    /// `if`, `then`, `else` and dependent schemas. What is only excluded, under `not`, is not
    /// declared \[1\].
    ///
    /// # Errors
    /// It takes more than the budget.
    pub fn declares_property(&self, name: &str, budget: &mut Budget) -> Result<bool, OverBudget> {
        for sub in self.reached([self.root], Reach::Any, budget)? {
            for properties in self.properties(sub) {
                budget.charge(1)?;
                if properties.named.iter().any(|(known, _)| *known == name) {
                    return Ok(true);
                }
                for (pattern, _) in &properties.patterns {
                    if self.patterns[*pattern as usize].is_match(name, budget)? {
                        return Ok(true);
                    }
                }
            }
        }
        Ok(false)
    }

    /// The names that `properties` declares, where
    /// [`declares_property`](Self::declares_property) looks. Sorted.
    ///
    /// # Errors
    /// It takes more than the budget.
    pub fn declared_names(&self, budget: &mut Budget) -> Result<Vec<&'a str>, OverBudget> {
        let mut found = BTreeSet::new();
        for sub in self.reached([self.root], Reach::Any, budget)? {
            for properties in self.properties(sub) {
                budget.charge(properties.named.len() as u64)?;
                found.extend(properties.named.iter().map(|(name, _)| *name));
            }
        }
        Ok(found.into_iter().collect())
    }

    /// Whether `additionalProperties`, where [`declares_property`](Self::declares_property) looks,
    /// is `true` or a schema: names that nothing declares are then meant to be allowed \[1\].
    /// `unevaluatedProperties` does not count.
    ///
    /// # Errors
    /// It takes more than the budget.
    pub fn explicit_additional_properties(&self, budget: &mut Budget) -> Result<bool, OverBudget> {
        for sub in self.reached([self.root], Reach::Any, budget)? {
            for properties in self.properties(sub) {
                let rest = properties.additional.map(|rest| self.sub(rest.sub));
                if rest.is_some_and(|sub| !sub.is_never()) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// The names that every value has to have, if it is an object: those of `required` in the
    /// schema, and in those that it refers to or that are in its `allOf`. Sorted.
    ///
    /// # Errors
    /// It takes more than the budget.
    pub fn required_names(&self, budget: &mut Budget) -> Result<Vec<&'a str>, OverBudget> {
        let mut found = BTreeSet::new();
        for sub in self.reached([self.root], Reach::Always, budget)? {
            for rule in self.rules(sub) {
                if let Check::Required(names) = &rule.check {
                    budget.charge(names.len() as u64)?;
                    found.extend(names.iter().copied());
                }
            }
        }
        Ok(found.into_iter().collect())
    }

    /// What is said about the part of a value at a JSON pointer. None if the pointer is none.
    ///
    /// # Errors
    /// It takes more than the budget.
    pub fn part(
        &self,
        pointer: &str,
        budget: &mut Budget,
    ) -> Result<Option<Part<'_, 'a>>, OverBudget> {
        let Some(tokens) = tokens(pointer) else {
            return Ok(None);
        };
        let mut part = Part {
            schema: self,
            possible: true,
            subs: self.reached([self.root], Reach::Always, budget)?,
        };
        for token in tokens {
            part = part.child(&token, budget)?;
        }
        Ok(Some(part))
    }

    /// The types that all of some schemas allow; none if none of them says.
    fn types(&self, subs: &[SubId]) -> Option<Types> {
        let rules = subs.iter().flat_map(|sub| self.rules(*sub));
        let types = rules.filter_map(|rule| match &rule.check {
            Check::Type(types) => Some(*types),
            _ => None,
        });
        types.reduce(Types::and)
    }

    fn properties(&self, sub: SubId) -> impl Iterator<Item = &Properties<'a>> {
        self.rules(sub).iter().filter_map(|rule| match &rule.check {
            Check::Properties(properties) => Some(properties),
            _ => None,
        })
    }

    /// The schemas for a property of a name.
    fn named(
        &self,
        properties: &Properties<'a>,
        name: &str,
        next: &mut Vec<SubId>,
        budget: &mut Budget,
    ) -> Result<(), OverBudget> {
        budget.charge(1 + properties.named.len() as u64 / 8)?;
        let before = next.len();
        let known = properties.named.iter().find(|(known, _)| *known == name);
        next.extend(known.map(|(_, sub)| *sub));
        for (pattern, sub) in &properties.patterns {
            if self.patterns[*pattern as usize].is_match(name, budget)? {
                next.push(*sub);
            }
        }
        if next.len() == before {
            next.extend(properties.additional.map(|rest| rest.sub));
        }
        Ok(())
    }

    /// The schemas that are about the same value as some, those themselves among them.
    fn reached(
        &self,
        from: impl IntoIterator<Item = SubId>,
        reach: Reach,
        budget: &mut Budget,
    ) -> Result<Vec<SubId>, OverBudget> {
        let mut found: Vec<SubId> = Vec::new();
        let mut known = BTreeSet::new();
        let mut next: Vec<SubId> = from.into_iter().collect();
        while let Some(sub) = next.pop() {
            budget.charge(1)?;
            if !known.insert(sub) {
                continue;
            }
            found.push(sub);
            for rule in self.rules(sub) {
                budget.charge(1)?;
                match (&rule.check, reach) {
                    (Check::Ref(sub), _) | (Check::DynamicRef(sub, None), _) => next.push(*sub),
                    // What it means depends on the way: any of these.
                    (Check::DynamicRef(sub, Some(name)), Reach::Any) => {
                        let meant = self.dynamic.iter().filter(|((_, known), _)| known == name);
                        budget.charge(self.dynamic.len() as u64)?;
                        next.push(*sub);
                        next.extend(meant.map(|(_, sub)| *sub));
                    }
                    (Check::AllOf(subs), _)
                    | (Check::AnyOf(subs) | Check::OneOf(subs), Reach::Any) => next.extend(subs),
                    (Check::If(condition), Reach::Any) => {
                        let Condition {
                            condition,
                            then,
                            otherwise,
                        } = condition;
                        next.push(*condition);
                        next.extend([then, otherwise].into_iter().flatten().map(|rest| rest.sub));
                    }
                    (Check::DependentSchemas(schemas), Reach::Any) => {
                        next.extend(schemas.iter().map(|(_, sub)| *sub));
                    }
                    _ => {}
                }
            }
        }
        Ok(found)
    }
}

/// What a schema says about a part of its values.
#[derive(Debug)]
pub struct Part<'s, 'a> {
    schema: &'s Schema<'a>,
    possible: bool,
    /// The schemas that hold for it in any case.
    subs: Vec<SubId>,
}

/// Whether a part may have a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Declared {
    /// A schema declares it, or allows what is not declared.
    Yes,
    /// Other properties are declared, and this one is not.
    No,
    /// Nothing is said about properties.
    Unsaid,
}

impl Part<'_, '_> {
    /// Whether there can be such a part at all.
    pub fn is_possible(&self) -> bool {
        self.possible
    }

    /// The types that it may have, if any are declared.
    pub fn types(&self) -> Option<Types> {
        self.schema.types(&self.subs)
    }

    /// Whether it may have a property, by [`Declared`]: what only a branch says counts.
    ///
    /// # Errors
    /// It takes more than the budget.
    pub fn declares(&self, name: &str, budget: &mut Budget) -> Result<Declared, OverBudget> {
        let schema = self.schema;
        let mut said = Declared::Unsaid;
        for sub in schema.reached(self.subs.iter().copied(), Reach::Any, budget)? {
            for properties in schema.properties(sub) {
                let mut found = Vec::new();
                schema.named(properties, name, &mut found, budget)?;
                if found.iter().any(|sub| !schema.sub(*sub).is_never()) {
                    return Ok(Declared::Yes);
                }
                said = Declared::No;
            }
        }
        Ok(said)
    }

    /// The part of it that a token of a pointer names.
    fn child(&self, token: &str, budget: &mut Budget) -> Result<Self, OverBudget> {
        let schema = self.schema;
        let types = self.types().unwrap_or(Types::ANY);
        let mut next = Vec::new();
        let mut possible = false;
        if types.holds(Types::OBJECT) {
            possible |= self.declares(token, budget)? != Declared::No;
            for sub in &self.subs {
                for properties in schema.properties(*sub) {
                    schema.named(properties, token, &mut next, budget)?;
                }
            }
        }
        if let (true, true, Some(place)) =
            (next.is_empty(), types.holds(Types::ARRAY), index(token))
        {
            possible = true;
            for rule in self.subs.iter().flat_map(|sub| schema.rules(*sub)) {
                if let Check::Items(items) = &rule.check {
                    let rest = items.rest.map(|rest| rest.sub);
                    next.extend(items.first.get(place).copied().or(rest));
                }
            }
        }
        possible &= next.iter().all(|sub| !schema.sub(*sub).is_never());
        Ok(Self {
            schema,
            possible: self.possible && possible,
            subs: schema.reached(next, Reach::Always, budget)?,
        })
    }
}
