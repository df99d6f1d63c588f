//! The protocol of the page and its worker.

use crate::state::Plans;
use agent_answer::DocumentKind;
use agent_ui::editor::Editors;
use agent_ui::worker::WorkerProtocol;
use agent_worker_protocol::plans::{About, Answer, Request};
use agent_worker_protocol::to_bytes;

/// The script of the worker.
const WORKER: &str = "./engine/plans/worker.js";

/// The script of the worker with the policy evaluator, which is much larger.
const POLICY_WORKER: &str = "./engine/plans/policy/worker.js";

/// The script of the worker that runs plans. It evaluates policies, too.
const RUN_WORKER: &str = "./engine/run/worker.js";

impl WorkerProtocol for Plans {
    type Wanted = Request;
    type About = About;
    type Answer = Answer;

    fn script(
        editors: &Editors,
        wanted: Option<&Request>,
        present: Option<&'static str>,
    ) -> &'static str {
        // A larger module stays once it is loaded.
        if present == Some(RUN_WORKER) || wanted.is_some_and(|wanted| wanted.run.is_some()) {
            RUN_WORKER
        } else if present == Some(POLICY_WORKER) || editors.is_filled(DocumentKind::Policy) {
            POLICY_WORKER
        } else {
            WORKER
        }
    }

    fn loading(script: &'static str) -> Option<&'static str> {
        match script {
            POLICY_WORKER => Some("Loading the policy evaluator…"),
            RUN_WORKER => Some("Loading the engine that runs plans…"),
            _ => None,
        }
    }

    fn missing(script: &'static str) -> &'static str {
        match script {
            POLICY_WORKER => "the policy evaluator can't be loaded, and a policy is given",
            RUN_WORKER => "the engine that runs plans can't be loaded",
            _ => "the engine can't be loaded",
        }
    }

    fn request(request: &Self::Wanted) -> Vec<u8> {
        to_bytes(request)
    }
}
