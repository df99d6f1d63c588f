//! The cases of sequential plans.

use crate::corpus::{Case, cases};
use agent_diagnostic::Code;

/// The inputs of the decision on a sequential plan.
#[derive(Debug, Clone)]
pub struct PlanInputs {
    /// The plan.
    pub plan: Vec<u8>,
    /// The tool pool.
    pub tool_pool: Vec<u8>,
    /// The instruction profile.
    pub profile: Vec<u8>,
    /// The request.
    pub request: Option<Vec<u8>>,
    /// The index.
    pub index: Option<Vec<u8>>,
    /// The lock.
    pub lock: Option<Vec<u8>>,
    /// The catalogue of tools.
    pub catalogue: Option<Vec<u8>>,
}

/// The possible inputs of a case, and the manifest that the lock of the base is made of.
pub const FILES: [&str; 8] = [
    "plan.json",
    "tool-pool.json",
    "profile.json",
    "request.json",
    "mcp.index.json",
    "agents.lock",
    "catalogue.json",
    "agents.md",
];

impl PlanInputs {
    /// Returns the inputs of a case.
    ///
    /// # Panics
    /// If the case has no plan.
    #[must_use]
    pub fn of(case: &Case) -> Self {
        let input = |name: &str| case.input(name);
        Self {
            plan: input("plan.json").expect("a plan"),
            tool_pool: input("tool-pool.json").expect("a tool pool"),
            profile: input("profile.json").expect("a profile"),
            request: input("request.json"),
            index: input("mcp.index.json"),
            lock: input("agents.lock"),
            catalogue: input("catalogue.json"),
        }
    }
}

/// Returns a code's name in the contract, in capitals: codes of sequential plans have a namesake.
#[must_use]
pub fn contract_case(code: Code) -> String {
    let name = code.name();
    let upper = name.to_uppercase();
    if name == upper {
        upper
    } else {
        format!("MOVA_{upper}")
    }
}

/// Returns the cases of sequential plans.
#[must_use]
pub fn plan_cases() -> Vec<Case> {
    cases("plan")
}
