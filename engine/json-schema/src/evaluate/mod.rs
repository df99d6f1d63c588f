//! Evaluation of a value against a schema.
//!
//! All violations are collected, except under `not`, `if` and `contains`, where only the verdict
//! counts. [`EVALUATION_DEPTH_LIMIT`] bounds the recursion: the methods here and those in the other
//! files call each other, because subschemas contain keywords, and keywords contain subschemas.

mod applicators;
mod array;
mod evaluated;
mod evaluator;
mod object;
mod scalar;

use super::arena::{Body, Check, Rule, Schema, SubId};
use super::budget::{Budget, EVALUATION_DEPTH_LIMIT, OverBudget};
use super::types::Types;
use super::violation::Violation;
use agent_syntax::{Node, Value};
use evaluated::Evaluated;
use evaluator::{Evaluator, KeywordLocation, Tracker, Validity};

impl Schema<'_> {
    /// Returns all violations by a value, in the order of the keywords, and of the parts of the
    /// value. The list is empty if the value is valid.
    ///
    /// # Errors
    /// The evaluation exceeds the budget, so there is no verdict.
    pub fn check(
        &self,
        instance: &Node<'_>,
        budget: &mut Budget,
    ) -> Result<Vec<Violation>, OverBudget> {
        let mut evaluator = Evaluator {
            schema: self,
            budget,
            instance,
            path: Vec::new(),
            scope: Vec::new(),
            depth: 0,
            quiet: 0,
            found: Vec::new(),
            present: self.root,
        };
        let valid = evaluator.check(self.root, instance, None)?;
        debug_assert_eq!(valid, evaluator.found.is_empty());
        Ok(evaluator.found)
    }
}

impl<'s, 'a> Evaluator<'s, 'a, '_, '_> {
    /// Checks a value against a subschema. If the value is valid, adds the evaluated parts to
    /// `evaluated`.
    fn check(&mut self, sub: SubId, node: &Node<'_>, evaluated: Tracker<'_>) -> Validity {
        self.budget.charge(1)?;
        let schema: &'s Schema<'a> = self.schema;
        let number = sub;
        let sub = schema.sub(sub);
        let rules = match &sub.body {
            Body::Always => return Ok(true),
            Body::Never => {
                let at = KeywordLocation {
                    keyword: sub.keyword,
                    document: sub.document,
                    span: sub.span,
                };
                return self.require(false, at, node.span, || "is not allowed".to_owned());
            }
            Body::Rules(rules) => rules,
        };
        if self.depth == EVALUATION_DEPTH_LIMIT {
            return Err(OverBudget::Depth);
        }
        self.depth += 1;
        let outer = std::mem::replace(&mut self.present, number);
        let entered = self.scope.last() != Some(&sub.resource);
        if entered {
            self.scope.push(sub.resource);
        }
        let verdict = if sub.tracks || evaluated.is_some() {
            self.tracked(sub.document, rules, node, evaluated)
        } else {
            self.rules(sub.document, rules, node, None)
        };
        if entered {
            self.scope.pop();
        }
        self.depth -= 1;
        self.present = outer;
        verdict
    }

    /// Checks a value against rules, where one of them or a caller depends on the evaluated parts.
    #[inline(never)]
    fn tracked(
        &mut self,
        document: u32,
        rules: &'s [Rule<'a>],
        node: &Node<'_>,
        evaluated: Tracker<'_>,
    ) -> Validity {
        let mut own = Evaluated::new(node, self.budget)?;
        let valid = self.rules(document, rules, node, Some(&mut own))?;
        if let (true, Some(evaluated)) = (valid, evaluated) {
            evaluated.merge(&own, self.budget)?;
        }
        Ok(valid)
    }

    #[inline(always)]
    fn rules(
        &mut self,
        document: u32,
        rules: &'s [Rule<'a>],
        node: &Node<'_>,
        mut evaluated: Tracker<'_>,
    ) -> Validity {
        self.budget.charge(rules.len() as u64)?;
        self.all(rules, |it, rule| match (&rule.check, &node.value) {
            // The most frequent case, without a call.
            (Check::Type(types), Value::String(_) | Value::Mapping(_))
                if types.contains(Types::of(&node.value)) =>
            {
                Ok(true)
            }
            _ => it.rule(document, rule, node, evaluated.as_deref_mut()),
        })
    }

    // Inlined, the preparations for all kinds of rules would run for each of them.
    #[inline(never)]
    fn rule(
        &mut self,
        document: u32,
        rule: &'s Rule<'a>,
        node: &Node<'_>,
        evaluated: Tracker<'_>,
    ) -> Validity {
        let at = KeywordLocation {
            keyword: rule.keyword,
            document,
            span: rule.span,
        };
        match (&rule.check, &node.value) {
            (Check::Ref(sub), _) => self.check(*sub, node, evaluated),
            (Check::DynamicRef(sub, anchor), _) => {
                let sub = self.dynamic(*sub, *anchor)?;
                self.check(sub, node, evaluated)
            }
            (Check::AllOf(subs), _) => self.all_of(subs, node, evaluated),
            (Check::AnyOf(subs), _) => self.any_of(at, subs, node, evaluated),
            (Check::OneOf(subs), _) => self.one_of(at, subs, node, evaluated),
            (Check::Not(sub), _) => self.not(at, *sub, node),
            (Check::If(condition), _) => self.condition(at, condition, node, evaluated),
            (Check::Properties(properties), Value::Mapping(entries)) => {
                self.properties(at, properties, entries, evaluated)
            }
            (Check::PropertyNames(sub), Value::Mapping(entries)) => {
                self.property_names(at, *sub, entries)
            }
            (Check::Required(names), Value::Mapping(entries)) => {
                self.required(at, names, node.span, entries)
            }
            (Check::DependentRequired(names), Value::Mapping(entries)) => {
                self.dependent_required(at, names, node.span, entries)
            }
            (Check::DependentSchemas(schemas), Value::Mapping(entries)) => {
                self.dependent_schemas(schemas, node, entries, evaluated)
            }
            (Check::UnevaluatedProperties(sub), Value::Mapping(entries)) => {
                self.unevaluated_properties(at, *sub, entries, evaluated)
            }
            (Check::Items(items), Value::Sequence(values)) => self.items(items, values, evaluated),
            (Check::Contains(contains), Value::Sequence(values)) => {
                self.contains(at, contains, node.span, values, evaluated)
            }
            (Check::Unique, Value::Sequence(values)) => self.unique(at, node.span, values),
            (Check::UnevaluatedItems(sub), Value::Sequence(values)) => {
                self.unevaluated_items(*sub, values, evaluated)
            }
            (check, _) => self.scalar(at, check, node),
        }
    }

    /// Returns the target of a `$dynamicRef`: the outermost schema of the dynamic scope with the
    /// anchor.
    fn dynamic(&mut self, sub: SubId, anchor: Option<u32>) -> Result<SubId, OverBudget> {
        let Some(anchor) = anchor else {
            return Ok(sub);
        };
        for resource in &self.scope {
            self.budget.charge(1)?;
            if let Some(sub) = self.schema.dynamic.get(&(*resource, anchor)) {
                return Ok(*sub);
            }
        }
        Ok(sub)
    }

    /// Checks a part of the present value against a subschema.
    fn part(&mut self, sub: SubId, place: usize, node: &Node<'_>) -> Validity {
        self.within(place, |it| it.check(sub, node, None))
    }

    /// Checks the parts, of a number of them, that no other keyword has evaluated.
    fn unevaluated(
        &mut self,
        parts: usize,
        evaluated: Tracker<'_>,
        mut check: impl FnMut(&mut Self, usize) -> Validity,
    ) -> Validity {
        // The subschema of such a keyword always tracks.
        let Some(evaluated) = evaluated else {
            return Ok(true);
        };
        self.all(0..parts, |it, place| {
            it.budget.charge(1)?;
            if evaluated.contains(place) {
                return Ok(true);
            }
            evaluated.add(place);
            check(it, place)
        })
    }
}
