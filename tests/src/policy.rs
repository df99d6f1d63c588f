//! Policies as plain functions of their input.

use agent_decide::{Allowed, PolicyDecision, PolicyEngine, PolicyError, PolicyErrorKind};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

/// The output of a policy: the allowed ids and reasons by id, or the error.
pub type Said = Result<(BTreeSet<String>, BTreeMap<String, String>), &'static str>;

/// A policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// Allows everything.
    All,
    /// Allows those ids whose digit, 0 to 9, is below `below`; returns some reasons, also for ids
    /// that are allowed, and allows unknown ids.
    Digit {
        /// The seed of the digits.
        seed: u8,
        /// The number of allowed ids in ten.
        below: u8,
    },
    /// Allows tools without side effects, and requirements with a constraint.
    Careful,
    /// Decides by the tenant's tier, the context and the data of the candidate.
    Circumspect,
    /// Fails with this error.
    Fails(&'static str),
}

impl Rule {
    /// Returns the output for an input.
    pub fn says(self, input: &Value) -> Said {
        if let Self::Fails(why) = self {
            return Err(why);
        }
        let candidates = input["candidate_tools"].as_array().expect("a list").iter();
        let (mut allowed, mut reasons) = (BTreeSet::new(), BTreeMap::new());
        for candidate in candidates {
            let id = candidate["id"].as_str().expect("a string");
            let digit = id.bytes().fold(
                u32::from(match self {
                    Self::Digit { seed, .. } => seed,
                    _ => 0,
                }),
                |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(byte)),
            ) % 10;
            let yes = match self {
                Self::All | Self::Fails(_) => true,
                Self::Digit { below, .. } => digit < u32::from(below),
                Self::Careful => {
                    let blocks = candidate["capabilities"].as_array().expect("a list");
                    let tags = |block: &Value| block["constraints"].as_array().cloned();
                    let readonly = |block: &Value| {
                        tags(block).is_some_and(|tags| tags.contains(&"readonly".into()))
                    };
                    blocks.iter().all(readonly)
                        || input["requirement"]["constraints"] != Value::Array(Vec::new())
                }
                Self::Circumspect => {
                    input["user_tier"] != "no"
                        && input["context"]["freeze"] != true
                        && candidate["class"] != "free"
                        && candidate["maxSensitivity"] != "public"
                }
            };
            if yes {
                allowed.insert(id.to_owned());
            }
            if digit % 2 == 0 {
                reasons.insert(id.to_owned(), format!("{digit} \"says\" no\n"));
            }
        }
        allowed.insert("nobody@1/asked".to_owned());
        Ok((allowed, reasons))
    }
}

/// A policy that records its inputs.
#[derive(Debug)]
pub struct Fake {
    rule: Rule,
    asked: Mutex<Vec<String>>,
}

impl Fake {
    /// Creates a policy without recorded inputs.
    #[must_use]
    pub fn new(rule: Rule) -> Arc<Self> {
        let asked = Mutex::default();
        Arc::new(Self { rule, asked })
    }

    /// Returns and clears the recorded inputs.
    pub fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().expect("nobody panics"))
    }
}

/// The digest of every policy of this kind.
pub const DIGEST: &str = "sha256-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";

impl PolicyEngine for Fake {
    fn digest(&self) -> String {
        DIGEST.to_owned()
    }

    fn ask(&self, input: &str) -> PolicyDecision {
        self.asked
            .lock()
            .expect("nobody panics")
            .push(input.to_owned());
        let answer = match self.rule.says(&serde_json::from_str(input).expect("JSON")) {
            Ok((tools, reasons)) => Ok(Allowed { tools, reasons }),
            Err(why) => Err(PolicyError {
                kind: PolicyErrorKind::ALL
                    .into_iter()
                    .find(|kind| kind.name() == why)
                    .expect("a word of the specification"),
                detail: "as asked for".to_owned(),
                place: None,
            }),
        };
        PolicyDecision {
            answer,
            lines: Vec::new(),
        }
    }
}

/// Generates any policy, or none.
pub fn policies() -> impl Strategy<Value = Option<Rule>> {
    prop_oneof![
        2 => Just(None),
        1 => Just(Some(Rule::All)),
        4 => (any::<u8>(), 3..=9_u8).prop_map(|(seed, below)| Some(Rule::Digit { seed, below })),
        1 => Just(Some(Rule::Careful)),
        1 => Just(Some(Rule::Circumspect)),
        1 => select(&["budget", "runtime", "type", "undefined"][..])
            .prop_map(|why| Some(Rule::Fails(why))),
    ]
}
