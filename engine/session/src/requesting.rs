//! Decisions on requests for resources and prompts \[4\].
//!
//! A server gets a request only if the lock passes on what is asked for, and only for a URI that it lists
//! or whose template it lists, or for a prompt that it lists.

use super::audit::{Record, write_content};
use super::basis::Basis;
use super::calling::{INTERNAL_ERROR, INVALID_PARAMS};
use super::calls::OpenCall;
use super::client::{Caller, Client, Generation};
use super::decision::refusal_of;
use super::entries::read;
use super::history::Given;
use super::limits::{CALL_TIMEOUT_MS, OPEN_CALLS_MAX, QUOTE_MAX_CHARS};
use super::live::Deviation;
use super::messages::{CallAction, Called, ForwardedRequest, ObservedEntries};
use super::method::{ListKind, Method};
use super::records::{write_client, write_history};
use super::refusal::{REFUSAL_KEY, Refusal, write_reasons};
use super::request::read_params;
use super::served::Owner;
use super::session::Session;
use super::uri::fault;
use agent_api::diagnostic::Code;
use agent_api::explain::CallReason;
use agent_api::model::Serve;
use agent_api::policy::HistoryFinding;
use agent_api::text::visible;
use agent_record::{Clock, Redactor};
use agent_syntax::Value;
use agent_syntax::json::Writer;
use agent_syntax::members::{member, string};
use std::sync::Arc;

/// JSON-RPC: the method is not offered.
pub(crate) const METHOD_NOT_FOUND: i64 = -32601;

/// MCP 2025-11-25: no server has the resource.
pub(crate) const RESOURCE_NOT_FOUND: i64 = -32002;

/// The parameters of a request.
#[derive(Debug)]
enum Wanted {
    /// A list.
    List(ListKind),
    /// The resource of a URI.
    Resource(String),
    /// The prompt of a name with its arguments, as JSON.
    Prompt(String, Option<String>),
}

/// A decided request for a resource or a prompt, before it is recorded.
#[derive(Debug)]
struct Decided {
    action: CallAction,
    server: Option<usize>,
    reasons: Vec<CallReason>,
    /// What built-in rules about the history of calls only record.
    findings: Vec<HistoryFinding>,
    open: Option<OpenCall>,
}

impl Session {
    /// Takes a list of a server, all pages joined. A list that the lock does not pass on has no effect.
    pub fn entries(
        &mut self,
        server: &str,
        kind: ListKind,
        list: &[u8],
        now: Clock,
    ) -> ObservedEntries {
        let served = self.served();
        let what = kind.method().serve();
        let number = self.basis.server_number(server);
        let Some(number) = number.filter(|number| served.passes(*number, what)) else {
            return ObservedEntries::default();
        };
        let before = served.list(kind, Generation::Stateless);
        let found = read(kind, list, served.servers(what).count(), &self.redactor);
        let (entries, withheld) = (found.entries.len() as u64, found.withheld.clone());
        let withheld_count = found.withheld_count;
        self.state.lists[number].set(kind, found);
        let list_changed = self.served().list(kind, Generation::Stateless) != before;
        let record = self.record("entries", now, |w| {
            w.key("entries").json(&entries.to_string());
            w.key("list").object(|w| write_content(w, list));
            w.key("list_changed").bool(list_changed);
            w.key("method").string(kind.method().name());
            w.key("server").string(server);
            w.key("withheld").array(|w| {
                for it in &withheld {
                    w.object(|w| {
                        w.key("code").string(it.code.name());
                        w.key("name").string(&it.name);
                    });
                }
            });
            w.key("withheld_count").json(&withheld_count.to_string());
        });
        ObservedEntries {
            entries,
            withheld,
            withheld_count,
            list_changed,
            records: vec![record],
        }
    }

    /// Decides on the parameters of a client's request for resources or prompts.
    pub fn request(
        &mut self,
        client: &Client,
        method: Method,
        params: &[u8],
        now: Clock,
    ) -> Called {
        let id = self.state.calls.next();
        let is_offered = self.served().servers(method.serve()).next().is_some();
        let read = match Caller::read(client) {
            Err((_, message)) => Err((INTERNAL_ERROR, message)),
            Ok(_) if !is_offered => {
                let text = format!("the lock passes on no {}", method.serve().as_str());
                Err((METHOD_NOT_FOUND, text))
            }
            Ok(caller) => match Wanted::read(method, params) {
                Err(message) => Err((INVALID_PARAMS, message)),
                Ok(wanted) => Ok((caller, wanted)),
            },
        };
        let (action, record) = match read {
            Err((code, message)) => {
                let record = self.record("request", now, |w| {
                    w.key("action").string("error");
                    w.key("call").json(&id.to_string());
                    write_client(w, client);
                    w.key("method").string(method.name());
                    w.key("params").object(|w| write_content(w, params));
                    w.key("text").string(&message);
                });
                let data = None;
                let action = CallAction::Error {
                    code,
                    message,
                    data,
                };
                (action, record)
            }
            Ok((_, Wanted::List(kind))) => {
                let list = self.served().list(kind, client.generation).into_bytes();
                let record = self.record("request", now, |w| {
                    w.key("action").string("answer");
                    w.key("call").json(&id.to_string());
                    write_client(w, client);
                    w.key("list").object(|w| write_content(w, &list));
                    w.key("method").string(method.name());
                });
                (CallAction::Answer(list), record)
            }
            Ok((caller, wanted)) => {
                let decided = self.decide_request(&caller, method, &wanted, now);
                let record = self.record_request(id, client, method, (&wanted, &decided), now);
                if let Some(open) = decided.open {
                    self.state.calls.insert(id, open);
                }
                (decided.action, record)
            }
        };
        Called {
            id,
            action,
            records: vec![record],
            list_changed: false,
        }
    }

    /// Decides on a request for a resource or a prompt.
    fn decide_request(
        &self,
        caller: &Caller<'_>,
        method: Method,
        wanted: &Wanted,
        now: Clock,
    ) -> Decided {
        let generation = caller.client.generation;
        let name = wanted.name();
        let owner = match wanted {
            Wanted::Resource(uri) => match fault(uri) {
                Some(fault) => {
                    let message = format!("the URI `{}` {fault}", quoted(uri));
                    return self.nobody(not_found(generation, uri, &message));
                }
                None => self.served().resource(uri),
            },
            _ => self.served().prompt(name),
        };
        let what = one(method.serve());
        let (server, own_name) = match owner {
            Owner::One(server, own_name) => (server, own_name),
            Owner::Several(names) => {
                let names: Vec<_> = names.iter().map(|it| format!("`{}`", quoted(it))).collect();
                let names = names.join(", ");
                let message = format!(
                    "several servers have the {what} `{}`: {names}",
                    quoted(name)
                );
                return self.nobody(self.missing(method, generation, name, &message));
            }
            Owner::Nobody => {
                let message = format!("no server lists the {what} `{}`", quoted(name));
                return self.nobody(self.missing(method, generation, name, &message));
            }
        };
        let mut drift = None;
        if let Some(deviation @ (Deviation::TooMany | Deviation::Unreadable)) =
            &self.state.lives[server].whole
        {
            drift = Some(withheld_with_tools(&self.basis, server, deviation));
        }
        let mut reasons: Vec<_> = drift.iter().cloned().collect();
        if !self
            .basis
            .serves(&self.basis.servers[server], method.serve())
        {
            let text = format!(
                "the lock passes on no {} of `{}`",
                method.serve().as_str(),
                self.basis.servers[server].name
            );
            reasons.push(CallReason::new(Code::ServeWidened, text));
        }
        let (refusals, findings) = self.by_history(caller, method, server, now);
        reasons.extend(refusals);
        let mut retry_after_ms = None;
        if let Some((reason, retry)) = self.surface(now).vetoed(server) {
            retry_after_ms = retry.filter(|_| reasons.is_empty());
            reasons.push(reason);
        }
        let observes = self.settings.observe && drift.is_none();
        let is_full = !self.has_room();
        if is_full {
            let text = format!("{OPEN_CALLS_MAX} calls are open");
            reasons.push(CallReason::new(Code::SessionLimit, text));
        }
        if is_full || !(reasons.is_empty() || observes) {
            let refusal = Refusal {
                retry_after_ms,
                ..Refusal::new(format!("The {what} `{}`", quoted(name)), reasons.clone())
            };
            return Decided {
                action: error(&refusal, &self.redactor),
                server: Some(server),
                reasons,
                findings: Vec::new(),
                open: None,
            };
        }
        let open = OpenCall {
            method: Some(method),
            uri: matches!(wanted, Wanted::Resource(_)).then(|| name.to_owned()),
            ..self.open_call(caller, (server, None), name, &reasons)
        };
        Decided {
            action: CallAction::ForwardRequest(ForwardedRequest {
                server: self.basis.servers[server].name.clone(),
                params: wanted.forwarded(&own_name),
                // A resource is named by its URI, which is the same for the server.
                name: match wanted {
                    Wanted::Resource(uri) => uri.clone(),
                    Wanted::List(_) | Wanted::Prompt(..) => own_name,
                },
                timeout_ms: CALL_TIMEOUT_MS,
                max_bytes: self.settings.payload_max_bytes,
            }),
            server: Some(server),
            reasons,
            findings,
            open: Some(open),
        }
    }

    /// Returns what the history says about a request. Nobody is asked to approve one, so what wants a human is refused.
    pub(crate) fn by_history(
        &self,
        caller: &Caller<'_>,
        method: Method,
        server: usize,
        now: Clock,
    ) -> (Vec<CallReason>, Vec<HistoryFinding>) {
        let Some(known) = &self.basis.remembered else {
            return Default::default();
        };
        let own = &self.basis.servers[server];
        let traits = known.traits_of((&own.id, &own.version, method.name()));
        let decision = self.decision(now);
        let given = Given::default();
        let past = match decision.past(known, caller, &traits, &given) {
            Ok(past) => past,
            Err(reason) => return (vec![reason], Vec::new()),
        };
        let (mut refusals, findings) = (past.refusals, past.findings);
        let asking = findings.iter().filter(|it| !it.is_log_only);
        refusals.extend(asking.map(refusal_of));
        (refusals, findings)
    }

    /// Returns the decision on what no server is asked for.
    fn nobody(&self, action: CallAction) -> Decided {
        Decided {
            action: redacted(action, &self.redactor),
            server: None,
            reasons: Vec::new(),
            findings: Vec::new(),
            open: None,
        }
    }

    fn missing(
        &self,
        method: Method,
        generation: Generation,
        name: &str,
        message: &str,
    ) -> CallAction {
        match method {
            Method::ReadResource => not_found(generation, name, message),
            _ => CallAction::Error {
                code: INVALID_PARAMS,
                message: message.to_owned(),
                data: None,
            },
        }
    }

    fn record_request(
        &mut self,
        id: u64,
        client: &Client,
        method: Method,
        (wanted, decided): (&Wanted, &Decided),
        now: Clock,
    ) -> Record {
        let basis = Arc::clone(&self.basis);
        let server = decided.server.map(|number| &basis.servers[number]);
        let time = now.local_time();
        self.record("request", now, |w| {
            w.key("action").string(match &decided.action {
                CallAction::ForwardRequest(_) => "forward",
                _ => "error",
            });
            w.key("call").json(&id.to_string());
            write_client(w, client);
            w.key("context").object(|w| {
                w.key("hour").number(time.hour.into());
                w.key("time").string(&time.time);
                w.key("weekday").string(time.weekday);
            });
            w.key("documents").object(|w| basis.digests.write(w));
            if let (Some(known), Some(server), CallAction::ForwardRequest(_)) =
                (&basis.remembered, server, &decided.action)
            {
                let traits = known.traits_of((&server.id, &server.version, method.name()));
                write_history(w, &traits, &Given::default(), &decided.findings);
            }
            w.key("method").string(method.name());
            w.key("name").string(wanted.name());
            write_reasons(w.key("reasons"), &decided.reasons, false);
            w.key("server").optional(server.map(|it| &*it.id));
            if let CallAction::Error { message, .. } = &decided.action {
                w.key("text").string(message);
            }
            w.key("version").optional(server.map(|it| &*it.version));
        })
    }
}

impl Wanted {
    /// Reads parameters.
    ///
    /// # Errors
    /// A sentence: the parameters are too large, not strict JSON, or invalid for the method.
    fn read(method: Method, params: &[u8]) -> Result<Self, String> {
        let (text, root) = read_params(params)?;
        let text_of = |name: &str| {
            let found = member(&root, name).and_then(string);
            found
                .map(str::to_owned)
                .ok_or_else(|| format!("`{name}` of the parameters is not a string"))
        };
        if let Some(kind) = method.list() {
            return match member(&root, "cursor") {
                None => Ok(Self::List(kind)),
                Some(node) if node.value == Value::Null => Ok(Self::List(kind)),
                Some(_) => Err("`cursor` names no page: the list has one".to_owned()),
            };
        }
        if method == Method::ReadResource {
            return text_of("uri").map(Self::Resource);
        }
        let name = text_of("name")?;
        let arguments = match member(&root, "arguments") {
            None => None,
            Some(node) => match &node.value {
                Value::Mapping(entries) if entries.iter().all(|it| string(&it.value).is_some()) => {
                    Some(node.span.of(text).to_owned())
                }
                _ => {
                    return Err(
                        "`arguments` of the parameters is not an object of strings".to_owned()
                    );
                }
            },
        };
        Ok(Self::Prompt(name, arguments))
    }

    /// Returns the URI or the name.
    fn name(&self) -> &str {
        match self {
            Self::List(_) => "",
            Self::Resource(name) | Self::Prompt(name, _) => name,
        }
    }

    /// Returns the parameters for the server.
    fn forwarded(&self, own_name: &str) -> Vec<u8> {
        let mut w = Writer::dense();
        w.object(|w| match self {
            Self::List(_) => {}
            Self::Resource(uri) => w.key("uri").string(uri),
            Self::Prompt(_, arguments) => {
                if let Some(arguments) = arguments {
                    w.key("arguments").json(arguments);
                }
                w.key("name").string(own_name);
            }
        });
        let mut text = w.finish();
        text.pop();
        text.into_bytes()
    }
}

/// Returns the reason of a server whose tools are all quarantined.
fn withheld_with_tools(basis: &Basis, server: usize, deviation: &Deviation) -> CallReason {
    let name = &basis.servers[server].name;
    let text = match deviation {
        Deviation::TooMany => format!("too many tools of `{name}` changed"),
        _ => format!("the list of tools of `{name}` can't be read"),
    };
    let help = "A human must review the server with `agent index refresh`.";
    CallReason::new(Code::DefinitionChanged, text).help(help)
}

/// Returns the error for a URI of no server, as the generation of the client knows it.
pub(crate) fn not_found(generation: Generation, uri: &str, message: &str) -> CallAction {
    let mut w = Writer::dense();
    w.object(|w| w.key("uri").string(uri));
    let data = w.finish().trim_end().as_bytes().to_vec();
    CallAction::Error {
        code: match generation {
            Generation::Sessions => RESOURCE_NOT_FOUND,
            Generation::Stateless => INVALID_PARAMS,
        },
        message: message.to_owned(),
        data: Some(data),
    }
}

/// Returns the error instead of a resource or prompt that is refused.
pub(crate) fn error(refusal: &Refusal, redactor: &Redactor) -> CallAction {
    let reasons = refusal.reasons.iter().map(|it| {
        let code = it.code.name();
        format!("{code}: {}", it.text)
    });
    let reasons: Vec<_> = reasons.collect();
    let mut w = Writer::dense();
    w.object(|w| w.key(REFUSAL_KEY).object(|w| refusal.write(w)));
    let data = w.finish().trim_end().as_bytes().to_vec();
    let action = CallAction::Error {
        code: INTERNAL_ERROR,
        message: format!("{} is refused: {}", refusal.what, reasons.join("; ")),
        data: Some(data),
    };
    redacted(action, redactor)
}

/// Returns an action without the secrets of the host.
fn redacted(action: CallAction, redactor: &Redactor) -> CallAction {
    let CallAction::Error {
        code,
        message,
        data,
    } = action
    else {
        return action;
    };
    let data = data.and_then(|data| String::from_utf8(data).ok());
    let data = data.and_then(|data| redactor.json(&data));
    CallAction::Error {
        code,
        message: redactor.text(&message),
        data: data.map(String::into_bytes),
    }
}

pub(crate) fn quoted(name: &str) -> String {
    visible(name).chars().take(QUOTE_MAX_CHARS).collect()
}

/// Returns the word for one of what a lock passes on.
fn one(what: Serve) -> &'static str {
    match what {
        Serve::Prompts => "prompt",
        Serve::Resources => "resource",
    }
}
