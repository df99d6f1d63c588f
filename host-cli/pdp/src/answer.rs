//! Decisions and refusals as JSON.

use super::basis::Basis;
use super::decider::Decided;
use agent_host::contract::catalogue::CodeEntry;
use agent_host::contract::decision_point::{AskedApproval, CallReason, Digests, Verdict};
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

    pub(crate) fn name(&self, code: Code) -> &str {
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

/// Returns the body of the answer of `/v1/decide`.
pub(crate) fn decided(decided: &Decided, names: &CodeNames) -> String {
    let mut w = Writer::dense();
    w.object(|w| {
        w.key("allowed").bool(decided.is_allowed());
        write_grounds(w, decided, names);
    });
    w.finish()
}

/// Returns the body of the answer of `/v1/approval`.
pub(crate) fn approval(approval: &AskedApproval) -> String {
    let mut w = Writer::dense();
    w.object(|w| write_approval(w, approval));
    w.finish()
}

fn write_approval(w: &mut Writer, approval: &AskedApproval) {
    if let Some(answer) = approval.answer {
        w.key("answer").bool(answer);
    }
    w.key("expires_unix_ms")
        .json(&approval.expires_unix_ms.to_string());
    w.key("id").string(&approval.id);
    w.key("text").string(&approval.text);
}

/// Writes what a human is asked first, the documents that decided, and the reasons.
pub(crate) fn write_grounds(w: &mut Writer, decided: &Decided, names: &CodeNames) {
    if let Some(approval) = &decided.approval {
        w.key("approval").object(|w| write_approval(w, approval));
    }
    let documents = &decided.decision.documents;
    w.key("documents")
        .object(|w| write_digests(w, documents, &decided.basis));
    let reasons = match &decided.decision.verdict {
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

/// Returns the body of the answer of `/v1/status`.
pub(crate) fn status(digests: &Digests, basis: &Basis, store: Option<bool>) -> String {
    let mut w = Writer::dense();
    w.object(|w| {
        if let Some(bundle) = &basis.bundle {
            w.key("bundle").object(|w| bundle.write(w));
        }
        w.key("decides").bool(basis.stands().is_ok());
        w.key("documents")
            .object(|w| write_digests(w, digests, basis));
        if let Some(is_connected) = store {
            w.key("store")
                .object(|w| w.key("connected").bool(is_connected));
        }
        w.key("version").string(env!("CARGO_PKG_VERSION"));
    });
    w.finish()
}

/// Returns the digests of the documents by name, and that of the bundle that they came in.
pub(crate) fn named_digests<'d>(
    digests: &'d Digests,
    basis: &'d Basis,
) -> impl Iterator<Item = (&'static str, &'d String)> {
    let bundle = basis.bundle.as_ref().map(|it| &it.digest);
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
    let all = [
        ("bundle", bundle),
        ("definitions", definitions.as_ref()),
        ("health", health.as_ref()),
        ("index", index.as_ref()),
        ("lock", lock.as_ref()),
        ("policy", policy.as_ref()),
        ("policy_context", policy_context.as_ref()),
        ("task", task.as_ref()),
        ("tenant", tenant.as_ref()),
        ("tenant_id", tenant_id.as_ref()),
    ];
    all.into_iter()
        .filter_map(|(name, digest)| Some((name, digest?)))
}

fn write_digests(w: &mut Writer, digests: &Digests, basis: &Basis) {
    for (name, digest) in named_digests(digests, basis) {
        w.key(name).string(digest);
    }
}
