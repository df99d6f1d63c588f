//! Whether a summary says what a payload says \[1\].

use super::report::write_place;
use super::styled::{Style, Styled, StyledSpan, count};
use agent_decide::{Grounding, Quote, Reason, Verdict};
use agent_explain::{Citation, cite, ungrounded_code, ungrounded_reason};
use agent_syntax::json::Writer;
use agent_syntax::write_string;
use std::ops::Range;

/// How many characters of a text a line has.
const SHOWN: usize = 100;

/// Each item with where its evidence is, or why it is none, as JSON that ends with a newline.
pub fn grounding_json(grounding: &Grounding<'_>) -> String {
    let mut w = Writer::pretty();
    w.object(|w| {
        w.key("grounded").bool(grounding.grounded());
        w.key("items").array(|w| {
            for (claim, verdict) in grounding.items() {
                w.object(|w| {
                    let (found, reason, nearest) = match verdict {
                        Verdict::Grounded { first, count } => (Some((first, *count)), None, None),
                        Verdict::Ungrounded { reason, nearest } => {
                            (None, Some(reason), nearest.as_ref())
                        }
                    };
                    w.key("claim").string(&claim.claim.value);
                    w.key("evidence").string(&claim.evidence.value);
                    w.key("found");
                    match found {
                        None => w.null(),
                        Some((first, count)) => w.object(|w| {
                            w.key("count").number(count as u32);
                            w.key("first");
                            write_quote(w, grounding, first);
                        }),
                    }
                    w.key("nearest");
                    match nearest {
                        None => w.null(),
                        Some(quote) => write_quote(w, grounding, quote),
                    }
                    let place = grounding.summary.text.place(claim.evidence.span);
                    w.key("place").object(|w| write_place(w, &place));
                    w.key("reason");
                    match reason {
                        None => w.null(),
                        Some(reason) => write_reason(w, grounding, reason),
                    }
                });
            }
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
        w.object(|w| {
            w.key("end").number(range.end as u32);
            w.key("start").number(range.start as u32);
        });
    };
    w.object(|w| {
        range(w.key("bytes"), bytes);
        range(w.key("characters"), characters);
        w.key("place").object(|w| write_place(w, &place));
        w.key("pointer").string(&pointer);
        w.key("text").string(text);
    });
}

fn write_reason(w: &mut Writer, grounding: &Grounding<'_>, reason: &Reason) {
    w.object(|w| {
        w.key("code").string(ungrounded_code(reason).name());
        w.key("codePoints");
        match reason {
            Reason::TooShort { code_points } => w.number(*code_points as u32),
            _ => w.null(),
        }
        w.key("differences").strings(match reason {
            Reason::Altered(differences) => differences.iter().map(|one| one.name()).collect(),
            _ => Vec::new(),
        });
        w.key("kind").string(reason.name());
        w.key("member");
        match reason {
            Reason::Name(place) => w.object(|w| write_place(w, place)),
            _ => w.null(),
        }
        w.key("parts").array(|w| {
            if let Reason::AcrossLeaves(parts) = reason {
                parts
                    .iter()
                    .for_each(|part| write_quote(w, grounding, part));
            }
        });
        w.key("text").string(&ungrounded_reason(grounding, reason));
    });
}

/// The same for people.
pub fn grounding(grounding: &Grounding<'_>) -> Vec<StyledSpan> {
    let mut out = Styled::default();
    let (all, failed) = (grounding.verdicts.len(), grounding.failed());
    if failed == 0 {
        out.put(Style::Accepted, "✓ ")
            .put(Style::Heading, "grounded")
            .plain(format!(": {}, each with its evidence", count(all, "claim")));
    } else {
        out.put(Style::Rejected, "✗ ")
            .put(Style::Heading, "not grounded")
            .plain(format!(
                ": {failed} of {} without evidence",
                count(all, "claim")
            ));
    }
    out.end();
    for (claim, verdict) in grounding.items() {
        out.end();
        match verdict {
            Verdict::Grounded { first, count } => {
                out.put(Style::Accepted, "✓ ")
                    .plain(one_line(&claim.claim.value))
                    .end();
                tell(&mut out, &cite(grounding, first));
                if *count > 1 {
                    out.dim(format!(", the first of {count}"));
                }
                out.end();
            }
            Verdict::Ungrounded { reason, nearest } => {
                out.put(Style::Rejected, "✗ ")
                    .plain(one_line(&claim.claim.value))
                    .end();
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
                    tell(&mut out, &cite(grounding, quote));
                    out.end();
                }
            }
        }
    }
    out.finish()
}

/// What is there, and where.
fn tell(out: &mut Styled, citation: &Citation<'_>) {
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

/// A text as a JSON string, as much of it as a line can have.
fn quoted(text: &str) -> String {
    let mut out = String::new();
    write_string(&line(text), &mut out);
    out
}

/// As much of a claim as a line can have.
fn one_line(claim: &str) -> String {
    line(claim).replace(char::is_control, " ")
}

/// As much of a text as a line can have.
fn line(text: &str) -> String {
    let mut line: String = text.chars().take(SHOWN).collect();
    if line.len() < text.len() {
        line.push('…');
    }
    line
}
