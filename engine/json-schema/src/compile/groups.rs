//! Keywords that contain several subschemas, and keywords that belong together.

use super::compiler::{Compiler, Location};
use crate::arena::{Items, KeywordSchema, Properties, SubId};
use crate::budget::OverBudget;
use crate::keyword::{Fields, Keyword, entries, items};
use crate::value::sort_by_text;

/// Names with what belongs to them.
pub(super) type Named<'a, T> = Vec<(&'a str, T)>;

impl<'a> Compiler<'a, '_> {
    /// Compiles the values of an object that are schemas.
    fn named_schemas(
        &mut self,
        schema: Location<'a>,
        fields: &Fields<'a>,
        keyword: Keyword,
    ) -> Result<Named<'a, SubId>, OverBudget> {
        let mut named = Vec::new();
        for entry in fields.get(keyword).and_then(entries).unwrap_or_default() {
            if keyword != Keyword::Dependencies || items(&entry.value).is_none() {
                let sub = self.intern(schema.of(keyword, &entry.value))?;
                named.push((&*entry.key, sub));
            }
        }
        Ok(named)
    }

    /// As [`Self::named_schemas`], sorted.
    pub(super) fn sorted_schemas(
        &mut self,
        schema: Location<'a>,
        fields: &Fields<'a>,
        keyword: Keyword,
    ) -> Result<Named<'a, SubId>, OverBudget> {
        let mut named = self.named_schemas(schema, fields, keyword)?;
        sort_by_text(&mut named, |(name, _)| name, self.budget)?;
        Ok(named)
    }

    /// Compiles `properties`, `patternProperties` and `additionalProperties`.
    pub(super) fn properties(
        &mut self,
        schema: Location<'a>,
        fields: &Fields<'a>,
    ) -> Result<Properties<'a>, OverBudget> {
        let named = self.sorted_schemas(schema, fields, Keyword::Properties)?;
        let keyword = Keyword::PatternProperties;
        let mut patterns = Vec::new();
        let schemas = self.named_schemas(schema, fields, keyword)?;
        if let Some(node) = fields.get(keyword) {
            let keys = entries(node).unwrap_or_default().iter();
            for (entry, (pattern, sub)) in keys.zip(schemas) {
                let name = Some(entry.key_span);
                let id = self.pattern(schema.of(keyword, node), name, pattern)?;
                patterns.extend(id.map(|id| (id, sub)));
            }
        }
        Ok(Properties {
            named,
            patterns,
            additional: self.subschema(schema, fields, Keyword::AdditionalProperties)?,
        })
    }

    /// Compiles the subschema of a keyword, if the keyword is present.
    pub(super) fn subschema(
        &mut self,
        schema: Location<'a>,
        fields: &Fields<'a>,
        keyword: Keyword,
    ) -> Result<Option<KeywordSchema>, OverBudget> {
        let Some(node) = fields.get(keyword) else {
            return Ok(None);
        };
        Ok(Some(KeywordSchema {
            sub: self.intern(schema.of(keyword, node))?,
            keyword,
            span: node.span,
        }))
    }

    /// Compiles `prefixItems` and `items`, or `items` and `additionalItems`.
    pub(super) fn items(
        &mut self,
        schema: Location<'a>,
        fields: &Fields<'a>,
    ) -> Result<Items, OverBudget> {
        let is_list = fields.get(Keyword::Items).and_then(items).is_some();
        // Before draft 2020-12 a list of `items` had the meaning of `prefixItems`.
        let (first, rest) = if is_list && fields.get(Keyword::PrefixItems).is_none() {
            (Keyword::Items, Keyword::AdditionalItems)
        } else {
            (Keyword::PrefixItems, Keyword::Items)
        };
        let first = self.branches(schema, fields, first)?;
        Ok(Items {
            first: first.unwrap_or_default(),
            rest: self.subschema(schema, fields, rest)?,
        })
    }

    /// Compiles a list of subschemas. Returns `None` if the value is not a list.
    pub(super) fn branches(
        &mut self,
        schema: Location<'a>,
        fields: &Fields<'a>,
        keyword: Keyword,
    ) -> Result<Option<Vec<SubId>>, OverBudget> {
        let Some(items) = fields.get(keyword).and_then(items) else {
            return Ok(None);
        };
        let branches = items
            .iter()
            .map(|item| self.intern(schema.of(keyword, item)));
        branches.collect::<Result<_, _>>().map(Some)
    }
}
