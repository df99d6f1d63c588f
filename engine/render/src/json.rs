//! Members that several JSON forms have in common.

use agent_decide::{PolicyDecision, Rejection};
use agent_model::{Agent, Capability, Constraints, Name, Patterns, Residency, Sensitivity, Tag};
use agent_syntax::json::Writer;
use agent_text::{DocumentKind, Place};

/// Members whose values are objects.
pub(super) trait ObjectMembers {
    /// Writes an array of objects.
    fn objects<T>(
        &mut self,
        key: &str,
        items: impl IntoIterator<Item = T>,
        members: impl FnMut(&mut Self, T),
    );

    /// Writes an object, or `null` for `None`.
    fn optional_object<T>(
        &mut self,
        key: &str,
        value: Option<T>,
        members: impl FnOnce(&mut Self, T),
    );
}

impl ObjectMembers for Writer {
    fn objects<T>(
        &mut self,
        key: &str,
        items: impl IntoIterator<Item = T>,
        mut members: impl FnMut(&mut Self, T),
    ) {
        self.key(key).array(|w| {
            for item in items {
                w.object(|w| members(w, item));
            }
        });
    }

    fn optional_object<T>(
        &mut self,
        key: &str,
        value: Option<T>,
        members: impl FnOnce(&mut Self, T),
    ) {
        self.key(key);
        match value {
            Some(value) => self.object(|w| members(w, value)),
            None => self.null(),
        }
    }
}

/// Writes a place: lines and columns from 1, columns in code points, offsets in bytes.
pub(super) fn write_place(w: &mut Writer, place: &Place) {
    w.key("column").number(place.start.column);
    w.key("endColumn").number(place.end.column);
    w.key("endLine").number(place.end.line);
    w.key("endOffset").number(place.span.end);
    w.key("line").number(place.start.line);
    w.key("offset").number(place.span.start);
    w.key("source").string(source_name(place.source));
}

/// Returns the word for a document.
pub(super) fn source_name(source: DocumentKind) -> &'static str {
    match source {
        DocumentKind::Manifest => "manifest",
        DocumentKind::Index => "index",
        DocumentKind::Lock => "lock",
        DocumentKind::Task => "task",
        DocumentKind::Tenant => "tenant",
        DocumentKind::Health => "health",
        DocumentKind::Context => "context",
        DocumentKind::Policy => "policy",
        DocumentKind::PolicyTest => "policy-test",
        DocumentKind::Import => "import",
        DocumentKind::Overlay => "overlay",
        DocumentKind::Call | DocumentKind::Plan => "plan",
        DocumentKind::Catalogue => "catalogue",
        DocumentKind::Summary => "summary",
        DocumentKind::Payload => "payload",
        DocumentKind::Request => "request",
        DocumentKind::ToolPool => "tool-pool",
        DocumentKind::Profile => "profile",
        DocumentKind::StepInput => "input",
        DocumentKind::StepOutput => "output",
        DocumentKind::Document => "document",
        DocumentKind::Evidence => "evidence",
    }
}

/// Writes the members of `agent`.
pub(super) fn write_agent(w: &mut Writer, agent: &Agent) {
    w.key("name").string(agent.name.as_str());
    w.key("version").string(agent.version.as_str());
}

/// Writes the members of `constraints`. Absent ones are null, false or empty.
pub(super) fn write_constraints(w: &mut Writer, constraints: &Constraints) {
    w.key("forbid")
        .strings(constraints.forbid.iter().map(|label| label.value.as_str()));
    w.key("requireSigned").bool(constraints.require_signed());
    w.key("residency")
        .optional(constraints.residency().map(Residency::as_str));
    w.key("sensitivity")
        .optional(constraints.sensitivity().map(Sensitivity::as_str));
}

/// Writes the members of a capability.
pub(super) fn write_capability(w: &mut Writer, capability: &Capability) {
    w.key("constraints")
        .strings(capability.constraints.iter().map(Tag::as_str));
    w.key("resource").string(capability.resource.as_str());
    w.key("verb").string(capability.verb.as_str());
}

/// Writes a list of names, unless it is empty.
pub(super) fn write_names<'n>(
    w: &mut Writer,
    key: &str,
    names: impl ExactSizeIterator<Item = &'n str>,
) {
    if names.len() > 0 {
        w.key(key).strings(names);
    }
}

/// Writes the tools whose unusable patterns are ignored, if there are any: the word alone for a selected tool.
pub(super) fn write_patterns<'n>(
    w: &mut Writer,
    tools: impl IntoIterator<Item = &'n str>,
    of_tool: bool,
) {
    let mut tools = tools.into_iter().peekable();
    if tools.peek().is_none() {
        return;
    }
    let word = Patterns::Ignore.as_str();
    match of_tool {
        true => {
            w.key("patterns").string(word);
        }
        false => {
            w.key("patterns").object(|w| {
                for tool in tools {
                    w.key(tool).string(word);
                }
            });
        }
    }
}

/// Writes the answer of a policy without the ids, or null where it was not asked.
pub(super) fn write_policy(w: &mut Writer, policy_decision: Option<&PolicyDecision>) {
    w.optional_object("policy", policy_decision, |w, decision| {
        w.optional_object("error", decision.answer.as_ref().err(), |w, error| {
            w.key("detail").string(&error.detail);
            w.optional_object("place", error.place.as_ref(), write_place);
            w.key("reason").string(error.kind.name());
        });
        w.key("lines").numbers(decision.lines.iter().copied());
    });
}

/// Writes the members of a reason: its code, and the values that were compared.
pub(super) fn write_reason(w: &mut Writer, reason: &Rejection<'_>) {
    w.key("code").string(reason.code().name());
    match reason {
        Rejection::MissingCategory { offered } | Rejection::MissingCapability { offered } => {
            w.key("offered").strings(offered.iter().copied());
        }
        Rejection::ToolMissing { missing }
        | Rejection::MissingScope { missing }
        | Rejection::ConstraintUnmet { missing } => {
            w.key("missing").strings(missing.iter().copied());
        }
        Rejection::ResidencyMismatch { required, offered } => {
            w.key("offered")
                .strings(offered.iter().map(Residency::as_str));
            w.key("required").string(required.as_str());
        }
        Rejection::SensitivityExceeded { required, offered } => {
            w.key("offered").string(offered.as_str());
            w.key("required").string(required.as_str());
        }
        Rejection::UnsignedNotAllowed { publisher } => w.key("publisher").string(publisher),
        Rejection::ForbiddenAction { label } => w.key("label").string(label),
        Rejection::HiddenText { pointer, .. } => w.key("pointer").string(pointer),
        Rejection::PolicyDenied { reason } => w.key("reason").optional(*reason),
        Rejection::PolicyError { reason } => w.key("reason").string(reason.name()),
        Rejection::HealthVeto { status } => {
            w.key("status").optional(status.map(|it| it.as_str()));
        }
    }
}
