//! A module: a text and its tree.

use super::tree::Module;
use super::{check, parse};
use agent_diagnostic::{Diagnostic, Problems};
use agent_lower::{decode, explain_refusal};
use agent_text::{DocumentKind, Text};

/// Maximum size of a policy, in bytes.
pub const POLICY_LIMIT: usize = 16 << 20;

/// A module that was parsed and checked.
#[derive(Debug)]
pub(super) struct SourceModule {
    pub(super) text: Text,
    pub(super) tree: Module,
}

impl SourceModule {
    /// Reads a module that is evaluated together with others.
    pub(super) fn read(
        source: DocumentKind,
        bytes: Vec<u8>,
        others: &[&Module],
    ) -> Result<Self, Vec<Diagnostic>> {
        let text = decode(source, bytes, POLICY_LIMIT)?;
        let mut problems = Problems::new(&text);
        let tree = parse::parse(&mut problems);
        if let Some(tree) = &tree {
            check::check(tree, others, &mut problems);
        }
        let found = problems.finish();
        match tree {
            Some(tree) if found.is_empty() => Ok(Self { text, tree }),
            _ => Err(explain_refusal(&text, found, &mut |_| Vec::new())),
        }
    }
}
