//! The answers of the typed interface `grounding`, assembled into the JSON that they must equal.

use super::typed::place;
use super::{Instance, call};
use agent_host::contract::grounding::{Difference, Extent, Quote, Reason, Verdict};
use serde_json::{Value, json};

impl Instance {
    /// Returns the content of `grounding.json` without the words and the codes of reasons, which
    /// the types lack. Both inputs must be valid.
    pub fn typed_grounding(&mut self, summary: &[u8], payload: &[u8]) -> Value {
        let grounding = call!(self, agent_engine_grounding, call_ground(summary, payload));
        let grounding = grounding.expect("both are valid");
        let items = grounding.items.iter().map(|item| {
            let (found, missed) = match &item.verdict {
                Verdict::Grounded(found) => (Some(found), None),
                Verdict::Ungrounded(missed) => (None, Some(missed)),
            };
            json!({
                "claim": item.claim,
                "evidence": item.evidence,
                "found": found.map(|it| json!({ "count": it.count, "first": quote(&it.first) })),
                "nearest": missed.and_then(|it| it.nearest.as_ref()).map(quote),
                "place": place(&item.place),
                "reason": missed.map(|it| reason(&it.reason)),
            })
        });
        json!({ "grounded": grounding.grounded, "items": items.collect::<Vec<_>>() })
    }
}

fn quote(quote: &Quote) -> Value {
    let extent = |it: Extent| json!({ "end": it.end, "start": it.start });
    json!({
        "bytes": extent(quote.bytes),
        "characters": extent(quote.characters),
        "place": place(&quote.place),
        "pointer": quote.pointer,
        "text": quote.text,
    })
}

fn reason(reason: &Reason) -> Value {
    let mut told = json!({
        "codePoints": null, "differences": [], "member": null, "parts": [],
    });
    told["kind"] = match reason {
        Reason::TooShort(code_points) => {
            told["codePoints"] = json!(code_points);
            "too-short"
        }
        Reason::PartOfValue => "part-of-value",
        Reason::Name(at) => {
            told["member"] = place(at);
            "name"
        }
        Reason::NoText(at) => {
            told["member"] = place(at);
            "no-text"
        }
        Reason::AcrossLeaves((left, right)) => {
            told["parts"] = json!([quote(left), quote(right)]);
            "across-leaves"
        }
        Reason::Altered(differences) => {
            let names = differences.iter().map(|one| match one {
                Difference::Escaping => "escaping",
                Difference::Lookalikes => "lookalikes",
                Difference::Case => "case",
                Difference::WhiteSpace => "white-space",
            });
            told["differences"] = names.collect();
            "altered"
        }
        Reason::Absent => "absent",
    }
    .into();
    told
}
