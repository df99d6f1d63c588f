//! The cases of sequential plans: a case inherits missing documents from `base`.

use crate::corpus::{Case, cases, corpus};
use agent_diagnostic::Code;
use std::fs;

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

/// The possible files of a case.
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
    /// Returns the inputs of a case.
    ///
    /// # Panics
    /// If the case has no plan.
    #[must_use]
    pub fn of(case: &Case) -> Self {
        let base = |name: &str| {
            case.input(name)
                .or_else(|| fs::read(corpus().join("plan/base").join(name)).ok())
        };
        // An empty file means that the document is absent.
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
    let verdicts = ["plan/accept", "plan/reject"];
    verdicts.into_iter().flat_map(cases).collect()
}
