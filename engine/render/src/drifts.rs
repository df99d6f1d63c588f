//! Named differences.

use super::json::{ObjectMembers, write_place};
use super::styled::{Style, Styled, StyledSpan};
use agent_decide::Drift;
use agent_explain::{drift as sentence, drift_subject};
use agent_syntax::json::Writer;
use agent_text::visible_text;

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

/// Returns the drifts as a section of Markdown, those that give the agent more access first.
pub fn drifts_markdown(drifts: &[Drift]) -> String {
    let (widening, others): (Vec<_>, Vec<_>) = drifts.iter().partition(|drift| drift.widening());
    let mut out = match drifts.len() {
        0 => return "### No differences\n".to_owned(),
        1 => "### 1 difference".to_owned(),
        count => format!("### {count} differences"),
    };
    match widening.len() {
        0 => out.push_str(", none gives the agent more access\n"),
        1 => out.push_str(", 1 gives the agent more access\n"),
        count => out.push_str(&format!(", {count} give the agent more access\n")),
    }
    for (title, drifts) in [("More access", widening), ("Others", others)] {
        if drifts.is_empty() {
            continue;
        }
        out.push_str(&format!("\n**{title}**\n\n"));
        for drift in drifts {
            let code = drift.code.name();
            let about = drift_subject(drift).map_or_else(String::new, |it| format!(" {it}"));
            let text = markdown(&format!("{about}: {}", sentence(drift)));
            out.push_str(&format!("- `{code}`<code>{text}</code>\n"));
            for detail in &drift.details {
                out.push_str(&format!("  - <code>{}</code>\n", markdown(detail)));
            }
        }
    }
    out
}

/// Returns a text on one line that Markdown shows as it is. Within `code`, no host makes a mention or a link of it.
fn markdown(text: &str) -> String {
    let mut out = String::new();
    for c in visible_text(text).chars() {
        match c {
            '\n' | '\r' => out.push(' '),
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            _ if c.is_ascii_punctuation() => out.extend(['\\', c]),
            _ => out.push(c),
        }
    }
    out
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

#[cfg(test)]
mod tests {
    use super::markdown;

    #[test]
    fn text_of_others_stays_text() {
        assert_eq!(
            markdown("a\n# b | `c` <img src=x> @me https://d.example \u{200b}& ok"),
            "a \\# b \\| \\`c\\` &lt;img src\\=x&gt; \\@me https\\:\\/\\/d\\.example &lt;U\\+200B&gt;&amp; ok"
        );
    }
}
