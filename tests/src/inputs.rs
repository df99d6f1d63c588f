//! The texts that are given together.

/// A manifest, an index and circumstances. Any of them may be invalid.
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
    /// Which of them is meant.
    pub tenant_id: Option<String>,
    /// The snapshot of health.
    pub health: Option<Given>,
    /// What a policy is told besides.
    pub context: Option<Given>,
}

/// A text that is YAML or JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// The text.
    pub bytes: Vec<u8>,
    /// Its name ends in `.json`.
    pub json: bool,
}

impl Given {
    /// A text that says by itself what it is.
    pub fn text(text: impl Into<Vec<u8>>) -> Self {
        Self {
            bytes: text.into(),
            json: false,
        }
    }
}

impl Inputs {
    /// All of them, to be printed.
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

/// What there is to ask about in the tools of an explanation: the capabilities, and a few tools.
///
/// # Panics
/// If it is none.
#[must_use]
pub fn tool_subjects(resolution: &str) -> Vec<String> {
    let resolution: serde_json::Value = serde_json::from_str(resolution).expect("an explanation");
    let mut subjects = std::collections::BTreeSet::new();
    for requirement in resolution["requirements"].as_array().into_iter().flatten() {
        let capability = &requirement["capability"];
        let (Some(verb), Some(resource)) =
            (capability["verb"].as_str(), capability["resource"].as_str())
        else {
            continue;
        };
        subjects.insert(format!("{verb}:{resource}"));
        subjects.insert(format!("{verb}:{resource}s"));
        let tools = ["rejected", "eligible"].map(|key| requirement[key].as_array());
        let tools = tools
            .into_iter()
            .flatten()
            .flat_map(|list| list.iter().take(2));
        for tool in tools.chain([&requirement["selected"]]) {
            let (Some(id), Some(version), Some(name)) = (
                tool["id"].as_str(),
                tool["version"].as_str(),
                tool["tool"].as_str(),
            ) else {
                continue;
            };
            subjects.insert(format!("{id}@{version}/{name}"));
            subjects.insert(format!("{id}/{name}"));
        }
    }
    subjects.into_iter().collect()
}
