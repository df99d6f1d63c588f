//! The session as its host sees it.

use super::approval::Approvals;
use super::audit::{Chain, Record, write_content};
use super::basis::Basis;
use super::calls::Calls;
use super::client::{Caller, Client, Generation};
use super::continuation::Continuations;
use super::decision::Decision;
use super::documents::Documents;
use super::entries::Lists;
use super::expanded::ExpandedTools;
use super::health::{Observation, ServerHealth};
use super::history::{History, Rebuilding};
use super::limits::QUOTE_MAX_CHARS;
use super::live::{Comparison, Live, Watch, compare};
use super::messages::{Listed, LockedServer, Observed, Reloaded, Transition};
use super::options::{ApprovalMode, Expansion, Ignoring, ObservedServer, Options};
use super::quota::Quotas;
use super::records::{write_client, write_drift};
use super::served::Served;
use super::surface::{Shape, Surface};
use agent_api::diagnostic::Diagnostic;
use agent_api::model::Serve;
use agent_api::text::visible;
use agent_record::{Clock, Redactor};
use std::sync::Arc;

/// An agent's session with its servers.
#[derive(Debug)]
pub struct Session {
    pub(crate) basis: Arc<Basis>,
    pub(crate) settings: Settings,
    pub(crate) redactor: Redactor,
    pub(crate) state: State,
    /// The history before the session, as far as the host gave its records.
    pub(crate) rebuilding: Option<Rebuilding>,
}

/// What a host decided about a session.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) seed: [u8; 32],
    pub(crate) expansion: Expansion,
    pub(crate) budget: Option<u64>,
    pub(crate) observe: bool,
    pub(crate) servers: Vec<ObservedServer>,
    pub(crate) ignoring: Ignoring,
    pub(crate) audit_arguments: bool,
    pub(crate) approval_mode: ApprovalMode,
    pub(crate) payload_max_bytes: u64,
}

/// What outlives a message.
#[derive(Debug, Clone, Default)]
pub(crate) struct State {
    pub(crate) chain: Chain,
    /// By number of the server.
    pub(crate) lives: Vec<Live>,
    /// Resources and prompts, by number of the server. An exported state does not have them.
    pub(crate) lists: Vec<Lists>,
    /// By number of the server.
    pub(crate) health: Vec<ServerHealth>,
    pub(crate) quotas: Quotas,
    pub(crate) approvals: Approvals,
    pub(crate) continuations: Continuations,
    pub(crate) calls: Calls,
    pub(crate) history: History,
    pub(crate) expanded: ExpandedTools,
    /// Which servers health vetoed when the host was last told of the list, by number.
    pub(crate) vetoes: Vec<bool>,
}

impl Session {
    /// Opens a session.
    ///
    /// # Errors
    /// The documents can't be read; the lock differs from the index, the policy or the definitions; names
    /// are not unique; a definition contains invisible characters; the seed is too short; or the state is not one
    /// that a session exported.
    pub fn open(
        documents: Documents,
        options: Options,
        now: Clock,
    ) -> Result<(Self, Vec<Record>), Vec<Diagnostic>> {
        let seed = options.seed()?;
        let basis = Arc::new(Basis::read(
            documents,
            &options.servers,
            (options.observe, options.any_policy),
            &options.ignoring,
        )?);
        let mut state = match &options.state {
            Some(exported) => exported.import(&basis, now)?,
            None => State::new(&basis, now),
        };
        if let Some(line) = &options.last_record {
            state.chain = Chain::after(line)?;
            if options.state.is_none() && basis.remembered.is_some() {
                state.history = History::since(state.chain.head.clone());
            }
        }
        let mut session = Self {
            redactor: Redactor::new(&options.secrets),
            basis,
            settings: Settings {
                seed,
                expansion: options.expansion,
                budget: options.budget,
                observe: options.observe,
                servers: options.servers,
                ignoring: options.ignoring,
                audit_arguments: options.audit_arguments,
                approval_mode: options.approval_mode,
                payload_max_bytes: options.payload_max_bytes,
            },
            state,
            rebuilding: None,
        };
        if options.state.is_none() {
            session.state.vetoes = session.surface(now).vetoes();
        }
        let record = session.opened("opened", now);
        Ok((session, vec![record]))
    }

    /// Takes other documents. Calls that are open keep the lock that they were decided under. Servers that
    /// both locks have keep their health and quotas; under another lock they must list their tools again,
    /// and what was expanded or asked for under the earlier one is forgotten.
    ///
    /// # Errors
    /// As [`Session::open`]. The session then goes on as it was.
    pub fn reload(
        &mut self,
        documents: Documents,
        now: Clock,
    ) -> Result<Reloaded, Vec<Diagnostic>> {
        let Settings {
            servers,
            observe,
            ignoring,
            ..
        } = &self.settings;
        let basis = Arc::new(Basis::read(
            documents,
            servers,
            (*observe, false),
            ignoring,
        )?);
        let list = |session: &Self| session.surface(now).list(Generation::Stateless, None);
        let before = list(self);
        let told = self.told(now);
        let mut list_changed = self.list_changed(&told, now);
        let is_same = basis.digests.lock == self.basis.digests.lock;
        let mut state = State::new(&basis, now);
        for (number, server) in basis.servers.iter().enumerate() {
            if let Some(before) = self.basis.server_number(&server.name) {
                state.health[number] = self.state.health[before];
            }
        }
        self.state.health = state.health;
        if !is_same {
            self.state.lives = state.lives;
            self.state.lists = state.lists;
            // They name tools of the earlier lock.
            self.state.approvals.pending.clear();
            self.state.continuations.outstanding.clear();
            let expanded = core::mem::take(&mut self.state.expanded);
            let joins_lists = self.settings.expansion == Expansion::List;
            list_changed |= joins_lists && !expanded.sessions.is_empty();
        }
        let keeps = |basis: &Basis| basis.remembered.as_ref().map(|it| it.terms.clone());
        let (kept, wanted) = (keeps(&self.basis), keeps(&basis));
        let is_enough = match (&kept, &wanted) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(kept), Some(wanted)) => {
                kept.window_ms >= wanted.window_ms
                    && kept.fields == wanted.fields
                    && kept.numbers == wanted.numbers
            }
        };
        if !is_enough || wanted.is_none() {
            self.rebuilding = None;
            let head = self.state.chain.head.clone();
            self.state.history = History::since(head.filter(|_| wanted.is_some()));
        }
        self.basis = basis;
        self.state.vetoes = self.surface(now).vetoes();
        Ok(Reloaded {
            list_changed: list_changed || list(self) != before,
            records: vec![self.opened("reloaded", now)],
        })
    }

    /// Returns the servers to start or to connect to, ordered by name.
    pub fn servers(&self) -> Vec<LockedServer> {
        let served = self.served();
        let servers = self.basis.servers.iter().enumerate();
        let servers = servers.map(|(number, server)| LockedServer {
            name: server.name.clone(),
            id: server.id.clone(),
            version: server.version.clone(),
            endpoint: server.endpoint.clone(),
            resources: served.passes(number, Serve::Resources),
            prompts: served.passes(number, Serve::Prompts),
        });
        servers.collect()
    }

    /// Takes the result of a server's `tools/list`, all pages joined. What it lists otherwise than it was
    /// locked is quarantined until it lists it as locked again.
    pub fn tools(&mut self, server: &str, list: &[u8], now: Clock) -> Observed {
        let Some(number) = self.basis.server_number(server) else {
            return Observed::default();
        };
        let told = self.told(now);
        let others = self.state.lives.iter().enumerate();
        let others = others.filter(|(it, _)| *it != number).map(|(_, live)| live);
        let (deviations, names) = others.fold((0, 0), |(deviations, names), live| {
            let names_of_live = live.unlocked.len().max(live.offered.len());
            (deviations + live.deviations.len(), names + names_of_live)
        });
        let watch = Watch {
            before: &self.state.lives[number],
            deviations,
            names,
            observe: self.settings.observe,
            redactor: &self.redactor,
        };
        let Comparison {
            live,
            drifted,
            withheld,
        } = compare(&self.basis, number, list, watch);
        self.state.lives[number] = live;
        let list_changed = self.list_changed(&told, now);
        let surface = self.surface(now);
        let exposed = self.basis.tools_of(number);
        let exposed = exposed.filter(|tool| !surface.is_withheld(*tool));
        let exposed = exposed.map(|tool| self.basis.tools[tool].name().to_owned());
        let offers = surface.offers().into_iter();
        let offers = offers.filter(|(_, it)| it.server == number && it.offered.is_listed());
        let exposed: Vec<_> = exposed.chain(offers.map(|(name, _)| name)).collect();
        let record = self.record("tools", now, |w| {
            w.key("drifted").array(|w| {
                for drift in &drifted {
                    w.object(|w| write_drift(w, drift));
                }
            });
            w.key("exposed").strings(exposed.iter().map(|it| &**it));
            w.key("list").object(|w| write_content(w, list));
            w.key("list_changed").bool(list_changed);
            w.key("server").string(server);
            w.key("withheld").array(|w| {
                for it in &withheld {
                    w.object(|w| {
                        w.key("code").string(it.code.name());
                        w.key("tool").string(&it.tool);
                    });
                }
            });
        });
        Observed {
            exposed,
            withheld,
            drifted,
            list_changed,
            records: vec![record],
        }
    }

    /// Returns the result of `tools/list` for a client.
    pub fn list(&mut self, client: &Client, now: Clock) -> Listed {
        let caller = Caller::read(client).ok();
        let session = caller.as_ref().and_then(|it| it.session.as_ref());
        let text = self.surface(now).list(client.generation, session);
        let record = self.record("list", now, |w| {
            write_client(w, client);
            w.key("list").object(|w| write_content(w, text.as_bytes()));
        });
        Listed {
            result: text.into_bytes(),
            records: vec![record],
        }
    }

    /// Takes why a server can't be started or reached, for clients and the status. The reason holds until the server
    /// lists its tools.
    pub fn unreachable(&mut self, server: &str, why: &str) {
        if let Some(number) = self.basis.server_number(server) {
            let why = visible(&self.redactor.text(why))
                .chars()
                .take(QUOTE_MAX_CHARS)
                .collect();
            self.state.lives[number].failure = Some(why);
        }
    }

    /// Takes what a host observed of a server.
    pub fn observe(&mut self, server: &str, observation: Observation, now: Clock) -> Transition {
        let Some(number) = self.basis.server_number(server) else {
            return Transition::default();
        };
        let before = self.state.health[number];
        let after = before.after(observation, now.unix_ms);
        let told = self.told(now);
        self.state.health[number] = after;
        let list_changed = self.list_changed(&told, now);
        if before.status == after.status {
            return Transition {
                list_changed,
                ..Transition::default()
            };
        }
        let record = self.record("health", now, |w| {
            w.key("after").string(after.name());
            w.key("before").string(before.name());
            w.key("server").string(server);
        });
        Transition {
            status: Some(after.name()),
            list_changed,
            records: vec![record],
        }
    }

    /// Returns what clients see now.
    pub(crate) fn surface(&self, now: Clock) -> Surface<'_> {
        Surface {
            basis: &self.basis,
            lives: &self.state.lives,
            expanded: &self.state.expanded,
            expansion: self.settings.expansion,
            health: &self.state.health,
            now,
            observe: self.settings.observe,
        }
    }

    /// Returns the resources and prompts that clients see now.
    pub(crate) fn served(&self) -> Served<'_> {
        Served {
            basis: &self.basis,
            lists: &self.state.lists,
            observe: self.settings.observe,
        }
    }

    /// Returns everything that decides on a call now.
    pub(crate) fn decision(&self, now: Clock) -> Decision<'_> {
        Decision {
            surface: self.surface(now),
            quotas: &self.state.quotas,
            history: &self.state.history,
            redactor: &self.redactor,
        }
    }

    /// Returns what decided on lists when the host was last told of them.
    fn told(&self, now: Clock) -> Shape {
        self.surface(now).shape(&self.state.vetoes)
    }

    /// Returns whether the list is another one than the host was told. Time alone changes it: a fallback
    /// leaves it when the quarantine of its first ends.
    fn list_changed(&mut self, told: &Shape, now: Clock) -> bool {
        let surface = self.surface(now);
        let vetoes = surface.vetoes();
        let changed = surface.shape(&vetoes) != *told;
        self.state.vetoes = vetoes;
        changed
    }
}
