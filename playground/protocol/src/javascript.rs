//! What the JavaScript API is given, for TypeScript. Programs give plain objects.

use tsify::Tsify;

/// The inputs to look for problems in; those that are absent are not looked at.
#[derive(Debug, Tsify)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Inputs {
    /// The text of `agents.md`.
    #[serde(default)]
    pub manifest: Option<String>,
    /// The text of `mcp.index.json`.
    #[serde(default)]
    pub index: Option<String>,
    /// The text of `agents.lock`.
    #[serde(default)]
    pub lock: Option<String>,
    /// The text of a task, YAML or JSON.
    #[serde(default)]
    pub task: Option<String>,
    /// The text of a configuration of tenants, YAML or JSON.
    #[serde(default)]
    pub tenant: Option<String>,
    /// Which of its tenants is meant; absent: the only one.
    #[serde(default)]
    pub tenant_id: Option<String>,
    /// The text of a snapshot of health, YAML or JSON.
    #[serde(default)]
    pub health: Option<String>,
    /// The text of a policy in Rego. The module without an evaluator allows nothing under one.
    #[serde(default)]
    pub policy: Option<String>,
    /// The text of the context of the policy, YAML or JSON.
    #[serde(default)]
    pub context: Option<String>,
}

/// What requirements of capabilities are decided under, besides manifest and index. A blank text is
/// none.
#[derive(Debug, Tsify)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct EvaluationContext {
    /// The text of a task, YAML or JSON.
    #[serde(default)]
    pub task: Option<String>,
    /// The text of a configuration of tenants, YAML or JSON.
    #[serde(default)]
    pub tenant: Option<String>,
    /// Which of its tenants is meant; absent: the only one.
    #[serde(default)]
    pub tenant_id: Option<String>,
    /// The text of a snapshot of health, YAML or JSON.
    #[serde(default)]
    pub health: Option<String>,
    /// The text of a policy in Rego. The module without an evaluator allows nothing under one.
    #[serde(default)]
    pub policy: Option<String>,
    /// The text of the context of the policy, YAML or JSON.
    #[serde(default)]
    pub context: Option<String>,
}

/// Does nothing. A crate of which nothing is called is left out by the linker, and with it its
/// TypeScript types.
#[inline(never)]
pub fn link() {
    std::hint::black_box(());
}
