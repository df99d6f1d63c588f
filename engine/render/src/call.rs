//! The verdict on a one-call plan, as text and as JSON.

use super::lock::lock_digest;
use super::styled::{Style, Styled, StyledSpan};
use agent_decide::{AuthorizedCall, CallVerdict};
use agent_lower::{digest, integrity};
use agent_syntax::canonical;
use agent_syntax::json::Writer;

/// Returns the RFC 8785 form of an authorized call, with the digests of all that it was decided
/// against and its obligations.
pub fn authorized_call(call: &AuthorizedCall<'_>) -> String {
    let mut w = Writer::dense();
    w.object(|w| {
        w.key("against").object(|w| {
            w.key("definition").string(call.definition());
            w.key("entry").string(integrity(call.server()));
            w.key("lock").string(&lock_digest(call.lock()));
        });
        w.key("call").object(|w| {
            w.key("args")
                .json(&canonical(call.arguments()).unwrap_or_default());
            w.key("endpoint").string(call.server().endpoint());
            w.key("server").string(call.server().id());
            w.key("tool").string(call.tool());
            w.key("version").string(call.server().version());
        });
        w.key("obligations")
            .strings(call.needs_approval().then_some("approval"));
    });
    let mut text = w.finish();
    text.pop();
    text
}

/// Returns a verdict as JSON with a final newline. The reasons of a denial are diagnostics.
pub fn call_verdict_json(verdict: &CallVerdict<'_>) -> String {
    let mut w = Writer::pretty();
    w.object(|w| match verdict {
        CallVerdict::Allowed(call) => {
            let authorized = authorized_call(call);
            w.key("authorized").json(&authorized);
            w.key("digest").string(&digest(&authorized));
            w.key("verdict").string("allow");
        }
        CallVerdict::NeedsMoreInfo(answer) => {
            w.key("answer").string(answer);
            w.key("verdict").string("needs_more_info");
        }
        CallVerdict::Denied(_) => w.key("verdict").string("deny"),
    });
    w.finish()
}

/// Returns a verdict as text.
pub fn call_verdict(verdict: &CallVerdict<'_>) -> Vec<StyledSpan> {
    let mut out = Styled::default();
    match verdict {
        CallVerdict::Allowed(call) => {
            let server = call.server();
            out.mark(true)
                .put(Style::Heading, "may be called")
                .plain(": ")
                .name(call.tool())
                .plain(" of ")
                .name(server.id())
                .plain(format!(" {}", server.version()))
                .dim(format!("  {}", server.endpoint()))
                .end();
            if call.needs_approval() {
                out.put(Style::Warning, "  a human must approve it first")
                    .end();
            }
            out.dim(format!("  {}", digest(&authorized_call(call))))
                .end();
        }
        CallVerdict::NeedsMoreInfo(answer) => {
            out.put(Style::Heading, "nothing is called")
                .plain(": more information is required")
                .end()
                .plain(format!("  {answer}"))
                .end();
        }
        CallVerdict::Denied(_) => {
            out.mark(false)
                .put(Style::Heading, "may not be called")
                .end();
        }
    }
    out.finish()
}
