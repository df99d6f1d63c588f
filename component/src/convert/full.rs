//! What the world `engine` has besides.

use crate::bindings::exports::agent::engine::{policy, view};
use agent_engine::policy as rego;
use agent_engine::render;

same! {
    render::Format = view::ReportFormat { Json Sarif Github }
    render::Style = view::Style { Plain Heading Name Accepted Rejected Warning Code Dim }
    rego::TestVerdict = policy::TestVerdict { Passed Failed Skipped }
}

impl From<view::File> for render::File {
    fn from(file: view::File) -> Self {
        Self {
            source: file.source.into(),
            path: file.path,
        }
    }
}

impl From<render::Part> for view::Part {
    fn from(part: render::Part) -> Self {
        Self {
            style: part.style.into(),
            text: part.text,
        }
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
