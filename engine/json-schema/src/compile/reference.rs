//! What references mean.

use super::{Compiler, Origin};
use crate::arena::Check;
use crate::budget::OverBudget;
use crate::flaw::FlawKind;
use crate::keyword::{Keyword, text};
use crate::pointer::{child, tokens};
use crate::uri;
use agent_syntax::{Node, Value};

/// What a reference means.
#[derive(Debug, Clone, Copy)]
pub(super) struct Target<'a> {
    origin: Origin<'a>,
    /// The name that it was found by, if that is one for `$dynamicRef`.
    dynamic: Option<&'a str>,
}

impl<'a> Compiler<'a, '_> {
    /// Resolve `$ref` or `$dynamicRef`. None if it is flawed.
    pub(super) fn reference(
        &mut self,
        origin: Origin<'a>,
        keyword: Keyword,
        node: &'a Node<'a>,
    ) -> Result<Option<Check<'a>>, OverBudget> {
        let Some(reference) = text(node) else {
            self.wrong(origin, keyword, node, "a string");
            return Ok(None);
        };
        self.budget.charge(reference.len() as u64 / 8)?;
        let known = (origin.resource, reference);
        let target = match self.references.get(&known) {
            Some(target) => *target,
            None => match self.resolve(origin, keyword, reference)? {
                Ok(target) => target,
                Err(kind) => {
                    self.flaw(origin.document, node, kind);
                    return Ok(None);
                }
            },
        };
        self.references.insert(known, target);
        let sub = self.intern(target.origin)?;
        Ok(Some(match keyword {
            Keyword::DynamicRef => Check::DynamicRef(sub, self.anchor(target.dynamic)?),
            _ => Check::Ref(sub),
        }))
    }

    /// The number of a name for `$dynamicRef`.
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

    fn resolve(
        &mut self,
        origin: Origin<'a>,
        via: Keyword,
        reference: &str,
    ) -> Result<Result<Target<'a>, FlawKind>, OverBudget> {
        let (name, fragment) = uri::split(reference);
        let unknown = || FlawKind::UnknownReference(reference.to_owned());
        let mut resource = origin.resource;
        if !name.is_empty() {
            let base = &self.names.resources.get(resource).uri;
            self.budget.charge(base.len() as u64 / 8)?;
            let uri = uri::resolve(base, name);
            let host = uri::authority(&uri);
            let elsewhere = host.is_some() && host != uri::authority(base);
            resource = match self.named(&uri) {
                Some(resource) => resource,
                None if elsewhere => {
                    return Ok(Err(FlawKind::RemoteReference(reference.to_owned())));
                }
                None => return Ok(Err(unknown())),
            };
        }
        let Some(fragment) = uri::decoded(fragment.unwrap_or_default()) else {
            return Ok(Err(unknown()));
        };
        let found = self.names.resources.get(resource);
        let target = |node, resource| Origin {
            node,
            resource,
            document: found.document,
            via,
        };
        if !fragment.is_empty() && !fragment.starts_with('/') {
            let anchor = found.anchors.get_key_value(&*fragment);
            return Ok(anchor
                .ok_or_else(unknown)
                .map(|(name, (node, dynamic))| Target {
                    origin: target(*node, resource),
                    dynamic: dynamic.then_some(*name),
                }));
        }
        let Some(tokens) = tokens(&fragment) else {
            return Ok(Err(unknown()));
        };
        let mut node = found.root;
        for token in tokens {
            self.budget.charge(
                1 + match &node.value {
                    Value::Mapping(entries) => entries.len() as u64 / 8,
                    _ => 0,
                },
            )?;
            let Some(next) = child(node, &token) else {
                return Ok(Err(unknown()));
            };
            node = next;
            let place = (found.document, node.span.start);
            resource = self.names.rooted(place).unwrap_or(resource);
        }
        Ok(Ok(Target {
            origin: target(node, resource),
            dynamic: None,
        }))
    }

    /// The resource of a URI. The metaschemas are looked at last.
    pub(super) fn named(&mut self, uri: &str) -> Option<u32> {
        if self.names.at(uri).is_none() && !self.complete {
            self.complete = true;
            for metaschema in self.documents.metaschemas() {
                self.names.add_metaschema(metaschema);
            }
        }
        self.names.at(uri)
    }
}
