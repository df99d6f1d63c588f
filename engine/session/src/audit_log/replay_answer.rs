//! The outcomes of the calls of a log, for people and programs.

use super::lines::At;
use super::recorded_call::{Reason, RecordedCall, Verdict};
use super::second_decision::Second;
use super::verification::{Recorded, Verified};
use crate::basis::Digests;
use crate::history::Earlier;
use crate::limits::QUOTE_MAX_CHARS;
use agent_api::diagnostic::{Code, Diagnostic};
use agent_api::render::{Style, StyledSpan};
use agent_api::text::sort::set_of;
use agent_api::text::visible;
use agent_record::Clock;
use agent_syntax::json::Writer;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of calls of each outcome that an answer lists. The others are counted.
pub const LISTED_MAX: usize = 1_000;

/// Maximum number of reasons that an answer lists for a decision.
const REASONS_MAX: usize = 20;

/// A log whose calls were decided again.
#[derive(Debug, Clone)]
pub struct Replayed {
    /// A problem for each of the first [`LISTED_MAX`] calls that are allowed now and were not, or the reverse.
    pub differences: Vec<Diagnostic>,
    /// The warnings of the log.
    pub warnings: Vec<Diagnostic>,
    /// Number of calls that are decided otherwise.
    pub differing: u64,
    /// Number of calls that can't be decided again.
    pub undecidable: u64,
    /// The answer as JSON that ends with a newline.
    pub json: String,
    /// The answer for people.
    pub text: Vec<StyledSpan>,
}

/// The comparison of a decision with the recorded one.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// It is the recorded one.
    Same(Second),
    /// The verdict is the recorded one, for other reasons.
    OtherReasons(Second),
    /// The verdict is another one.
    Differs(Second),
    /// It can't be made again, for a reason.
    Undecidable(String),
}

impl Outcome {
    /// Compares a decision with the recorded one.
    pub(crate) fn of(call: &RecordedCall, second: Second) -> Self {
        let set =
            |reasons: &[Reason], drops_approval: bool| -> BTreeSet<(String, Option<String>)> {
                let reasons = reasons.iter();
                let reasons = reasons
                    .filter(|it| !(drops_approval && it.known() == Some(Code::ApprovalRequired)));
                set_of(reasons.map(|it| (it.code.clone(), it.pointer.clone())))
            };
        // A refused call goes nowhere.
        let has_moved = !second.moved.is_empty() && second.verdict != Verdict::Refused;
        if second.verdict != call.verdict() || has_moved {
            return Self::Differs(second);
        }
        // Only an observing session asks for an approval of what it would refuse.
        let drops = call.observe && second.verdict == Verdict::Refused;
        match set(&call.reasons, drops) == set(&second.reasons, drops) {
            true => Self::Same(second),
            false => Self::OtherReasons(second),
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Same(_) => "same",
            Self::OtherReasons(_) => "other_reasons",
            Self::Differs(_) => "differs",
            Self::Undecidable(_) => "undecidable",
        }
    }

    fn second(&self) -> Option<&Second> {
        match self {
            Self::Same(second) | Self::OtherReasons(second) | Self::Differs(second) => Some(second),
            Self::Undecidable(_) => None,
        }
    }
}

/// A call of the list. Its texts are cut, so that a list of hostile records has a limit.
#[derive(Debug)]
struct Listed {
    at: At,
    sequence: u64,
    client: String,
    server: Option<String>,
    time: String,
    tool: String,
    verdict: Verdict,
    reasons: Vec<Reason>,
    outcome: Outcome,
}

impl Listed {
    fn new(record: &Recorded<'_, '_>, call: &RecordedCall, outcome: Outcome) -> Self {
        let outcome = match outcome {
            Outcome::Same(second) => Outcome::Same(second.cut()),
            Outcome::OtherReasons(second) => Outcome::OtherReasons(second.cut()),
            Outcome::Differs(second) => Outcome::Differs(second.cut()),
            undecidable @ Outcome::Undecidable(_) => undecidable,
        };
        Self {
            at: record.at,
            sequence: record.sequence,
            client: cut(&call.client.id),
            server: call.server.as_deref().map(cut),
            time: call.now.local_time().time,
            tool: cut(&call.tool),
            verdict: call.verdict(),
            reasons: cut_reasons(&call.reasons),
            outcome,
        }
    }

    /// Names the call in a message.
    fn subject(&self) -> String {
        let tool = visible(&self.tool);
        match &self.server {
            Some(server) => format!("`{tool}` of `{}`", visible(server)),
            None => format!("`{tool}`"),
        }
    }
}

impl Second {
    fn cut(self) -> Self {
        let earlier = self.earlier.into_iter().take(REASONS_MAX);
        Self {
            reasons: cut_reasons(&self.reasons),
            earlier: earlier.map(cut_earlier).collect(),
            ..self
        }
    }
}

fn cut(text: &str) -> String {
    text.chars().take(QUOTE_MAX_CHARS).collect()
}

fn cut_reasons(reasons: &[Reason]) -> Vec<Reason> {
    let reasons = reasons.iter().take(REASONS_MAX).map(|it| Reason {
        code: cut(&it.code),
        pointer: it.pointer.as_deref().map(cut),
        text: cut(&it.text),
    });
    reasons.collect()
}

fn cut_earlier(call: Earlier) -> Earlier {
    let labels = call.labels.iter().take(REASONS_MAX);
    Earlier {
        server: cut(&call.server),
        tool: cut(&call.tool),
        labels: labels.map(|it| cut(it)).collect(),
        ..call
    }
}

/// The answer while a log is read.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    /// The calls whose outcome is not the recorded one, in the order of the log.
    listed: Vec<Listed>,
    /// By name of the outcome.
    counts: BTreeMap<&'static str, u64>,
    /// By code, the decisions in which it was kept as recorded.
    kept: BTreeMap<&'static str, u64>,
    /// By kind, the documents that are other ones than those of a decision: what was given then, and now.
    documents: BTreeMap<&'static str, (Option<String>, Option<String>)>,
}

impl Answer {
    /// Notes a decision on parameters that no tool was named in.
    pub(crate) fn add_unreadable(&mut self) {
        self.count("same");
    }

    pub(crate) fn add(&mut self, record: &Recorded<'_, '_>, call: &RecordedCall, outcome: Outcome) {
        let count = self.count(outcome.name());
        for code in outcome.second().iter().flat_map(|it| &it.kept) {
            *self.kept.entry(code).or_default() += 1;
        }
        let is_listed = !matches!(outcome, Outcome::Same(_));
        if is_listed && count <= LISTED_MAX as u64 {
            self.listed.push(Listed::new(record, call, outcome));
        }
    }

    fn count(&mut self, name: &'static str) -> u64 {
        let count = self.counts.entry(name).or_default();
        *count += 1;
        *count
    }

    /// Notes which documents are other ones.
    pub(crate) fn compare_documents(&mut self, then: &Digests, now: &Digests) {
        for ((kind, then), (_, now)) in named(then).into_iter().zip(named(now)) {
            if then != now && !self.documents.contains_key(kind) {
                let owned = |it: Option<&str>| it.map(str::to_owned);
                self.documents.insert(kind, (owned(then), owned(now)));
            }
        }
    }

    fn of(&self, name: &str) -> u64 {
        self.counts.get(name).copied().unwrap_or_default()
    }

    pub(crate) fn finish(self, verified: Verified) -> Replayed {
        Replayed {
            differences: self.listed.iter().filter_map(difference).collect(),
            differing: self.of("differs"),
            undecidable: self.of("undecidable"),
            json: self.json(&verified),
            text: self.text(),
            warnings: verified.problems,
        }
    }

    /// Returns whether every verdict is the recorded one, or nothing if that can't be known.
    fn is_same(&self) -> Option<bool> {
        match (self.of("differs"), self.of("undecidable")) {
            (0, 0) => Some(true),
            (0, _) => None,
            _ => Some(false),
        }
    }

    fn json(&self, verified: &Verified) -> String {
        let mut w = Writer::pretty();
        w.object(|w| {
            w.key("calls").array(|w| {
                for listed in &self.listed {
                    w.object(|w| write_call(w, listed));
                }
            });
            w.key("counts").object(|w| {
                for name in ["differs", "other_reasons", "same", "undecidable"] {
                    w.key(name).json(&self.of(name).to_string());
                }
            });
            w.key("documents").array(|w| {
                for (kind, (then, now)) in &self.documents {
                    w.object(|w| {
                        w.key("document").string(kind);
                        w.key("now").optional(now.as_deref());
                        w.key("recorded").optional(then.as_deref());
                    });
                }
            });
            w.key("kept").object(|w| {
                for (code, count) in &self.kept {
                    w.key(code).json(&count.to_string());
                }
            });
            w.key("records").json(&verified.records.to_string());
            match self.is_same() {
                Some(same) => w.key("same").bool(same),
                None => w.key("same").null(),
            }
        });
        w.finish()
    }

    fn text(&self) -> Vec<StyledSpan> {
        let mut out = Spans::default();
        let all: u64 = self.counts.values().sum();
        let (style, mark, heading) = match self.is_same() {
            Some(true) => (Style::Accepted, "✓ ", "decided as recorded"),
            Some(false) => (Style::Rejected, "✗ ", "decided otherwise"),
            None => (Style::Warning, "? ", "not decidable as a whole"),
        };
        out.put(style, mark);
        out.put(Style::Heading, heading);
        let counted = match self.is_same() {
            Some(true) => format!(": {}\n", calls(all)),
            Some(false) => format!(": {} of {}\n", self.of("differs"), calls(all)),
            None => format!(
                ": {} of {} can't be decided again\n",
                self.of("undecidable"),
                calls(all)
            ),
        };
        out.put(Style::Plain, &counted);
        for (kind, (then, now)) in &self.documents {
            let how = match (then, now) {
                (Some(_), Some(_)) => "is another one",
                (Some(_), None) => "is not given",
                _ => "was not given to the session",
            };
            out.put(Style::Warning, &format!("  {kind} {how}\n"));
        }
        for (code, count) in &self.kept {
            let line = format!(
                "  {code} depends on the state of the session: kept as recorded in {}\n",
                calls(*count)
            );
            out.put(Style::Dim, &line);
        }
        for name in ["differs", "undecidable", "other_reasons"] {
            let listed = self.listed.iter().filter(|it| it.outcome.name() == name);
            let mut shown = 0;
            for it in listed {
                out.call(it);
                shown += 1;
            }
            let more = self.of(name).saturating_sub(shown);
            if more > 0 {
                out.put(Style::Dim, &format!("  and {more} more\n"));
            }
        }
        out.spans
    }
}

#[derive(Default)]
struct Spans {
    spans: Vec<StyledSpan>,
}

impl Spans {
    fn put(&mut self, style: Style, text: &str) {
        self.spans.push(StyledSpan {
            style,
            text: text.to_owned(),
        });
    }

    fn call(&mut self, listed: &Listed) {
        let (style, mark) = match &listed.outcome {
            Outcome::Differs(_) => (Style::Rejected, "✗ "),
            Outcome::Undecidable(_) => (Style::Dim, "? "),
            _ => (Style::Dim, "= "),
        };
        self.put(Style::Plain, "  ");
        self.put(style, mark);
        self.put(Style::Plain, &format!("record {}  ", listed.sequence));
        self.put(Style::Name, &listed.subject());
        let was = listed.verdict;
        match &listed.outcome {
            Outcome::Undecidable(why) => {
                self.put(
                    Style::Dim,
                    &format!("  was {}, not decidable: {why}\n", was.name()),
                );
            }
            Outcome::Same(second) | Outcome::OtherReasons(second) | Outcome::Differs(second) => {
                let now = second.verdict;
                let line = match was == now {
                    true if matches!(listed.outcome, Outcome::Differs(_)) => {
                        format!(
                            "  was {}, and now {}\n",
                            was.name(),
                            second.moved.join(", ")
                        )
                    }
                    true => format!("  {} for other reasons\n", was.name()),
                    false => format!("  was {}, now {}\n", was.name(), now.name()),
                };
                self.put(Style::Plain, &line);
                self.reasons("recorded", &listed.reasons);
                self.reasons("now", &second.reasons);
                if !second.depends_on.is_empty() {
                    let on = second.depends_on.join(", ");
                    self.put(Style::Dim, &format!("      depends on: {on}\n"));
                }
            }
        }
    }

    fn reasons(&mut self, when: &str, reasons: &[Reason]) {
        for reason in reasons {
            let text = visible(&reason.text);
            self.put(
                Style::Plain,
                &format!("      {when}: {}: {text}\n", reason.code),
            );
        }
    }
}

fn calls(count: u64) -> String {
    match count {
        1 => "1 call".to_owned(),
        _ => format!("{count} calls"),
    }
}

/// Returns the documents by name, in its order.
fn named(of: &Digests) -> [(&'static str, Option<&str>); 9] {
    [
        ("definitions", of.definitions.as_deref()),
        ("health", of.health.as_deref()),
        ("index", of.index.as_deref()),
        ("lock", of.lock.as_deref()),
        ("policy", of.policy.as_deref()),
        ("policy context", of.policy_context.as_deref()),
        ("task", of.task.as_deref()),
        ("tenant", of.tenant.as_deref()),
        ("tenant id", of.tenant_id.as_deref()),
    ]
}

fn difference(listed: &Listed) -> Option<Diagnostic> {
    let Outcome::Differs(second) = &listed.outcome else {
        return None;
    };
    let (was, now) = (listed.verdict, second.verdict);
    let mut message = format!("the call of {} was {}; now ", listed.subject(), was.name());
    message.push_str(&match was == now {
        true => second.moved.join(", "),
        false => format!("it is {}", now.name()),
    });
    if let Some(reason) = second.reasons.first() {
        let text = visible(&reason.text);
        message.push_str(&format!(": {}: {text}", reason.code));
    }
    Some(
        listed
            .at
            .problem(Code::ReplayDiffers, "the recorded decision", message),
    )
}

fn write_call(w: &mut Writer, listed: &Listed) {
    w.key("client").string(&listed.client);
    if let Some(second) = listed.outcome.second() {
        w.key("depends_on")
            .strings(second.depends_on.iter().copied());
        if !second.earlier.is_empty() {
            w.key("earlier").array(|w| {
                let calls = second.earlier.iter();
                calls.for_each(|call| w.object(|w| write_earlier(w, call)));
            });
        }
        w.key("kept").strings(second.kept.iter().copied());
    }
    w.key("line").number(listed.at.line);
    if let Some(second) = listed.outcome.second().filter(|it| !it.moved.is_empty()) {
        w.key("moved").strings(second.moved.iter().map(|it| &**it));
    }
    if let Some(second) = listed.outcome.second() {
        w.key("now")
            .object(|w| write_verdict(w, second.verdict, &second.reasons));
    }
    w.key("outcome").string(listed.outcome.name());
    if let Outcome::Undecidable(why) = &listed.outcome {
        w.key("reason").string(why);
    }
    w.key("recorded")
        .object(|w| write_verdict(w, listed.verdict, &listed.reasons));
    w.key("sequence").json(&listed.sequence.to_string());
    w.key("server").optional(listed.server.as_deref());
    w.key("time").string(&listed.time);
    w.key("tool").string(&listed.tool);
}

fn write_earlier(w: &mut Writer, call: &Earlier) {
    w.key("labels")
        .strings(call.labels.iter().map(String::as_str));
    w.key("record").json(&call.record.to_string());
    w.key("server").string(&call.server);
    let at = Clock {
        unix_ms: call.at_ms,
        ..Clock::default()
    };
    w.key("time").string(&at.rfc3339());
    w.key("tool").string(&call.tool);
}

fn write_verdict(w: &mut Writer, verdict: Verdict, reasons: &[Reason]) {
    w.key("reasons").array(|w| {
        for reason in reasons {
            w.object(|w| {
                w.key("code").string(&reason.code);
                if let Some(pointer) = &reason.pointer {
                    w.key("pointer").string(pointer);
                }
                w.key("text").string(&reason.text);
            });
        }
    });
    w.key("verdict").string(verdict.name());
}
