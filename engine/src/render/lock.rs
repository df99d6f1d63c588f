//! `agents.lock` \[0, 3.1\].

use super::json::Writer;
use super::resolution::write_agent;
use crate::model::{Lock, Name, Scope};

/// The text of a lock: JSON, keys sorted, no timestamp, ended by a newline.
pub fn lock(lock: &Lock) -> String {
    let mut w = Writer::pretty();
    w.object(|w| {
        w.key("agent").object(|w| write_agent(w, &lock.agent));
        w.key("forbid")
            .strings(lock.forbid.iter().map(|label| label.as_str()));
        w.key("lockVersion").number(Lock::VERSION);
        w.key("selections").array(|w| {
            for selection in &lock.selections {
                w.object(|w| {
                    w.key("category").string(selection.category.as_str());
                    w.key("endpoint").string(selection.endpoint.as_str());
                    w.key("hash").string(&selection.hash);
                    w.key("id").string(selection.id.as_str());
                    w.key("integrity").string(&selection.integrity);
                    w.key("scopes")
                        .strings(selection.scopes.iter().map(Scope::as_str));
                    w.key("version").string(selection.version.as_str());
                });
            }
        });
    });
    w.finish()
}
