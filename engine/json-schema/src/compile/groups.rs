//! Keywords that hold schemas, and those that belong together.

use super::keywords::Checked;
use super::{Compiler, Origin};
use crate::arena::{Check, Items, Properties, Rest, SubId};
use crate::budget::OverBudget;
use crate::keyword::Keyword;
use agent_syntax::{Node, Value};

impl<'a> Compiler<'a, '_> {
    fn named_schemas(
        &mut self,
        origin: Origin<'a>,
        keyword: Keyword,
        node: Option<&'a Node<'a>>,
    ) -> Result<Vec<(&'a str, SubId)>, OverBudget> {
        let mut named = Vec::new();
        if let Some(Value::Mapping(entries)) = node.map(|node| &node.value) {
            for entry in entries {
                if keyword == Keyword::Dependencies
                    && matches!(entry.value.value, Value::Sequence(_))
                {
                    continue;
                }
                named.push((&*entry.key, self.child(origin, keyword, &entry.value)?));
            }
        }
        Ok(named)
    }

    pub(super) fn properties(
        &mut self,
        origin: Origin<'a>,
        here: &dyn Fn(Keyword) -> Option<&'a Node<'a>>,
    ) -> Result<Properties<'a>, OverBudget> {
        let keyword = Keyword::Properties;
        let mut named = self.named_schemas(origin, keyword, here(keyword))?;
        self.sort_names(&mut named)?;
        let keyword = Keyword::PatternProperties;
        let mut patterns = Vec::new();
        let schemas = self.named_schemas(origin, keyword, here(keyword))?;
        if let Some(node) = here(keyword) {
            for (pattern, sub) in schemas {
                patterns.extend(self.pattern(origin, node, pattern)?.map(|id| (id, sub)));
            }
        }
        let keyword = Keyword::AdditionalProperties;
        Ok(Properties {
            named,
            patterns,
            additional: self.rest(origin, keyword, here(keyword))?,
        })
    }

    pub(super) fn rest(
        &mut self,
        origin: Origin<'a>,
        keyword: Keyword,
        node: Option<&'a Node<'a>>,
    ) -> Result<Option<Rest>, OverBudget> {
        node.map(|node| {
            Ok(Rest {
                sub: self.child(origin, keyword, node)?,
                keyword,
                span: node.span,
            })
        })
        .transpose()
    }

    pub(super) fn items(
        &mut self,
        origin: Origin<'a>,
        here: &dyn Fn(Keyword) -> Option<&'a Node<'a>>,
    ) -> Result<Items, OverBudget> {
        let items = here(Keyword::Items);
        // Before draft 2020-12 a list of `items` was what `prefixItems` is now.
        let (first, keyword, rest) = match (here(Keyword::PrefixItems), items.map(|it| &it.value)) {
            (None, Some(Value::Sequence(_))) => {
                let keyword = Keyword::AdditionalItems;
                (
                    items.map(|node| (Keyword::Items, node)),
                    keyword,
                    here(keyword),
                )
            }
            (first, _) => {
                let first = first.map(|node| (Keyword::PrefixItems, node));
                (first, Keyword::Items, items)
            }
        };
        let first = match first {
            Some((keyword, node)) => self.branches(origin, keyword, node)?,
            None => None,
        };
        Ok(Items {
            first: first.unwrap_or_default(),
            rest: self.rest(origin, keyword, rest)?,
        })
    }

    pub(super) fn branches(
        &mut self,
        origin: Origin<'a>,
        keyword: Keyword,
        node: &'a Node<'a>,
    ) -> Result<Option<Vec<SubId>>, OverBudget> {
        let Value::Sequence(items) = &node.value else {
            return Ok(None);
        };
        let mut branches = Vec::with_capacity(items.len());
        for item in items {
            branches.push(self.child(origin, keyword, item)?);
        }
        Ok(Some(branches))
    }

    pub(super) fn dependent_schemas(
        &mut self,
        origin: Origin<'a>,
        keyword: Keyword,
        node: &'a Node<'a>,
    ) -> Checked<'a> {
        let mut schemas = self.named_schemas(origin, keyword, Some(node))?;
        self.sort_names(&mut schemas)?;
        Ok(Some(Check::DependentSchemas(schemas)))
    }
}
