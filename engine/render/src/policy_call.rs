//! Why a policy allows or denies a call, as text and as JSON \[4\].

use super::json::{ObjectMembers, write_place};
use super::styled::{Style, Styled, StyledSpan};
use agent_decide::ExplainedCall;
use agent_syntax::json::Writer;
use agent_text::{Place, visible};

/// Maximum number of characters of a value on a line.
const SHOWN: usize = 80;

/// Returns the explanations as JSON with a final newline.
pub fn policy_call_json(calls: &[ExplainedCall]) -> String {
    let mut w = Writer::pretty();
    w.object(|w| {
        w.key("allowed")
            .bool(calls.iter().all(ExplainedCall::is_allowed));
        w.objects("calls", calls.iter(), |w, call| {
            w.key("allowed").bool(call.is_allowed());
            w.objects("facts", call.facts.iter(), |w, fact| {
                w.key("place").object(|w| write_place(w, &fact.place));
                w.key("text").string(&fact.text);
            });
            w.key("input").json(call.input.trim_end());
            w.key("reason").optional(call.reason().as_deref());
            w.key("requirement").string(&call.requirement);
            w.objects("rules", call.rules.iter(), |w, rule| {
                w.key("decides").bool(rule.decides);
                w.key("holds").bool(rule.holds);
                w.key("name").string(&rule.name);
                w.key("place").object(|w| write_place(w, &rule.place));
                w.key("value").json(rule.value.as_deref().unwrap_or("null"));
            });
            w.key("tool").string(&call.tool);
        });
    });
    w.finish()
}

/// Returns the explanations as text: of each, the answer, the rules with their values, and what decided against it.
pub fn policy_call(calls: &[ExplainedCall]) -> Vec<StyledSpan> {
    let mut out = Styled::default();
    for call in calls {
        out.gap();
        out.mark(call.is_allowed())
            .name(visible(&call.tool))
            .plain(format!(" for {}: ", visible(&call.requirement)));
        match call.reason() {
            None => out.put(Style::Heading, "allowed"),
            Some(reason) => out
                .put(Style::Heading, "denied")
                .plain(format!(": {}", visible(&reason))),
        };
        out.end();
        for rule in &call.rules {
            out.plain("  ");
            match rule.holds {
                true => out.mark(true),
                false => out.dim("- "),
            };
            out.dim(format!("{:>6}  ", at(&rule.place)))
                .name(visible(&rule.name))
                .plain(match rule.is_function {
                    true => "  a function".to_owned(),
                    false => format!("  {}", shown(rule.value.as_deref())),
                });
            if rule.decides {
                out.put(Style::Warning, "  decides");
            }
            out.end();
        }
        for fact in &call.facts {
            out.dim(format!("    {:>6}  ", at(&fact.place)))
                .plain(visible(&fact.text))
                .end();
        }
    }
    out.finish()
}

fn at(place: &Place) -> String {
    format!("{}:{}", place.start.line, place.start.column)
}

/// Returns the beginning of a value.
fn shown(value: Option<&str>) -> String {
    let Some(value) = value else {
        return "undefined".to_owned();
    };
    // A string of JSON has no end of a line.
    let lines: Vec<_> = value.lines().map(str::trim).collect();
    let value = lines.join(" ");
    let value = visible(&value);
    match value.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value.into_owned(),
    }
}
