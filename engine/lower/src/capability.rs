//! Capability requirements, in manifests and in tasks \[4, 4\].

use super::fields::{Object, choice, list, word};
use agent_diagnostic::{Code, Diagnostic, Problems};
use agent_model::{
    Capability, CapabilityRequirement, CapabilityVerb, ForbidLabel, Load, Manifest, Name, Resource,
    Tag, Task,
};
use agent_syntax::Node;
use agent_text::sort::sort_by;
use agent_text::{Span, Spanned};

/// An example of a requirement, for help texts.
pub(super) const EXAMPLE: &str = "- verb: search\n  resource: internet";

/// Reads a non-empty list of requirements. Returns `None` if any is invalid.
pub(super) fn requirements(
    node: &Node<'_>,
    path: &str,
    problems: &mut Problems<'_>,
) -> Option<Vec<CapabilityRequirement>> {
    let items = list(node, path, problems)?;
    if items.is_empty() {
        problems
            .report(
                Code::EmptyValue,
                node.span,
                "empty",
                format!("`{path}` is an empty list"),
            )
            .help(format!("require at least one capability:\n{EXAMPLE}"));
        return None;
    }
    let requirements: Vec<_> = items
        .iter()
        .enumerate()
        .filter_map(|(i, item)| requirement(item, &format!("{path}[{i}]"), problems))
        .collect();
    (requirements.len() == items.len()).then_some(requirements)
}

fn requirement(
    node: &Node<'_>,
    path: &str,
    problems: &mut Problems<'_>,
) -> Option<CapabilityRequirement> {
    let object = Object::of(node, path, node.span, problems)?;
    object.warn_unknown(&["verb", "resource", "constraints", "load"], problems);
    let verb = object
        .required("verb", "add:\nverb: search", problems)
        .and_then(|entry| {
            choice(
                &entry.value,
                &object.path("verb"),
                CapabilityVerb::parse,
                CapabilityVerb::names(),
                problems,
            )
        });
    let resource = object
        .required("resource", "add:\nresource: internet", problems)
        .and_then(|entry| {
            let path = object.path("resource");
            word::<Resource>(&entry.value, &path, Resource::VOCABULARY, problems)
        });
    let constraints = match object.optional("constraints") {
        None => Some(Vec::new()),
        Some(entry) => tags(&entry.value, &object.path("constraints"), problems),
    };
    let load = match object.optional("load") {
        None => Some(Load::Essential),
        Some(entry) => choice(
            &entry.value,
            &object.path("load"),
            Load::parse,
            Load::names(),
            problems,
        )
        .map(|load| load.value),
    };
    let (verb, resource, constraints) = (verb?, resource?, constraints?);
    Some(CapabilityRequirement {
        capability: Capability {
            verb: verb.value,
            resource: resource.value,
            constraints: constraints.iter().map(|tag| tag.value.clone()).collect(),
        },
        load: load?,
        verb_span: verb.span,
        resource_span: resource.span,
        constraints,
        span: node.span,
    })
}

/// Reads a list of tags, sorts it and drops duplicates. Returns `None` if any is invalid.
pub(super) fn tags(
    node: &Node<'_>,
    path: &str,
    problems: &mut Problems<'_>,
) -> Option<Vec<Spanned<Tag>>> {
    let items = list(node, path, problems)?;
    let mut tags: Vec<Spanned<Tag>> = items
        .iter()
        .enumerate()
        .filter_map(|(i, item)| word(item, &format!("{path}[{i}]"), Tag::VOCABULARY, problems))
        .collect();
    if tags.len() != items.len() {
        return None;
    }
    sort_by(&mut tags, |a, b| a.value.cmp(&b.value));
    tags.dedup_by(|later, earlier| later.value == earlier.value);
    Some(tags)
}

/// Returns the label that forbids a requirement by its verb or its `verb:resource`, and the place
/// of the forbidden part.
pub(super) fn forbidden<'f>(
    requirement: &CapabilityRequirement,
    forbid: &'f [Spanned<ForbidLabel>],
) -> Option<(&'f Spanned<ForbidLabel>, Span)> {
    let find = |name: &str| {
        forbid
            .binary_search_by(|label| label.value.as_str().cmp(name))
            .ok()
            .map(|found| &forbid[found])
    };
    let verb = requirement.capability.verb.as_str();
    find(verb)
        .map(|label| (label, requirement.verb_span))
        .or_else(|| {
            let label = find(&requirement.capability.pair())?;
            Some((label, requirement.resource_span))
        })
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
