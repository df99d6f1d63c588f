//! Resolution of references.

use super::compiler::{Compiled, Compiler, Location, Target};
use crate::arena::Check;
use crate::budget::OverBudget;
use crate::keyword::{Keyword, entries, text};
use crate::pointer::{child, tokens};
use crate::schema_error::SchemaErrorKind;
use crate::uri;

/// The reason why a reference has no target.
enum Unresolved {
    OverBudget(OverBudget),
    Invalid(SchemaErrorKind),
}

impl From<OverBudget> for Unresolved {
    fn from(over: OverBudget) -> Self {
        Self::OverBudget(over)
    }
}

impl<'a> Compiler<'a, '_> {
    /// Compiles `$ref` or `$dynamicRef`.
    pub(super) fn reference(&mut self, at: Location<'a>) -> Compiled<'a> {
        let Some(reference) = self.expect(at, text(at.node), "a string") else {
            return Ok(None);
        };
        self.budget.charge(reference.len() as u64 / 8)?;
        let known = (at.resource, reference);
        let target = match self.references.get(&known) {
            Some(target) => *target,
            None => match self.resolve(at, reference) {
                Ok(target) => target,
                Err(Unresolved::OverBudget(over)) => return Err(over),
                Err(Unresolved::Invalid(kind)) => {
                    self.error(at.document, at.node, kind);
                    return Ok(None);
                }
            },
        };
        self.references.insert(known, target);
        let sub = self.intern(target.location)?;
        Ok(Some(match at.keyword {
            Keyword::DynamicRef => Check::DynamicRef(sub, self.anchor(target.dynamic)?),
            _ => Check::Ref(sub),
        }))
    }

    /// Returns the number of a dynamic anchor.
    fn anchor(&mut self, name: Option<&'a str>) -> Result<Option<u32>, OverBudget> {
        let Some(name) = name else {
            return Ok(None);
        };
        self.budget.charge(self.anchors.len() as u64 / 4)?;
        let known = self.anchors.iter().position(|known| *known == name);
        let number = known.unwrap_or_else(|| {
            self.anchors.push(name);
            self.anchors.len() - 1
        });
        Ok(Some(number as u32))
    }

    fn resolve(&mut self, at: Location<'a>, reference: &str) -> Result<Target<'a>, Unresolved> {
        let (name, fragment) = uri::split(reference);
        let unknown =
            || Unresolved::Invalid(SchemaErrorKind::UnknownReference(reference.to_owned()));
        let mut resource = at.resource;
        if !name.is_empty() {
            let base = &self.registry.resources.get(resource).uri;
            self.budget.charge(base.len() as u64 / 8)?;
            let uri = uri::resolve(base, name);
            let host = uri::authority(&uri);
            let elsewhere = host.is_some() && host != uri::authority(base);
            resource = match self.named(&uri) {
                Some(resource) => resource,
                None if elsewhere => {
                    let kind = SchemaErrorKind::RemoteReference(reference.to_owned());
                    return Err(Unresolved::Invalid(kind));
                }
                None => return Err(unknown()),
            };
        }
        let fragment = uri::decoded(fragment.unwrap_or_default()).ok_or_else(unknown)?;
        let found = self.registry.resources.get(resource);
        let target = |node, resource, dynamic| Target {
            location: Location {
                node,
                keyword: at.keyword,
                resource,
                document: found.document,
            },
            dynamic,
        };
        if !fragment.is_empty() && !fragment.starts_with('/') {
            let anchor = found.anchors.get_key_value(&*fragment);
            let (name, &(node, dynamic)) = anchor.ok_or_else(unknown)?;
            return Ok(target(node, resource, dynamic.then_some(*name)));
        }
        let mut node = found.root;
        for token in tokens(&fragment).ok_or_else(unknown)? {
            let searched = entries(node).map_or(0, <[_]>::len);
            self.budget.charge(1 + searched as u64 / 8)?;
            node = child(node, &token).ok_or_else(unknown)?;
            let place = (found.document, node.span.start);
            resource = self.registry.rooted(place).unwrap_or(resource);
        }
        Ok(target(node, resource, None))
    }

    /// Returns the resource of a URI. The metaschemas come last.
    fn named(&mut self, uri: &str) -> Option<u32> {
        if self.registry.at(uri).is_none() && !self.complete {
            self.complete = true;
            for metaschema in self.documents.metaschemas() {
                self.registry.add_metaschema(metaschema);
            }
        }
        self.registry.at(uri)
    }
}
