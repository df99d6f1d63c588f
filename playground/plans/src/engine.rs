//! The protocol of the page and its worker.

use crate::state::Plans;
use agent_protocol::plans::{About, Answer, Request};
use agent_protocol::to_bytes;
use agent_ui::editor::Editors;
use agent_ui::worker::WorkerProtocol;

impl WorkerProtocol for Plans {
    type Wanted = Request;
    type About = About;
    type Answer = Answer;

    fn script(_: &Editors, _: Option<&'static str>) -> &'static str {
        "./engine/plans/worker.js"
    }

    fn request(request: &Self::Wanted) -> Vec<u8> {
        to_bytes(request)
    }
}
