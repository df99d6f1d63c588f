//! What each keyword of a schema asks for.

use super::{Compiler, Origin};
use crate::arena::{Check, Condition, Contains, PatternId, Rule, SubId};
use crate::budget::OverBudget;
use crate::dialect::{Dialect, Draft};
use crate::flaw::FlawKind;
use crate::keyword::{Fields, Holds, Keyword, held, text};
use crate::number::{Decimal, Divisor};
use crate::pattern::Pattern;
use crate::types::Types;
use crate::uri;
use crate::value::{Members, charge_sort};
use agent_syntax::{Entry, Node, Value};
use agent_text::sort::sort_by_key;

/// What a check is, or none if there is nothing to check or its value is flawed.
pub(super) type Checked<'a> = Result<Option<Check<'a>>, OverBudget>;

impl<'a> Compiler<'a, '_> {
    /// A value that its keyword does not take.
    pub(super) fn wrong(
        &mut self,
        origin: Origin<'a>,
        keyword: Keyword,
        node: &Node<'_>,
        expected: &'static str,
    ) {
        let kind = FlawKind::NotASchema {
            keyword: Some(keyword.name()),
            expected,
        };
        self.flaw(origin.document, node, kind);
    }

    /// The rules of a schema object, in the order of their keywords.
    pub(super) fn rules(
        &mut self,
        origin: Origin<'a>,
        dialect: Dialect,
        fields: &Fields<'a>,
    ) -> Result<Vec<Rule<'a>>, OverBudget> {
        // In draft-07 a reference stands alone; what is beside it can still be referred to.
        let alone = dialect.draft == Draft::Draft07 && fields.get(Keyword::Ref).is_some();
        let mut rules = Vec::new();
        for (keyword, node) in fields.iter() {
            let ignored = alone && !matches!(keyword, Keyword::Ref | Keyword::Definitions);
            if ignored || !dialect.knows(keyword) {
                continue;
            }
            self.subschemas(origin, dialect.draft, keyword, node)?;
            if let (Keyword::Dependencies, Value::Mapping(entries)) = (keyword, &node.value) {
                // Those that are lists of names are a rule of their own.
                let lists = entries
                    .iter()
                    .filter(|it| matches!(it.value.value, Value::Sequence(_)));
                rules.push(Rule {
                    keyword,
                    span: node.span,
                    check: Check::DependentRequired(self.dependent_names(origin, keyword, lists)?),
                });
            }
            if let Some(check) = self.check(origin, dialect, keyword, node, fields)? {
                rules.push(Rule {
                    keyword,
                    span: node.span,
                    check,
                });
            }
        }
        Ok(rules)
    }

    /// Have the schemas that stand under a keyword compiled.
    fn subschemas(
        &mut self,
        origin: Origin<'a>,
        draft: Draft,
        keyword: Keyword,
        node: &'a Node<'a>,
    ) -> Result<(), OverBudget> {
        let expected = match (keyword.holds(draft), &node.value) {
            (None | Some(Holds::One | Holds::OneOrMany), _) => None,
            (Some(Holds::Many), Value::Sequence(items)) if !items.is_empty() => None,
            (Some(Holds::Many), _) => Some("a list of schemas that is not empty"),
            (Some(Holds::Named | Holds::NamedOrNames), Value::Mapping(_)) => None,
            (Some(Holds::Named | Holds::NamedOrNames), _) => Some("an object of schemas"),
        };
        if let Some(expected) = expected {
            self.wrong(origin, keyword, node, expected);
        }
        for subschema in held(keyword, draft, node) {
            self.child(origin, keyword, subschema)?;
        }
        Ok(())
    }

    pub(super) fn child(
        &mut self,
        origin: Origin<'a>,
        via: Keyword,
        node: &'a Node<'a>,
    ) -> Result<SubId, OverBudget> {
        self.intern(Origin {
            node,
            via,
            ..origin
        })
    }

    fn check(
        &mut self,
        origin: Origin<'a>,
        dialect: Dialect,
        keyword: Keyword,
        node: &'a Node<'a>,
        fields: &Fields<'a>,
    ) -> Checked<'a> {
        let here = |other: Keyword| fields.get(other).filter(|_| dialect.knows(other));
        Ok(match keyword {
            Keyword::Schema
            | Keyword::Id
            | Keyword::Anchor
            | Keyword::DynamicAnchor
            | Keyword::Vocabulary => {
                self.name(origin, dialect, keyword, node);
                None
            }
            Keyword::Ref | Keyword::DynamicRef => self.reference(origin, keyword, node)?,
            Keyword::Type => self.types(origin, node),
            Keyword::Const => Some(Check::Members(
                Members::new(std::iter::once(node), self.budget)?,
                node,
            )),
            Keyword::Enum => match &node.value {
                Value::Sequence(values) => Some(Check::Members(
                    Members::new(values.iter(), self.budget)?,
                    node,
                )),
                _ => {
                    self.wrong(origin, keyword, node, "a list of values");
                    None
                }
            },
            Keyword::MultipleOf
            | Keyword::Maximum
            | Keyword::ExclusiveMaximum
            | Keyword::Minimum
            | Keyword::ExclusiveMinimum => self.number(origin, keyword, node)?,
            Keyword::MaxLength
            | Keyword::MinLength
            | Keyword::MaxItems
            | Keyword::MinItems
            | Keyword::MaxProperties
            | Keyword::MinProperties => self.count(origin, keyword, node).map(Check::Count),
            Keyword::MaxContains | Keyword::MinContains => {
                self.count(origin, keyword, node);
                None
            }
            Keyword::Pattern => match text(node) {
                Some(pattern) => self
                    .pattern(origin, node, pattern)?
                    .map(|id| Check::Pattern(id, pattern)),
                None => {
                    self.wrong(origin, keyword, node, "a string");
                    None
                }
            },
            Keyword::UniqueItems => match node.value {
                Value::Bool(unique) => unique.then_some(Check::Unique),
                _ => {
                    self.wrong(origin, keyword, node, "a boolean");
                    None
                }
            },
            Keyword::Required => self.names(origin, keyword, node)?.map(Check::Required),
            Keyword::DependentRequired => match &node.value {
                Value::Mapping(entries) => {
                    let names = self.dependent_names(origin, keyword, entries.iter())?;
                    Some(Check::DependentRequired(names))
                }
                _ => {
                    self.wrong(origin, keyword, node, "an object of lists of names");
                    None
                }
            },
            Keyword::PropertyNames => {
                Some(Check::PropertyNames(self.child(origin, keyword, node)?))
            }
            // Of keywords that belong together the first that is there stands for all.
            Keyword::Properties | Keyword::PatternProperties | Keyword::AdditionalProperties => {
                let mut earlier = [Keyword::Properties, Keyword::PatternProperties].iter();
                if !earlier.any(|it| *it < keyword && here(*it).is_some()) {
                    Some(Check::Properties(self.properties(origin, &here)?))
                } else {
                    None
                }
            }
            Keyword::PrefixItems => Some(Check::Items(self.items(origin, &here)?)),
            Keyword::Items if here(Keyword::PrefixItems).is_none() => {
                Some(Check::Items(self.items(origin, &here)?))
            }
            Keyword::Contains => {
                let bound = |keyword| match here(keyword).map(|node| &node.value) {
                    Some(Value::Number(number)) => Decimal::new(number).natural(),
                    _ => None,
                };
                Some(Check::Contains(Contains {
                    sub: self.child(origin, keyword, node)?,
                    least: bound(Keyword::MinContains).unwrap_or(1),
                    most: bound(Keyword::MaxContains),
                    evaluates: dialect.draft == Draft::Draft202012,
                }))
            }
            Keyword::DependentSchemas | Keyword::Dependencies => {
                self.dependent_schemas(origin, keyword, node)?
            }
            Keyword::AllOf => self.branches(origin, keyword, node)?.map(Check::AllOf),
            Keyword::AnyOf => self.branches(origin, keyword, node)?.map(Check::AnyOf),
            Keyword::OneOf => self.branches(origin, keyword, node)?.map(Check::OneOf),
            Keyword::Not => Some(Check::Not(self.child(origin, keyword, node)?)),
            Keyword::If => {
                let condition = Condition {
                    condition: self.child(origin, keyword, node)?,
                    then: self.rest(origin, Keyword::Then, here(Keyword::Then))?,
                    otherwise: self.rest(origin, Keyword::Else, here(Keyword::Else))?,
                };
                Some(Check::If(condition))
            }
            Keyword::UnevaluatedItems => {
                Some(Check::UnevaluatedItems(self.child(origin, keyword, node)?))
            }
            Keyword::UnevaluatedProperties => Some(Check::UnevaluatedProperties(
                self.child(origin, keyword, node)?,
            )),
            Keyword::Defs
            | Keyword::Definitions
            | Keyword::Items
            | Keyword::AdditionalItems
            | Keyword::Then
            | Keyword::Else => None,
        })
    }

    /// What names a schema, or says how it is to be read.
    fn name(&mut self, origin: Origin<'a>, dialect: Dialect, keyword: Keyword, node: &'a Node<'a>) {
        let expected = match (keyword, text(node)) {
            (Keyword::Vocabulary, _) if matches!(node.value, Value::Mapping(_)) => return,
            (Keyword::Vocabulary, _) => "an object",
            (_, None) => "a string",
            (Keyword::Id, Some(id)) if dialect.draft == Draft::Draft202012 => {
                match uri::split(id).1 {
                    None | Some("") => return,
                    Some(_) => "a URI without a fragment",
                }
            }
            (Keyword::Anchor | Keyword::DynamicAnchor, Some(anchor)) => {
                let mut bytes = anchor.bytes();
                let first = bytes.next();
                let letter = first.is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
                if letter && bytes.all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b)) {
                    return;
                }
                "a name of letters, digits, `-`, `_` and `.` that begins with a letter or `_`"
            }
            _ => return,
        };
        self.wrong(origin, keyword, node, expected);
    }

    fn types(&mut self, origin: Origin<'a>, node: &'a Node<'a>) -> Option<Check<'a>> {
        let names = match &node.value {
            Value::Sequence(items) if !items.is_empty() => items,
            _ => std::slice::from_ref(node),
        };
        let mut types = Types::NONE;
        for name in names {
            match text(name).and_then(Types::named) {
                Some(named) => types = types.or(named),
                None => {
                    let expected = "a type, or a list of types: `null`, `boolean`, `integer`, \
                                    `number`, `string`, `array` or `object`";
                    self.wrong(origin, Keyword::Type, name, expected);
                    return None;
                }
            }
        }
        Some(Check::Type(types))
    }

    fn number(&mut self, origin: Origin<'a>, keyword: Keyword, node: &'a Node<'a>) -> Checked<'a> {
        let Value::Number(text) = node.value else {
            self.wrong(origin, keyword, node, "a number");
            return Ok(None);
        };
        self.budget.charge(text.len() as u64 / 8)?;
        let number = Decimal::new(text);
        if keyword != Keyword::MultipleOf {
            return Ok(Some(Check::Bound(number, text)));
        }
        let divisor = Divisor::new(&number);
        if !number.is_positive() {
            self.wrong(origin, keyword, node, "a number above zero");
        } else if divisor.is_none() {
            self.flaw(origin.document, node, FlawKind::TooPrecise);
        }
        Ok(divisor.map(|divisor| Check::MultipleOf(divisor, text)))
    }

    fn count(&mut self, origin: Origin<'a>, keyword: Keyword, node: &'a Node<'a>) -> Option<u64> {
        let count = match &node.value {
            Value::Number(number) => Decimal::new(number).natural(),
            _ => None,
        };
        if count.is_none() {
            self.wrong(origin, keyword, node, "a whole number that is not negative");
        }
        count
    }

    /// A pattern, compiled once however often it occurs. None if it can't be used.
    pub(super) fn pattern(
        &mut self,
        origin: Origin<'a>,
        node: &Node<'_>,
        pattern: &'a str,
    ) -> Result<Option<PatternId>, OverBudget> {
        if let Some(known) = self.by_pattern.get(pattern) {
            return Ok(*known);
        }
        let id = match Pattern::new(pattern, self.budget)? {
            Ok(compiled) => {
                self.patterns.push(compiled);
                Some(self.patterns.len() as PatternId - 1)
            }
            Err((at, error)) => {
                self.flaw(origin.document, node, FlawKind::Pattern { error, at });
                None
            }
        };
        self.by_pattern.insert(pattern, id);
        Ok(id)
    }

    /// A list of names, sorted. None if it is none.
    fn names(
        &mut self,
        origin: Origin<'a>,
        keyword: Keyword,
        node: &'a Node<'a>,
    ) -> Result<Option<Vec<&'a str>>, OverBudget> {
        let names = match &node.value {
            Value::Sequence(items) => items.iter().map(text).collect::<Option<Vec<_>>>(),
            _ => None,
        };
        let Some(mut names) = names else {
            self.wrong(origin, keyword, node, "a list of names");
            return Ok(None);
        };
        let eighths = names.iter().map(|name| name.len() as u64 / 8 + 1).sum();
        charge_sort(names.len(), eighths, self.budget)?;
        sort_by_key(&mut names, |name| *name);
        names.dedup();
        Ok(Some(names))
    }

    fn dependent_names(
        &mut self,
        origin: Origin<'a>,
        keyword: Keyword,
        entries: impl Iterator<Item = &'a Entry<'a>>,
    ) -> Result<Vec<(&'a str, Vec<&'a str>)>, OverBudget> {
        let mut found = Vec::new();
        for entry in entries {
            if let Some(names) = self.names(origin, keyword, &entry.value)? {
                found.push((&*entry.key, names));
            }
        }
        self.sort_names(&mut found)?;
        Ok(found)
    }

    pub(super) fn sort_names<T>(&mut self, named: &mut [(&'a str, T)]) -> Result<(), OverBudget> {
        let eighths = named
            .iter()
            .map(|(name, _)| name.len() as u64 / 8 + 1)
            .sum();
        charge_sort(named.len(), eighths, self.budget)?;
        sort_by_key(named, |(name, _)| *name);
        Ok(())
    }
}
