//! Tools that are left out, because no client can use them \[4\]: one bad tool never costs its server.

use super::claims::Source;
use super::described::{Tool, member};
use super::output::{Base, Origin};
use super::overlay::{CAPABILITIES, check_capabilities};
use super::problems::{ImportProblems, NAMED_LIMIT};
use agent_diagnostic::{Code, Problems, Severity};
use agent_json_schema::{Budget, Draft, Unusable, draft, without_unusable_patterns};
use agent_lower::unusable_code;
use agent_model::{Name, NameError, ToolName};
use agent_syntax::{Entry, Node, Value};
use agent_text::sort::sort_by_key;
use agent_text::{Span, Text, TextForm, hidden, listed, visible};
use std::collections::BTreeMap;

/// A tool that is left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOutTool {
    /// Its name, or its place in the document if it has none.
    pub tool: String,
    /// The code of the defect.
    pub code: Code,
    /// The defect, in words that fit any number of tools.
    pub defect: String,
}

/// A defect for which a tool is left out.
#[derive(Debug, Clone)]
pub(super) struct Defect {
    span: Span,
    code: Code,
    label: &'static str,
    text: String,
}

/// The tools of a server that are left out, by name: each with the first of its defects.
#[derive(Debug, Default)]
pub(super) struct LeftOut(BTreeMap<String, (Defect, Origin)>);

impl LeftOut {
    /// Adds a tool, unless it is left out already.
    pub(super) fn add(&mut self, tool: &str, defect: Defect, base: Base) {
        let at = base.origin(defect.span);
        self.0.entry(tool.to_owned()).or_insert((defect, at));
    }

    /// Adds the tools of another source.
    pub(super) fn extend(&mut self, others: &Self) {
        for (tool, (defect, at)) in &others.0 {
            let found = || (defect.clone(), *at);
            self.0.entry(tool.clone()).or_insert_with(found);
        }
    }

    /// Returns whether a tool of this name is left out.
    pub(super) fn has(&self, tool: &str) -> bool {
        self.0.contains_key(tool)
    }

    /// Returns the tools, by name.
    pub(super) fn tools(&self) -> impl Iterator<Item = LeftOutTool> {
        self.0.iter().map(|(tool, (defect, _))| LeftOutTool {
            tool: tool.clone(),
            code: defect.code,
            defect: defect.text.clone(),
        })
    }

    /// Warns once of each defect. `help` mends the tool of a name.
    pub(super) fn warn(
        &self,
        server: &str,
        help: impl Fn(&str) -> String,
        problems: &mut ImportProblems<'_>,
    ) {
        let mut order: Vec<_> = self.0.iter().collect();
        sort_by_key(&mut order, |(_, (_, at))| (at.number, at.span.start));
        let mut known = BTreeMap::new();
        let mut groups: Vec<Vec<(&str, &Defect, Origin)>> = Vec::new();
        for (tool, (defect, at)) in order {
            let number = *known.entry(&*defect.text).or_insert(groups.len());
            if number == groups.len() {
                groups.push(Vec::new());
            }
            groups[number].push((tool, defect, *at));
        }
        for group in groups {
            let Some((first, defect, at)) = group.first() else {
                continue;
            };
            let shown: Vec<_> = group.iter().map(|(tool, ..)| visible(tool)).collect();
            let shown = listed(&shown, NAMED_LIMIT);
            let left_out = match group.len() {
                1 => format!("the tool {shown} of `{server}` is left out"),
                several => format!("{several} tools of `{server}` are left out, {shown}"),
            };
            let message = format!("{left_out}: {}", defect.text);
            problems
                .warn(defect.code, *at, defect.label, message)
                .help(help(first));
        }
    }
}

impl Defect {
    fn new(code: Code, span: Span, label: &'static str, text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            span,
            code,
            label,
            text,
        }
    }

    fn of_type(found: &Node<'_>, what: &str, expected: &str) -> Self {
        let found_type = type_name(&found.value);
        let text = format!("{what} is {found_type}, not {expected}");
        Self::new(Code::WrongType, found.span, "of the wrong type", text)
    }

    /// Returns the defect of a tool that is not an object.
    pub(super) fn not_an_object(found: &Node<'_>) -> Self {
        Self::of_type(found, "the tool", "an object")
    }

    /// Returns the defect of a tool without a name.
    pub(super) fn no_name(span: Span) -> Self {
        let (label, text) = ("`name` is missing here", "`name` is missing");
        Self::new(Code::MissingField, span, label, text)
    }

    /// Returns the defect of a name that is not a string.
    pub(super) fn name_type(found: &Node<'_>) -> Self {
        Self::of_type(found, "`name`", "a string")
    }

    /// Returns the defect of a name that several tools have.
    pub(super) fn repeated(span: Span) -> Self {
        let text = "several tools have this name";
        Self::new(Code::ImportValue, span, "repeated here", text)
    }
}

/// Returns the name of a type in JSON, with its article.
fn type_name(value: &Value<'_>) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) | Value::Plain(_) | Value::Refused => "a string",
        Value::Sequence(_) => "a list",
        Value::Mapping(_) => "an object",
    }
}

/// Returns why a name can't be that of a tool in an index.
pub(super) fn name_defect(name: &str, span: Span) -> Option<Defect> {
    if let Err(error) = ToolName::RULE.check(name) {
        let text = match error {
            NameError::Empty => "the name is empty".to_owned(),
            error => format!("the name can't be used: {error}"),
        };
        return Some(Defect::new(
            Code::InvalidName,
            span,
            "not a tool name",
            text,
        ));
    }
    let (_, character) = hidden(name, TextForm::Name).next()?;
    let text = format!("the name contains U+{:04X}", u32::from(character));
    let label = "contains a hidden character";
    Some(Defect::new(Code::InvisibleCharacter, span, label, text))
}

/// Returns why the definition of a tool can't be used. `is_whole` says that the document has all of it.
pub(super) fn definition_defect(tool: &[Entry<'_>], is_whole: bool, span: Span) -> Option<Defect> {
    const SCHEMA: &str = "inputSchema";
    let is_text = |value: &Value<'_>| matches!(value, Value::String(_));
    if let Some(found) = member(tool, "description")
        && !is_text(&found.value.value)
    {
        return Some(Defect::of_type(&found.value, "`description`", "a string"));
    }
    for key in [SCHEMA, "outputSchema", "annotations"] {
        if let Some(found) = member(tool, key)
            && !matches!(found.value.value, Value::Mapping(_))
        {
            let what = format!("`{key}`");
            return Some(Defect::of_type(&found.value, &what, "an object"));
        }
    }
    let is_absent = is_whole && member(tool, SCHEMA).is_none();
    is_absent.then(|| {
        let (label, text) = ("`inputSchema` is missing here", "`inputSchema` is missing");
        Defect::new(Code::MissingField, span, label, text)
    })
}

/// What is known of a tool's schemas.
pub(super) enum SchemaForm {
    /// All are of the newest draft, or of one that they name.
    Usual,
    /// One that names no draft has the form of an older one.
    Older(Draft),
    /// One can't be used, by a pattern or otherwise.
    Unusable { defect: Defect, of_pattern: bool },
}

/// Returns what is known of a tool's schemas. Patterns that the overlay or the index ignores are no defect.
pub(super) fn schema_form(tool: &Tool<'_>, text: &Text, ignores: bool) -> SchemaForm {
    let mut form = SchemaForm::Usual;
    for field in tool.fields.iter().filter(|it| SCHEMAS.contains(&&*it.key)) {
        let schema = field.value.span.of(text.as_str());
        let ignoring = ignores.then(|| without_unusable_patterns(schema)).flatten();
        let schema = ignoring.as_deref().unwrap_or(schema);
        let why = match draft(Some(schema), &mut Budget::new()) {
            Ok(Draft::Draft202012) => continue,
            Ok(older) => {
                form = SchemaForm::Older(older);
                continue;
            }
            Err(reasons) => reasons.into_iter().next(),
        };
        let Some(why) = why else { continue };
        let text = format!("`{}` {}", field.key, why.reason());
        let of_pattern = matches!(
            why,
            Unusable::Schema {
                of_pattern: true,
                ..
            }
        );
        let label = "no client could call it";
        let defect = Defect::new(unusable_code(&why), tool.name, label, text);
        return SchemaForm::Unusable { defect, of_pattern };
    }
    form
}

/// The fields that have schemas.
const SCHEMAS: [&str; 2] = ["inputSchema", "outputSchema"];

/// Returns why the capabilities that a server claims for a tool can't be used.
pub(super) fn claim_defect(claim: Source<'_>, text: &Text) -> Option<Defect> {
    let label = "no capabilities";
    let mut found = Problems::new(text);
    check_capabilities(claim.node(), CAPABILITIES, &mut found);
    let found = found.finish();
    let mut errors = found
        .into_iter()
        .filter(|it| it.severity == Severity::Error);
    if let Some(first) = errors.next() {
        let span = first.place().map_or(claim.node().span, |it| it.span);
        return Some(Defect::new(first.code, span, label, first.message));
    }
    let text = "a capability lacks its `verb` or its `resource`";
    let span = claim.node().span;
    (!claim.is_readable()).then(|| Defect::new(Code::MissingField, span, label, text))
}

/// The help about a defect that no overlay mends.
pub(super) const MEND: &str =
    "have the server correct its definition, and import the corrected one";
