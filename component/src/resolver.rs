//! `agent:engine/resolver`

use crate::Component;
use crate::bindings::exports::agent::engine::resolver::{
    Diagnostic, Eligible, Funnel, Guest, GuestResolution, IndexBorrow, ManifestBorrow, Near,
    Outcome, Rejected, Selection, Story, Verdict,
};
use crate::convert::{all, page, strings};
use crate::inputs::{Index, Manifest};
use agent_api::model::Name;
use agent_api::{decide, explain, render};
use std::sync::Arc;

/// A resolution.
pub(crate) struct Resolution(pub(crate) decide::Resolution);

impl Guest for Component {
    type Resolution = Resolution;
}

impl Resolution {
    /// The number of a requirement, if there is one of that number.
    fn number(&self, requirement: u32) -> Option<usize> {
        let number = requirement as usize;
        (number < self.0.outcomes().len()).then_some(number)
    }

    fn selection(&self, requirement: usize) -> Option<Selection> {
        self.0.selection(requirement).as_ref().map(Into::into)
    }
}

impl GuestResolution for Resolution {
    fn new(manifest: ManifestBorrow<'_>, index: IndexBorrow<'_>) -> Self {
        Self(decide::Resolution::new(
            Arc::clone(&manifest.get::<Manifest>().value),
            Arc::clone(&index.get::<Index>().value),
        ))
    }

    fn satisfied(&self) -> bool {
        self.0.satisfied()
    }

    fn outcomes(&self) -> Vec<Outcome> {
        let manifest = self.0.manifest();
        manifest
            .requirements
            .iter()
            .enumerate()
            .map(|(number, requirement)| Outcome {
                category: requirement.category.value.to_string(),
                permissions: strings(requirement.permissions.iter().map(|p| p.value.as_str())),
                place: manifest.text.place(requirement.span).into(),
                selected: self.selection(number),
            })
            .collect()
    }

    fn diagnostics(&self) -> Vec<Diagnostic> {
        all(explain::unsatisfied(&self.0))
    }

    fn lock(&self) -> Option<String> {
        self.0.lock().as_ref().map(render::lock)
    }

    fn explanation(&self) -> Result<String, Diagnostic> {
        render::resolution(&self.0).map_err(Into::into)
    }

    fn funnel(&self, requirement: u32) -> Option<Funnel> {
        let number = self.number(requirement)?;
        Some(self.0.funnel(number).into())
    }

    fn eligible(&self, requirement: u32, offset: u32, limit: u32) -> Vec<Eligible> {
        let selected = self
            .number(requirement)
            .and_then(|number| self.0.selected(number).map(|server| (number, server)));
        let Some((number, selected)) = selected else {
            return Vec::new();
        };
        page(self.0.eligible(number).skip(1), offset, limit)
            .map(|server| Eligible {
                id: server.id().to_owned(),
                version: server.version().to_owned(),
                lost_on: decide::TieBreak::between(selected, server).into(),
            })
            .collect()
    }

    fn rejections(&self, requirement: u32, offset: u32, limit: u32) -> Vec<Rejected> {
        let Some(number) = self.number(requirement) else {
            return Vec::new();
        };
        page(self.0.rejected(number), offset, limit)
            .map(|server| Rejected {
                id: server.id().to_owned(),
                version: server.version().to_owned(),
                reasons: match self.0.near(number, server) {
                    Some(near) => all(near.reasons.as_slice()),
                    None => Vec::new(),
                },
            })
            .collect()
    }

    fn nearest(&self, requirement: u32, limit: u32) -> Vec<Near> {
        self.number(requirement)
            .map(|number| all(self.0.nearest(number, limit as usize)))
            .unwrap_or_default()
    }

    fn why(&self, id: String, version: Option<String>) -> Vec<Story> {
        let servers: Vec<_> = self
            .0
            .index()
            .versions(&id)
            .filter(|server| version.as_deref().is_none_or(|v| v == server.version()))
            .collect();
        (0..self.0.outcomes().len())
            .flat_map(|number| servers.iter().map(move |server| (number, *server)))
            .filter_map(|(number, server)| {
                let verdict = match explain::story(&self.0, number, server).verdict {
                    explain::Verdict::Selected => Verdict::Selected(self.selection(number)?),
                    explain::Verdict::Eligible(lost_on) => Verdict::Eligible(lost_on.into()),
                    explain::Verdict::Rejected(near) => Verdict::Rejected(near.into()),
                };
                Some(Story {
                    requirement: number as u32,
                    server: server.into(),
                    verdict,
                })
            })
            .collect()
    }
}
