//! Decisions and refusals as JSON.

use agent_host::contract::catalogue::CodeEntry;
use agent_host::contract::decision_point::{CallDecision, CallReason, Digests, Verdict};
use agent_host::contract::diagnostic::Code;
use agent_syntax::json::Writer;
use hyper::StatusCode;

/// The names of codes.
pub(crate) struct CodeNames(Vec<(Code, String)>);

impl CodeNames {
    pub(crate) fn of(catalogue: &[CodeEntry]) -> Self {
        let entries = catalogue.iter();
        Self(entries.map(|it| (it.code, it.name.clone())).collect())
    }

    fn name(&self, code: Code) -> &str {
        let entry = self.0.iter().find(|(it, _)| *it == code);
        entry.map_or("", |(_, name)| name)
    }
}

/// Why a request gets no decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    /// None of what concerns HTTP alone.
    pub(crate) code: Option<Code>,
    /// One sentence, without a final stop.
    pub(crate) text: String,
}

impl Refusal {
    /// Returns the refusal of a request that is not one.
    pub(crate) fn new(code: Code, text: impl Into<String>) -> Self {
        Self {
            status: StatusCode::BAD_REQUEST,
            code: Some(code),
            text: text.into(),
        }
    }

    /// Returns a refusal for a reason of HTTP.
    pub(crate) fn of_http(status: StatusCode, text: impl Into<String>) -> Self {
        Self {
            status,
            code: None,
            text: text.into(),
        }
    }

    /// Returns the body of the answer of `/v1`.
    pub(crate) fn json(&self, names: &CodeNames) -> String {
        let mut w = Writer::dense();
        w.object(|w| w.key("error").object(|w| self.write(w, names)));
        w.finish()
    }

    /// Returns the body of an answer of AuthZEN: a sentence.
    pub(crate) fn sentence(&self, names: &CodeNames) -> String {
        match self.code {
            Some(code) => format!("{}: {}\n", names.name(code), self.text),
            None => format!("{}\n", self.text),
        }
    }

    /// Writes the members of the refusal.
    pub(crate) fn write(&self, w: &mut Writer, names: &CodeNames) {
        if let Some(code) = self.code {
            w.key("code").string(names.name(code));
        }
        w.key("status").number(self.status.as_u16().into());
        w.key("text").string(&self.text);
    }
}

/// Returns whether a call is allowed.
pub(crate) fn is_allowed(decision: &CallDecision) -> bool {
    matches!(decision.verdict, Verdict::Allowed)
}

/// Returns the body of the answer of `/v1/decide`.
pub(crate) fn decided(decision: &CallDecision, names: &CodeNames) -> String {
    let mut w = Writer::dense();
    w.object(|w| {
        w.key("allowed").bool(is_allowed(decision));
        write_grounds(w, decision, names);
    });
    w.finish()
}

/// Writes the documents that decided, and the reasons.
pub(crate) fn write_grounds(w: &mut Writer, decision: &CallDecision, names: &CodeNames) {
    w.key("documents")
        .object(|w| write_digests(w, &decision.documents));
    let reasons = match &decision.verdict {
        Verdict::Allowed => &[][..],
        Verdict::Refused(reasons) => reasons,
    };
    w.key("reasons").array(|w| {
        for reason in reasons {
            w.object(|w| write_reason(w, reason, names));
        }
    });
}

fn write_reason(w: &mut Writer, reason: &CallReason, names: &CodeNames) {
    w.key("code").string(names.name(reason.code));
    w.key("help").string(&reason.help);
    if let Some(pointer) = &reason.pointer {
        w.key("pointer").string(pointer);
    }
    w.key("text").string(&reason.text);
}

fn write_digests(w: &mut Writer, digests: &Digests) {
    let Digests {
        lock,
        index,
        definitions,
        policy,
        policy_context,
        tenant,
        tenant_id,
        task,
        health,
    } = digests;
    for (name, digest) in [
        ("definitions", definitions),
        ("health", health),
        ("index", index),
        ("lock", lock),
        ("policy", policy),
        ("policy_context", policy_context),
        ("task", task),
        ("tenant", tenant),
        ("tenant_id", tenant_id),
    ] {
        if let Some(digest) = digest {
            w.key(name).string(digest);
        }
    }
}
