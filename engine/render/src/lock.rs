//! `agents.lock` \[0, 3.1\].

use super::json::{ObjectMembers, write_agent, write_capability};
use agent_model::{Grant, Lock, Name, Scope, Selection};
use agent_syntax::json::Writer;

/// Returns the text of a lock: JSON with sorted keys, no timestamp and a final newline.
pub fn lock(lock: &Lock) -> String {
    let mut w = Writer::pretty();
    w.object(|w| {
        w.key("agent").object(|w| write_agent(w, &lock.agent));
        w.key("forbid")
            .strings(lock.forbid.iter().map(|label| label.as_str()));
        w.key("lockVersion").number(Lock::VERSION);
        w.objects("selections", &lock.selections, write_selection);
    });
    w.finish()
}

/// Returns the digest of the RFC 8785 form of a lock.
pub(super) fn lock_digest(it: &Lock) -> String {
    agent_lower::digest(&agent_syntax::canonical(&lock(it)).unwrap_or_default())
}

fn write_selection(w: &mut Writer, selection: &Selection) {
    let tool = match &selection.grant {
        Grant::Category(category) => {
            w.key("category").string(category.as_str());
            None
        }
        Grant::Capability {
            capability,
            definition,
            load,
            tool,
        } => {
            w.key("capability")
                .object(|w| write_capability(w, capability));
            w.key("definition").string(definition);
            Some((load, tool))
        }
    };
    w.key("endpoint").string(selection.endpoint.as_str());
    w.key("hash").string(&selection.hash);
    w.key("id").string(selection.id.as_str());
    w.key("integrity").string(&selection.integrity);
    if let Some((load, _)) = tool {
        w.key("load").string(load.as_str());
    }
    w.key("scopes")
        .strings(selection.scopes.iter().map(Scope::as_str));
    if let Some((_, tool)) = tool {
        w.key("tool").string(tool.as_str());
    }
    w.key("version").string(selection.version.as_str());
}
