//! The differences between the entry of a server in an index and the entry that the server's own words make
//! of it now.

use super::definition::changes;
use agent_decide::widens;
use agent_diagnostic::{Code, Diagnostic};
use agent_lower::{definition, integrity};
use agent_model::{ServerView, ToolView};
use agent_text::sort::set_of;
use agent_text::{Place, visible};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of changed capabilities that are listed for one tool.
const LIMIT: usize = 20;

/// A difference between the entry of a server and what the server says now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryDifference {
    /// The server in the index, as `id@version`.
    pub server: String,
    /// The tool, if the difference is about one.
    pub tool: Option<String>,
    /// `VERSION_CHANGED`, `DEFINITION_CHANGED`, `TOOLS_WIDENED` for a tool that the entry lacks, `TOOL_MISSING`
    /// for one that the server no longer lists, `INTEGRITY_CHANGED` for anything else in the entry, or the code
    /// of the problem for which the entry stays as it is. A host adds `SERVER_FAILED` for a server that it can't
    /// reach.
    pub code: Code,
    /// Whether an agent that locks the new entry may get more access.
    pub widens: bool,
    /// The difference in words.
    pub text: String,
    /// The changes inside of a definition, by JSON pointers, or of capabilities.
    pub changes: Vec<String>,
    /// The place in the index.
    pub places: Vec<Place>,
}

impl EntryDifference {
    /// Returns what the difference is about: the server, or the server and the tool.
    pub fn subject(&self) -> String {
        match &self.tool {
            Some(tool) => format!("{}/{}", self.server, visible(tool)),
            None => self.server.clone(),
        }
    }

    /// Returns the difference as a problem of the index.
    pub fn diagnostic(&self) -> Diagnostic {
        let mut message = format!("{}: {}", self.subject(), self.text);
        if !self.changes.is_empty() {
            message.push_str(&format!(": {}", self.changes.join(", ")));
        }
        if self.widens {
            message.push_str(" (gives the agent more access)");
        }
        let help = match self.code {
            Code::ServerFailed => {
                "Check the server and its entry in `servers.local.yaml`, then repeat the command."
            }
            _ => "Review the change, then run `agent index refresh --write` and `agent resolve`.",
        };
        let mut diagnostic = Diagnostic::new(self.code, message).help(help);
        for place in &self.places {
            diagnostic = diagnostic.label(*place, "in the index here");
        }
        diagnostic
    }
}

/// Returns the differences between an entry and a newer one of the same server: the version, then the tools by
/// name, then the rest. `version` is the newer version, if the server says that it has another one.
pub fn entry_differences(
    before: ServerView<'_>,
    after: ServerView<'_>,
    version: Option<&str>,
) -> Vec<EntryDifference> {
    let server = format!("{}@{}", before.id(), before.version());
    let difference = |tool: Option<&str>, code, text: String, place| EntryDifference {
        server: server.clone(),
        tool: tool.map(str::to_owned),
        code,
        widens: code == Code::ToolsWidened,
        text,
        changes: Vec::new(),
        places: vec![place],
    };
    let mut found = Vec::new();
    if let Some(version) = version {
        let text = format!(
            "the version was `{}` and is `{}`",
            before.version(),
            visible(version)
        );
        let place = before.place_of_id();
        found.push(difference(None, Code::VersionChanged, text, place));
    }
    let mut tools: BTreeMap<&str, [Option<ToolView<'_>>; 2]> = BTreeMap::new();
    for (side, view) in [before, after].into_iter().enumerate() {
        for tool in view.tools() {
            tools.entry(tool.name()).or_default()[side] = Some(tool);
        }
    }
    for (name, sides) in tools {
        match sides {
            [Some(before), Some(after)] => {
                let (old, new) = (definition(before), definition(after));
                if old != new {
                    let text = "the definition of the tool changed".to_owned();
                    found.push(EntryDifference {
                        widens: widens(&old, &new),
                        changes: shown(changes(&old, &new)),
                        ..difference(Some(name), Code::DefinitionChanged, text, before.place())
                    });
                }
                let (old, new) = (capabilities(before), capabilities(after));
                if old != new {
                    let removed = old.difference(&new).map(|it| format!("`{it}` is missing"));
                    let added = new.difference(&old).map(|it| format!("`{it}` is new"));
                    let text = "what the server says that the tool can do changed".to_owned();
                    found.push(EntryDifference {
                        widens: !new.is_subset(&old),
                        changes: shown(removed.chain(added).take(LIMIT).collect()),
                        ..difference(Some(name), Code::IntegrityChanged, text, before.place())
                    });
                }
            }
            [None, _] => {
                let text = "the server newly lists the tool".to_owned();
                let place = before.place_of_id();
                found.push(difference(Some(name), Code::ToolsWidened, text, place));
            }
            [Some(before), None] => {
                let text = "the server no longer lists the tool".to_owned();
                let place = before.place();
                found.push(difference(Some(name), Code::ToolMissing, text, place));
            }
        }
    }
    if found.is_empty() && integrity(before) != integrity(after) {
        let text = "the entry changed beside its tools".to_owned();
        let place = before.place_of_id();
        found.push(difference(None, Code::IntegrityChanged, text, place));
    }
    found
}

/// Returns the capabilities of a tool, each as `verb:resource` with its constraints.
fn capabilities(tool: ToolView<'_>) -> BTreeSet<String> {
    let words = tool.advertised().map(|block| {
        let tags: Vec<_> = block.tags().collect();
        match tags.is_empty() {
            true => block.pair().to_owned(),
            false => format!("{} + {}", block.pair(), tags.join(", ")),
        }
    });
    set_of(words)
}

fn shown(changes: Vec<String>) -> Vec<String> {
    let shown = changes.iter().map(|it| visible(it).into_owned());
    shown.collect()
}
