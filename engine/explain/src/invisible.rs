//! Characters of a definition that people don't see, and models read.

use agent_diagnostic::{Code, Diagnostic};
use agent_model::ToolView;
use agent_text::{is_concealing, visible};

/// Returns the problem of invisible characters in the definition of a tool.
pub fn invisible(tool: ToolView<'_>, definition: &str) -> Option<Diagnostic> {
    let hidden = definition.chars().filter(|c| is_concealing(*c));
    let mut found: Vec<_> = hidden.collect();
    found.sort_unstable();
    found.dedup();
    let first = found.first()?;
    let text = format!(
        "the definition of `{}` of `{}` contains U+{:04X}{}",
        visible(tool.name()),
        tool.server().id(),
        u32::from(*first),
        match found.len() {
            1 => String::new(),
            more => format!(" and {} other invisible characters", more - 1),
        }
    );
    let problem = Diagnostic::new(Code::InvisibleCharacter, text);
    let problem = problem.label(tool.place(), "the definition");
    Some(problem.help(Code::InvisibleCharacter.help()))
}
