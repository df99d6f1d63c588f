//! Checking a value against a schema.
//!
//! Everything that is wrong is collected, other than where only the verdict counts: under `not`,
//! `if` and `contains`. The recursion is bounded by [`EVALUATION_DEPTH_LIMIT`].

mod applicators;
mod array;
mod object;
mod scalar;
mod seen;

use super::arena::{Body, Check, Rule, Schema, SubId};
use super::budget::{Budget, EVALUATION_DEPTH_LIMIT, OverBudget};
use super::keyword::Keyword;
use super::pointer::{push_index, push_name};
use super::types::Types;
use super::violation::Violation;
use agent_syntax::{Node, Value};
use agent_text::Span;
use seen::Seen;

/// What a violation costs, in steps, beside its texts: memory is bounded by it.
const VIOLATION_COST: u64 = 32;

/// What a byte of a pointer or a message costs, in eighths of a step.
const TEXT_COST: u64 = 2;

impl Schema<'_> {
    /// All in which a value is not as the schema asks; none if it is valid. In the order of the
    /// keywords, and of the parts of the value.
    ///
    /// # Errors
    /// It takes more than the budget, which says nothing about the value.
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
        };
        let valid = evaluator.check(self.root, instance, None)?;
        debug_assert_eq!(valid, evaluator.found.is_empty());
        Ok(evaluator.found)
    }
}

/// Whether it holds.
type Verdict = Result<bool, OverBudget>;

struct Evaluator<'s, 'a, 'i, 'b> {
    schema: &'s Schema<'a>,
    budget: &'b mut Budget,
    /// All of the value.
    instance: &'i Node<'i>,
    /// Where the part of it is that is being checked: numbers of entries and items.
    path: Vec<u32>,
    /// The resources on the way, outermost first.
    scope: Vec<u32>,
    depth: u32,
    /// Where only the verdict counts: nothing is collected.
    quiet: u32,
    found: Vec<Violation>,
}

impl<'s, 'a> Evaluator<'s, 'a, '_, '_> {
    /// Check a value against a subschema. What it evaluates of the value is added to `seen`, if
    /// somebody has to know and it holds.
    fn check(&mut self, sub: SubId, node: &Node<'_>, seen: Option<&mut Seen>) -> Verdict {
        self.budget.charge(1)?;
        let schema: &'s Schema<'a> = self.schema;
        let sub = schema.sub(sub);
        let rules = match &sub.body {
            Body::Always => return Ok(true),
            Body::Never => {
                let at = At {
                    keyword: sub.via,
                    document: sub.document,
                    span: sub.span,
                };
                return self.find(at, node.span, || "must not be there".to_owned());
            }
            Body::Rules(rules) => rules,
        };
        if self.depth == EVALUATION_DEPTH_LIMIT {
            return Err(OverBudget::Depth);
        }
        self.depth += 1;
        let entered = self.scope.last() != Some(&sub.resource);
        if entered {
            self.scope.push(sub.resource);
        }
        let verdict = if sub.tracks || seen.is_some() {
            self.tracked(sub.document, rules, node, seen)
        } else {
            self.rules(sub.document, rules, node, None)
        };
        if entered {
            self.scope.pop();
        }
        self.depth -= 1;
        verdict
    }

    /// Check a value against rules of which some depend on what others have evaluated, or that
    /// others depend on.
    #[inline(never)]
    fn tracked(
        &mut self,
        document: u32,
        rules: &'s [Rule<'a>],
        node: &Node<'_>,
        seen: Option<&mut Seen>,
    ) -> Verdict {
        let mut own = Seen::new(node, self.budget)?;
        let valid = self.rules(document, rules, node, Some(&mut own))?;
        if let (true, Some(seen)) = (valid, seen) {
            seen.merge(&own, self.budget)?;
        }
        Ok(valid)
    }

    #[inline(always)]
    fn rules(
        &mut self,
        document: u32,
        rules: &'s [Rule<'a>],
        node: &Node<'_>,
        mut seen: Option<&mut Seen>,
    ) -> Verdict {
        self.budget.charge(rules.len() as u64)?;
        let mut valid = true;
        for rule in rules {
            valid &= match (&rule.check, &node.value) {
                // The most frequent one, without a call.
                (Check::Type(types), Value::String(_) | Value::Mapping(_))
                    if types.holds(Types::of(&node.value)) =>
                {
                    true
                }
                _ => self.rule(document, rule, node, seen.as_deref_mut())?,
            };
            if !valid && self.quiet > 0 {
                break;
            }
        }
        Ok(valid)
    }

    // In line, what each kind of rule needs would be made ready for all of them.
    #[inline(never)]
    fn rule(
        &mut self,
        document: u32,
        rule: &'s Rule<'a>,
        node: &Node<'_>,
        seen: Option<&mut Seen>,
    ) -> Verdict {
        let at = At {
            keyword: rule.keyword,
            document,
            span: rule.span,
        };
        match (&rule.check, &node.value) {
            (Check::Ref(sub), _) => self.check(*sub, node, seen),
            (Check::DynamicRef(sub, name), _) => {
                let sub = self.dynamic(*sub, *name)?;
                self.check(sub, node, seen)
            }
            (Check::AllOf(subs), _) => self.all_of(subs, node, seen),
            (Check::AnyOf(subs), _) => self.any_of(at, subs, node, seen),
            (Check::OneOf(subs), _) => self.one_of(at, subs, node, seen),
            (Check::Not(sub), _) => self.not(at, *sub, node),
            (Check::If(condition), _) => self.condition(document, condition, node, seen),
            (Check::Properties(properties), Value::Mapping(entries)) => {
                self.properties(at, properties, entries, seen)
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
                self.dependent_schemas(schemas, node, entries, seen)
            }
            (Check::UnevaluatedProperties(sub), Value::Mapping(entries)) => {
                self.unevaluated_properties(at, *sub, entries, seen)
            }
            (Check::Items(items), Value::Sequence(values)) => self.items(items, values, seen),
            (Check::Contains(contains), Value::Sequence(values)) => {
                self.contains(at, contains, node.span, values, seen)
            }
            (Check::Unique, Value::Sequence(values)) => self.unique(at, node.span, values),
            (Check::UnevaluatedItems(sub), Value::Sequence(values)) => {
                self.unevaluated_items(*sub, values, seen)
            }
            (check, _) => self.scalar(at, check, node),
        }
    }

    /// What a `$dynamicRef` means here: the outermost schema on the way that has the name.
    fn dynamic(&mut self, sub: SubId, name: Option<u32>) -> Result<SubId, OverBudget> {
        let Some(name) = name else {
            return Ok(sub);
        };
        for resource in &self.scope {
            self.budget.charge(1)?;
            if let Some(sub) = self.schema.dynamic.get(&(*resource, name)) {
                return Ok(*sub);
            }
        }
        Ok(sub)
    }

    /// Check a part of a value, by its place there.
    fn part(&mut self, sub: SubId, place: usize, node: &Node<'_>) -> Verdict {
        self.path.push(place as u32);
        let verdict = self.check(sub, node, None);
        self.path.pop();
        verdict
    }

    /// Have only the verdict count.
    fn quietly<T>(&mut self, check: impl FnOnce(&mut Self) -> T) -> T {
        self.quiet += 1;
        let verdict = check(self);
        self.quiet -= 1;
        verdict
    }

    /// Note what is wrong, by a keyword. The answer is the verdict, which is no.
    #[cold]
    fn find(&mut self, at: At, span: Span, message: impl FnOnce() -> String) -> Verdict {
        if self.quiet == 0 {
            self.budget.charge(VIOLATION_COST)?;
            let (document, schema) = self.schema.place(at.document, at.span);
            let violation = Violation {
                instance: self.pointer(),
                span,
                document,
                schema,
                schema_span: at.span,
                keyword: at.keyword.name(),
                message: message(),
                causes: Vec::new(),
            };
            let texts = [&violation.instance, &violation.schema, &violation.message];
            let bytes: usize = texts.iter().map(|text| text.len()).sum();
            self.budget.charge(bytes as u64 * TEXT_COST / 8)?;
            self.found.push(violation);
        }
        Ok(false)
    }

    /// Note what is wrong, with what it comes from.
    #[cold]
    fn find_because(
        &mut self,
        at: At,
        span: Span,
        causes: Vec<Violation>,
        message: impl FnOnce() -> String,
    ) -> Verdict {
        self.find(at, span, message)?;
        if self.quiet == 0
            && let Some(violation) = self.found.last_mut()
        {
            violation.causes = causes;
        }
        Ok(false)
    }

    /// Where the part is that is being checked.
    fn pointer(&self) -> String {
        let mut pointer = String::new();
        let mut node = self.instance;
        for place in &self.path {
            node = match &node.value {
                Value::Sequence(items) => {
                    push_index(&mut pointer, *place as usize);
                    &items[*place as usize]
                }
                Value::Mapping(entries) => {
                    let entry = &entries[*place as usize];
                    push_name(&mut pointer, &entry.key);
                    &entry.value
                }
                // Only what has parts was gone into.
                _ => break,
            };
        }
        pointer
    }
}

/// A keyword and where it stands.
#[derive(Debug, Clone, Copy)]
struct At {
    keyword: Keyword,
    document: u32,
    span: Span,
}
