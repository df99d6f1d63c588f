//! Keys in entries of the index that are spelled almost like optional ones.
//!
//! Such a key is valid, and hides what its server offers. The entries are read again for it only if a
//! requirement is unsatisfied.

use agent_decide::Matching;
use agent_diagnostic::{Applicability, Code, Diagnostic, Edit, Fix};
use agent_json_schema::child;
use agent_lower::format::{SERVER, SERVER_CAPABILITIES, TOOL, TOOL_CAPABILITY};
use agent_model::ServerView;
use agent_syntax::json::{Reader, parse_value};
use agent_syntax::{Entry, Node, Value, json_string};
use agent_text::misspelt;

/// Maximum number of entries and of tools of an entry that are read.
const READ: usize = 100;

/// Keys of other programs begin like this, and so does one of ours.
const OTHERS: &str = "x-";

/// Returns an error for each misspelt key.
pub(super) fn misspelt_keys(matching: &Matching) -> Vec<Diagnostic> {
    let servers = matching.index().servers().take(READ);
    servers.flat_map(of_server).collect()
}

fn of_server(server: ServerView<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let Ok(entry) = parse_value(&mut Reader::new(server.entry())) else {
        return found;
    };
    let mut search = Search {
        server,
        found: &mut found,
    };
    search.keys(&entry, &SERVER.names[SERVER.required..]);
    let Some(capabilities) = child(&entry, "capabilities") else {
        return found;
    };
    search.keys(capabilities, &SERVER_CAPABILITIES.names);
    let tools = child(capabilities, "tools").map_or(&[][..], entries);
    for tool in tools.iter().take(READ) {
        search.keys(&tool.value, &TOOL.names);
        if let Some(Value::Sequence(blocks)) = child(&tool.value, TOOL.names[4]).map(|it| &it.value)
        {
            for block in blocks.iter().take(READ) {
                search.keys(block, &TOOL_CAPABILITY.names[TOOL_CAPABILITY.required..]);
            }
        }
    }
    found
}

fn entries<'n, 't>(node: &'n Node<'t>) -> &'n [Entry<'t>] {
    match &node.value {
        Value::Mapping(entries) => entries,
        _ => &[],
    }
}

struct Search<'i, 'f> {
    server: ServerView<'i>,
    found: &'f mut Vec<Diagnostic>,
}

impl Search<'_, '_> {
    /// Compares the keys of an object with those that it lacks.
    fn keys(&mut self, node: &Node<'_>, known: &[&str]) {
        let all = entries(node);
        let is_there = |known: &str| all.iter().any(|entry| entry.key == known);
        let absent = known.iter().filter(|known| !is_there(known));
        let absent: Vec<_> = absent.map(|it| it.trim_start_matches(OTHERS)).collect();
        for entry in all
            .iter()
            .take(READ)
            .filter(|it| !known.contains(&&*it.key))
        {
            let Some(near) = misspelt(entry.key.trim_start_matches(OTHERS), &absent) else {
                continue;
            };
            let meant = known.iter().find(|known| known.ends_with(near));
            self.found
                .extend(meant.map(|meant| self.misspelt(entry, meant)));
        }
    }

    fn misspelt(&self, entry: &Entry<'_>, meant: &str) -> Diagnostic {
        let place = self.server.place_of(entry.key_span);
        let message = format!("unknown field `{}`, almost `{meant}`", entry.key);
        let mut problem = Diagnostic::new(Code::MisspeltKey, message)
            .label(place, format!("did you mean `{meant}`?"));
        problem.fixes.push(Fix {
            title: format!("write `{meant}`"),
            applicability: Applicability::Safe,
            edits: vec![Edit {
                place,
                replacement: json_string(meant),
            }],
        });
        problem
    }
}
