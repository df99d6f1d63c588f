//! The questions that a document leaves open: the placeholders of its overlay.

use agent_worker_protocol::import::Question;

/// The ends of a placeholder. The quotes around it stay.
const ENDS: [&str; 2] = ["\"<", ">\""];

/// The key of the mapping from servers to their fields.
const SERVERS: &str = "servers";

/// Returns a question for each placeholder of an overlay in YAML, in its order.
pub(crate) fn questions(overlay: &str) -> Vec<Question> {
    let mut found = Vec::new();
    // The indentation and the key of each mapping around a line.
    let mut path: Vec<(usize, &str)> = Vec::new();
    let mut at = 0;
    for line in overlay.split_inclusive('\n') {
        let key = line.trim_start();
        let depth = line.len() - key.len();
        while !key.is_empty() && path.pop_if(|(outer, _)| *outer >= depth).is_some() {}
        if let Some(mapping) = key.trim_end().strip_suffix(':') {
            path.push((depth, mapping.trim_matches('"')));
        } else if let Some((inside, (key, _))) = placeholder(line).zip(key.split_once(':')) {
            let hint = match key {
                "version" => "exact, such as 1.2.3",
                "endpoint" => "a URL without variables",
                _ => &line[inside.start + 1..inside.end - 1],
            };
            found.push(Question {
                about: about(&path, key),
                hint: hint.to_owned(),
                start: (at + inside.start) as u32,
                end: (at + inside.end) as u32,
            });
        }
        at += line.len();
    }
    found
}

/// Returns the place of a placeholder in a line, inside of its quotes.
fn placeholder(line: &str) -> Option<std::ops::Range<usize>> {
    let start = line.find(ENDS[0])? + 1;
    let end = start + line[start..].find(ENDS[1])? + 1;
    Some(start..end)
}

/// Returns the name of a field with its server.
fn about(path: &[(usize, &str)], key: &str) -> String {
    let keys: Vec<_> = path.iter().map(|(_, key)| *key).chain([key]).collect();
    match &keys[..] {
        [SERVERS, server, field @ ..] => format!("`{}` of `{server}`", field.join(".")),
        [_, field @ ..] => format!("`{}` of every server", field.join(".")),
        [] => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::questions;

    const OVERLAY: &str = r#"version: v0.1
defaults:
  data:
    residency: "<any, eu-only or us-only>"
servers:
  "@acme/a:b":
    version: "<version>"
    trust:
      publisher: "<publisher>"
  known:
    version: 1.0.0
    categories: ["<category>"]
"#;

    #[test]
    fn each_placeholder_is_a_question() {
        let found = questions(OVERLAY);
        let shown = found.iter().map(|it| {
            let place = &OVERLAY[it.start as usize..it.end as usize];
            (&*it.about, &*it.hint, place)
        });
        let shown: Vec<_> = shown.collect();
        assert_eq!(
            shown,
            [
                (
                    "`data.residency` of every server",
                    "any, eu-only or us-only",
                    "<any, eu-only or us-only>"
                ),
                (
                    "`version` of `@acme/a:b`",
                    "exact, such as 1.2.3",
                    "<version>"
                ),
                (
                    "`trust.publisher` of `@acme/a:b`",
                    "publisher",
                    "<publisher>"
                ),
                ("`categories` of `known`", "category", "<category>"),
            ]
        );
    }

    #[test]
    fn other_texts_ask_nothing() {
        for text in [
            "",
            "version: v0.1",
            "a: \"<b\"",
            "servers:\n  a: <b>\n",
            "{\"servers\": {}}",
            "\u{feff}: \"é\"",
        ] {
            assert_eq!(questions(text), [], "{text}");
        }
    }
}
