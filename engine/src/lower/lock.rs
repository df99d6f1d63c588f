//! `agents.lock`.

use super::fields::{Object, describe, list, name, names, text, wrong_type};
use super::{Checked, LOCK_LIMIT, Lowered, decode};
use crate::diagnostic::{Code, Problems};
use crate::model::{Agent, ForbidLabel, Lock, Name, Selection};
use crate::syntax::{Node, Value, json};
use crate::text::{Source, Span, Spanned};

/// Read a lock.
///
/// # Errors
/// Every problem of the text, ordered by place. A lock of a later format is not looked into.
pub fn lock(bytes: Vec<u8>) -> Lowered<Lock> {
    let text = decode(Source::Lock, bytes, LOCK_LIMIT)?;
    let mut problems = Problems::new(&text);
    let lock = json::parse(&mut problems).and_then(|root| read(&root, &mut problems));
    let errors = problems.has_errors();
    let found = problems.finish();
    match lock {
        Some(value) if !errors => Ok(Checked {
            value,
            warnings: found,
        }),
        _ => Err(found),
    }
}

fn read(node: &Node<'_>, problems: &mut Problems<'_>) -> Option<Lock> {
    let start = node.span.start as usize;
    let root = Object::of(node, "the lock", Span::new(start, start + 1), problems)?.rename("");
    check_version(&root, problems)?;
    refuse_unknown(
        &root,
        &["agent", "forbid", "lockVersion", "selections"],
        problems,
    );
    let agent = root
        .required_object("agent", REWRITE, problems)
        .and_then(|agent| {
            refuse_unknown(&agent, &["name", "version"], problems);
            let name = field(&agent, "name", problems);
            let version = field(&agent, "version", problems);
            Some(Agent {
                name: name?,
                version: version?,
            })
        });
    let forbid = sorted_names::<ForbidLabel>(&root, "forbid", problems);
    let selections = root
        .required("selections", REWRITE, problems)
        .and_then(|entry| {
            let items = list(&entry.value, "selections", problems)?;
            let selections: Vec<_> = items
                .iter()
                .enumerate()
                .filter_map(|(i, item)| {
                    let read = selection(item, &format!("selections[{i}]"), problems)?;
                    let forbid = forbid.as_deref().unwrap_or_default();
                    check_forbidden(&read, forbid, item.span, problems);
                    Some(read)
                })
                .collect();
            if !selections.is_sorted_by(|a, b| a.order() <= b.order()) {
                invalid(
                    problems,
                    entry.key_span,
                    "not sorted by category, scopes, id",
                    "the selections are not in order",
                );
            }
            Some(selections)
        });
    Some(Lock {
        agent: agent?,
        forbid: forbid?,
        selections: selections?,
    })
}

const REWRITE: &str = "run `agent resolve` to write the lock anew";

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
        problems
            .report(
                Code::LockVersion,
                entry.value.span,
                format!("this engine knows format {known}"),
                format!("the lock is of the later format {version}"),
            )
            .help("use a version of `agent` that knows this format; the lock is left as it is");
    } else {
        invalid(
            problems,
            entry.value.span,
            "no format",
            "the lock names a format that never was",
        );
    }
    None
}

fn invalid(problems: &mut Problems<'_>, span: Span, label: &str, message: &str) {
    problems
        .report(Code::LockInvalid, span, label, message)
        .help(REWRITE);
}

/// What only a later format could hold, which would have said so.
fn refuse_unknown(object: &Object<'_, '_>, known: &[&str], problems: &mut Problems<'_>) {
    for entry in object.unknown(known) {
        invalid(
            problems,
            entry.key_span,
            "no field of a lock",
            &format!("`{}` is no field of a lock", object.path(&entry.key)),
        );
    }
}

/// A lock that grants what it forbids was not written by a resolver.
fn check_forbidden(
    selection: &Selection,
    forbid: &[ForbidLabel],
    span: Span,
    problems: &mut Problems<'_>,
) {
    for scope in &selection.scopes {
        // A list that is not sorted is refused already.
        let found = forbid.binary_search_by(|label| label.as_str().cmp(scope.as_str()));
        if found.is_ok() {
            problems
                .report(
                    Code::ForbiddenAction,
                    span,
                    "granted here",
                    format!("the lock grants the scope `{scope}`, and forbids it"),
                )
                .help(REWRITE);
        }
    }
}

fn field<N: Name>(object: &Object<'_, '_>, key: &str, problems: &mut Problems<'_>) -> Option<N> {
    let entry = object.required(key, REWRITE, problems)?;
    name(&entry.value, &object.path(key), problems).map(|name: Spanned<N>| name.value)
}

/// A list of names that a resolver writes sorted and without duplicates.
fn sorted_names<N: Name>(
    object: &Object<'_, '_>,
    key: &str,
    problems: &mut Problems<'_>,
) -> Option<Vec<N>> {
    let entry = object.required(key, REWRITE, problems)?;
    let names: Vec<N> = names(&entry.value, &object.path(key), problems)?
        .into_iter()
        .map(|name| name.value)
        .collect();
    if !names.is_sorted_by(|a, b| a < b) {
        invalid(
            problems,
            entry.value.span,
            "not sorted, or not unique",
            &format!("`{}` is not in order", object.path(key)),
        );
    }
    Some(names)
}

fn selection(node: &Node<'_>, path: &str, problems: &mut Problems<'_>) -> Option<Selection> {
    let start = node.span.start as usize;
    let object = Object::of(node, path, Span::new(start, start + 1), problems)?;
    refuse_unknown(
        &object,
        &[
            "category",
            "endpoint",
            "hash",
            "id",
            "integrity",
            "scopes",
            "version",
        ],
        problems,
    );
    let category = field(&object, "category", problems);
    let endpoint = field(&object, "endpoint", problems);
    let hash = digest(&object, "hash", is_hash, problems);
    let id = field(&object, "id", problems);
    let integrity = digest(&object, "integrity", is_integrity, problems);
    let scopes = sorted_names(&object, "scopes", problems);
    let version = field(&object, "version", problems);
    Some(Selection {
        category: category?,
        scopes: scopes?,
        id: id?,
        version: version?,
        endpoint: endpoint?,
        hash: hash?,
        integrity: integrity?,
    })
}

fn digest(
    object: &Object<'_, '_>,
    key: &str,
    is_digest: fn(&str) -> bool,
    problems: &mut Problems<'_>,
) -> Option<String> {
    let entry = object.required(key, REWRITE, problems)?;
    let path = object.path(key);
    let digest = text(&entry.value, &path, problems)?;
    if !is_digest(digest) {
        invalid(
            problems,
            entry.value.span,
            "no digest of its form",
            &format!("`{path}` is no digest"),
        );
    }
    Some(digest.to_owned())
}

fn is_hash(digest: &str) -> bool {
    digest.len() == 64
        && digest
            .bytes()
            .all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

/// `sha256-` and the base64 of 32 bytes.
fn is_integrity(digest: &str) -> bool {
    digest.strip_prefix("sha256-").is_some_and(|base64| {
        let (digits, padding) = base64.split_at_checked(43).unwrap_or_default();
        padding == "="
            && digits
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/'))
    })
}
