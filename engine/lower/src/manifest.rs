//! `agents.md` \[0, 1.1\].

use super::fields::{
    Object, boolean, each, empty, keyword, keyword_or, keyword_set, list, name, name_set,
};
use super::read::{Lowered, MANIFEST_LIMIT, read};
use super::{capability, format, misplaced};
use agent_diagnostic::{Code, Problems};
use agent_model::{
    Agent, CapabilityRequirement, Constraints, ForbidLabel, Load, Manifest, Name, Requirement,
};
use agent_syntax::{Node, Value, frontmatter, yaml};
use agent_text::{DocumentKind, Span, Spanned};

/// Reads a manifest. Ignores the body behind the frontmatter.
///
/// # Errors
/// Every problem of the text, ordered by place.
pub fn manifest(bytes: Vec<u8>) -> Lowered<Manifest> {
    read(
        (DocumentKind::Manifest, bytes, MANIFEST_LIMIT),
        |problems| {
            let (agent, (requirements, capabilities), constraints) = parts(problems)?;
            Some(move |text| Manifest {
                text,
                agent,
                requirements,
                capabilities,
                constraints,
            })
        },
    )
}

const REQUIRES: &str = "\
add:
requires:
  mcp:
    - category: <category>
      permissions: [<scope>]";

/// An example of `requires.mcp`, indented as in the file.
macro_rules! mcp {
    () => {
        "  mcp:\n    - category: <category>\n      permissions: [<scope>]"
    };
}

/// The requirements of servers by category, and of tools by capability.
type Requirements = (Vec<Requirement>, Vec<CapabilityRequirement>);

fn parts(problems: &mut Problems<'_>) -> Option<(Agent, Requirements, Constraints)> {
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
    let others = root.refuse_misspelt(&format::MANIFEST.names, problems);
    misplaced::refuse(&root, &others, parts.body, problems);
    let agent_name = root.read("name", "add:\nname: <agent name>", problems, name);
    let agent_version = root.read("version", "add:\nversion: <version>", problems, name);
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
                let message = capability::contradiction(requirement);
                problems
                    .report(Code::ForbiddenAction, span, "required here", message)
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
    requires.check_fields(&format::REQUIRES.names, problems);
    let capabilities = requires.read_or(
        "capabilities",
        Vec::new(),
        problems,
        capability::requirements,
    );
    let mcp = match requires.optional("capabilities") {
        Some(_) => requires.read_or("mcp", Vec::new(), problems, servers),
        None => requires.read("mcp", concat!("add:\n", mcp!()), problems, servers),
    };
    Some((mcp?, capabilities?))
}

fn servers(node: &Node<'_>, path: &str, problems: &mut Problems<'_>) -> Option<Vec<Requirement>> {
    let items = list(node, path, problems)?;
    if items.is_empty() {
        empty(problems, node.span, &format!("`{path}` is an empty list"))
            .help(concat!("require at least one category:\n", mcp!()));
        return None;
    }
    each(items, path, problems, requirement)
}

fn requirement(node: &Node<'_>, path: &str, problems: &mut Problems<'_>) -> Option<Requirement> {
    let object = Object::of(node, path, node.span, problems)?;
    object.check_fields(&format::REQUIREMENT.names, problems);
    let category = object.read("category", "add:\ncategory: <category>", problems, name);
    let permissions = object.read(
        "permissions",
        "add:\npermissions: [<scope>]",
        problems,
        name_set,
    );
    let load = keyword_or(&object, "load", Load::Essential, problems);
    let only = not_empty(&object, "only", ONLY, problems, name_set);
    let serve = not_empty(&object, "serve", SERVE, problems, keyword_set);
    Some(Requirement {
        category: category?,
        permissions: permissions?,
        load: load?,
        only: only?,
        serve: serve?,
        span: node.span,
    })
}

const ONLY: &str = "name the tools to lock, or remove `only` to lock every tool of the server";

const SERVE: &str = "write `resources`, `prompts` or both, or remove `serve` to withhold them";

/// Reads an optional list, which is empty if it is absent. Its author would expect another meaning of a
/// list that is there and empty.
fn not_empty<T>(
    object: &Object<'_, '_>,
    key: &str,
    help: &str,
    problems: &mut Problems<'_>,
    read: impl FnOnce(&Node<'_>, &str, &mut Problems<'_>) -> Option<Vec<T>>,
) -> Option<Vec<T>> {
    object.read_or(key, Vec::new(), problems, |node, path, problems| {
        let items = read(node, path, problems)?;
        if items.is_empty() {
            empty(problems, node.span, &format!("`{path}` is an empty list")).help(help);
            return None;
        }
        Some(items)
    })
}

fn constraints(node: &Node<'_>, key: Span, problems: &mut Problems<'_>) -> Option<Constraints> {
    let object = Object::of(node, "constraints", key, problems)?;
    object.check_fields(&format::CONSTRAINTS.names, problems);
    let mut constraints = Constraints::default();
    if let Some(data) = object.object("data", problems) {
        data.check_fields(&format::CONSTRAINTS_DATA.names, problems);
        constraints.residency = data.read_optional("residency", problems, keyword);
        constraints.sensitivity = data.read_optional("sensitivity", problems, keyword);
    }
    if let Some(actions) = object.object("actions", problems) {
        actions.check_fields(&format::CONSTRAINTS_ACTIONS.names, problems);
        let labels = actions.read_optional("forbid", problems, name_set);
        constraints.forbid = labels.unwrap_or_default();
    }
    if let Some(trust) = object.object("trust", problems) {
        trust.check_fields(&format::CONSTRAINTS_TRUST.names, problems);
        constraints.require_signed = trust.read_optional("requireSigned", problems, boolean);
    }
    Some(constraints)
}

/// Reports every required scope and tool that the same file forbids.
fn check_contradictions(
    requirements: &[Requirement],
    forbid: &[Spanned<ForbidLabel>],
    problems: &mut Problems<'_>,
) {
    for requirement in requirements {
        let permissions = requirement.permissions.iter();
        let permissions = permissions.map(|it| ("permission", it.value.as_str(), it.span));
        let tools = requirement.only.iter();
        let tools = tools.map(|it| ("tool", it.value.as_str(), it.span));
        for (noun, name, at) in permissions.chain(tools) {
            let Some(label) = capability::label_of(name, forbid) else {
                continue;
            };
            let message = format!("the {noun} `{name}` is both required and forbidden");
            let help = format!("remove the {noun}, or the label from `constraints.actions.forbid`");
            problems
                .report(Code::ForbiddenAction, at, "required here", message)
                .also(label.span, "forbidden here")
                .help(help);
        }
    }
}
