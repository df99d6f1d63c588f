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

    /// The types that the part of a value at a JSON pointer may have, by the `type` of the schemas
    /// that hold for it in any case: those that are reached through references, `allOf`,
    /// `properties`, `patternProperties`, `additionalProperties`, `items` and `prefixItems`. None
    /// if no `type` is declared there, or if the pointer is none.
    ///
    /// # Errors
    /// It takes more than the budget.
    pub fn declared_type(
        &self,
        pointer: &str,
        budget: &mut Budget,
    ) -> Result<Option<Types>, OverBudget> {
        let Some(tokens) = tokens(pointer) else {
            return Ok(None);
        };
        let mut here = self.reached([self.root], Reach::Always, budget)?;
        for token in tokens {
            let types = self.types(&here);
            let may_be = |wanted| types.is_none_or(|types| types.holds(wanted));
            let mut next = Vec::new();
            if may_be(Types::OBJECT) {
                for sub in &here {
                    for properties in self.properties(*sub) {
                        self.named(properties, &token, &mut next, budget)?;
                    }
                }
            }
            if let (true, true, Some(place)) =
                (next.is_empty(), may_be(Types::ARRAY), index(&token))
            {
                for rule in here.iter().flat_map(|sub| self.rules(*sub)) {
                    if let Check::Items(items) = &rule.check {
                        let rest = items.rest.map(|rest| rest.sub);
                        next.extend(items.first.get(place).copied().or(rest));
                    }
                }
            }
            here = self.reached(next, Reach::Always, budget)?;
        }
        Ok(self.types(&here))
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
