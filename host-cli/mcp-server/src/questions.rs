//! The gateway's own requests to a client with a session, such as `elicitation/create`.

use agent_mcp_protocol::message::{write_notification, write_request};
use agent_mcp_protocol::{Id, Json};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use tokio::sync::oneshot;

/// Maximum number of requests that a client has not answered.
const QUESTIONS: usize = 64;

/// The requests that a client has not answered.
#[derive(Default)]
pub(crate) struct Questions {
    last: Cell<u64>,
    open: RefCell<BTreeMap<Id, oneshot::Sender<Option<Json>>>>,
}

impl Questions {
    /// Sends a request, and returns its result; `None` for an error, or if there are too many already. Dropping the
    /// future cancels the request.
    pub(crate) async fn ask(
        &self,
        method: &str,
        params: &str,
        send: impl Fn(String),
    ) -> Option<Json> {
        if self.open.borrow().len() >= QUESTIONS {
            return None;
        }
        self.last.set(self.last.get() + 1);
        let id = Id::String(format!("agent-{}", self.last.get()));
        let (sender, answer) = oneshot::channel();
        self.open.borrow_mut().insert(id.clone(), sender);
        send(write_request(&id, method, params));
        let _open = Open {
            questions: self,
            id,
            send,
        };
        answer.await.ok()?
    }

    /// Takes a response of the client: the result, or `None` for an error. Ignores a response to an unknown
    /// request.
    pub(crate) fn answer(&self, id: &Id, result: Option<Json>) {
        if let Some(sender) = self.open.borrow_mut().remove(id) {
            let _ = sender.send(result);
        }
    }
}

/// A request that is not answered yet.
struct Open<'a, S: Fn(String)> {
    questions: &'a Questions,
    id: Id,
    send: S,
}

impl<S: Fn(String)> Drop for Open<'_, S> {
    fn drop(&mut self) {
        if self.questions.open.borrow_mut().remove(&self.id).is_some() {
            let params = format!(r#"{{"requestId":{}}}"#, self.id.to_json());
            (self.send)(write_notification("notifications/cancelled", Some(&params)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Questions;
    use agent_mcp_protocol::{Id, Json};
    use std::cell::RefCell;
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    #[test]
    fn a_question_is_answered_once_or_cancelled() {
        let questions = Questions::default();
        let sent = RefCell::new(Vec::new());
        let send = |message| sent.borrow_mut().push(message);
        let mut context = Context::from_waker(Waker::noop());
        let id = |number: u64| Id::String(format!("agent-{number}"));
        {
            let mut asked = pin!(questions.ask("a", "{}", send));
            assert_eq!(asked.as_mut().poll(&mut context), Poll::Pending);
            questions.answer(&id(2), None);
            assert_eq!(asked.as_mut().poll(&mut context), Poll::Pending);
            let result = Json::new(&b"{}"[..]).expect("JSON");
            questions.answer(&id(1), Some(result.clone()));
            assert_eq!(asked.as_mut().poll(&mut context), Poll::Ready(Some(result)));
        }
        assert_eq!(sent.borrow().len(), 1);
        {
            let mut asked = pin!(questions.ask("a", "{}", send));
            assert_eq!(asked.as_mut().poll(&mut context), Poll::Pending);
        }
        assert!(
            sent.borrow()[2]
                .contains(r#""notifications/cancelled","params":{"requestId":"agent-2"}"#)
        );
        questions.answer(&id(2), None);
        assert!(questions.open.borrow().is_empty());
    }
}
