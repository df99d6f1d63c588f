//! `agents.lock`.

use super::fields::{
    Object, describe, each, keyword, keyword_or, list, name, names, opening, text, wrong_type,
};
use super::read::{LOCK_LIMIT, Lowered, read};
use agent_diagnostic::{Code, Problems};
use agent_model::{
    Agent, Capability, Endpoint, ForbidLabel, Grant, Keyword, Load, Lock, Name, Patterns, Scope,
    Selection, Serve, ToolName, check_endpoint, lock_order, with_fallbacks,
};
use agent_syntax::{Node, Value, json};
use agent_text::{DocumentKind, Span, Spanned};

/// Reads a lock.
///
/// # Errors
/// Every problem of the text, ordered by place. A lock of a later format is not examined further.
pub fn lock(bytes: Vec<u8>) -> Lowered<Lock> {
    read((DocumentKind::Lock, bytes, LOCK_LIMIT), |problems| {
        let root = json::parse(problems)?;
        let lock = content(&root, problems)?;
        Some(|_| lock)
    })
}

fn content(node: &Node<'_>, problems: &mut Problems<'_>) -> Option<Lock> {
    let root = Object::of(node, "the lock", opening(node), problems)?.rename("");
    check_version(&root, problems)?;
    let known = ["agent", "forbid", "lockVersion", "policy", "selections"];
    refuse_unknown(&root, &known, problems);
    root.required("agent", REWRITE, problems);
    let agent = root.object("agent", problems).and_then(|agent| {
        refuse_unknown(&agent, &["name", "version"], problems);
        let name = field(&agent, "name", problems);
        let version = field(&agent, "version", problems);
        Some(Agent {
            name: name?,
            version: version?,
        })
    });
    let forbid = sorted_names::<ForbidLabel>(&root, "forbid", problems);
    let policy = match root.optional("policy") {
        Some(_) => digest(&root, "policy", is_integrity, problems).map(Some),
        None => Some(None),
    };
    let selections = root
        .required("selections", REWRITE, problems)
        .and_then(|entry| {
            let items = list(&entry.value, "selections", problems)?;
            let forbid = forbid.as_deref().unwrap_or_default();
            let mut selections = Vec::new();
            each(items, "selections", problems, |item, path, problems| {
                let read = selection(item, path, problems)?;
                check_forbidden(&read, forbid, item.span, problems);
                selections.push(read);
                Some(())
            });
            check_fallbacks(&selections, entry.key_span, problems);
            let groups = with_fallbacks(&selections);
            if !groups.is_sorted_by(|a, b| lock_order(a, b).is_le()) {
                let message = "the selections are not sorted as a lock requires";
                invalid(problems, entry.key_span, "unsorted list", message);
            }
            Some(selections)
        });
    Some(Lock {
        agent: agent?,
        forbid: forbid?,
        policy: policy?,
        selections: selections?,
    })
}

const REWRITE: &str = "run `agent resolve` to write the lock again";

fn check_version(root: &Object<'_, '_>, problems: &mut Problems<'_>) -> Option<()> {
    let entry = root.required("lockVersion", "add:\n\"lockVersion\": 1", problems)?;
    let Value::Number(version) = entry.value.value else {
        let found = describe(&entry.value.value);
        wrong_type(problems, entry.value.span, "lockVersion", "a number", found);
        return None;
    };
    if version == Lock::VERSION.to_string() {
        return Some(());
    }
    let known = Lock::VERSION;
    let newer = version.bytes().all(|b| b.is_ascii_digit())
        && version
            .parse::<u64>()
            .map_or(true, |v| v > u64::from(known));
    if newer {
        let message = format!("the lock has the later format {version}");
        let label = format!("this engine supports format {known}");
        problems
            .report(Code::LockVersion, entry.value.span, label, message)
            .help("use a version of `agent` that supports this format; the lock is unchanged");
    } else {
        invalid(
            problems,
            entry.value.span,
            "unknown format",
            &format!("the lock has the unknown format {version}"),
        );
    }
    None
}

fn invalid(problems: &mut Problems<'_>, span: Span, label: &str, message: &str) {
    problems
        .report(Code::LockInvalid, span, label, message)
        .help(REWRITE);
}

/// Refuses unknown fields. A later format with more fields would have a larger version.
fn refuse_unknown(object: &Object<'_, '_>, known: &[&str], problems: &mut Problems<'_>) {
    for entry in object.unknown(known) {
        invalid(
            problems,
            entry.key_span,
            "unknown field",
            &format!("a lock has no field `{}`", object.path(&entry.key)),
        );
    }
}

/// Reports each fallback that stands in for no tool of another server.
fn check_fallbacks(selections: &[Selection], span: Span, problems: &mut Problems<'_>) {
    for group in with_fallbacks(selections) {
        let fits = match group {
            [first, fallback] => first.may_fall_back_on(fallback),
            [first] => !first.is_fallback(),
            _ => false,
        };
        if !fits {
            let message = "a fallback is not directly behind a tool of another server that is \
                           selected for the same capability";
            invalid(problems, span, "misplaced fallback", message);
        }
    }
}

/// Reports a selection that the lock itself forbids. No resolver writes such a lock.
fn check_forbidden(
    selection: &Selection,
    forbid: &[ForbidLabel],
    span: Span,
    problems: &mut Problems<'_>,
) {
    let mut is_forbidden = false;
    let mut check = |what: &str, name: &str| {
        // An unsorted list has been reported already.
        let found = forbid.binary_search_by(|label| label.as_str().cmp(name));
        if found.is_ok() {
            is_forbidden = true;
            let message = format!("the lock both grants and forbids the {what} `{name}`");
            problems
                .report(Code::ForbiddenAction, span, "granted here", message)
                .help(REWRITE);
        }
    };
    for scope in &selection.scopes {
        check("scope", scope.as_str());
    }
    match &selection.grant {
        Grant::Category { only, .. } => only.iter().for_each(|tool| check("tool", tool.as_str())),
        Grant::Capability {
            capability, tool, ..
        } => {
            check("verb", capability.verb.as_str());
            check("capability", &capability.pair());
            check("tool", tool.as_str());
        }
    }
    // A refused lock is not compared, so its other trace of an edit by hand is reported here.
    #[cfg(feature = "repair")]
    if is_forbidden {
        let scopes = selection.scopes.iter().map(Scope::as_str);
        let (id, version) = (selection.id.as_str(), selection.version.as_str());
        let endpoint = selection.endpoint.as_str();
        if agent_model::selection_hash(id, version, endpoint, scopes) != selection.hash {
            let message = "the hash of a selection is not that of its values";
            problems
                .report(
                    Code::HashChanged,
                    span,
                    "edited by hand or damaged",
                    message,
                )
                .help(REWRITE);
        }
    }
    #[cfg(not(feature = "repair"))]
    let _ = is_forbidden;
}

fn field<N: Name>(object: &Object<'_, '_>, key: &str, problems: &mut Problems<'_>) -> Option<N> {
    let name = object.read(key, REWRITE, problems, name);
    name.map(|name: Spanned<N>| name.value)
}

/// Reads a list of names, which must be sorted and without duplicates.
fn sorted_names<N: Name>(
    object: &Object<'_, '_>,
    key: &str,
    problems: &mut Problems<'_>,
) -> Option<Vec<N>> {
    object.read(key, REWRITE, problems, sorted_list)
}

fn sorted_list<N: Name>(
    node: &Node<'_>,
    path: &str,
    problems: &mut Problems<'_>,
) -> Option<Vec<N>> {
    let names = names(node, path, problems)?;
    let names: Vec<N> = names.into_iter().map(|name| name.value).collect();
    check_sorted(&names, node, path, problems);
    Some(names)
}

fn check_sorted<T: Ord>(items: &[T], node: &Node<'_>, path: &str, problems: &mut Problems<'_>) {
    if !items.is_sorted_by(|a, b| a < b) {
        let message = format!("`{path}` is not sorted or contains a name twice");
        invalid(problems, node.span, "unsorted or repeated names", &message);
    }
}

/// Reports a list that is not written if it is empty.
fn check_written<T>(items: &[T], node: &Node<'_>, path: &str, problems: &mut Problems<'_>) {
    if items.is_empty() {
        let message = format!("`{path}` is an empty list, which a lock leaves out");
        invalid(problems, node.span, "not written", &message);
    }
}

/// The fields of every selection.
const SELECTION: [&str; 6] = ["endpoint", "hash", "id", "integrity", "scopes", "version"];

/// The further fields of a selection for a capability.
const TOOL: [&str; 5] = ["capability", "definition", "fallback", "load", "tool"];

/// The field of both, for the tools whose unusable patterns are ignored.
const PATTERNS: &str = "patterns";

/// The further fields of a selection for a category.
const CATEGORY: [&str; 4] = ["category", "load", "only", "serve"];

fn selection(node: &Node<'_>, path: &str, problems: &mut Problems<'_>) -> Option<Selection> {
    let object = Object::of(node, path, opening(node), problems)?;
    let of_capability = object.optional("capability").is_some();
    let special = if of_capability {
        &TOOL[..]
    } else {
        &CATEGORY[..]
    };
    refuse_unknown(
        &object,
        &[&SELECTION, special, &[PATTERNS]].concat(),
        problems,
    );
    let grant = if of_capability {
        granted_tool(&object, problems)
    } else {
        granted_server(&object, problems)
    };
    let endpoint = object.read("endpoint", REWRITE, problems, endpoint);
    let hash = digest(&object, "hash", is_hash, problems);
    let id = field(&object, "id", problems);
    let integrity = digest(&object, "integrity", is_integrity, problems);
    let scopes = sorted_names::<Scope>(&object, "scopes", problems);
    if of_capability && scopes.as_ref().is_some_and(|scopes| !scopes.is_empty()) {
        let span = object
            .optional("scopes")
            .map_or(node.span, |entry| entry.value.span);
        let message = "a selection for a capability must not have scopes";
        invalid(problems, span, "not empty", message);
    }
    let version = field(&object, "version", problems);
    let patterns =
        object.read_or(
            PATTERNS,
            Vec::new(),
            problems,
            |node, path, problems| match &grant {
                Some(Grant::Capability { tool, .. }) => {
                    keyword::<Patterns>(node, path, problems).map(|_| vec![tool.clone()])
                }
                _ => ignoring_tools(node, path, problems),
            },
        );
    Some(Selection {
        patterns: patterns?,
        grant: grant?,
        scopes: scopes?,
        id: id?,
        version: version?,
        endpoint: endpoint?,
        hash: hash?,
        integrity: integrity?,
    })
}

/// Reads the tools whose unusable patterns are ignored, each with that word.
fn ignoring_tools(
    node: &Node<'_>,
    path: &str,
    problems: &mut Problems<'_>,
) -> Option<Vec<ToolName>> {
    let object = Object::of(node, path, opening(node), problems)?;
    let mut tools = Vec::new();
    for entry in object.entries() {
        let path = object.path(&entry.key);
        keyword::<Patterns>(&entry.value, &path, problems)?;
        match ToolName::new(&*entry.key) {
            Ok(tool) => tools.push(tool),
            Err(_) => {
                let message = format!("`{path}` is not named after a tool");
                invalid(problems, entry.key_span, "not a tool name", &message);
                return None;
            }
        }
    }
    check_sorted(&tools, node, path, problems);
    check_written(&tools, node, path, problems);
    Some(tools)
}

/// Reads an endpoint. Messages do not repeat its user info, which is a secret.
fn endpoint(node: &Node<'_>, path: &str, problems: &mut Problems<'_>) -> Option<Endpoint> {
    let text = text(node, path, problems)?;
    if let Err(error) = check_endpoint(text) {
        let message = format!("`{path}` is not an endpoint: {error}");
        invalid(problems, node.span, "not an endpoint", &message);
        return None;
    }
    name(node, path, problems).map(|it| it.value)
}

/// Reads the category of a selection.
fn granted_server(object: &Object<'_, '_>, problems: &mut Problems<'_>) -> Option<Grant> {
    let category = field(object, "category", problems);
    let load = keyword_or(object, "load", Load::Essential, problems);
    if let (Some(entry), Some(Load::Essential)) = (object.optional("load"), load) {
        let message = "a selection for a category has `load` only if it is `on_demand`";
        invalid(problems, entry.value.span, "not written", message);
    }
    let only = object.read_or("only", Vec::new(), problems, |node, path, problems| {
        let tools: Vec<ToolName> = sorted_list(node, path, problems)?;
        check_written(&tools, node, path, problems);
        Some(tools)
    });
    let serve = object.read_or("serve", Vec::new(), problems, |node, path, problems| {
        let found = each(list(node, path, problems)?, path, problems, keyword)?;
        let values: Vec<Serve> = found.into_iter().map(|it| it.value).collect();
        check_sorted(&values, node, path, problems);
        check_written(&values, node, path, problems);
        Some(values)
    });
    Some(Grant::Category {
        category: category?,
        load: load?,
        only: only?,
        serve: serve?,
    })
}

/// Reads the capability and the tool of a selection.
fn granted_tool(object: &Object<'_, '_>, problems: &mut Problems<'_>) -> Option<Grant> {
    let capability = object.object("capability", problems).and_then(|object| {
        refuse_unknown(&object, &["constraints", "resource", "verb"], problems);
        let verb = one_of(&object, "verb", problems);
        let resource = field(&object, "resource", problems);
        let constraints = sorted_names(&object, "constraints", problems);
        Some(Capability {
            verb: verb?,
            resource: resource?,
            constraints: constraints?,
        })
    });
    let definition = digest(object, "definition", is_integrity, problems);
    let fallback = object.read_or("fallback", false, problems, |node, _, problems| {
        let is_first = matches!(&node.value, Value::Number(number) if *number == "1");
        if !is_first {
            let message = "a selection has `fallback` only as the number 1";
            invalid(problems, node.span, "not 1", message);
        }
        is_first.then_some(true)
    });
    let load = one_of(object, "load", problems);
    let tool = field(object, "tool", problems);
    Some(Grant::Capability {
        capability: capability?,
        definition: definition?,
        load: load?,
        tool: tool?,
        fallback: fallback?,
    })
}

fn one_of<T: Keyword>(
    object: &Object<'_, '_>,
    key: &str,
    problems: &mut Problems<'_>,
) -> Option<T> {
    let found = object.read(key, REWRITE, problems, keyword);
    found.map(|found| found.value)
}

fn digest(
    object: &Object<'_, '_>,
    key: &str,
    is_digest: fn(&str) -> bool,
    problems: &mut Problems<'_>,
) -> Option<String> {
    object.read(key, REWRITE, problems, |node, path, problems| {
        let digest = text(node, path, problems)?;
        if !is_digest(digest) {
            let message = format!("{digest:?} in `{path}` is not a digest");
            invalid(problems, node.span, "malformed digest", &message);
        }
        Some(digest.to_owned())
    })
}

fn is_hash(digest: &str) -> bool {
    digest.len() == 64
        && digest
            .bytes()
            .all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

/// Returns whether a text is `sha256-` and the base64 of 32 bytes.
fn is_integrity(digest: &str) -> bool {
    digest.strip_prefix("sha256-").is_some_and(|base64| {
        let (digits, padding) = base64.split_at_checked(43).unwrap_or_default();
        padding == "="
            && digits
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/'))
    })
}
