//! A history as policies and the built-in rules see it: `input.history`.

use super::past::{Given, Group, GroupKey, Moment, PastCall, Scope};
use super::sorted::Sorted;
use super::traits::Traits;
use crate::client::Key;
use agent_api::lower::PolicyHistory;
use agent_api::model::HistoryRuleTerms;
use agent_record::Clock;
use agent_syntax::json::Writer;

/// The call that is decided.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Present<'p> {
    pub(crate) traits: &'p Traits,
    pub(crate) given: &'p Given,
    pub(crate) session: Option<&'p Key>,
    pub(crate) now_ms: u64,
    pub(crate) window_ms: u64,
}

/// The calls with a label: how many, the first and the last.
struct Total<'s> {
    count: u64,
    first: (Moment, &'s str, &'s str),
    last: (Moment, &'s str, &'s str),
}

/// Returns `input.history` for a call. `with_calls` says whether single calls are read.
pub(crate) fn view(scope: Option<&Scope>, present: Present<'_>, with_calls: bool) -> PolicyHistory {
    let kept = Kept::of(scope, present.now_ms, present.window_ms);
    let json = object(|w| {
        w.key("call").object(|w| {
            let Traits { server, tool, .. } = present.traits;
            present.traits.write_annotations(w);
            present.traits.write_capabilities(w);
            present.given.write_fields(w);
            present.traits.write_labels(w);
            present.given.write_numbers(w);
            w.key("sends").bool(present.traits.sends);
            w.key("server").string(server);
            w.key("tool").string(tool);
            w.key("writes").bool(present.traits.writes);
        });
        if with_calls {
            kept.write_calls(w);
        }
        kept.write_folded(w);
        kept.write_labels(w);
        count(w, "now_ms", present.now_ms);
        w.key("session").optional(present.session.map(Key::as_str));
        count(w, "window_ms", present.window_ms);
    });
    let all = kept.groups().filter(|((_, _, label), _)| label.is_none());
    PolicyHistory {
        json,
        folded: all.map(|(_, group)| group.count).sum(),
    }
}

/// Returns what built-in rules read of a history: the part that is the same for all, and each rule with the calls that it
/// looks at, of which it gets only what it compares.
pub(crate) fn view_of_rules(
    scope: Option<&Scope>,
    present: Present<'_>,
    rules: &[&HistoryRuleTerms],
) -> (String, String) {
    let kept = Kept::of(scope, present.now_ms, present.window_ms);
    let common = object(|w| {
        w.key("call").object(|w| {
            present.given.write_fields(w);
            present.given.write_numbers(w);
            w.key("sends").bool(present.traits.sends);
            w.key("server").string(&present.traits.server);
            w.key("tool").string(&present.traits.tool);
            w.key("writes").bool(present.traits.writes);
        });
        kept.write_labels(w);
        count(w, "now_ms", present.now_ms);
    });
    let rules = rules.iter().map(|rule| {
        let read = object(|w| write_read(w, kept, present.now_ms, rule));
        // Two objects become one.
        format!("{},{}", &read[..read.len() - 1], &rule.json[1..])
    });
    let rules: Vec<_> = rules.collect();
    (common, format!("[{}]", rules.join(",")))
}

/// Writes what a rule compares of earlier calls.
fn write_read(w: &mut Writer, kept: Kept<'_>, now_ms: u64, rule: &HistoryRuleTerms) {
    let start = now_ms.saturating_sub(rule.within_ms);
    let is_read =
        |server: &str, tool: &str, at_ms: u64| at_ms > start && rule.reads_calls_of(server, tool);
    let calls = || {
        let calls = kept.calls();
        calls.filter(|it| is_read(&it.traits.server, &it.traits.tool, it.at_ms))
    };
    let groups = || {
        kept.groups().filter(|((server, tool, label), group)| {
            label.is_none() && is_read(server, tool, group.last.at_ms)
        })
    };
    let (mut folded, mut answered, mut unknown) = (0, 0, 0);
    for (_, group) in groups() {
        let (yes, maybe) = group.answered_after(start);
        folded += group.count;
        answered += yes;
        unknown += maybe;
    }
    let is_answered = |it: &&PastCall| it.outcome.as_deref() == Some("delivered");
    answered += calls().filter(is_answered).count() as u64;
    let last = calls().next_back().map(PastCall::moment);
    let last = last.or_else(|| groups().map(|(_, it)| it.last).max_by_key(|it| it.record));
    let [argument, earlier] = &rule.arguments;
    let at = |pairs: &[(String, String)], pointer: &String| {
        let found = pairs.iter().find(|(it, _)| it == pointer);
        found.map(|(_, value)| value.clone())
    };
    let numbers = calls().filter_map(|it| at(&it.given.numbers, argument));
    let values = calls().filter_map(|it| at(&it.given.fields, earlier));
    count(w, "answered", answered);
    count(w, "count", calls().count() as u64);
    count(w, "folded", folded);
    count(w, "last", last.map_or(0, |it| it.record));
    w.key("numbers")
        .array(|w| numbers.for_each(|it| w.json(&it)));
    count(w, "unknown", unknown);
    w.key("values")
        .array(|w| values.for_each(|it| w.string(&it)));
}

/// The part of a history that is within the window.
#[derive(Clone, Copy)]
pub(super) struct Kept<'s> {
    scope: Option<&'s Scope>,
    start_ms: u64,
}

impl<'s> Kept<'s> {
    pub(super) fn of(scope: Option<&'s Scope>, now_ms: u64, window_ms: u64) -> Self {
        Self {
            scope,
            start_ms: now_ms.saturating_sub(window_ms),
        }
    }

    fn calls(self) -> impl DoubleEndedIterator<Item = &'s PastCall> {
        let calls = self.scope.into_iter().flat_map(|it| &it.calls);
        calls.filter(move |it| it.at_ms > self.start_ms)
    }

    fn groups(self) -> impl Iterator<Item = (&'s GroupKey, &'s Group)> {
        let groups = self.scope.into_iter().flat_map(|it| it.folded.iter());
        groups.filter(move |(_, it)| it.last.at_ms > self.start_ms)
    }

    /// Writes `calls`.
    pub(super) fn write_calls(self, w: &mut Writer) {
        w.key("calls").array(|w| {
            self.calls().for_each(|call| write_call(w, call, false));
        });
    }

    /// Writes `folded`.
    pub(super) fn write_folded(self, w: &mut Writer) {
        w.key("folded").array(|w| {
            for ((server, tool, label), group) in self.groups() {
                w.object(|w| write_group(w, (server, tool, label.as_deref()), group));
            }
        });
    }

    /// Writes `labels`.
    pub(super) fn write_labels(self, w: &mut Writer) {
        w.key("labels").object(|w| {
            for (label, total) in totals(self.calls(), self.groups()).into_all() {
                w.key(label).object(|w| {
                    count(w, "count", total.count);
                    write_moment(w.key("first"), total.first);
                    write_moment(w.key("last"), total.last);
                });
            }
        });
    }
}

pub(super) fn object(members: impl FnOnce(&mut Writer)) -> String {
    let mut w = Writer::dense();
    w.object(members);
    let mut json = w.finish();
    json.pop();
    json
}

/// Returns the first and the last call of each label.
fn totals<'s>(
    calls: impl Iterator<Item = &'s PastCall>,
    groups: impl Iterator<Item = (&'s GroupKey, &'s Group)>,
) -> Sorted<&'s str, Total<'s>> {
    let mut totals: Sorted<&str, Total<'s>> = Sorted::default();
    let mut add = |label: &'s str, of: Total<'s>| match totals.get_mut(&label) {
        Some(known) => {
            known.count += of.count;
            if of.first.0.record < known.first.0.record {
                known.first = of.first;
            }
            if of.last.0.record > known.last.0.record {
                known.last = of.last;
            }
        }
        None => {
            totals.or_insert(label, of);
        }
    };
    for ((server, tool, label), group) in groups {
        if let Some(label) = label {
            let of = Total {
                count: group.count,
                first: (group.first, server, tool),
                last: (group.last, server, tool),
            };
            add(label, of);
        }
    }
    for call in calls {
        let at = (call.moment(), &*call.traits.server, &*call.traits.tool);
        for label in &call.traits.labels {
            let of = Total {
                count: 1,
                first: at,
                last: at,
            };
            add(label, of);
        }
    }
    totals
}

/// Writes a call. Only an exported state has the id by which its effect is found.
pub(super) fn write_call(w: &mut Writer, call: &PastCall, is_exported: bool) {
    let (traits, given) = (&call.traits, &call.given);
    w.object(|w| {
        traits.write_annotations(w);
        w.key("arguments").string(&call.arguments);
        count(w, "at_ms", call.at_ms);
        traits.write_capabilities(w);
        given.write_fields(w);
        traits.write_labels(w);
        given.write_numbers(w);
        if let Some(id) = call.open.filter(|_| is_exported) {
            count(w, "open", id);
        }
        w.key("outcome").optional(call.outcome.as_deref());
        count(w, "record", call.record);
        w.key("result").optional(call.result.as_deref());
        w.key("sends").bool(traits.sends);
        w.key("server").string(&traits.server);
        let session = call.session.as_ref().map(Key::as_str);
        w.key("session").optional(session);
        w.key("time").string(&time(call.at_ms));
        w.key("tool").string(&traits.tool);
        w.key("version").string(&traits.version);
        w.key("writes").bool(traits.writes);
    });
}

fn write_group(w: &mut Writer, (server, tool, label): (&str, &str, Option<&str>), group: &Group) {
    count(w, "count", group.count);
    count(w, "delivered", group.delivered);
    write_moment(w.key("first"), (group.first, server, tool));
    w.key("label").optional(label);
    write_moment(w.key("last"), (group.last, server, tool));
    w.key("server").string(server);
    w.key("tool").string(tool);
}

fn write_moment(w: &mut Writer, (moment, server, tool): (Moment, &str, &str)) {
    w.object(|w| {
        count(w, "at_ms", moment.at_ms);
        count(w, "record", moment.record);
        w.key("server").string(server);
        w.key("time").string(&time(moment.at_ms));
        w.key("tool").string(tool);
    });
}

fn time(at_ms: u64) -> String {
    let clock = Clock {
        unix_ms: at_ms,
        ..Clock::default()
    };
    clock.rfc3339()
}

pub(super) fn count(w: &mut Writer, key: &str, value: u64) {
    w.key(key).json(&value.to_string());
}
