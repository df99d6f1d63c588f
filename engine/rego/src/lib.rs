//! Policies in Rego \[4\]: read once, asked once per requirement.
//!
//! `regorus` evaluates them. It is used so that a verdict is a function of the policy and the
//! input: without a clock, with built-ins that need no world, and within a budget that is counted.
//! What stands between it and a policy:
//!
//! | module | does |
//! |---|---|
//! | `token`, `parse`, `tree` | read the policy into a tree of limited depth |
//! | `check` | refuses recursion, unknown functions, too many levels of calls |
//! | `guard` | has the policy pay for values, and note which bodies held |
//! | `budget`, `builtins`, `patterns` | count, and hold what does not count by itself |
//! | `paths`, `unused` | know what of the input is meant, and what is said in vain |
//! | `suite` | evaluates the tests of a policy |
//!
//! The errors of built-ins are errors of the policy, not undefined: a rule that denies must not
//! be skipped because something in it failed.

#![forbid(unsafe_code)]

mod budget;
mod builtins;
mod check;
mod guard;
mod parse;
mod paths;
mod patterns;
mod run;
mod suite;
mod token;
mod tree;
mod unused;
mod vocabulary;

pub use budget::{
    BYTES_PER_STEP, KEY_LIMIT, NUMBER_BITS_LIMIT, STEP_LIMIT, UNIT_LIMIT, VALUE_DEPTH_LIMIT,
};
pub use check::{LEVEL_LIMIT, STATEMENT_LIMIT};
pub use parse::{DEPTH_LIMIT, NESTING_LIMIT};
pub use patterns::PATTERN_LIMIT;
pub use run::INPUT_LIMIT;
pub use suite::{TestOutcome, TestVerdict, test};
pub use token::TOKEN_LIMIT;
pub use unused::{Vocabulary, dead_rules, unused_rules};
pub use vocabulary::vocabulary;

use agent_decide::{PolicyEngine, Ruling};
use agent_diagnostic::{Diagnostic, Problems};
use agent_lower::{Checked, Lowered, decode};
use agent_text::{Source, Text};
use run::{Part, Program};
use tree::Module;

/// The largest policy that is read, in bytes.
pub const POLICY_LIMIT: usize = 16 << 20;

/// A policy that can be asked.
#[derive(Debug)]
pub struct Policy {
    text: Text,
    module: Module,
    program: Program,
}

/// Read a policy and compile it.
///
/// # Errors
/// Every problem that was found, ordered by place: it is larger than [`POLICY_LIMIT`], not UTF-8,
/// not Rego v1, nested too deeply, recursive, or calls a function that does not exist here.
pub fn read(bytes: Vec<u8>) -> Lowered<Policy> {
    let (text, module) = parse(Source::Policy, bytes, &[])?;
    let program = Program::new(&[Part {
        text: &text,
        module: &module,
    }])?;
    Ok(Checked {
        value: Policy {
            text,
            module,
            program,
        },
        warnings: Vec::new(),
    })
}

/// Read a module, which is evaluated together with others.
fn parse(
    source: Source,
    bytes: Vec<u8>,
    others: &[&Module],
) -> Result<(Text, Module), Vec<Diagnostic>> {
    let text = decode(source, bytes, POLICY_LIMIT)?;
    let mut problems = Problems::new(&text);
    let module = parse::parse(&mut problems);
    if let Some(module) = &module {
        let mut modules = others.to_vec();
        modules.push(module);
        check::check(&modules, &mut problems);
    }
    let found = problems.finish();
    match module {
        Some(module) if found.is_empty() => Ok((text, module)),
        _ => Err(found),
    }
}

impl PolicyEngine for Policy {
    fn ask(&self, input: &str) -> Ruling {
        self.program.ask(&self.text, &self.module, input)
    }
}
