//! The documents of a run.

use agent_host::contract::run as contract;
use agent_run::Documents;
use serde_json::{Value, json};
use std::path::Path;

/// The texts of a run: a plan whose steps are all the same, with its pool and profile.
pub(super) struct Texts {
    plan: String,
    pool: String,
    profile: String,
    /// The lock and the index.
    locked: Option<[Vec<u8>; 2]>,
}

impl Texts {
    /// A plan of steps that do nothing.
    pub(super) fn noop(steps: usize) -> Self {
        let binding = json!({ "driver_kind": "noop", "destinations": [] });
        Self::new(steps, binding, &json!({ "note": "hello" }))
    }

    /// A plan of steps with one binding and one input.
    pub(super) fn new(steps: usize, mut binding: Value, input: &Value) -> Self {
        const LIMITS: [(&str, u32); 4] = [
            ("timeout_ms", 60_000),
            ("max_input_bytes", 1_000),
            ("max_output_bytes", 10_000),
            ("max_log_bytes", 10_000),
        ];
        let limits = |prefix: &str| {
            let named = LIMITS.map(|(name, limit)| {
                let name = name
                    .strip_prefix("timeout")
                    .map_or_else(|| name.to_owned(), |unit| format!("{prefix}timeout{unit}"));
                (name, Value::from(limit))
            });
            named.into_iter().collect::<serde_json::Map<_, _>>()
        };
        let mut caps = limits("max_");
        caps.insert("max_steps".to_owned(), json!(100));
        binding["connector_id"] = json!("core:bench");
        binding["tool_id"] = json!("it");
        binding["limits"] = limits("").into();
        let steps: Vec<_> = (0..steps)
            .map(|step| {
                json!({
                    "step_id": format!("s{step}"), "connector_id": "core:bench", "tool_id": "it", "input": input
                })
            })
            .collect();
        let plan = json!({
            "envelope_id": "env.mova_agent_plan_v1", "verb": "create",
            "roles": { "planner": "p", "executor": "e" },
            "plan": {
                "plan_id": "p", "request_id": "r",
                "tool_pool_ref": { "pool_id": "pool", "pool_version": "1" },
                "instruction_profile_ref": { "profile_id": "profile" },
                "steps": steps
            }
        });
        let pool = json!({
            "schema_id": "ds.mova_agent_tool_pool_v1", "pool_id": "pool", "pool_version": "1",
            "connectors": [{
                "connector_id": "core:bench", "provider": "internal", "resource": "nothing", "protocol": "none"
            }],
            "bindings": [binding]
        });
        let profile = json!({
            "profile_id": "profile", "security_model_version": "1.0.0", "status": "active", "caps": caps,
            "rules": [{
                "rule_id": "all", "effect": "allow", "target": { "kind": "tool", "selector": "*" }
            }]
        });
        Self {
            plan: plan.to_string(),
            pool: pool.to_string(),
            profile: profile.to_string(),
            locked: None,
        }
    }

    /// Adds a lock and its index.
    pub(super) fn locked(mut self, lock: Vec<u8>, index: Vec<u8>) -> Self {
        self.locked = Some([lock, index]);
        self
    }

    /// Writes plan, pool and profile as `run-plan` finds them.
    pub(super) fn write(&self, folder: &Path) -> std::io::Result<()> {
        for (name, text) in [
            ("plan.json", &self.plan),
            ("tool-pool.json", &self.pool),
            ("profile.json", &self.profile),
        ] {
            std::fs::write(folder.join(name), text)?;
        }
        Ok(())
    }

    /// Returns the documents for the engine as a library.
    pub(super) fn native(self) -> Documents {
        Documents {
            plan: Some(self.plan.into_bytes()),
            tool_pool: Some(self.pool.into_bytes()),
            profile: Some(self.profile.into_bytes()),
            ..Documents::default()
        }
    }

    /// Returns the documents for the component.
    pub(super) fn contract(self) -> contract::Documents {
        let [lock, index] = self.locked.map_or([None, None], |both| both.map(Some));
        contract::Documents {
            plan: Some(self.plan.into_bytes()),
            request: None,
            tool_pool: Some(self.pool.into_bytes()),
            instruction_profile: Some(self.profile.into_bytes()),
            lock,
            index,
            task: None,
            tenant: None,
            tenant_id: None,
            policy: None,
            policy_context: None,
            mova: Vec::new(),
            goal: None,
            summary: None,
        }
    }
}
