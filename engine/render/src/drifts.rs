//! Named differences.

use super::json::{ObjectMembers, write_place};
use super::styled::{Style, Styled, StyledSpan};
use agent_decide::Drift;
use agent_explain::{drift as sentence, drift_subject};
use agent_syntax::json::Writer;

/// Returns a line for each drift. More access for the agent is marked.
pub fn drifts(drifts: &[Drift]) -> Vec<StyledSpan> {
    let mut out = Styled::default();
    for drift in drifts {
        out.put(
            if drift.widening() {
                Style::Warning
            } else {
                Style::Code
            },
            drift.code.name(),
        );
        if let Some(about) = drift_subject(drift) {
            out.plain(" ").name(about);
        }
        out.plain(": ").plain(sentence(drift));
        if drift.widening() {
            out.put(Style::Warning, " (gives the agent more access)");
        }
        out.end();
        for place in &drift.places {
            let start = place.start;
            let name = place.source.usual_name();
            out.dim(format!("  {name}:{}:{}", start.line, start.column))
                .end();
        }
    }
    out.finish()
}

/// Returns the drifts as JSON with a final newline.
pub fn drifts_json(drifts: &[Drift]) -> String {
    let mut w = Writer::pretty();
    w.object(|w| {
        write_drifts(w, drifts);
        w.key("fresh").bool(drifts.is_empty());
    });
    w.finish()
}

/// Writes the member `drifts`.
pub(super) fn write_drifts(w: &mut Writer, drifts: &[Drift]) {
    w.objects("drifts", drifts, |w, drift| {
        w.key("after").optional(drift.after.as_deref());
        w.key("before").optional(drift.before.as_deref());
        w.key("capability").optional(drift.capability.as_deref());
        w.key("category").optional(drift.category.as_deref());
        w.key("code").string(drift.code.name());
        w.key("details")
            .strings(drift.details.iter().map(String::as_str));
        w.objects("places", &drift.places, write_place);
        w.key("text").string(&sentence(drift));
        w.key("tool").optional(drift.tool.as_deref());
        w.key("widening").bool(drift.widening());
    });
}
