//! What a tenant says about the history of calls \[4\].

use super::level::keywords;

/// The window of a history unless a tenant states another, in milliseconds.
pub const HISTORY_WINDOW_MS: u64 = 86_400_000;

/// The longest window and time, in milliseconds: 31 days.
pub const HISTORY_WINDOW_MAX_MS: u64 = 31 * HISTORY_WINDOW_MS;

/// Reads a time such as `24h`, in milliseconds: a number with `s`, `m`, `h` or `d`. It may be longer than
/// [`HISTORY_WINDOW_MAX_MS`].
pub fn window_ms(text: &str) -> Option<u64> {
    let units = [
        ('s', 1_000),
        ('m', 60_000),
        ('h', 3_600_000),
        ('d', HISTORY_WINDOW_MS),
    ];
    units.into_iter().find_map(|(unit, ms)| {
        let digits = text.strip_suffix(unit)?;
        let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit());
        let count: u64 = digits.parse().ok().filter(|_| is_plain)?;
        count.checked_mul(ms)
    })
}

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
    /// Whether it is only recorded what it would decide.
    pub is_log_only: bool,
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

impl HistoryRuleTerms {
    /// Returns whether it decides the calls of a tool.
    pub fn decides_calls_of(&self, server: &str, tool: &str) -> bool {
        self.tools.is_empty() || self.tools.iter().any(|it| it.selects(server, tool))
    }

    /// Returns whether it looks at the earlier calls of a tool one by one.
    pub fn reads_calls_of(&self, server: &str, tool: &str) -> bool {
        let tools = self.reads.as_deref();
        tools.is_some_and(|tools| {
            tools.is_empty() || tools.iter().any(|it| it.selects(server, tool))
        })
    }
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
