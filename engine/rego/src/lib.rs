//! Policies in Rego \[4\]: read once, evaluated once per requirement.
//!
//! `regorus` evaluates them, in such a way that a verdict is a function of the policy and the input:
//! without a clock, with built-ins that need no world, and within a counted budget. The modules
//! between it and a policy, each of which uses only those above it:
//!
//! | module | does |
//! |---|---|
//! | `exact` | finds numbers that the evaluator would round |
//! | `token`, `tree`, `parse` | parse a policy into a tree of limited depth |
//! | `budget`, `patterns`, `builtins` | count the work, and define the built-ins |
//! | `check` | refuses recursion, unknown functions, and too many levels of calls |
//! | `module` | holds a text with its checked tree |
//! | `instrument` | adds calls that make a policy pay for values, and records which bodies held |
//! | `run` | evaluates instrumented modules together |
//! | `classes` | finds the members by which a policy can tell candidates apart |
//! | `reading` | finds the members of the input that a policy may read |
//! | `policy` | evaluates a policy for a requirement |
//! | `rules` | evaluates a policy rule by rule |
//! | `coverage` | finds the part of each rule in the decision on each candidate |
//! | `trial` | changes one value of an input |
//! | `facts` | names the comparisons that decided against a tool |
//! | `history` | holds the built-in rules about the history of calls |
//! | `suite` | evaluates the tests of a policy |
//! | `paths`, `unused`, `vocabulary`, `shadowed` | find comparisons and rules that have no effect |
//! | `explained` | explains the answer to one call |
//! | `samples`, `difference`, `tenant_difference` | compare the answers of two policies over an index, and what two tenants say of histories |
//! | `permits` | finds why a policy can never allow a tool |
//! | `written` | writes a first policy with its tests |
//!
//! An error of a built-in is an error of the policy, not undefined: a rule that denies must not be
//! skipped because something in it failed.

#![forbid(unsafe_code)]

mod budget;
mod builtins;
mod check;
mod classes;
mod coverage;
mod difference;
mod exact;
mod explained;
mod facts;
mod history;
mod instrument;
mod module;
mod parse;
mod paths;
mod patterns;
mod permits;
mod policy;
mod reading;
mod rules;
mod run;
mod samples;
mod shadowed;
mod suite;
mod tenant_difference;
mod token;
mod tree;
mod trial;
mod unused;
mod vocabulary;
mod written;

pub use budget::{
    BYTES_PER_STEP, KEY_LIMIT, NUMBER_BITS_LIMIT, STEP_LIMIT, UNIT_LIMIT, VALUE_DEPTH_LIMIT,
};
pub use check::{LEVEL_LIMIT, STATEMENT_LIMIT};
pub use coverage::{CandidateDecision, RuleWithBody, candidate_decisions, rules_with_body};
pub use difference::{PolicyDifference, PolicySide, QUESTION_LIMIT, policy_difference};
pub use explained::{CallQuestion, explain_call};
pub use history::{HistoryFinding, HistoryRules, HistoryWant};
pub use module::POLICY_LIMIT;
pub use parse::{DEPTH_LIMIT, NESTING_LIMIT};
pub use patterns::{PATTERN_LIMIT, REDACTED, Redactions};
pub use permits::never_allows;
pub use policy::{INPUT_LIMIT, Policy, read};
pub use rules::{RuleValue, rule_values};
pub use suite::{TestOutcome, TestVerdict, Tested, test};
pub use token::TOKEN_LIMIT;
pub use trial::{InputValue, input_values, with_value};
pub use unused::{Vocabulary, dead_rules, policy_remarks, unused_rules};
pub use vocabulary::vocabulary;
pub use written::{AskedTool, ToolName, WrittenPolicy, asked_tools, written_policy};
