//! The `requestState` of MCP 2026-07-28: with what a client repeats a call that an `input_required` result
//! answered \[4\].
//!
//! It holds the state of the server, if it is the server that continues, and an HMAC of everything with the
//! seed of the session. It belongs to one client, one tool and one value of the arguments, expires, and is
//! used once.

use super::client::Key;
use super::limits::{CONTINUATION_LIFETIME_MS, CONTINUATIONS_MAX, CONTINUATIONS_OF_CLIENT_MAX};
use agent_syntax::json::{Writer, parse_strict};
use agent_syntax::members::{member, number, string};
use agent_syntax::{Node, Value};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::collections::BTreeMap;

/// The number of bytes of a MAC.
const MAC_BYTES: usize = 32;

/// Separates these MACs from other uses of the seed.
const PURPOSE: &[u8] = b"agent requestState 1";

/// The call that a `requestState` belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Subject<'a> {
    pub(crate) client: &'a Key,
    /// Names the tool and its server.
    pub(crate) tool: &'a Key,
    /// Names the arguments.
    pub(crate) arguments: &'a Key,
}

/// What is continued.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Continued {
    /// The wait for an approval.
    Approval,
    /// A call that was decided and passed on.
    Server(ServerState),
}

/// The `requestState` of a server, with what the session knows of the call that it belongs to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ServerState {
    pub(crate) state: String,
    /// The approval that the call was passed on with. It covers the repetition.
    pub(crate) approval: Option<String>,
    /// The number of the gateway's own repetition; 0 if the client repeats the call.
    pub(crate) repetition: u32,
}

/// One that was issued and not used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Outstanding {
    pub(crate) client: Key,
    /// The time at which it expires, in milliseconds since 1970.
    pub(crate) expires_ms: u64,
}

/// The numbers of those that were issued and not used.
#[derive(Debug, Clone, Default)]
pub(crate) struct Continuations {
    /// By number.
    pub(crate) outstanding: BTreeMap<u64, Outstanding>,
    /// The last number.
    pub(crate) last: u64,
}

impl Continuations {
    /// Returns a new `requestState`, or `None` if too many are not used yet: of all clients, or of this one.
    pub(crate) fn issue(
        &mut self,
        seed: &[u8; 32],
        subject: Subject<'_>,
        continued: &Continued,
        now_ms: u64,
    ) -> Option<String> {
        self.expire(now_ms);
        let of_client = self.outstanding.values();
        let of_client = of_client.filter(|it| it.client == *subject.client).count();
        let is_full = self.outstanding.len() >= CONTINUATIONS_MAX;
        if is_full || of_client >= CONTINUATIONS_OF_CLIENT_MAX {
            return None;
        }
        self.last += 1;
        let outstanding = Outstanding {
            client: subject.client.clone(),
            expires_ms: now_ms.saturating_add(CONTINUATION_LIFETIME_MS),
        };
        self.outstanding.insert(self.last, outstanding);
        let mut w = Writer::dense();
        let server = match continued {
            Continued::Approval => None,
            Continued::Server(server) => Some(server),
        };
        w.object(|w| {
            let approval = server.and_then(|it| it.approval.as_deref());
            w.key("approval").optional(approval);
            w.key("arguments").string(subject.arguments.as_str());
            w.key("client").string(subject.client.as_str());
            w.key("number").json(&self.last.to_string());
            let repetition = server.map_or(0, |it| it.repetition);
            w.key("repetition").json(&repetition.to_string());
            w.key("state").optional(server.map(|it| &*it.state));
            w.key("tool").string(subject.tool.as_str());
        });
        let content = w.finish();
        let content = content.trim_end().as_bytes();
        let mut bytes = mac(seed, content)?.finalize().into_bytes().to_vec();
        bytes.extend(content);
        Some(URL_SAFE_NO_PAD.encode(bytes))
    }

    /// Uses a `requestState` up. Returns `None` for one that was not issued for the call, or is expired or
    /// used.
    pub(crate) fn take(
        &mut self,
        seed: &[u8; 32],
        subject: Subject<'_>,
        text: &str,
        now_ms: u64,
    ) -> Option<Continued> {
        self.expire(now_ms);
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (given, content) = bytes.split_at_checked(MAC_BYTES)?;
        mac(seed, content)?.verify_slice(given).ok()?;
        let root = parse_strict(core::str::from_utf8(content).ok()?)?;
        let of = |name| member(&root, name).and_then(string);
        let is_same = of("client") == Some(subject.client.as_str())
            && of("tool") == Some(subject.tool.as_str())
            && of("arguments") == Some(subject.arguments.as_str());
        if !is_same {
            return None;
        }
        let repetition = member(&root, "repetition").and_then(number);
        let number = number(member(&root, "number")?)?;
        self.outstanding.remove(&number)?;
        Some(match member(&root, "state")? {
            Node {
                value: Value::String(state),
                ..
            } => Continued::Server(ServerState {
                state: state.clone().into_owned(),
                approval: of("approval").map(str::to_owned),
                repetition: repetition.and_then(|it| it.try_into().ok())?,
            }),
            _ => Continued::Approval,
        })
    }

    fn expire(&mut self, now_ms: u64) {
        self.outstanding.retain(|_, it| {
            // A clock that was set back does not prolong one for long.
            now_ms < it.expires_ms && it.expires_ms - now_ms <= 2 * CONTINUATION_LIFETIME_MS
        });
    }
}

fn mac(seed: &[u8; 32], content: &[u8]) -> Option<Hmac<Sha256>> {
    // A key of any length is one.
    let mut mac = Hmac::<Sha256>::new_from_slice(seed).ok()?;
    mac.update(PURPOSE);
    mac.update(content);
    Some(mac)
}

#[cfg(test)]
mod tests {
    use super::{
        CONTINUATION_LIFETIME_MS, CONTINUATIONS_MAX, CONTINUATIONS_OF_CLIENT_MAX, Continuations,
        Continued, ServerState, Subject,
    };
    use crate::client::Key;

    #[test]
    fn it_belongs_to_one_call_and_is_used_once() {
        let [a, b, c, x] = ["a", "b", "c", "x"].map(|it| Key::of(&[it]));
        let subject = Subject {
            client: &a,
            tool: &b,
            arguments: &c,
        };
        let others = [
            Subject {
                client: &x,
                ..subject
            },
            Subject {
                tool: &x,
                ..subject
            },
            Subject {
                arguments: &x,
                ..subject
            },
        ];
        let state = Continued::Server(ServerState {
            state: "s\"".to_owned(),
            approval: Some("a".to_owned()),
            repetition: 2,
        });
        let mut own = Continuations::default();
        let seed = [1; 32];
        let text = own.issue(&seed, subject, &state, 0).expect("room");
        for other in others {
            assert_eq!(own.take(&seed, other, &text, 0), None);
        }
        assert_eq!(own.take(&[2; 32], subject, &text, 0), None);
        for place in 0..text.len() {
            let mut changed = text.clone().into_bytes();
            changed[place] = if changed[place] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).expect("UTF-8");
            assert_eq!(own.take(&seed, subject, &changed, 0), None, "{place}");
        }
        for wrong in ["", "AAAA", &text[1..], &text[..text.len() - 1]] {
            assert_eq!(own.take(&seed, subject, wrong, 0), None);
        }
        assert_eq!(own.take(&seed, subject, &text, 1), Some(state));
        assert_eq!(own.take(&seed, subject, &text, 1), None);
    }

    #[test]
    fn it_expires_and_there_are_not_too_many() {
        let clients = CONTINUATIONS_MAX / CONTINUATIONS_OF_CLIENT_MAX;
        let keys: Vec<_> = (0..=clients)
            .map(|it| Key::of(&[&it.to_string()]))
            .collect();
        let subject = |client: usize| Subject {
            client: &keys[client],
            tool: &keys[0],
            arguments: &keys[0],
        };
        let seed = [0; 32];
        let mut own = Continuations::default();
        let mut issue = |client, now| own.issue(&seed, subject(client), &Continued::Approval, now);
        let text = issue(0, 0).expect("room");
        for _ in 1..CONTINUATIONS_OF_CLIENT_MAX {
            issue(0, 0).expect("room");
        }
        assert_eq!(issue(0, 0), None);
        for client in 1..clients {
            for _ in 0..CONTINUATIONS_OF_CLIENT_MAX {
                issue(client, 0).expect("room for other clients");
            }
        }
        assert_eq!(issue(clients, CONTINUATION_LIFETIME_MS - 1), None);
        issue(0, CONTINUATION_LIFETIME_MS).expect("the others are expired");
        let mut take = |now| own.take(&seed, subject(0), &text, now);
        assert_eq!(take(CONTINUATION_LIFETIME_MS), None);
        assert_eq!(take(0), None);
    }
}
