//! The requirements of a schema without a value.

use super::arena::{Check, Condition, Properties, Schema, SubId};
use super::budget::{Budget, OverBudget};
use super::correction::meant;
use super::pointer::{index, push_name, tokens};
use super::types::Types;
use std::collections::BTreeSet;

/// The subschemas to follow from a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// All that may apply to the value: every branch, except under `not`.
    Any,
    /// All that always apply: through references and `allOf`.
    Always,
}

impl<'a> Schema<'a> {
    /// Returns whether `properties` or `patternProperties` declare a name of the whole value: in the
    /// schema, or in one reached through references, `allOf`, `anyOf`, `oneOf`, `if`, `then`, `else`
    /// and dependent schemas. A name under `not` is not declared \[1\].
    ///
    /// # Errors
    /// The search exceeds the budget.
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

    /// Returns the names in every `properties` that [`declares_property`](Self::declares_property)
    /// reaches, sorted.
    ///
    /// # Errors
    /// The search exceeds the budget.
    pub(super) fn declared_names(&self, budget: &mut Budget) -> Result<Vec<&'a str>, OverBudget> {
        self.declared_within(self.root, budget)
    }

    /// Returns the same names of the values of a subschema.
    pub(super) fn declared_within(
        &self,
        sub: SubId,
        budget: &mut Budget,
    ) -> Result<Vec<&'a str>, OverBudget> {
        let mut found = BTreeSet::new();
        for sub in self.reached([sub], Reach::Any, budget)? {
            for properties in self.properties(sub) {
                budget.charge(properties.named.len() as u64)?;
                found.extend(properties.named.iter().map(|(name, _)| *name));
            }
        }
        Ok(found.into_iter().collect())
    }

    /// Returns whether an `additionalProperties` that
    /// [`declares_property`](Self::declares_property) reaches is `true` or a schema, so that
    /// undeclared names are allowed intentionally \[1\]. `unevaluatedProperties` does not count.
    ///
    /// # Errors
    /// The search exceeds the budget.
    pub fn explicit_additional_properties(&self, budget: &mut Budget) -> Result<bool, OverBudget> {
        let subs = self.reached([self.root], Reach::Any, budget)?;
        let mut properties = subs.iter().flat_map(|sub| self.properties(*sub));
        Ok(properties.any(|properties| {
            let rest = properties.additional.map(|rest| self.sub(rest.sub));
            rest.is_some_and(|sub| !sub.is_never())
        }))
    }

    /// Returns the names that every object must have: those of `required` in the schema, and in the
    /// schemas reached through references and `allOf`. Sorted.
    ///
    /// # Errors
    /// The search exceeds the budget.
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

    /// Returns the requirements for the part of a value at a JSON pointer. Returns `None` for an
    /// invalid pointer.
    ///
    /// # Errors
    /// The search exceeds the budget.
    pub fn instance_location(
        &self,
        pointer: &str,
        budget: &mut Budget,
    ) -> Result<Option<InstanceLocation<'_, 'a>>, OverBudget> {
        let Some(tokens) = tokens(pointer) else {
            return Ok(None);
        };
        let mut location = InstanceLocation {
            schema: self,
            possible: true,
            subs: self.reached([self.root], Reach::Always, budget)?,
        };
        for token in tokens {
            location = location.child(&token, budget)?;
        }
        Ok(Some(location))
    }

    /// Returns the pointer to a possible part that a pointer to an impossible one is a slip of, if only
    /// one can be meant.
    ///
    /// # Errors
    /// The search exceeds the budget.
    pub fn nearest_location(
        &self,
        pointer: &str,
        budget: &mut Budget,
    ) -> Result<Option<String>, OverBudget> {
        let (Some(tokens), Some(mut location)) =
            (tokens(pointer), self.instance_location("", budget)?)
        else {
            return Ok(None);
        };
        let mut nearest = String::new();
        for token in tokens {
            let mut next = location.child(&token, budget)?;
            let mut name = token.to_string();
            if !next.possible {
                let mut names = BTreeSet::new();
                for sub in self.reached(location.subs.iter().copied(), Reach::Any, budget)? {
                    for properties in self.properties(sub) {
                        budget.charge(properties.named.len() as u64)?;
                        names.extend(properties.named.iter().map(|(name, _)| *name));
                    }
                }
                let names: Vec<_> = names.into_iter().collect();
                let Some(meant) = meant(&token, &names, budget.likeness()) else {
                    return Ok(None);
                };
                next = location.child(meant, budget)?;
                meant.clone_into(&mut name);
            }
            push_name(&mut nearest, &name);
            location = next;
        }
        Ok(location.possible.then_some(nearest))
    }

    fn properties(&self, sub: SubId) -> impl Iterator<Item = &Properties<'a>> {
        self.rules(sub).iter().filter_map(|rule| match &rule.check {
            Check::Properties(properties) => Some(properties),
            _ => None,
        })
    }

    /// Adds the subschemas for a property of a name.
    pub(super) fn named(
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

    /// Returns some subschemas, and those that apply to the same value.
    pub(super) fn reached(
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
                    // The target depends on the dynamic scope: any of these.
                    (Check::DynamicRef(sub, Some(anchor)), Reach::Any) => {
                        let targets = self.dynamic.iter().filter(|((_, it), _)| it == anchor);
                        budget.charge(self.dynamic.len() as u64)?;
                        next.push(*sub);
                        next.extend(targets.map(|(_, sub)| *sub));
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
                        next.extend(then.iter().chain(otherwise).map(|rest| rest.sub));
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

/// The requirements of a schema for a part of its values.
#[derive(Debug)]
pub struct InstanceLocation<'s, 'a> {
    schema: &'s Schema<'a>,
    possible: bool,
    /// The subschemas that always apply to the part.
    subs: Vec<SubId>,
}

/// The status of a property at an instance location.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PropertyStatus {
    /// A schema declares the property, or allows undeclared ones.
    Allowed,
    /// Schemas declare other properties, but not this one.
    Undeclared,
    /// No schema declares properties.
    Unspecified,
}

impl InstanceLocation<'_, '_> {
    /// Returns whether a valid value may have the part.
    pub fn is_possible(&self) -> bool {
        self.possible
    }

    /// Returns the types that all subschemas allow, if any of them declares types.
    pub fn types(&self) -> Option<Types> {
        let rules = self.subs.iter().flat_map(|sub| self.schema.rules(*sub));
        let types = rules.filter_map(|rule| match &rule.check {
            Check::Type(types) => Some(*types),
            _ => None,
        });
        types.reduce(Types::and)
    }

    /// Returns the status of a property, in every branch.
    ///
    /// # Errors
    /// The search exceeds the budget.
    pub fn property(&self, name: &str, budget: &mut Budget) -> Result<PropertyStatus, OverBudget> {
        let schema = self.schema;
        let mut status = PropertyStatus::Unspecified;
        for sub in schema.reached(self.subs.iter().copied(), Reach::Any, budget)? {
            for properties in schema.properties(sub) {
                let mut found = Vec::new();
                schema.named(properties, name, &mut found, budget)?;
                if found.iter().any(|sub| !schema.sub(*sub).is_never()) {
                    return Ok(PropertyStatus::Allowed);
                }
                status = PropertyStatus::Undeclared;
            }
        }
        Ok(status)
    }

    /// Returns the location that a token of a pointer leads to.
    fn child(&self, token: &str, budget: &mut Budget) -> Result<Self, OverBudget> {
        let schema = self.schema;
        let types = self.types().unwrap_or(Types::ANY);
        let mut next = Vec::new();
        let mut possible = false;
        if types.contains(Types::OBJECT) {
            possible |= self.property(token, budget)? != PropertyStatus::Undeclared;
            for properties in self.subs.iter().flat_map(|sub| schema.properties(*sub)) {
                schema.named(properties, token, &mut next, budget)?;
            }
        }
        let place = index(token).filter(|_| next.is_empty() && types.contains(Types::ARRAY));
        if let Some(place) = place {
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
