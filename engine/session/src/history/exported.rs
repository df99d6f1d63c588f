//! A history in an exported state.

use super::past::{Given, Group, Moment, PastCall, Scope};
use super::terms::Remembered;
use super::traits::Traits;
use super::view::{count, write_call};
use super::{History, Key};
use agent_syntax::json::Writer;
use agent_syntax::members::{items, member, number, string};
use agent_syntax::{Node, Value};

impl History {
    /// Writes the history.
    pub(crate) fn write(&self, w: &mut Writer) {
        w.object(|w| {
            w.key("agent").string(&self.agent);
            w.key("missing").optional(self.missing.as_deref());
            w.key("scopes").array(|w| {
                for (key, scope) in self.scopes.iter() {
                    w.object(|w| {
                        w.key("calls").array(|w| {
                            let calls = scope.calls.iter();
                            calls.for_each(|call| write_call(w, call, true));
                        });
                        w.key("folded").array(|w| {
                            for ((server, tool, label), group) in scope.folded.iter() {
                                w.object(|w| {
                                    count(w, "count", group.count);
                                    count(w, "delivered", group.delivered);
                                    write_moment(w.key("first"), group.first);
                                    w.key("label").optional(label.as_deref());
                                    write_moment(w.key("last"), group.last);
                                    w.key("server").string(server);
                                    w.key("tool").string(tool);
                                });
                            }
                        });
                        w.key("key").string(key.as_str());
                    });
                }
            });
        });
    }

    /// Reads what [`History::write`] writes.
    pub(crate) fn read(node: &Node<'_>, known: &Remembered) -> Option<Self> {
        let mut history = Self {
            agent: text(node, "agent")?,
            missing: maybe(node, "missing")?,
            ..Self::default()
        };
        for node in items(member(node, "scopes")?)? {
            let mut scope = Scope::default();
            for call in items(member(node, "calls")?)? {
                scope.push(read_call(call, known)?);
            }
            for group in items(member(node, "folded")?)? {
                let key = (
                    text(group, "server")?,
                    text(group, "tool")?,
                    maybe(group, "label")?,
                );
                let group = Group {
                    count: number(member(group, "count")?)?,
                    delivered: number(member(group, "delivered")?)?,
                    first: read_moment(member(group, "first")?)?,
                    last: read_moment(member(group, "last")?)?,
                };
                scope.folded.or_insert(key, group);
            }
            let key = Key::read(string(member(node, "key")?)?)?;
            history.scopes.or_insert(key, scope);
        }
        Some(history)
    }
}

fn read_call(node: &Node<'_>, known: &Remembered) -> Option<PastCall> {
    let (server, version) = (text(node, "server")?, text(node, "version")?);
    let traits = Traits::read(node, (&server, &version, &text(node, "tool")?))?;
    let session = match maybe(node, "session")? {
        Some(key) => Some(Key::read(&key)?),
        None => None,
    };
    let call = PastCall {
        record: number(member(node, "record")?)?,
        open: match member(node, "open") {
            Some(id) => Some(number(id)?),
            None => None,
        },
        at_ms: number(member(node, "at_ms")?)?,
        traits: known.shared(traits),
        session,
        arguments: text(node, "arguments")?,
        given: Given::read(node),
        outcome: maybe(node, "outcome")?,
        result: maybe(node, "result")?,
        bytes: 0,
    };
    Some(call.sized())
}

fn write_moment(w: &mut Writer, moment: Moment) {
    w.object(|w| {
        count(w, "at_ms", moment.at_ms);
        count(w, "record", moment.record);
    });
}

fn read_moment(node: &Node<'_>) -> Option<Moment> {
    Some(Moment {
        record: number(member(node, "record")?)?,
        at_ms: number(member(node, "at_ms")?)?,
    })
}

fn text(node: &Node<'_>, name: &str) -> Option<String> {
    Some(string(member(node, name)?)?.to_owned())
}

/// Reads a string or null.
fn maybe(node: &Node<'_>, name: &str) -> Option<Option<String>> {
    match &member(node, name)?.value {
        Value::Null => Some(None),
        _ => text(node, name).map(Some),
    }
}
