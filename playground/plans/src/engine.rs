//! The protocol of the page and its worker.

use crate::state::Plans;
use agent_protocol::plans::{About, Answer, Request, RequestKind, Texts};
use agent_protocol::to_bytes;
use agent_ui::editor::Editors;
use agent_ui::worker::WorkerProtocol;

impl WorkerProtocol for Plans {
    type Wanted = RequestKind;
    type About = About;
    type Answer = Answer;

    fn script(_: &Editors, _: Option<&'static str>) -> &'static str {
        "./engine/plans/worker.js"
    }

    fn request(revision: u32, kind: &RequestKind) -> Vec<u8> {
        to_bytes(&Request {
            revision,
            kind: *kind,
            texts: Texts::default(),
        })
    }
}
