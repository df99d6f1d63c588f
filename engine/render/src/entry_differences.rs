//! The differences between entries of an index and what their servers say now.

use super::json::{ObjectMembers, write_place};
use super::styled::{Style, Styled, StyledSpan};
use agent_explain::EntryDifference;
use agent_syntax::json::Writer;

/// Returns a line for each difference, and one for each change inside of it.
pub fn entry_differences(differences: &[EntryDifference]) -> Vec<StyledSpan> {
    let mut out = Styled::default();
    for difference in differences {
        let style = match difference.widens {
            true => Style::Warning,
            false => Style::Code,
        };
        out.put(style, difference.code.name());
        out.plain(" ").name(difference.subject());
        out.plain(": ").plain(&difference.text);
        if difference.widens {
            out.put(Style::Warning, " (gives the agent more access)");
        }
        out.end();
        for change in &difference.changes {
            out.plain("  ").plain(change).end();
        }
    }
    out.finish()
}

/// Returns the differences as JSON with a final newline.
pub fn entry_differences_json(differences: &[EntryDifference]) -> String {
    let mut w = Writer::pretty();
    w.object(|w| {
        w.objects("differences", differences, |w, difference| {
            let changes = difference.changes.iter().map(String::as_str);
            w.key("changes").strings(changes);
            w.key("code").string(difference.code.name());
            w.objects("places", &difference.places, write_place);
            w.key("server").string(&difference.server);
            w.key("text").string(&difference.text);
            w.key("tool").optional(difference.tool.as_deref());
            w.key("widening").bool(difference.widens);
        });
        w.key("fresh").bool(differences.is_empty());
    });
    w.finish()
}
