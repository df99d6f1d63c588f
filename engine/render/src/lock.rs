//! `agents.lock` \[0, 3.1\].

use super::json::{ObjectMembers, write_agent, write_capability, write_names, write_patterns};
use agent_model::{Grant, Load, Lock, Name, Scope, Selection, ToolName};
use agent_syntax::json::Writer;

/// Returns the text of a lock: JSON with sorted keys, no timestamp and a final newline.
pub fn lock(lock: &Lock) -> String {
    write(Writer::pretty(), lock)
}

/// Returns the digest of a lock's RFC 8785 form, which is its dense form.
pub(super) fn lock_digest(lock: &Lock) -> String {
    agent_lower::digest(write(Writer::dense(), lock).trim_end())
}

fn write(mut w: Writer, lock: &Lock) -> String {
    w.object(|w| {
        w.key("agent").object(|w| write_agent(w, &lock.agent));
        w.key("forbid")
            .strings(lock.forbid.iter().map(|label| label.as_str()));
        w.key("lockVersion").number(Lock::VERSION);
        if let Some(policy) = &lock.policy {
            w.key("policy").string(policy);
        }
        w.objects("selections", &lock.selections, write_selection);
    });
    w.finish()
}

fn write_selection(w: &mut Writer, selection: &Selection) {
    let (load, tool, only, serve) = match &selection.grant {
        Grant::Category {
            category,
            load,
            only,
            serve,
        } => {
            w.key("category").string(category.as_str());
            let load = Some(load).filter(|it| **it == Load::OnDemand);
            (load, None, &**only, &**serve)
        }
        Grant::Capability {
            capability,
            definition,
            load,
            tool,
            ..
        } => {
            w.key("capability")
                .object(|w| write_capability(w, capability));
            w.key("definition").string(definition);
            (Some(load), Some(tool), &[][..], &[][..])
        }
    };
    w.key("endpoint").string(selection.endpoint.as_str());
    if selection.is_fallback() {
        w.key("fallback").number(1_u32);
    }
    w.key("hash").string(&selection.hash);
    w.key("id").string(selection.id.as_str());
    w.key("integrity").string(&selection.integrity);
    if let Some(load) = load {
        w.key("load").string(load.as_str());
    }
    write_names(w, "only", only.iter().map(ToolName::as_str));
    let tools = selection.patterns.iter().map(ToolName::as_str);
    write_patterns(w, tools, tool.is_some());
    w.key("scopes")
        .strings(selection.scopes.iter().map(Scope::as_str));
    write_names(w, "serve", serve.iter().map(|it| it.as_str()));
    if let Some(tool) = tool {
        w.key("tool").string(tool.as_str());
    }
    w.key("version").string(selection.version.as_str());
}

#[cfg(test)]
mod tests {
    use super::{lock, lock_digest};
    use agent_lower::digest;
    use agent_syntax::canonical;

    #[test]
    fn the_dense_form_is_canonical() {
        let hash = "0".repeat(64);
        let integrity = format!("sha256-{}=", "A".repeat(43));
        let of_category = format!(
            r#"{{"category": "é\u0022", "endpoint": "https://a.example/", "hash": "{hash}", "id": "a",
            "integrity": "{integrity}", "only": ["a", "b"], "scopes": ["read:a", "read:b"],
            "serve": ["prompts", "resources"], "version": "1"}}"#
        );
        let of_capability = format!(
            r#"{{"capability": {{"constraints": ["readonly"], "resource": "fs", "verb": "read"}},
            "definition": "{integrity}", "endpoint": "https://b.example/", "hash": "{hash}",
            "id": "b", "integrity": "{integrity}", "load": "on_demand", "scopes": [],
            "tool": "read", "version": "2"}}"#
        );
        let fallback = of_capability
            .replace(r#""id": "b""#, r#""fallback": 1, "id": "a""#)
            .replace("https://b", "https://a");
        let text = format!(
            r#"{{"agent": {{"name": "n", "version": "1"}}, "forbid": ["write"], "lockVersion": 1,
            "selections": [{of_category}, {of_capability}, {fallback}]}}"#
        );
        let read = agent_lower::lock(text.into_bytes()).expect("a lock").value;
        let canonical = canonical(&lock(&read)).expect("JSON");
        assert_eq!(lock_digest(&read), digest(&canonical));
    }
}
