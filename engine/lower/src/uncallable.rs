//! Tools that nobody can call, because one of their schemas can't be used.

use super::tool::ToolEntry;
use agent_diagnostic::{Code, Diagnostic, Severity};
use agent_json_schema::{Budget, Unusable, unusable};
use agent_model::ToolView;
use agent_text::visible;

/// A tool that nobody can call.
#[derive(Debug, Clone)]
pub struct Uncallable<'i> {
    tool: ToolView<'i>,
    /// The member that has the schema.
    member: &'static str,
    why: Unusable,
}

/// Returns why nobody can call a tool: the first schema that can't be used. An index may not have the input schema of a
/// tool yet, which is no reason.
pub fn uncallable(tool: ToolView<'_>) -> Option<Uncallable<'_>> {
    let entry = ToolEntry::read(tool.entry());
    let schemas = [
        ("inputSchema", entry.input_schema()),
        ("outputSchema", entry.output_schema()),
    ];
    schemas.into_iter().find_map(|(member, schema)| {
        let problems = unusable(Some(schema?), &mut Budget::new());
        let why = problems.into_iter().next()?;
        Some(Uncallable { tool, member, why })
    })
}

impl Uncallable<'_> {
    /// Returns the warning about the tool.
    pub fn warning(&self) -> Diagnostic {
        let Self { tool, member, why } = self;
        let (name, server) = (visible(tool.name()), tool.server().id());
        let reason = why.reason();
        let message = format!("nobody can call `{name}` of `{server}`: its `{member}` {reason}");
        let mut warning = Diagnostic::new(unusable_code(why), message);
        warning.severity = Severity::Warning;
        let warning = warning.label(tool.place(), "no client gets this tool");
        warning.help("leave the tool out by `only`, or have its server mend the schema")
    }
}

/// Returns the code of a schema that can't be used.
pub fn unusable_code(why: &Unusable) -> Code {
    match why {
        Unusable::Schema { .. } => Code::SchemaInvalid,
        Unusable::Budget(_) => Code::SchemaBudget,
    }
}
