//! The engine that decides plans, in a worker: the one module that knows of it.

use crate::state::Action;
use agent_protocol::plans::{Answer, Request, RequestKind, Texts};
use agent_protocol::{from_bytes, to_bytes};
use agent_ui::editor::Editors;
use agent_ui::line::{Line, Topic};
use std::rc::Rc;
use yew::Callback;

/// Where the worker is, relative to the page.
const WORKER: &str = "./engine/plans/worker.js";

/// A line to the engine.
pub(crate) type Engine = Line<Plans>;

/// Plans and groundings. What becomes of the engine, and all its answers, are reported as actions.
pub(crate) struct Plans {
    report: Callback<Action>,
}

/// Starts the engine.
pub(crate) fn start(editors: Rc<Editors>, report: Callback<Action>) -> Rc<Engine> {
    Line::start(Plans { report }, editors)
}

impl Topic for Plans {
    type Wanted = RequestKind;
    type News = Action;

    fn script(&self, _: &Editors, _: Option<&'static str>) -> &'static str {
        WORKER
    }

    fn question(&self, revision: u32, matter: &RequestKind) -> Vec<u8> {
        to_bytes(&Request {
            revision,
            kind: *matter,
            texts: Texts::default(),
        })
    }

    fn ready(&self, about: &[u8]) -> Option<Action> {
        from_bytes(about).map(|about| Action::EngineReady(Rc::new(about)))
    }

    fn answered(&self, answer: &[u8], milliseconds: f64) -> Option<Action> {
        from_bytes(answer).map(|answer| {
            Action::Answered(Box::new(Answer {
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
