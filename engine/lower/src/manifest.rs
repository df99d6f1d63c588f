//! `agents.md` \[0, 1.1\].

use super::fields::{Object, boolean, choice, list, name, names};
use super::{Checked, Lowered, MANIFEST_LIMIT, capability, decode};
use agent_diagnostic::{Code, Problems};
use agent_model::{
    Agent, CapabilityRequirement, Constraints, ForbidLabel, Manifest, Name, Requirement, Residency,
    Scope, Sensitivity,
};
use agent_syntax::{Node, Value, frontmatter, yaml};
use agent_text::sort::sort_by;
use agent_text::{DocumentKind, Span, Spanned};

/// Reads a manifest. Ignores the body behind the frontmatter.
///
/// # Errors
/// Every problem of the text, ordered by place.
pub fn manifest(bytes: Vec<u8>) -> Lowered<Manifest> {
    let text = decode(DocumentKind::Manifest, bytes, MANIFEST_LIMIT)?;
    let mut problems = Problems::new(&text);
    let parts = read(&mut problems);
    let errors = problems.has_errors();
    let found = problems.finish();
    match parts {
        Some((agent, (requirements, capabilities), constraints)) if !errors => Ok(Checked {
            value: Manifest {
                text,
                agent,
                requirements,
                capabilities,
                constraints,
            },
            warnings: found,
        }),
        _ => Err(found),
    }
}

const REQUIRES: &str = "\
add:
requires:
  mcp:
    - category: reporting
      permissions: [read:reports]";

/// An example of `requires.mcp`, indented as in the file.
macro_rules! mcp {
    () => {
        "  mcp:\n    - category: reporting\n      permissions: [read:reports]"
    };
}

/// The requirements of servers by category, and of tools by capability.
type Requirements = (Vec<Requirement>, Vec<CapabilityRequirement>);

fn read(problems: &mut Problems<'_>) -> Option<(Agent, Requirements, Constraints)> {
    let parts = frontmatter(problems)?;
    let root = yaml::parse(parts.content, problems)?;
    let root = match root.value {
        // An empty frontmatter lacks every field; each is reported.
        Value::Null => Node {
            value: Value::Mapping(Vec::new()),
            ..root
        },
        _ => root,
    };
    let root = Object::of(&root, "", parts.opening, problems)?;

    let agent_name = root
        .required("name", "add:\nname: my-agent", problems)
        .and_then(|entry| name(&entry.value, "name", problems));
    let agent_version = root
        .required("version", "add:\nversion: 1.0.0", problems)
        .and_then(|entry| name(&entry.value, "version", problems));
    let requirements = root
        .required("requires", REQUIRES, problems)
        .and_then(|entry| requires(&entry.value, entry.key_span, problems));
    let constraints = match root.optional("constraints") {
        Some(entry) => constraints(&entry.value, entry.key_span, problems),
        None => Some(Constraints::default()),
    };
    if let (Some(requirements), Some(constraints)) = (&requirements, &constraints) {
        check_contradictions(&requirements.0, &constraints.forbid, problems);
        for requirement in &requirements.1 {
            if let Some((label, span)) = capability::forbidden(requirement, &constraints.forbid) {
                problems
                    .report(
                        Code::ForbiddenAction,
                        span,
                        "required here",
                        capability::contradiction(requirement),
                    )
                    .also(label.span, "forbidden here")
                    .help(capability::CONTRADICTION);
            }
        }
    }
    let agent = Agent {
        name: agent_name?.value,
        version: agent_version?.value,
    };
    Some((agent, requirements?, constraints?))
}

/// Reads `requires.mcp` and `requires.capabilities`, at least one of which is required.
fn requires(node: &Node<'_>, key: Span, problems: &mut Problems<'_>) -> Option<Requirements> {
    let requires = Object::of(node, "requires", key, problems)?;
    requires.warn_unknown(&["mcp", "capabilities"], problems);
    let capabilities = requires
        .optional("capabilities")
        .map(|entry| capability::requirements(&entry.value, "requires.capabilities", problems));
    let mcp = if capabilities.is_some() {
        requires.optional("mcp")
    } else {
        requires.required("mcp", concat!("add:\n", mcp!()), problems)
    };
    let mcp = mcp.map(|entry| servers(&entry.value, problems));
    if mcp.is_none() && capabilities.is_none() {
        return None;
    }
    Some((
        mcp.unwrap_or(Some(Vec::new()))?,
        capabilities.unwrap_or(Some(Vec::new()))?,
    ))
}

fn servers(node: &Node<'_>, problems: &mut Problems<'_>) -> Option<Vec<Requirement>> {
    let items = list(node, "requires.mcp", problems)?;
    if items.is_empty() {
        problems
            .report(
                Code::EmptyValue,
                node.span,
                "empty",
                "`requires.mcp` is an empty list",
            )
            .help(concat!("require at least one category:\n", mcp!()));
        return None;
    }
    let requirements: Vec<_> = items
        .iter()
        .enumerate()
        .filter_map(|(i, item)| requirement(item, &format!("requires.mcp[{i}]"), problems))
        .collect();
    (requirements.len() == items.len()).then_some(requirements)
}

fn requirement(node: &Node<'_>, path: &str, problems: &mut Problems<'_>) -> Option<Requirement> {
    let object = Object::of(node, path, node.span, problems)?;
    object.warn_unknown(&["category", "permissions"], problems);
    let category = object
        .required("category", "add:\ncategory: reporting", problems)
        .and_then(|entry| name(&entry.value, &object.path("category"), problems));
    let permissions = object
        .required("permissions", "add:\npermissions: []", problems)
        .and_then(|entry| names::<Scope>(&entry.value, &object.path("permissions"), problems));
    Some(Requirement {
        category: category?,
        permissions: sorted(permissions?),
        span: node.span,
    })
}

fn constraints(node: &Node<'_>, key: Span, problems: &mut Problems<'_>) -> Option<Constraints> {
    let object = Object::of(node, "constraints", key, problems)?;
    object.warn_unknown(&["data", "actions", "trust"], problems);
    let mut constraints = Constraints::default();
    if let Some(data) = object.object("data", problems) {
        data.warn_unknown(&["residency", "sensitivity"], problems);
        constraints.residency = data.optional("residency").and_then(|entry| {
            let path = data.path("residency");
            choice(
                &entry.value,
                &path,
                Residency::parse,
                Residency::names(),
                problems,
            )
        });
        constraints.sensitivity = data.optional("sensitivity").and_then(|entry| {
            let path = data.path("sensitivity");
            choice(
                &entry.value,
                &path,
                Sensitivity::parse,
                Sensitivity::names(),
                problems,
            )
        });
    }
    if let Some(actions) = object.object("actions", problems) {
        actions.warn_unknown(&["forbid"], problems);
        if let Some(entry) = actions.optional("forbid") {
            let labels = names(&entry.value, &actions.path("forbid"), problems);
            constraints.forbid = sorted(labels.unwrap_or_default());
        }
    }
    if let Some(trust) = object.object("trust", problems) {
        trust.warn_unknown(&["requireSigned"], problems);
        constraints.require_signed = trust
            .optional("requireSigned")
            .and_then(|entry| boolean(&entry.value, &trust.path("requireSigned"), problems));
    }
    Some(constraints)
}

/// Reports every required scope that the same file forbids.
fn check_contradictions(
    requirements: &[Requirement],
    forbid: &[Spanned<ForbidLabel>],
    problems: &mut Problems<'_>,
) {
    for requirement in requirements {
        for permission in &requirement.permissions {
            let scope = permission.value.as_str();
            let Ok(found) = forbid.binary_search_by(|label| label.value.as_str().cmp(scope)) else {
                continue;
            };
            problems
                .report(
                    Code::ForbiddenAction,
                    permission.span,
                    "required here",
                    format!("the permission `{scope}` is both required and forbidden"),
                )
                .also(forbid[found].span, "forbidden here")
                .help("remove the permission, or the label from `constraints.actions.forbid`");
        }
    }
}

/// Sorts names and drops duplicates.
fn sorted<N: Name>(mut names: Vec<Spanned<N>>) -> Vec<Spanned<N>> {
    sort_by(&mut names, |a, b| a.value.cmp(&b.value));
    names.dedup_by(|later, earlier| later.value == earlier.value);
    names
}
