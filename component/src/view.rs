//! `agent:engine/view`

use crate::Component;
use crate::bindings::exports::agent::engine::view::{
    Diagnostic, Drift, EntryDifference, File, Guest, IndexBorrow, MatchingBorrow, ReportFormat,
    ResolutionBorrow, StyledSpan,
};
use crate::capability::Matching;
use crate::convert::{all, strings};
use crate::inputs::Index;
use crate::resolver::Resolution;
use agent_api::{explain, render};

impl Guest for Component {
    fn report(format: ReportFormat, diagnostics: Vec<Diagnostic>, files: Vec<File>) -> String {
        let diagnostics: Vec<_> = all(diagnostics);
        let files: Vec<_> = all(files);
        render::report(format.into(), &diagnostics, &files)
    }

    fn discover(index: IndexBorrow<'_>) -> Vec<StyledSpan> {
        all(render::discover(&index.get::<Index>().value))
    }

    fn discover_json(index: IndexBorrow<'_>) -> String {
        render::discover_json(&index.get::<Index>().value)
    }

    fn discover_tools(index: IndexBorrow<'_>) -> Vec<StyledSpan> {
        all(render::discover_tools(&index.get::<Index>().value))
    }

    fn discover_tools_json(index: IndexBorrow<'_>) -> String {
        render::discover_tools_json(&index.get::<Index>().value)
    }

    fn summary(resolution: ResolutionBorrow<'_>) -> Vec<StyledSpan> {
        all(render::summary(&resolution.get::<Resolution>().0))
    }

    fn summary_json(resolution: ResolutionBorrow<'_>) -> String {
        render::summary_json(&resolution.get::<Resolution>().0)
    }

    fn match_summary(matching: MatchingBorrow<'_>) -> Vec<StyledSpan> {
        all(render::match_summary(&matching.get::<Matching>().0))
    }

    fn why(
        resolution: ResolutionBorrow<'_>,
        subject: String,
        files: Vec<File>,
    ) -> Option<Vec<StyledSpan>> {
        let files: Vec<_> = all(files);
        render::why(&resolution.get::<Resolution>().0, &subject, &files).map(all)
    }

    fn why_json(resolution: ResolutionBorrow<'_>, subject: String) -> Option<String> {
        render::why_json(&resolution.get::<Resolution>().0, &subject)
    }

    fn did_you_mean(resolution: ResolutionBorrow<'_>, subject: String) -> Vec<String> {
        strings(explain::did_you_mean(
            &resolution.get::<Resolution>().0,
            &subject,
        ))
    }

    fn drifts(drifts: Vec<Drift>) -> Vec<StyledSpan> {
        let drifts: Vec<_> = all(drifts);
        all(render::drifts(&drifts))
    }

    fn drifts_json(drifts: Vec<Drift>) -> String {
        let drifts: Vec<_> = all(drifts);
        render::drifts_json(&drifts)
    }

    fn drifts_markdown(drifts: Vec<Drift>) -> String {
        let drifts: Vec<_> = all(drifts);
        render::drifts_markdown(&drifts)
    }

    fn drift_diagnostics(drifts: Vec<Drift>) -> Vec<Diagnostic> {
        let drifts: Vec<_> = all(drifts);
        all(drifts.iter().map(explain::drift_diagnostic))
    }

    fn entry_differences(differences: Vec<EntryDifference>) -> Vec<StyledSpan> {
        let differences: Vec<_> = all(differences);
        all(render::entry_differences(&differences))
    }

    fn entry_differences_json(differences: Vec<EntryDifference>) -> String {
        let differences: Vec<_> = all(differences);
        render::entry_differences_json(&differences)
    }

    fn entry_difference_diagnostics(differences: Vec<EntryDifference>) -> Vec<Diagnostic> {
        let differences: Vec<explain::EntryDifference> = all(differences);
        let diagnostics = differences.iter().map(explain::EntryDifference::diagnostic);
        all(diagnostics)
    }
}
