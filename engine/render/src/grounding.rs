//! The verdicts on the claims of a summary, as text and as JSON \[1\].

use super::json::{ObjectMembers, write_place};
use super::styled::{Style, Styled, StyledSpan, count};
use agent_decide::{Grounding, Quote, Reason, Verdict};
use agent_explain::{Citation, cite, grounded, ungrounded_code, ungrounded_reason};
use agent_syntax::json::Writer;
use agent_syntax::json_string;
use std::ops::Range;

/// Maximum number of characters of a text on a line.
const SHOWN: usize = 100;

/// Returns each claim with the place of its evidence, or the reason why none was found, as JSON
/// with a final newline.
pub fn grounding_json(grounding: &Grounding<'_>) -> String {
    let mut w = Writer::pretty();
    w.object(|w| {
        w.key("grounded").bool(grounding.grounded());
        w.objects("items", grounding.items(), |w, (claim, verdict)| {
            let (found, reason, nearest) = match verdict {
                Verdict::Grounded { first, count } => (Some((first, *count)), None, None),
                Verdict::Ungrounded { reason, nearest } => (None, Some(reason), nearest.as_ref()),
            };
            w.key("claim").string(&claim.claim.value);
            w.key("evidence").string(&claim.evidence.value);
            w.optional_object("found", found, |w, (first, count)| {
                w.key("count").number(count as u32);
                w.key("first").object(|w| write_quote(w, grounding, first));
            });
            w.optional_object("nearest", nearest, |w, it| write_quote(w, grounding, it));
            let place = grounding.summary.text.place(claim.evidence.span);
            w.key("place").object(|w| write_place(w, &place));
            w.optional_object("reason", reason, |w, it| write_reason(w, grounding, it));
        });
    });
    w.finish()
}

fn write_quote(w: &mut Writer, grounding: &Grounding<'_>, quote: &Quote) {
    let Citation {
        pointer,
        text,
        place,
        bytes,
        characters,
    } = cite(grounding, quote);
    let range = |w: &mut Writer, range: Range<usize>| {
        w.key("end").number(range.end as u32);
        w.key("start").number(range.start as u32);
    };
    w.key("bytes").object(|w| range(w, bytes));
    w.key("characters").object(|w| range(w, characters));
    w.key("place").object(|w| write_place(w, &place));
    w.key("pointer").string(&pointer);
    w.key("text").string(text);
}

fn write_reason(w: &mut Writer, grounding: &Grounding<'_>, reason: &Reason) {
    w.key("code").string(ungrounded_code(reason).name());
    w.key("codePoints");
    match reason {
        Reason::TooShort { code_points } => w.number(*code_points as u32),
        _ => w.null(),
    }
    let differences = match reason {
        Reason::Altered(differences) => &differences[..],
        _ => &[],
    };
    w.key("differences")
        .strings(differences.iter().map(|one| one.name()));
    w.key("kind").string(reason.name());
    let member = match reason {
        Reason::Name(place) | Reason::NoText(place) => Some(place),
        _ => None,
    };
    w.optional_object("member", member, write_place);
    let quotes = match reason {
        Reason::AcrossLeaves(quotes) => &quotes[..],
        _ => &[],
    };
    w.objects("parts", quotes, |w, it| write_quote(w, grounding, it));
    w.key("text").string(&ungrounded_reason(grounding, reason));
}

/// Returns the verdicts as text.
pub fn grounding(grounding: &Grounding<'_>) -> Vec<StyledSpan> {
    let mut out = Styled::default();
    let (all, failed) = (grounding.verdicts.len(), grounding.failed());
    let claims = count(all, "claim");
    let (heading, rest) = match failed {
        0 => ("grounded", format!(": {}", grounded(true))),
        _ => (
            "not grounded",
            format!(": {failed} of {claims} without evidence"),
        ),
    };
    out.mark(failed == 0)
        .put(Style::Heading, heading)
        .plain(rest)
        .end();
    for (claim, verdict) in grounding.items() {
        out.end()
            .mark(matches!(verdict, Verdict::Grounded { .. }))
            .plain(one_line(&claim.claim.value))
            .end();
        match verdict {
            Verdict::Grounded { first, count } => {
                render_citation(&mut out, &cite(grounding, first));
                if *count > 1 {
                    out.dim(format!(", the first of {count}"));
                }
                out.end();
            }
            Verdict::Ungrounded { reason, nearest } => {
                out.plain("  ")
                    .put(Style::Code, ungrounded_code(reason).name())
                    .plain(format!(
                        ": {} {}",
                        quoted(&claim.evidence.value),
                        ungrounded_reason(grounding, reason)
                    ))
                    .end();
                if let Some(quote) = nearest {
                    out.plain("  nearest").end();
                    render_citation(&mut out, &cite(grounding, quote));
                    out.end();
                }
            }
        }
    }
    out.finish()
}

/// Adds a citation. The line is not ended.
fn render_citation(out: &mut Styled, citation: &Citation<'_>) {
    let Citation {
        pointer,
        text,
        characters,
        ..
    } = citation;
    out.plain(format!("  {}  ", quoted(text)))
        .name(match &**pointer {
            "" => "the whole",
            pointer => pointer,
        })
        .dim(format!(
            "  characters {} to {}",
            characters.start, characters.end
        ));
}

/// Returns the beginning of a text as a JSON string.
fn quoted(text: &str) -> String {
    json_string(&line(text))
}

/// Returns the beginning of a claim on one line.
fn one_line(claim: &str) -> String {
    line(claim).replace(char::is_control, " ")
}

/// Returns the beginning of a text.
fn line(text: &str) -> String {
    let mut line: String = text.chars().take(SHOWN).collect();
    if line.len() < text.len() {
        line.push('…');
    }
    line
}
