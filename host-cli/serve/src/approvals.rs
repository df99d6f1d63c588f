//! Calls that wait for a human.

use agent_host::contract::session::ApprovalRequest;
use std::cell::RefCell;
use std::collections::BTreeMap;
use tokio::sync::{mpsc, oneshot};

/// Maximum number of questions that are kept, and of those that wait for the terminal.
const QUESTIONS: usize = 256;

/// What humans are asked, and the calls that wait for them.
#[derive(Default)]
pub(crate) struct Approvals {
    /// The questions by the ids of their approvals.
    asked: RefCell<BTreeMap<String, ApprovalRequest>>,
    /// The calls by their ids in the session, each with the id of its approval.
    waiting: RefCell<BTreeMap<u64, (String, oneshot::Sender<()>)>>,
    /// Who asks on the terminal.
    terminal: RefCell<Option<mpsc::Sender<ApprovalRequest>>>,
}

/// A call that waits. Dropping it ends the wait.
pub(crate) struct Waiting<'a> {
    approvals: &'a Approvals,
    call: u64,
    answered: oneshot::Receiver<()>,
}

impl Approvals {
    /// Asks on the terminal from now on, too.
    pub(crate) fn ask_on_terminal(&self) -> mpsc::Receiver<ApprovalRequest> {
        let (sender, questions) = mpsc::channel(QUESTIONS);
        self.terminal.replace(Some(sender));
        questions
    }

    /// Asks for an approval on behalf of a call.
    pub(crate) fn ask(&self, call: u64, request: ApprovalRequest) -> Waiting<'_> {
        let (sender, answered) = oneshot::channel();
        let approval = request.approval.clone();
        self.waiting.borrow_mut().insert(call, (approval, sender));
        let mut asked = self.asked.borrow_mut();
        if !asked.contains_key(&request.approval) {
            if let Some(terminal) = &*self.terminal.borrow() {
                let _ = terminal.try_send(request.clone());
            }
            if asked.len() >= QUESTIONS {
                // The earliest one has the earliest end.
                let first = asked.values().min_by_key(|it| it.expires_unix_ms);
                let first = first.map(|it| it.approval.clone());
                first.and_then(|first| asked.remove(&first));
            }
            asked.insert(request.approval.clone(), request);
        }
        Waiting {
            approvals: self,
            call,
            answered,
        }
    }

    /// Returns the question of an approval that has no answer.
    pub(crate) fn question(&self, approval: &str) -> Option<String> {
        let asked = self.asked.borrow();
        asked.get(approval).map(|it| it.text.clone())
    }

    /// Takes that an approval has an answer. If the session knows it, the calls that wait for it go on.
    pub(crate) fn close(&self, approval: &str, is_known: bool) {
        self.asked.borrow_mut().remove(approval);
        if !is_known {
            return;
        }
        let mut waiting = self.waiting.borrow_mut();
        for (_, (_, sender)) in waiting.extract_if(.., |_, (own, _)| own == approval) {
            let _ = sender.send(());
        }
    }
}

impl Waiting<'_> {
    /// Resolves when a human has answered. A call that was open is closed in the session then.
    pub(crate) async fn answered(&mut self) {
        if (&mut self.answered).await.is_err() {
            std::future::pending().await
        }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.approvals.waiting.borrow_mut().remove(&self.call);
    }
}
