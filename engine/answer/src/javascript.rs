//! Arguments of the JavaScript API, for TypeScript. Programs pass plain objects.

use tsify::Tsify;

/// The inputs to validate. Absent ones are ignored.
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
    /// The text of the configuration of tenants, YAML or JSON.
    #[serde(default)]
    pub tenant: Option<String>,
    /// The id of the tenant; absent for the only one.
    #[serde(default)]
    pub tenant_id: Option<String>,
    /// The text of a health snapshot, YAML or JSON.
    #[serde(default)]
    pub health: Option<String>,
    /// The text of a policy in Rego. A module without an evaluator denies everything under a policy.
    #[serde(default)]
    pub policy: Option<String>,
    /// The text of the context of the policy, YAML or JSON.
    #[serde(default)]
    pub context: Option<String>,
}

/// The evaluation context of capability requirements. A blank text counts as absent.
#[derive(Debug, Tsify)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct EvaluationContext {
    /// The text of a task, YAML or JSON.
    #[serde(default)]
    pub task: Option<String>,
    /// The text of the configuration of tenants, YAML or JSON.
    #[serde(default)]
    pub tenant: Option<String>,
    /// The id of the tenant; absent for the only one.
    #[serde(default)]
    pub tenant_id: Option<String>,
    /// The text of a health snapshot, YAML or JSON.
    #[serde(default)]
    pub health: Option<String>,
    /// The text of a policy in Rego. A module without an evaluator denies everything under a policy.
    #[serde(default)]
    pub policy: Option<String>,
    /// The text of the context of the policy, YAML or JSON.
    #[serde(default)]
    pub context: Option<String>,
}

/// Does nothing. The linker omits a crate without a called function, and its TypeScript types.
#[inline(never)]
pub fn link() {
    std::hint::black_box(());
}
