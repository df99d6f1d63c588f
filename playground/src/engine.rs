//! The engine, in a worker: the one module that knows of it.

use crate::state::Action;
use agent_protocol::{Answer, DocumentKind, Request, Texts, Wanted, from_bytes, to_bytes};
use agent_ui::editor::Editors;
use agent_ui::line::{Line, Topic};
use js_sys::Array;
use std::rc::Rc;
use wasm_bindgen::prelude::JsValue;
use yew::Callback;

/// Where the worker is, relative to the page.
const WORKER: &str = "./engine/worker.js";

/// The same with the evaluator of policies, which is much larger.
const POLICY_WORKER: &str = "./engine/policy/worker.js";

/// A line to the engine.
pub(crate) type Engine = Line<Resolution>;

/// What is asked for: the views that are open, and the tenant that is meant.
pub(crate) type Asked = (Wanted, Rc<str>);

/// The resolution of a manifest. What becomes of the engine, and all its answers, are reported as
/// actions.
pub(crate) struct Resolution {
    report: Callback<Action>,
}

/// Starts the engine.
pub(crate) fn start(editors: Rc<Editors>, report: Callback<Action>) -> Rc<Engine> {
    Line::start(Resolution { report }, editors)
}

impl Topic for Resolution {
    type Wanted = Asked;
    type News = Action;

    fn script(&self, editors: &Editors, present: Option<&'static str>) -> &'static str {
        // Once there is the evaluator of policies it stays.
        if present == Some(POLICY_WORKER) || editors.is_filled(DocumentKind::Policy) {
            POLICY_WORKER
        } else {
            WORKER
        }
    }

    fn loading(&self, script: &'static str) -> Option<Action> {
        (script == POLICY_WORKER).then_some(Action::PoliciesLoading)
    }

    fn question(&self, revision: u32, (wanted, _): &Asked) -> Vec<u8> {
        to_bytes(&Request {
            revision,
            wanted: wanted.clone(),
            texts: Texts::default(),
        })
    }

    fn add(&self, source: DocumentKind, (_, tenant_id): &Asked, texts: &Array) {
        if source == DocumentKind::Tenant {
            texts.set(Texts::TENANT_ID, JsValue::from_str(tenant_id));
        }
    }

    fn ready(&self, about: &[u8]) -> Option<Action> {
        from_bytes(about).map(|about| Action::EngineReady(Rc::new(about)))
    }

    fn answered(&self, answer: &[u8], milliseconds: f64) -> Option<Action> {
        from_bytes(answer).map(|answer| {
            Action::Answered(Rc::new(Answer {
                milliseconds,
                ..answer
            }))
        })
    }

    fn failed(&self, reason: String) -> Action {
        Action::EngineFailed(reason)
    }

    fn report(&self, action: Action) {
        self.report.emit(action);
    }
}
