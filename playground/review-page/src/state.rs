//! The state of the page.

use agent_answer::Diagnostic;
use agent_worker_protocol::review::Answer;
use std::rc::Rc;

pub(crate) type Page = agent_ui::page::Page<Reviews>;

/// The page of reviews.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Reviews {
    /// The last answer.
    pub(crate) answer: Option<Rc<Answer>>,
    /// The problems in it.
    pub(crate) problems: Rc<[Diagnostic]>,
    /// How often texts were replaced. An answer to other texts begins at its top.
    pub(crate) replaced: u32,
}
