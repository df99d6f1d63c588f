//! A history for people: what a client did, and the earlier calls that the reasons of a decision name.

use super::past::{Group, Scope};
use super::sorted::Sorted;
use super::view::{Kept, object};
use crate::client::{Caller, Client};
use crate::session::Session;
use agent_record::Clock;

/// An earlier call that a reason names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Earlier {
    pub(crate) record: u64,
    pub(crate) server: String,
    pub(crate) tool: String,
    pub(crate) at_ms: u64,
    /// The labels of its data.
    pub(crate) labels: Vec<String>,
}

/// Returns the numbers of records that a reason names, as in `record 12`: in their order.
pub fn records_in(reason: &str) -> Vec<u64> {
    let parts = reason.split("record ").skip(1);
    let digits = parts.map(|it| {
        let end = it.find(|c: char| !c.is_ascii_digit());
        &it[..end.unwrap_or(it.len())]
    });
    digits.filter_map(|it| it.parse().ok()).collect()
}

impl Scope {
    /// Returns the earlier calls that a reason names, as far as they are known.
    pub(crate) fn named_in(&self, reason: &str) -> Vec<Earlier> {
        let named = records_in(reason).into_iter();
        named.filter_map(|it| self.earlier(it)).collect()
    }

    fn earlier(&self, record: u64) -> Option<Earlier> {
        let kept = self.calls.iter().find(|it| it.record == record);
        if let Some(call) = kept {
            return Some(Earlier {
                record,
                server: call.traits.server.clone(),
                tool: call.traits.tool.clone(),
                at_ms: call.at_ms,
                labels: call.traits.labels.clone(),
            });
        }
        let moment = |of: &Group| {
            [of.first, of.last]
                .into_iter()
                .find(|it| it.record == record)
        };
        let groups = || {
            let groups = self.folded.iter();
            groups.filter_map(|(key, group)| Some((key, moment(group)?)))
        };
        let ((server, tool, _), moment) = groups().next()?;
        Some(Earlier {
            record,
            server: server.clone(),
            tool: tool.clone(),
            at_ms: moment.at_ms,
            labels: groups()
                .filter_map(|((_, _, label), _)| label.clone())
                .collect(),
        })
    }
}

impl Session {
    /// Returns what a client did within the window, as JSON `{calls, folded, labels, tools}`: as policies see it in
    /// `input.history`, and of each tool of the lock what a history takes it for. `None` if neither the tenant nor the policy
    /// asks for a history, or the client can't be read.
    pub fn history(&self, client: &Client, now: Clock) -> Option<String> {
        let known = self.basis.remembered.as_ref()?;
        let caller = Caller::read(client).ok()?;
        let history = &self.state.history;
        let scope = history.of(&history.key(&caller.key));
        let kept = Kept::of(scope, now.unix_ms, known.terms.window_ms);
        let tools = Sorted::of(known.tools());
        Some(object(|w| {
            kept.write_calls(w);
            kept.write_folded(w);
            kept.write_labels(w);
            w.key("tools").array(|w| {
                for traits in tools.values() {
                    w.object(|w| {
                        traits.write_labels(w);
                        w.key("sends").bool(traits.sends);
                        w.key("server").string(&traits.server);
                        w.key("tool").string(&traits.tool);
                        w.key("writes").bool(traits.writes);
                    });
                }
            });
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::records_in;

    #[test]
    fn a_reason_names_records_by_their_numbers() {
        let rule = "the tenant's rule `no-send-after`: record 12: `mail/inbox` returned data";
        assert_eq!(records_in(rule), [12]);
        assert_eq!(records_in("after record 3, and record 10"), [3, 10]);
        for none in ["", "record", "record twelve", "record 99999999999999999999"] {
            assert!(records_in(none).is_empty(), "{none}");
        }
    }
}
