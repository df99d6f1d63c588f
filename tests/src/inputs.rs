//! The texts of one question.

use serde_json::Value;
use std::collections::BTreeSet;
use std::slice;

/// A manifest, an index and the evaluation context. Any of them may be invalid.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Inputs {
    /// `agents.md`. None: a task alone is matched.
    pub manifest: Option<Vec<u8>>,
    /// `mcp.index.json`
    pub index: Vec<u8>,
    /// The task.
    pub task: Option<Given>,
    /// The configuration of tenants.
    pub tenant: Option<Given>,
    /// The id of the tenant.
    pub tenant_id: Option<String>,
    /// The snapshot of health.
    pub health: Option<Given>,
    /// The context of a policy.
    pub context: Option<Given>,
}

/// A text that is YAML or JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// The text.
    pub bytes: Vec<u8>,
    /// Whether its name ends in `.json`.
    pub json: bool,
}

impl Given {
    /// Returns a text whose notation follows from its content.
    pub fn text(text: impl Into<Vec<u8>>) -> Self {
        Self {
            bytes: text.into(),
            json: false,
        }
    }
}

impl Inputs {
    /// Returns all texts for printing.
    #[must_use]
    pub fn texts(&self) -> String {
        let parts = [
            ("agents.md", self.manifest.as_ref()),
            ("mcp.index.json", Some(&self.index)),
            ("task", self.task.as_ref().map(|it| &it.bytes)),
            ("tenant", self.tenant.as_ref().map(|it| &it.bytes)),
            ("health", self.health.as_ref().map(|it| &it.bytes)),
            ("context", self.context.as_ref().map(|it| &it.bytes)),
        ];
        let parts = parts.into_iter().filter_map(|(name, bytes)| {
            let text = String::from_utf8_lossy(bytes?);
            Some(format!("=== {name}\n{text}\n"))
        });
        parts.collect()
    }
}

/// Returns the subjects of an explanation: each category, capability and server, a few tools, and
/// misspelled names.
///
/// # Panics
/// If the text is not an explanation.
#[must_use]
pub fn subjects(resolution: &str) -> BTreeSet<String> {
    let resolution: Value = serde_json::from_str(resolution).expect("an explanation");
    let mut subjects = BTreeSet::from(["nothing".to_owned()]);
    for requirement in resolution["requirements"].as_array().into_iter().flatten() {
        subjects.extend(requirement["category"].as_str().map(str::to_owned));
        let capability = &requirement["capability"];
        if let (Some(verb), Some(resource)) =
            (capability["verb"].as_str(), capability["resource"].as_str())
        {
            subjects.insert(format!("{verb}:{resource}"));
            subjects.insert(format!("{verb}:{resource}s"));
        }
        let lists = ["rejected", "eligible"].map(|key| requirement[key].as_array());
        let lists = lists.into_iter().flatten().map(Vec::as_slice);
        for candidates in lists.chain([slice::from_ref(&requirement["selected"])]) {
            for (number, candidate) in candidates.iter().enumerate() {
                let [id, version, tool] =
                    ["id", "version", "tool"].map(|key| candidate[key].as_str());
                let (Some(id), Some(version)) = (id, version) else {
                    continue;
                };
                subjects.extend([format!("{id}@{version}"), format!("{id}s"), id.to_owned()]);
                if let Some(tool) = tool.filter(|_| number < 2) {
                    subjects.insert(format!("{id}@{version}/{tool}"));
                    subjects.insert(format!("{id}/{tool}"));
                }
            }
        }
    }
    subjects
}
