//! Conversions for the world `engine` alone.

use super::all;
use crate::bindings::exports::agent::engine::{
    capability, grounding, importer, lockfile, policy, view,
};
use agent_api::policy as rego;
use agent_api::{decide, explain, lower, model, render};

same! {
    model::CapabilityVerb = capability::Verb { Execute Notify Read Reason Search Write }
    lower::Notation = capability::Notation { ByContent Json }
    render::Format = view::ReportFormat { Json Sarif Github }
    render::Style = view::Style { Plain Heading Name Accepted Rejected Warning Code Dim }
    decide::Difference = grounding::Difference { Escaping Lookalikes Case WhiteSpace }
    rego::TestVerdict = policy::TestVerdict { Passed Failed Skipped }
}

alike! {
    render::File = view::File { number, path; source; }
    render::StyledSpan = view::StyledSpan { text; style; }
    explain::EntryDifference = importer::EntryDifference {
        server, tool, widens, text, changes; code; places
    }
}

impl From<rego::TestOutcome> for policy::TestOutcome {
    fn from(outcome: rego::TestOutcome) -> Self {
        Self {
            name: outcome.name,
            verdict: outcome.verdict.into(),
            detail: outcome.detail,
            problem: outcome.problem.map(Into::into),
            place: outcome.place.into(),
        }
    }
}

impl From<lockfile::Drift> for decide::Drift {
    fn from(drift: lockfile::Drift) -> Self {
        Self {
            code: drift.code.into(),
            category: drift.category,
            capability: drift.capability,
            tool: drift.tool,
            before: drift.before,
            after: drift.after,
            details: drift.details,
            places: drift.places.into_iter().map(Into::into).collect(),
        }
    }
}
