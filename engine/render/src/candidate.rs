//! Candidates, as text and as JSON.

use super::json::{ObjectMembers, write_place, write_reason};
use super::styled::{Style, Styled};
use agent_decide::{Change, Counterfactual};
use agent_explain::{Candidate, RejectedCandidate, fix, reason, supposition};
use agent_syntax::json::Writer;

/// Adds the name of a candidate. The line is not ended.
pub(super) fn render_candidate(out: &mut Styled, candidate: Candidate<'_>) {
    let server = candidate.server();
    out.plain("  ")
        .name(server.id())
        .plain(format!(" {}", server.version()));
    if let Some(tool) = candidate.tool() {
        out.plain(" ").name(tool.name());
    }
}

/// Adds a rejected candidate with its reasons and fixes.
pub(super) fn render_rejected(out: &mut Styled, rejected: &RejectedCandidate<'_>) {
    render_candidate(out, rejected.candidate);
    out.end();
    render_reasons(out, rejected);
}

/// Adds the reasons and fixes of a rejected candidate.
pub(super) fn render_reasons(out: &mut Styled, rejected: &RejectedCandidate<'_>) {
    for rejection in rejected.reasons.as_slice() {
        out.plain("    ")
            .put(Style::Code, rejection.code().name())
            .plain(format!(" it {}", reason(rejection)))
            .end();
    }
    for counterfactual in &rejected.fixes {
        out.put(Style::Accepted, "    fix: ")
            .put(Style::Warning, fix(counterfactual))
            .end();
    }
    for counterfactual in &rejected.suppositions {
        out.dim("    it ")
            .dim(supposition(counterfactual, rejected.reasons.as_slice()))
            .end();
    }
}

/// Writes the members of a rejected candidate.
pub(super) fn write_rejected(w: &mut Writer, rejected: &RejectedCandidate<'_>) {
    let server = rejected.candidate.server();
    w.objects("fixes", &rejected.fixes, write_fix);
    w.key("id").string(server.id());
    w.key("place")
        .object(|w| write_place(w, &rejected.candidate.place()));
    w.objects("reasons", rejected.reasons.as_slice(), write_reason);
    w.objects(
        "suppositions",
        &rejected.suppositions,
        |w, counterfactual| {
            w.objects("changes", &counterfactual.changes, write_change);
            let reasons = rejected.reasons.as_slice();
            w.key("text").string(&supposition(counterfactual, reasons));
        },
    );
    if let Some(tool) = rejected.candidate.tool() {
        w.key("tool").string(tool.name());
    }
    w.key("version").string(server.version());
}

fn write_fix(w: &mut Writer, counterfactual: &Counterfactual<'_>) {
    w.objects("changes", &counterfactual.changes, write_change);
    w.key("text").string(&fix(counterfactual));
    w.key("widening").bool(counterfactual.widening);
}

fn write_change(w: &mut Writer, change: &Change<'_>) {
    let advertised;
    let (kind, value) = match *change {
        Change::AddCategory(category) => ("addCategory", Some(category)),
        Change::AddTool(tool) => ("addTool", Some(tool)),
        Change::AddScope(scope) => ("addScope", Some(scope)),
        Change::AddResidency(residency) => ("addResidency", Some(residency.as_str())),
        Change::RaiseSensitivity(level) => ("raiseSensitivity", Some(level.as_str())),
        Change::Sign => ("sign", None),
        Change::DropResidency => ("dropResidency", None),
        Change::LowerSensitivity(level) => ("lowerSensitivity", Some(level.as_str())),
        Change::AllowUnsigned => ("allowUnsigned", None),
        Change::Advertise(capability) => {
            advertised = capability.to_string();
            ("advertise", Some(&*advertised))
        }
        Change::AddConstraint(tag) => ("addConstraint", Some(tag)),
        Change::Recover => ("recover", None),
        Change::DropConstraint(tag) => ("dropConstraint", Some(tag)),
        Change::AllowAction(label) => ("allowAction", Some(label)),
    };
    w.key("kind").string(kind);
    w.key("value").optional(value);
}
