//! The session for people and programs.

use super::live::Deviation;
use super::method::ListKind;
use super::records::write_agent;
use super::refusal::write_reasons;
use super::served::Served;
use super::session::Session;
use agent_api::model::{Load, Serve};
use agent_api::text::visible;
use agent_record::Clock;
use agent_syntax::json::Writer;

impl Session {
    /// Returns the state of the session as JSON: servers with their health, tools that are exposed, withheld
    /// and quarantined, with reasons and differences, resources and prompts, what else is withheld, and
    /// pending approvals.
    pub fn status(&self, now: Clock) -> String {
        let (basis, state) = (&self.basis, &self.state);
        let (surface, served) = (self.surface(now), self.served());
        let mut w = Writer::pretty();
        w.object(|w| {
            write_agent(w.key("agent"), basis);
            w.key("approvals").array(|w| {
                let open = state.approvals.pending.iter();
                let open = open.filter(|it| now.unix_ms < it.expires_ms);
                for approval in open {
                    w.object(|w| {
                        w.key("answered").bool(approval.answer.is_some());
                        w.key("expiresUnixMs")
                            .json(&approval.expires_ms.to_string());
                        w.key("id").string(&approval.id);
                        w.key("server").string(&basis.server_of(approval.tool).name);
                        w.key("tool").string(basis.tools[approval.tool].name());
                    });
                }
            });
            w.key("expansion").string(self.settings.expansion.name());
            w.key("lock").optional(basis.digests.lock.as_deref());
            w.key("observe").bool(self.settings.observe);
            w.key("openCalls").json(&state.calls.open.len().to_string());
            w.key("records").json(&state.chain.sequence.to_string());
            w.key("servers").array(|w| {
                for (number, server) in basis.servers.iter().enumerate() {
                    w.object(|w| {
                        let (health, _) = surface.status(number);
                        w.key("endpoint").string(&server.endpoint);
                        w.key("failure")
                            .optional(state.lives[number].failure.as_deref());
                        w.key("health").optional(health.map(|it| it.as_str()));
                        w.key("id").string(&server.id);
                        w.key("listed").bool(state.lives[number].is_listed);
                        write_lists(w.key("lists"), served, number);
                        w.key("name").string(&server.name);
                        let live = state.lives[number].unlocked.iter();
                        let unlocked = server.unlocked.iter().chain(live);
                        w.key("unlocked").strings(unlocked.map(|it| &**it));
                        w.key("version").string(&server.version);
                        let passed = [
                            ("prompts", served.passes(number, Serve::Prompts)),
                            ("resources", served.passes(number, Serve::Resources)),
                        ];
                        let withheld = passed.iter().filter(|(_, passed)| !passed);
                        let withheld = withheld.map(|(name, _)| *name);
                        w.key("withheld").strings(withheld.chain([
                            "elicitation",
                            "roots",
                            "sampling",
                        ]));
                    });
                }
            });
            w.key("shared").array(|w| {
                for kind in ListKind::ALL {
                    for (name, servers) in served.shared(kind) {
                        w.object(|w| {
                            w.key("method").string(kind.method().name());
                            w.key("name").string(&visible(&name));
                            w.key("servers").strings(servers);
                        });
                    }
                }
            });
            w.key("tools").array(|w| {
                for (number, tool) in basis.tools.iter().enumerate() {
                    let live = &state.lives[tool.server];
                    w.object(|w| {
                        let changes = live.changes.get(&number);
                        write_deviation(w, live.deviation(number), changes);
                        w.key("load").string(match tool.load {
                            Load::Essential => "essential",
                            Load::OnDemand => "on_demand",
                        });
                        w.key("name").string(tool.name());
                        let reasons = surface.withholding(number);
                        write_reasons(w.key("reasons"), &reasons, true);
                        w.key("server").string(&basis.server_of(number).name);
                        let deviation = live.deviation(number);
                        w.key("state").string(match deviation {
                            Some(_) => "quarantined",
                            None if reasons.is_empty() => "exposed",
                            None => "withheld",
                        });
                        if let Some(Deviation::Changed { widens, .. }) = deviation {
                            w.key("widens").bool(*widens);
                        }
                    });
                }
                for (name, offer) in surface.offers() {
                    let server = &basis.servers[offer.server].name;
                    w.object(|w| {
                        write_deviation(w, offer.offered.deviation.as_ref(), None);
                        w.key("load").null();
                        w.key("name").string(&name);
                        let mut reasons = basis.unlocked_reasons(offer.server, offer.own_name);
                        reasons.extend(surface.offer_drift(&offer));
                        write_reasons(w.key("reasons"), &reasons, true);
                        w.key("server").string(server);
                        w.key("state").string(match &offer.offered.deviation {
                            Some(_) => "quarantined",
                            None => "observed",
                        });
                        if let Some(Deviation::Changed { widens, .. }) = offer.offered.deviation {
                            w.key("widens").bool(widens);
                        }
                    });
                }
            });
        });
        let text = w.finish();
        self.redactor.json(&text).unwrap_or_default()
    }
}

/// Writes the lists of a server that are passed on, each with the entries that no client gets.
fn write_lists(w: &mut Writer, served: Served<'_>, server: usize) {
    let kinds = ListKind::ALL.into_iter();
    let kinds = kinds.filter(|it| served.passes(server, it.method().serve()));
    w.array(|w| {
        for kind in kinds {
            let list = served.lists[server].get(kind);
            w.object(|w| {
                let entries = list.map(|it| it.entries.len().to_string());
                w.key("entries").json(entries.as_deref().unwrap_or("null"));
                w.key("method").string(kind.method().name());
                let withheld = list.map(|it| &it.withheld[..]).unwrap_or_default();
                w.key("withheld").array(|w| {
                    for it in withheld {
                        w.object(|w| {
                            w.key("code").string(it.code.name());
                            w.key("name").string(&it.name);
                            w.key("text").string(&it.text);
                        });
                    }
                });
                let count = list.map_or(0, |it| it.withheld_count);
                w.key("withheldCount").json(&count.to_string());
            });
        }
    });
}

/// Writes what a server lists instead of a tool, with the differences if they are known.
fn write_deviation(w: &mut Writer, deviation: Option<&Deviation>, changes: Option<&Vec<String>>) {
    let Some(deviation) = deviation else {
        return;
    };
    match changes {
        Some(changes) => w.key("changes").strings(changes.iter().map(|it| &**it)),
        None => w.key("changes").null(),
    }
    w.key("deviation").string(deviation.name());
    if let Deviation::Changed { present, .. } = deviation {
        w.key("listed").string(present);
    }
}
