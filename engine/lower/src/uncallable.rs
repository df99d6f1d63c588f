//! Tools that nobody can call, because one of their schemas can't be used.

use super::tool::ToolEntry;
use super::unusable::unusable_code;
use agent_diagnostic::{Diagnostic, Severity};
use agent_json_schema::{Budget, Unusable, unusable};
use agent_model::{Index, ToolView};
use agent_text::{listed, visible};
use std::collections::BTreeMap;

/// A tool that nobody can call.
#[derive(Debug, Clone)]
pub struct Uncallable<'i> {
    tool: ToolView<'i>,
    /// The member that has the schema.
    member: &'static str,
    why: Unusable,
}

/// Maximum steps of checking the schemas of an index. Behind them tools are not checked.
const STEPS: u64 = 50_000_000;

/// Returns the tools of an index that nobody can call.
pub fn uncallable_tools(index: &Index) -> Vec<Uncallable<'_>> {
    let (mut found, mut steps) = (Vec::new(), 0);
    for tool in index.tools() {
        found.extend(checked(tool, &mut steps));
        if steps > STEPS {
            break;
        }
    }
    found
}

/// Returns why nobody can call a tool: the first schema that can't be used. An index may not have the input schema of a
/// tool yet, which is no reason.
pub fn uncallable(tool: ToolView<'_>) -> Option<Uncallable<'_>> {
    checked(tool, &mut 0)
}

fn checked<'i>(tool: ToolView<'i>, steps: &mut u64) -> Option<Uncallable<'i>> {
    let entry = ToolEntry::read(tool.entry());
    let schemas = [
        ("inputSchema", entry.input_schema()),
        ("outputSchema", entry.output_schema()),
    ];
    schemas.into_iter().find_map(|(member, schema)| {
        let mut budget = Budget::new();
        let problems = unusable(Some(&schema?), &mut budget);
        *steps += budget.spent();
        let why = problems.into_iter().next()?;
        Some(Uncallable { tool, member, why })
    })
}

/// Maximum number of tools that a warning names.
const NAMED_LIMIT: usize = 10;

/// Returns a warning for each cause, with the tools of a server that have it, in the order of the first ones.
pub fn uncallable_warnings<'i>(found: impl IntoIterator<Item = Uncallable<'i>>) -> Vec<Diagnostic> {
    let mut causes: Vec<(String, Vec<Uncallable<'i>>)> = Vec::new();
    let mut known = BTreeMap::new();
    for tool in found {
        let cause = format!("`{}` {}", tool.member, tool.why.reason());
        let key = (tool.tool.server().rank(), cause.clone());
        let number = *known.entry(key).or_insert(causes.len());
        match causes.get_mut(number) {
            Some((_, tools)) => tools.push(tool),
            None => causes.push((cause, vec![tool])),
        }
    }
    let warnings = causes
        .iter()
        .filter_map(|(cause, tools)| warning(cause, tools));
    warnings.collect()
}

/// Returns the warning of a cause, unless no tool has it.
fn warning(cause: &str, tools: &[Uncallable<'_>]) -> Option<Diagnostic> {
    let first = tools.first()?;
    let server = first.tool.server().id();
    let names: Vec<_> = tools.iter().map(|it| visible(it.tool.name())).collect();
    let names = listed(&names, NAMED_LIMIT);
    let (its, the_tool) = match tools {
        [_] => ("its", "the tool"),
        _ => ("their", "the tools"),
    };
    let message = format!("nobody can call {names} of `{server}`: {its} {cause}");
    let mut warning = Diagnostic::new(unusable_code(&first.why), message);
    warning.severity = Severity::Warning;
    let warning = warning.label(first.tool.place(), "no client gets this tool");
    let mut help = format!("leave {the_tool} out by `only`, or have the server mend the schema");
    let of_pattern = |it: &Uncallable<'_>| {
        matches!(
            it.why,
            Unusable::Schema {
                of_pattern: true,
                ..
            }
        )
    };
    if tools.iter().all(of_pattern) {
        help.push_str(", or give the pattern up by `patterns: ignore` in an overlay");
    }
    Some(warning.help(help))
}
