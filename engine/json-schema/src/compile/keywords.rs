//! Compilation of each keyword.

use super::compiler::{Compiled, Compiler, Location};
use super::groups::Named;
use crate::arena::{Check, Condition, Contains, Rule};
use crate::budget::OverBudget;
use crate::keyword::{Dialect, Draft, Fields, Form, Keyword, entries, items, subschemas, text};
use crate::number::{Decimal, Divisor};
use crate::schema_error::SchemaErrorKind;
use crate::types::Types;
use crate::uri;
use crate::value::{Members, sort_by_text};
use agent_syntax::{Entry, Node, Value};

impl<'a> Compiler<'a, '_> {
    /// Returns the rules of a schema object, in the order of their keywords.
    pub(super) fn rules(
        &mut self,
        schema: Location<'a>,
        dialect: Dialect,
        mut fields: Fields<'a>,
    ) -> Result<Vec<Rule<'a>>, OverBudget> {
        let draft = dialect.draft;
        // In older drafts `$ref` disables the keywords beside it; references can lead into definitions.
        let alone = draft != Draft::Draft202012 && fields.get(Keyword::Ref).is_some();
        fields.retain(|it| {
            dialect.knows(it) && (!alone || matches!(it, Keyword::Ref | Keyword::Definitions))
        });
        let mut rules = Vec::new();
        for (keyword, node) in fields.iter() {
            let at = schema.of(keyword, node);
            let mut add = |check| {
                rules.push(Rule {
                    keyword,
                    span: node.span,
                    check,
                });
            };
            self.subschemas(at, draft)?;
            if let (Keyword::Dependencies, Some(entries)) = (keyword, entries(node)) {
                // The lists of names are a separate rule.
                let lists = entries.iter().filter(|it| items(&it.value).is_some());
                add(Check::DependentRequired(self.dependent_names(at, lists)?));
            }
            if let Some(check) = self.check(at, draft, &fields)? {
                add(check);
            }
        }
        Ok(rules)
    }

    /// Interns the subschemas in the value of a keyword.
    fn subschemas(&mut self, at: Location<'a>, draft: Draft) -> Result<(), OverBudget> {
        match (at.keyword.form(draft), &at.node.value) {
            (Form::Many, Value::Sequence(items)) if !items.is_empty() => {}
            (Form::Many, _) => self.refuse(at, "a list of schemas that is not empty"),
            (Form::Named | Form::NamedOrNames, Value::Mapping(_)) => {}
            (Form::Named | Form::NamedOrNames, _) => self.refuse(at, "an object of schemas"),
            _ => {}
        }
        for subschema in subschemas(at.keyword, draft, at.node) {
            self.intern(at.within(subschema))?;
        }
        Ok(())
    }

    fn check(&mut self, at: Location<'a>, draft: Draft, fields: &Fields<'a>) -> Compiled<'a> {
        Ok(match at.keyword {
            Keyword::Schema
            | Keyword::Id
            | Keyword::Anchor
            | Keyword::DynamicAnchor
            | Keyword::Vocabulary => {
                self.identifier(at, draft);
                None
            }
            Keyword::Ref | Keyword::DynamicRef => self.reference(at)?,
            Keyword::Type => self.types(at),
            Keyword::Const => Some(self.members(at, std::slice::from_ref(at.node))?),
            Keyword::Enum => match self.expect(at, items(at.node), "a list of values") {
                Some(values) => Some(self.members(at, values)?),
                None => None,
            },
            Keyword::Maximum | Keyword::Minimum if is_exclusive(at.keyword, draft, fields) => None,
            Keyword::ExclusiveMaximum | Keyword::ExclusiveMinimum
                if draft == Draft::Draft04 && matches!(at.node.value, Value::Bool(_)) =>
            {
                let bound = inclusive(at.keyword);
                let bound = fields
                    .get(bound)
                    .filter(|_| is_exclusive(bound, draft, fields));
                match bound {
                    Some(bound) => self.number(at.within(bound))?,
                    None => None,
                }
            }
            Keyword::MultipleOf
            | Keyword::Maximum
            | Keyword::ExclusiveMaximum
            | Keyword::Minimum
            | Keyword::ExclusiveMinimum => self.number(at)?,
            Keyword::MaxLength
            | Keyword::MinLength
            | Keyword::MaxItems
            | Keyword::MinItems
            | Keyword::MaxProperties
            | Keyword::MinProperties => self.count(at).map(Check::Count),
            Keyword::MaxContains | Keyword::MinContains => {
                self.count(at);
                None
            }
            Keyword::Pattern => match self.expect(at, text(at.node), "a string") {
                Some(pattern) => {
                    let id = self.pattern(at, None, pattern)?;
                    id.map(|id| Check::Pattern(id, pattern))
                }
                None => None,
            },
            Keyword::UniqueItems => match at.node.value {
                Value::Bool(unique) => unique.then_some(Check::Unique),
                _ => self.expect(at, None, "a boolean"),
            },
            Keyword::Required => self.names(at)?.map(Check::Required),
            Keyword::DependentRequired => {
                match self.expect(at, entries(at.node), "an object of lists of names") {
                    Some(entries) => {
                        let names = self.dependent_names(at, entries.iter())?;
                        Some(Check::DependentRequired(names))
                    }
                    None => None,
                }
            }
            Keyword::PropertyNames => Some(Check::PropertyNames(self.intern(at)?)),
            // The first of these keywords that is present compiles all.
            Keyword::Properties | Keyword::PatternProperties | Keyword::AdditionalProperties => {
                let mut earlier = [Keyword::Properties, Keyword::PatternProperties].iter();
                if earlier.any(|it| *it < at.keyword && fields.get(*it).is_some()) {
                    None
                } else {
                    Some(Check::Properties(self.properties(at, fields)?))
                }
            }
            Keyword::Items if fields.get(Keyword::PrefixItems).is_some() => None,
            Keyword::PrefixItems | Keyword::Items => Some(Check::Items(self.items(at, fields)?)),
            Keyword::Contains => Some(Check::Contains(Contains {
                sub: self.intern(at)?,
                least: fields
                    .get(Keyword::MinContains)
                    .and_then(natural)
                    .unwrap_or(1),
                most: fields.get(Keyword::MaxContains).and_then(natural),
                evaluates: draft == Draft::Draft202012,
            })),
            Keyword::DependentSchemas | Keyword::Dependencies => {
                let schemas = self.sorted_schemas(at, fields, at.keyword)?;
                Some(Check::DependentSchemas(schemas))
            }
            Keyword::AllOf => self.branches(at, fields, at.keyword)?.map(Check::AllOf),
            Keyword::AnyOf => self.branches(at, fields, at.keyword)?.map(Check::AnyOf),
            Keyword::OneOf => self.branches(at, fields, at.keyword)?.map(Check::OneOf),
            Keyword::Not => Some(Check::Not(self.intern(at)?)),
            Keyword::If => Some(Check::If(Condition {
                condition: self.intern(at)?,
                then: self.subschema(at, fields, Keyword::Then)?,
                otherwise: self.subschema(at, fields, Keyword::Else)?,
            })),
            Keyword::UnevaluatedItems => Some(Check::UnevaluatedItems(self.intern(at)?)),
            Keyword::UnevaluatedProperties => Some(Check::UnevaluatedProperties(self.intern(at)?)),
            Keyword::Defs
            | Keyword::Definitions
            | Keyword::AdditionalItems
            | Keyword::Then
            | Keyword::Else => None,
        })
    }

    /// Checks a keyword that names a schema or selects its dialect.
    fn identifier(&mut self, at: Location<'a>, draft: Draft) {
        let expected = match (at.keyword, text(at.node)) {
            (Keyword::Vocabulary, _) if entries(at.node).is_some() => return,
            (Keyword::Vocabulary, _) => "an object",
            (_, None) => "a string",
            (Keyword::Id, Some(id)) if draft == Draft::Draft202012 => match uri::split(id).1 {
                None | Some("") => return,
                Some(_) => "a URI without a fragment",
            },
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
        self.refuse(at, expected);
    }

    fn types(&mut self, at: Location<'a>) -> Option<Check<'a>> {
        let names = match &at.node.value {
            Value::Sequence(items) if !items.is_empty() => items,
            _ => std::slice::from_ref(at.node),
        };
        let expected = "a type, or a list of types: `null`, `boolean`, `integer`, `number`, \
                        `string`, `array` or `object`";
        let mut types = Types::NONE;
        for name in names {
            let named = text(name).and_then(Types::named);
            types = types.or(self.expect(at.within(name), named, expected)?);
        }
        Some(Check::Type(types))
    }

    fn members(
        &mut self,
        at: Location<'a>,
        values: &'a [Node<'a>],
    ) -> Result<Check<'a>, OverBudget> {
        Ok(Check::Members(Members::new(values, self.budget)?, at.node))
    }

    fn number(&mut self, at: Location<'a>) -> Compiled<'a> {
        let Value::Number(text) = at.node.value else {
            return Ok(self.expect(at, None, "a number"));
        };
        self.budget.charge(text.len() as u64 / 8)?;
        let number = Decimal::new(text);
        if at.keyword != Keyword::MultipleOf {
            return Ok(Some(Check::Bound(number, text)));
        }
        let divisor = Divisor::new(&number);
        if !number.is_positive() {
            self.refuse(at, "a number above zero");
        } else if divisor.is_none() {
            self.error(at.document, at.node, SchemaErrorKind::TooPrecise);
        }
        Ok(divisor.map(|divisor| Check::MultipleOf(divisor, text)))
    }

    fn count(&mut self, at: Location<'a>) -> Option<u64> {
        let expected = "a whole number that is not negative";
        self.expect(at, natural(at.node), expected)
    }

    /// Returns a list of names, sorted. Returns `None` after it reports another value.
    fn names(&mut self, at: Location<'a>) -> Result<Option<Vec<&'a str>>, OverBudget> {
        let names = items(at.node).and_then(|items| items.iter().map(text).collect());
        let names: Option<Vec<_>> = self.expect(at, names, "a list of names");
        let Some(mut names) = names else {
            return Ok(None);
        };
        sort_by_text(&mut names, |name| name, self.budget)?;
        names.dedup();
        Ok(Some(names))
    }

    fn dependent_names(
        &mut self,
        at: Location<'a>,
        entries: impl Iterator<Item = &'a Entry<'a>>,
    ) -> Result<Named<'a, Vec<&'a str>>, OverBudget> {
        let mut found = Vec::new();
        for entry in entries {
            if let Some(names) = self.names(at.within(&entry.value))? {
                found.push((&*entry.key, names));
            }
        }
        sort_by_text(&mut found, |(name, _)| name, self.budget)?;
        Ok(found)
    }
}

/// Returns a whole number that is not negative.
/// Returns the bound of a pair that includes its number.
fn inclusive(keyword: Keyword) -> Keyword {
    match keyword {
        Keyword::ExclusiveMaximum => Keyword::Maximum,
        _ => Keyword::Minimum,
    }
}

/// Returns whether a bound of draft-04 excludes its number.
fn is_exclusive(bound: Keyword, draft: Draft, fields: &Fields<'_>) -> bool {
    let exclusive = match bound {
        Keyword::Maximum => Keyword::ExclusiveMaximum,
        _ => Keyword::ExclusiveMinimum,
    };
    let flag = fields.get(exclusive).map(|it| &it.value);
    draft == Draft::Draft04 && flag == Some(&Value::Bool(true))
}

fn natural(node: &Node<'_>) -> Option<u64> {
    match node.value {
        Value::Number(number) => Decimal::new(number).natural(),
        _ => None,
    }
}
