//! The documents as files of a bundle, and the locked entries of an index.

use agent_api::model::{Index, Lock, Name as _};
use agent_api::text::sort::set_of;
use agent_session::Documents;

/// The names of the files, in order.
pub(crate) const NAMES: [&str; 7] = [
    "agents.definitions.json",
    "agents.lock",
    "mcp.index.json",
    "policy-context",
    "policy.rego",
    "task",
    "tenant",
];

/// Returns the documents of a bundle in the order of [`NAMES`].
pub(crate) fn files(documents: &Documents) -> impl Iterator<Item = (&'static str, &[u8])> {
    let Documents {
        lock,
        index,
        definitions,
        policy,
        policy_context,
        tenant,
        tenant_id: _,
        task,
        // What lives is in no bundle.
        health: _,
    } = documents;
    let all = [
        definitions,
        lock,
        index,
        policy_context,
        policy,
        task,
        tenant,
    ];
    let named = NAMES.into_iter().zip(all);
    named.filter_map(|(name, file)| Some((name, file.as_deref()?)))
}

/// Returns the place of a file of a bundle.
pub(crate) fn place<'d>(
    documents: &'d mut Documents,
    name: &str,
) -> Option<&'d mut Option<Vec<u8>>> {
    Some(match name {
        "agents.definitions.json" => &mut documents.definitions,
        "agents.lock" => &mut documents.lock,
        "mcp.index.json" => &mut documents.index,
        "policy-context" => &mut documents.policy_context,
        "policy.rego" => &mut documents.policy,
        "task" => &mut documents.task,
        "tenant" => &mut documents.tenant,
        _ => return None,
    })
}

/// Returns an index of the entries that a lock selects, each as it is written.
pub(crate) fn locked_entries(index: &Index, lock: &Lock) -> String {
    let selections = lock.selections.iter();
    let locked = set_of(selections.map(|it| (it.id.as_str(), it.version.as_str())));
    let servers = index.servers();
    let servers = servers.filter(|it| locked.contains(&(it.id(), it.version())));
    let entries: Vec<_> = servers.map(|it| it.entry()).collect();
    match entries.is_empty() {
        true => "[]\n".to_owned(),
        false => format!("[\n{}\n]\n", entries.join(",\n")),
    }
}
