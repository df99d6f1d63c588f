//! Tools that no lock exposes, because their definitions have characters that people do not see \[4\].

use agent_diagnostic::{Code, Diagnostic, Problems, Severity};
use agent_lower::{Concealed, concealed, uncallable_tools, uncallable_warnings};
use agent_model::Index;
use agent_text::visible;

/// Returns a warning for each tool of an index that no lock exposes, for its definition or for a schema that
/// can't be used.
pub fn unusable_tools(index: &Index) -> Vec<Diagnostic> {
    let hidden = index.tools().filter_map(concealed).take(Problems::LIMIT);
    let mut found: Vec<_> = hidden.map(|it| left_out_definition(&it)).collect();
    found.extend(uncallable_warnings(uncallable_tools(index)));
    found
}

/// Returns the warning of a tool that a lock leaves out for its definition.
pub fn left_out_definition(found: &Concealed<'_>) -> Diagnostic {
    let mut warning = concealed_definition(found);
    warning.severity = Severity::Warning;
    let text = "the agent does not see the tool; the other tools of the server stay";
    warning.notes.push(text.to_owned());
    warning
}

/// Returns the problem of a definition that no lock may have.
pub fn concealed_definition(found: &Concealed<'_>) -> Diagnostic {
    let others = match found.others {
        0 => String::new(),
        1 => ", and another such character".to_owned(),
        more => format!(", and {more} other such characters"),
    };
    let character = format!("U+{:04X}", u32::from(found.character));
    let message = format!(
        "the definition of `{}` of `{}` contains {character} at `{}`{others}",
        visible(found.tool.name()),
        found.tool.server().id(),
        visible(&found.pointer),
    );
    let place = match found.span.end {
        // The name is the key of the entry.
        0 => found.tool.place(),
        _ => found.tool.place_of(found.span),
    };
    let problem = Diagnostic::new(Code::InvisibleCharacter, message);
    let problem = problem.label(place, format!("contains {character}"));
    problem.help(const { Code::InvisibleCharacter.help() })
}
