//! The cases of sequential plans: what a case does not have of its own is that of `base`.

use crate::corpus::{Case, cases, corpus};
use agent_diagnostic::Code;
use std::fs;

/// Everything that a sequential plan is decided by.
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

/// The files that a case may have.
pub const FILES: [&str; 8] = [
    "plan.json",
    "tool-pool.json",
    "profile.json",
    "request.json",
    "mcp.index.json",
    "agents.lock",
    "catalogue.json",
    "expected.txt",
];

impl PlanInputs {
    /// The inputs of a case.
    ///
    /// # Panics
    /// If it has no plan.
    #[must_use]
    pub fn of(case: &Case) -> Self {
        let base = |name: &str| {
            case.input(name)
                .or_else(|| fs::read(corpus().join("plan/base").join(name)).ok())
        };
        // An empty file says that there is none.
        let there = |name: &str| base(name).filter(|text| !text.is_empty());
        Self {
            plan: case.input("plan.json").expect("a plan"),
            tool_pool: base("tool-pool.json").expect("a tool pool"),
            profile: base("profile.json").expect("a profile"),
            request: case.input("request.json"),
            index: there("mcp.index.json"),
            lock: there("agents.lock"),
            catalogue: case.input("catalogue.json"),
        }
    }
}

/// What the contract calls a code, in capitals: the codes of sequential plans have a namesake.
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

/// The cases of sequential plans.
#[must_use]
pub fn plan_cases() -> Vec<Case> {
    let verdicts = ["plan/accept", "plan/reject"];
    verdicts.into_iter().flat_map(cases).collect()
}
