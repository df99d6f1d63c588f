//! Capability requirements, in manifests and in tasks \[4, 4\].

use super::fields::{
    Object, boolean, each, empty, keyword, keyword_or, list, name, name_set, placed,
};
use super::format;
use agent_diagnostic::{Code, Diagnostic, Problems};
use agent_model::{
    Capability, CapabilityRequirement, ForbidLabel, Load, Manifest, Name, Tag, Task, Tools,
};
use agent_syntax::Node;
use agent_text::{Span, Spanned};

/// An example of a requirement, for help texts.
pub(super) const EXAMPLE: &str = "- verb: <verb>\n  resource: <resource>";

/// Returns the verb that another word for an action may mean. A person has to choose it.
pub(super) fn verb_of(word: &str) -> Option<&'static str> {
    Some(match word {
        "browse" | "find" | "lookup" | "query" => "search",
        "fetch" | "get" | "list" | "view" => "read",
        "create" | "delete" | "edit" | "insert" | "modify" | "update" => "write",
        "call" | "invoke" | "run" => "execute",
        "alert" | "message" | "post" | "send" => "notify",
        "analyse" | "analyze" | "plan" | "think" => "reason",
        _ => return None,
    })
}

/// Reads a non-empty list of requirements. Returns `None` if any is invalid.
pub(super) fn requirements(
    node: &Node<'_>,
    path: &str,
    problems: &mut Problems<'_>,
) -> Option<Vec<CapabilityRequirement>> {
    let items = list(node, path, problems)?;
    if items.is_empty() {
        empty(problems, node.span, &format!("`{path}` is an empty list"))
            .help(format!("require at least one capability:\n{EXAMPLE}"));
        return None;
    }
    each(items, path, problems, requirement)
}

fn requirement(
    node: &Node<'_>,
    path: &str,
    problems: &mut Problems<'_>,
) -> Option<CapabilityRequirement> {
    let object = Object::of(node, path, node.span, problems)?;
    object.check_fields(&format::CAPABILITY.names, problems);
    let verb = object.read("verb", "add:\nverb: <verb>", problems, keyword);
    let resource = object.read("resource", "add:\nresource: <resource>", problems, name);
    let constraints = object.read_or("constraints", Vec::new(), problems, name_set::<Tag>);
    let load = keyword_or(&object, "load", Load::Essential, problems);
    let tools = keyword_or(&object, "tools", Tools::One, problems);
    let no_fallback = placed(false, node);
    let fallback = object.read_or("fallback", no_fallback, problems, boolean);
    let (verb, resource, constraints) = (verb?, resource?, constraints?);
    let (tools, fallback) = (tools?, fallback?);
    if fallback.value && tools == Tools::All {
        // It stands in for one tool, and no other server need have the tools of a whole one.
        let message = "`fallback: true` can't be combined with `tools: all`";
        let mut report = problems.report(
            Code::UnknownValue,
            fallback.span,
            "not with `tools: all`",
            message,
        );
        if let Some(entry) = object.optional("tools") {
            report = report.also(entry.value.span, "selects several tools");
        }
        report.help("remove `fallback`, or require each capability by itself with `tools: one`");
        return None;
    }
    Some(CapabilityRequirement {
        capability: Capability {
            verb: verb.value,
            resource: resource.value,
            constraints: constraints.iter().map(|tag| tag.value.clone()).collect(),
        },
        load: load?,
        tools,
        fallback: fallback.value.then_some(fallback.span),
        verb_span: verb.span,
        resource_span: resource.span,
        constraints,
        span: node.span,
    })
}

/// Returns the label that forbids a requirement by its verb or its `verb:resource`, and the place
/// of the forbidden part.
pub(super) fn forbidden<'f>(
    requirement: &CapabilityRequirement,
    forbid: &'f [Spanned<ForbidLabel>],
) -> Option<(&'f Spanned<ForbidLabel>, Span)> {
    let (verb, pair) = (
        requirement.capability.verb.as_str(),
        requirement.capability.pair(),
    );
    let of_verb = label_of(verb, forbid).map(|label| (label, requirement.verb_span));
    of_verb.or_else(|| Some((label_of(&pair, forbid)?, requirement.resource_span)))
}

/// Returns the label of a name.
pub(super) fn label_of<'f>(
    name: &str,
    forbid: &'f [Spanned<ForbidLabel>],
) -> Option<&'f Spanned<ForbidLabel>> {
    let found = forbid.binary_search_by(|label| label.value.as_str().cmp(name));
    found.ok().map(|found| &forbid[found])
}

/// Returns the message about a contradiction.
pub(super) fn contradiction(requirement: &CapabilityRequirement) -> String {
    let pair = requirement.capability.pair();
    format!("the capability `{pair}` is both required and forbidden")
}

/// The help for a contradiction.
pub(super) const CONTRADICTION: &str =
    "remove the requirement, or the label from `constraints.actions.forbid`";

/// Returns an error for each requirement of a task that the manifest forbids, with both places.
pub fn contradictions(manifest: &Manifest, task: &Task) -> Vec<Diagnostic> {
    task.required
        .iter()
        .filter_map(|requirement| {
            let (label, span) = forbidden(requirement, &manifest.constraints.forbid)?;
            let problem = Diagnostic::new(Code::ForbiddenAction, contradiction(requirement))
                .label(task.text.place(span), "required here")
                .label(manifest.text.place(label.span), "forbidden here");
            Some(problem.help(CONTRADICTION))
        })
        .collect()
}
