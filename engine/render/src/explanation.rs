//! Explanations of candidates, as text and as JSON.

use super::candidate::{render_reasons, write_rejected};
use super::json::{ObjectMembers, write_place};
use super::report::Files;
use super::requirement::write_required;
use super::styled::{Style, Styled};
use agent_explain::{CandidateCheck, CandidateExplanation, Decision, Verdict, check_name, lost};
use agent_syntax::json::Writer;

/// Adds an explanation.
pub(super) fn render_explanation(
    out: &mut Styled,
    explanation: &CandidateExplanation<'_>,
    files: Files<'_>,
) {
    let (style, mark) = match explanation.verdict {
        Verdict::Selected => (Style::Accepted, "✓ "),
        Verdict::Eligible(_) => (Style::Accepted, "· "),
        Verdict::Rejected(_) => (Style::Rejected, "✗ "),
    };
    let required = explanation.decision.required();
    let name = match explanation.decision {
        Decision::Category(..) => required.name,
        Decision::Capability(matching, number) => {
            matching.requirement(number).capability.to_string()
        }
    };
    out.end()
        .plain("  ")
        .put(style, mark)
        .put(Style::Heading, name)
        .plain(": ");
    if let Some(tool) = explanation.candidate.tool() {
        out.name(tool.name()).plain(" ");
    }
    let lost_on = explanation.verdict.lost_on();
    let why = lost_on.map_or_else(String::new, |rule| format!(", but {}", lost(rule)));
    out.put(style, format!("{}{why}", explanation.verdict.name()))
        .dim(format!("  {}", files.at(&required.place)))
        .end();
    for check in &explanation.checks {
        render_check(out, check, files);
    }
    if let Some(rejected) = explanation.verdict.rejected() {
        render_reasons(out, rejected);
    }
}

fn render_check(out: &mut Styled, check: &CandidateCheck, files: Files<'_>) {
    let required = match &check.required {
        Some(required) => format!("required: {required}"),
        None => "nothing required".to_owned(),
    };
    let offered = match &*check.offered {
        "" => "nothing",
        offered => offered,
    };
    out.plain("    ").mark(check.passed).plain(format!(
        "{:<12} {required}; offered: {offered}",
        check_name(check.code)
    ));
    if let Some(place) = &check.required_at {
        out.dim(format!("  {}", files.at(place)));
    }
    out.end();
}

/// Writes the members of an explanation.
pub(super) fn write_explanation(w: &mut Writer, explanation: &CandidateExplanation<'_>) {
    let verdict = &explanation.verdict;
    write_required(w, explanation.decision);
    w.objects("checks", &explanation.checks, write_check);
    w.key("lostOn")
        .optional(verdict.lost_on().map(|rule| rule.name()));
    w.optional_object("rejected", verdict.rejected(), write_rejected);
    w.key("requirement")
        .number(explanation.decision.number() as u32);
    if let Some(tool) = explanation.candidate.tool() {
        w.key("tool").string(tool.name());
    }
    w.key("verdict").string(verdict.name());
}

fn write_check(w: &mut Writer, check: &CandidateCheck) {
    w.optional_object("askedAt", check.required_at.as_ref(), write_place);
    w.key("code").string(check.code.name());
    w.key("offered").string(&check.offered);
    w.key("passed").bool(check.passed);
    w.key("required").optional(check.required.as_deref());
}
