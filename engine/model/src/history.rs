//! What a tenant says about the history of calls \[4\].

use super::level::keywords;

/// The window of a history unless a tenant states another, in milliseconds.
pub const HISTORY_WINDOW_MS: u64 = 86_400_000;

/// What a tenant says about histories: how long calls count, what tools are taken for, and the rules in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryTerms {
    /// `window`: the time for which a call counts, in milliseconds.
    pub window_ms: u64,
    /// `labels`: what the operator says about tools, in file order.
    pub labels: Vec<ToolTraits>,
    /// The JSON pointers into arguments whose digests a history keeps: those of `fields` and of the rules. Sorted,
    /// without duplicates.
    pub fields: Vec<String>,
    /// The JSON pointers into arguments whose numbers a history keeps: sorted, without duplicates.
    pub numbers: Vec<String>,
    /// `rules`: the built-in rules in force, in file order.
    pub rules: Vec<HistoryRuleTerms>,
}

impl Default for HistoryTerms {
    fn default() -> Self {
        Self {
            window_ms: HISTORY_WINDOW_MS,
            labels: Vec::new(),
            fields: Vec::new(),
            numbers: Vec::new(),
            rules: Vec::new(),
        }
    }
}

/// A built-in rule in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryRuleTerms {
    /// Which one.
    pub rule: HistoryRule,
    /// The tools whose calls it decides; none for every one.
    pub tools: Vec<ToolSelector>,
    /// The tools whose earlier calls it looks at one by one, if it does: none for every one.
    pub reads: Option<Vec<ToolSelector>>,
    /// `label`; empty without one.
    pub label: String,
    /// `calls`; 0 without a number.
    pub calls: u64,
    /// `within`: how far it looks back, in milliseconds.
    pub within_ms: u64,
    /// `argument` and `earlier_argument`, which is the same without another one; empty without one.
    pub arguments: [String; 2],
    /// All of its members, as JSON.
    pub json: String,
}

/// Tools by their server and name: `SERVER/TOOL`, in which `*` is every server or every tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolSelector {
    /// The id of the server, or `*`.
    pub server: String,
    /// The name of the tool, or `*`.
    pub tool: String,
}

impl ToolSelector {
    /// Returns whether a tool is one of them.
    pub fn selects(&self, server: &str, tool: &str) -> bool {
        let is = |wanted: &str, name: &str| wanted == "*" || wanted == name;
        is(&self.server, server) && is(&self.tool, tool)
    }
}

/// What an operator says about tools, which precedes what their definitions and entries say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolTraits {
    /// The tools.
    pub tools: Vec<ToolSelector>,
    /// Labels that the data from them has: sorted.
    pub add: Vec<String>,
    /// Labels that the data from them does not have: sorted.
    pub remove: Vec<String>,
    /// Whether they send data to others.
    pub sends: Option<bool>,
    /// Whether they change something.
    pub writes: Option<bool>,
}

keywords! {
    /// A built-in rule about histories.
    HistoryRule {
        /// At most so many calls within a time.
        AtMost "at-most"
        /// Another tool is called before.
        Before "before"
        /// Nothing is sent after data with a label was read.
        NoSendAfter "no-send-after"
        /// Nothing is changed after data with a label was read, unless a human approves it.
        NoWriteAfter "no-write-after"
        /// An argument has a value that one of an earlier call had.
        SameField "same-field"
        /// The numbers of an argument have at most a sum within a time.
        SumAtMost "sum-at-most"
    }
}

keywords! {
    /// Whether a built-in rule decides.
    RuleMode {
        /// It decides.
        Enforce "enforce"
        /// What it would decide is recorded.
        LogOnly "log-only"
    }
}
