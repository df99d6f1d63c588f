//! What a story of a server and one of a tool have in common, as text and as JSON.

use super::report::{Files, write_place};
use super::resolution::write_reason;
use super::styled::{Style, Styled, count};
use agent_decide::{Change, Counterfactual, Rejection};
use agent_explain::{Check, Verdict, check_name, fix, reason};
use agent_model::NonEmpty;
use agent_syntax::json::Writer;

/// How many candidates there were, and how many each stage left.
pub(super) fn tell_funnel(out: &mut Styled, (all, noun): (u32, &str), stages: &[(&str, u32)]) {
    out.dim(format!("  {} → ", count(all as usize, noun)));
    // A stage that lets everything through tells nothing.
    let mut left = all;
    for (name, number) in stages {
        if *number < left {
            out.dim(format!("{number} after {name} → "));
            left = *number;
        }
    }
    out.dim(format!("{left} eligible")).end();
}

/// What became of a candidate for a requirement, of which there is the name, and that of the tool
/// where it is one.
pub(super) fn tell_verdict<L: Copy, N>(
    out: &mut Styled,
    verdict: &Verdict<L, N>,
    (requirement, tool): (&str, Option<&str>),
    lost: fn(L) -> &'static str,
    at: String,
) {
    let (style, mark) = match verdict {
        Verdict::Selected => (Style::Accepted, "✓ "),
        Verdict::Eligible(_) => (Style::Accepted, "· "),
        Verdict::Rejected(_) => (Style::Rejected, "✗ "),
    };
    out.end()
        .plain("  ")
        .put(style, mark)
        .put(Style::Heading, requirement)
        .plain(": ");
    if let Some(tool) = tool {
        out.name(tool).plain(" ");
    }
    let word = verdict.name();
    out.put(
        style,
        match verdict.lost_on() {
            Some(rule) => format!("{word}, and {}", lost(rule)),
            None => word.to_owned(),
        },
    )
    .dim(format!("  {at}"))
    .end();
}

/// One check and the values that were compared.
pub(super) fn tell_check(out: &mut Styled, check: &Check, files: Files<'_>) {
    let (style, mark) = if check.passed {
        (Style::Accepted, "✓")
    } else {
        (Style::Rejected, "✗")
    };
    let name = check_name(check.code);
    out.plain("    ").put(style, mark).plain(format!(
        " {name:<12} {}; offered: {}",
        match &check.required {
            Some(required) => format!("required: {required}"),
            None => "nothing required".to_owned(),
        },
        if check.offered.is_empty() {
            "nothing"
        } else {
            &check.offered
        }
    ));
    if let Some(place) = &check.asked_at {
        out.dim(format!("  {}", files.at(place)));
    }
    out.end();
}

/// Why a candidate is rejected, and what would change that.
pub(super) fn tell_reasons(
    out: &mut Styled,
    reasons: &NonEmpty<Rejection<'_>>,
    fixes: &[Counterfactual<'_>],
) {
    for rejection in reasons.as_slice() {
        out.plain("    ")
            .put(Style::Code, rejection.code().name())
            .plain(format!(" it {}", reason(rejection)))
            .end();
    }
    for (number, counterfactual) in fixes.iter().enumerate() {
        let style = if counterfactual.widening {
            Style::Warning
        } else {
            Style::Plain
        };
        let lead = if number == 0 {
            "    fix: "
        } else {
            "    or:  "
        };
        out.put(Style::Accepted, lead)
            .put(style, fix(counterfactual))
            .end();
    }
}

/// Every check.
pub(super) fn write_checks(w: &mut Writer, checks: &[Check]) {
    for check in checks {
        w.object(|w| write_check(w, check));
    }
}

/// The members of a check.
fn write_check(w: &mut Writer, check: &Check) {
    w.key("askedAt");
    match &check.asked_at {
        Some(place) => w.object(|w| write_place(w, place)),
        None => w.null(),
    }
    w.key("code").string(check.code.name());
    w.key("offered").string(&check.offered);
    w.key("passed").bool(check.passed);
    w.key("required").optional(check.required.as_deref());
}

/// Every reason.
pub(super) fn write_reasons(w: &mut Writer, reasons: &NonEmpty<Rejection<'_>>) {
    for reason in reasons.as_slice() {
        write_reason(w, reason);
    }
}

/// Every fix.
pub(super) fn write_fixes(w: &mut Writer, fixes: &[Counterfactual<'_>]) {
    for counterfactual in fixes {
        w.object(|w| {
            w.key("changes").array(|w| {
                for change in &counterfactual.changes {
                    w.object(|w| write_change(w, *change));
                }
            });
            w.key("text").string(&fix(counterfactual));
            w.key("widening").bool(counterfactual.widening);
        });
    }
}

/// The members of a change.
fn write_change(w: &mut Writer, change: Change<'_>) {
    let (kind, value) = match change {
        Change::AddCategory(category) => ("addCategory", Some(category)),
        Change::AddScope(scope) => ("addScope", Some(scope)),
        Change::AddResidency(residency) => ("addResidency", Some(residency.as_str())),
        Change::RaiseSensitivity(level) => ("raiseSensitivity", Some(level.as_str())),
        Change::Sign => ("sign", None),
        Change::DropResidency => ("dropResidency", None),
        Change::LowerSensitivity(level) => ("lowerSensitivity", Some(level.as_str())),
        Change::AllowUnsigned => ("allowUnsigned", None),
        Change::Advertise(capability) => {
            w.key("kind").string("advertise");
            w.key("value").string(&capability.to_string());
            return;
        }
        Change::AddConstraint(tag) => ("addConstraint", Some(tag)),
        Change::Recover => ("recover", None),
        Change::DropConstraint(tag) => ("dropConstraint", Some(tag)),
        Change::AllowAction(label) => ("allowAction", Some(label)),
    };
    w.key("kind").string(kind);
    w.key("value").optional(value);
}
