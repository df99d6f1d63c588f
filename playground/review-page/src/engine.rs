//! The protocol of the page and its worker.

use crate::state::Reviews;
use agent_ui::editor::Editors;
use agent_ui::worker::WorkerProtocol;
use agent_worker_protocol::review::{About, Answer, Request};
use agent_worker_protocol::to_bytes;

/// The script of the worker.
const WORKER: &str = "./engine/policy/review.js";

impl WorkerProtocol for Reviews {
    type Wanted = Request;
    type About = About;
    type Answer = Answer;

    fn script(_: &Editors, _: Option<&Request>, _: Option<&'static str>) -> &'static str {
        WORKER
    }

    fn missing(_: &'static str) -> &'static str {
        "the engine can't be loaded"
    }

    fn request(request: &Self::Wanted) -> Vec<u8> {
        to_bytes(request)
    }
}
