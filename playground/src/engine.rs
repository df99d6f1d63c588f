//! The protocol of the page and its worker.

use crate::state::Servers;
use agent_answer::{DocumentKind, Verdict};
use agent_ui::content::Documents as _;
use agent_ui::editor::Editors;
use agent_ui::worker::WorkerProtocol;
use agent_worker_protocol::{About, Answer, Request, Texts, to_bytes};
use js_sys::Array;
use std::rc::Rc;

/// The script of the worker.
const WORKER: &str = "./engine/worker.js";

/// The script of the worker with the policy evaluator and the repairs of syntax, which is much larger.
const POLICY_WORKER: &str = "./engine/policy/worker.js";

impl WorkerProtocol for Servers {
    /// The open views, and the id of the tenant.
    type Wanted = (Request, Rc<str>);
    type About = About;
    type Answer = Answer;

    fn script(
        editors: &Editors,
        wanted: Option<&Self::Wanted>,
        present: Option<&'static str>,
    ) -> &'static str {
        let reports = wanted.is_some_and(|(request, _)| request.report);
        // The policy evaluator stays once it is loaded.
        if present == Some(POLICY_WORKER) || editors.is_filled(DocumentKind::Policy) || reports {
            POLICY_WORKER
        } else {
            WORKER
        }
    }

    fn reads(kind: DocumentKind) -> bool {
        Servers::kinds().any(|it| it == kind)
    }

    fn loading(script: &'static str) -> Option<&'static str> {
        (script == POLICY_WORKER).then_some(
            "Loading the larger engine, which evaluates policies and finds every error of syntax…",
        )
    }

    /// The larger module says what is wrong with a text as a whole, and finds every error of syntax. It
    /// writes the edit that adopts constraints, compares the definitions of locked tools, and knows the characters of
    /// other scripts that look alike.
    fn better_script(answer: &Answer, present: Option<&'static str>) -> Option<&'static str> {
        let has_more = |verdict: &Verdict| {
            let mut requirements = verdict.requirements.iter();
            let tools = requirements.any(|it| it.capability.is_some());
            verdict.satisfied.is_none() || verdict.existing.is_some() && tools
        };
        let supposed = answer.supposed.as_ref();
        let is_better = answer.is_partial
            || answer.verdict.as_ref().is_some_and(has_more)
            || supposed.is_some_and(|it| it.adopt.is_none());
        (is_better && present == Some(WORKER)).then_some(POLICY_WORKER)
    }

    fn missing(script: &'static str) -> &'static str {
        match script {
            POLICY_WORKER => "the policy evaluator can't be loaded, and a policy is given",
            _ => "the engine can't be loaded",
        }
    }

    fn request((request, _): &Self::Wanted) -> Vec<u8> {
        to_bytes(request)
    }

    fn add_texts(kind: DocumentKind, (_, tenant_id): &Self::Wanted, texts: &Array) {
        if kind == DocumentKind::Tenant {
            texts.set(Texts::TENANT_ID, (&**tenant_id).into());
        }
    }
}
