//! Messages of a server: answers, requests and notifications.

use crate::error::{Error, Excess, Violation};
use crate::id::Id;
use crate::json::Json;
use crate::limits::{ABANDONED, KEPT_NOTIFICATION_BYTES, KEPT_NOTIFICATIONS, Limits};
use crate::message::{METHOD_NOT_FOUND, Message, RpcError, write_error, write_result};
use crate::version::Generation;
use bytes::Bytes;
use std::collections::{BTreeSet, VecDeque};

/// The notifications that are kept for the caller.
const KEPT: [&str; 6] = [
    "notifications/cancelled",
    "notifications/message",
    "notifications/progress",
    "notifications/prompts/list_changed",
    "notifications/resources/list_changed",
    TOOLS_CHANGED,
];

/// The notification that the tools have changed.
const TOOLS_CHANGED: &str = "notifications/tools/list_changed";

/// A notification of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notification {
    /// The method.
    pub method: String,
    /// The parameters.
    pub params: Option<Json>,
}

/// Counts of a server's messages other than answers, over the life of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    /// Requests of the server that were refused or ignored.
    pub refused_requests: u64,
    /// Requests `ping`.
    pub pings: u64,
    /// Notifications, whether kept or not.
    pub notifications: u64,
    /// Notifications that were not kept: of other kinds, too large, or too many.
    pub dropped_notifications: u64,
    /// Answers that arrived after their operation had ended.
    pub late_answers: u64,
    /// Whether the server announced a change of its tools.
    pub tools_changed: bool,
}

/// The consequence of a message of the server.
#[derive(Debug)]
pub(crate) enum Received {
    /// The answer to the open request.
    Answer(Result<Json, RpcError>),
    /// A message to send to the server.
    Reply(String),
    /// Nothing.
    Nothing,
}

/// The state of a conversation: its open request, and counts of received messages.
#[derive(Debug)]
pub struct Inbox {
    pub(crate) limits: Limits,
    /// The generation, once it is known.
    pub(crate) generation: Option<Generation>,
    pub(crate) traffic: Traffic,
    /// The number of frames received.
    frames: u64,
    /// The id of the last request that was sent.
    last: u64,
    open: Option<u64>,
    /// Requests without an answer whose operation has ended.
    abandoned: BTreeSet<u64>,
    /// Requests and notifications of the server since the open request.
    requests: usize,
    notifications: usize,
    kept: VecDeque<Notification>,
}

impl Inbox {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            limits,
            generation: None,
            traffic: Traffic::default(),
            frames: 0,
            last: 0,
            open: None,
            abandoned: BTreeSet::new(),
            requests: 0,
            notifications: 0,
            kept: VecDeque::new(),
        }
    }

    /// Opens the next request and returns its id. Abandons a request that is still open.
    pub(crate) fn open(&mut self) -> u64 {
        self.give_up();
        (self.requests, self.notifications) = (0, 0);
        self.last += 1;
        self.open = Some(self.last);
        self.last
    }

    /// Abandons the open request and returns its id.
    pub(crate) fn give_up(&mut self) -> Option<u64> {
        let open = self.open.take();
        self.abandoned.extend(open);
        if self.abandoned.len() > ABANDONED {
            self.abandoned.pop_first();
        }
        open
    }

    /// Takes the kept notifications.
    pub(crate) fn take_notifications(&mut self) -> Vec<Notification> {
        std::mem::take(&mut self.kept).into()
    }

    /// Receives a frame.
    pub(crate) fn receive(&mut self, frame: Bytes) -> Result<Received, Error> {
        self.frames += 1;
        let message = Message::read(frame).map_err(|e| Error::malformed(e, self.frames))?;
        match message {
            Message::Response { id, outcome } => self.answer(id.as_ref(), outcome),
            Message::Request { id, method, .. } => self.request(&id, &method),
            Message::Notification { method, params } => self.notification(method, params),
        }
    }

    fn violation(&self, what: &str) -> Error {
        Error::Protocol(Violation {
            what: what.to_owned(),
            frame: self.frames,
            offset: 0,
        })
    }

    fn answer(
        &mut self,
        id: Option<&Id>,
        outcome: Result<Json, RpcError>,
    ) -> Result<Received, Error> {
        let Some(id) = id else {
            // Only one request can have been unreadable.
            return match self.open.take() {
                Some(_) => Ok(Received::Answer(outcome)),
                None => Err(self.violation("an error without a request")),
            };
        };
        if self.open.is_some_and(|open| id.is(open)) {
            self.open = None;
            return Ok(Received::Answer(outcome));
        }
        let late = self.abandoned.iter().copied().find(|given| id.is(*given));
        if let Some(late) = late {
            self.abandoned.remove(&late);
            self.traffic.late_answers += 1;
            return Ok(Received::Nothing);
        }
        let number = match id {
            Id::Integer(digits) => digits.parse().unwrap_or(0),
            Id::String(_) => 0,
        };
        Err(self.violation(if (1..=self.last).contains(&number) {
            "a second answer to one request"
        } else {
            "an answer to a request that was never sent"
        }))
    }

    fn request(&mut self, id: &Id, method: &str) -> Result<Received, Error> {
        self.requests += 1;
        if self.requests > self.limits.requests {
            return Err(Error::TooMany {
                what: Excess::Requests,
                limit: self.limits.requests,
            });
        }
        let reply = if method == "ping" {
            self.traffic.pings += 1;
            write_result(id, "{}")
        } else {
            self.traffic.refused_requests += 1;
            write_error(id, METHOD_NOT_FOUND, "not supported")
        };
        // Since 2026-07-28 servers must not send requests, and clients must not send responses.
        Ok(match self.generation {
            Some(Generation::Stateless) => Received::Nothing,
            Some(Generation::Sessions) | None => Received::Reply(reply),
        })
    }

    fn notification(&mut self, method: String, params: Option<Json>) -> Result<Received, Error> {
        self.notifications += 1;
        self.traffic.notifications += 1;
        if self.notifications > self.limits.notifications {
            return Err(Error::TooMany {
                what: Excess::Notifications,
                limit: self.limits.notifications,
            });
        }
        self.traffic.tools_changed |= method == TOOLS_CHANGED;
        let bytes = params.as_ref().map_or(0, |params| params.bytes().len());
        let keep = KEPT.contains(&method.as_str())
            && bytes <= KEPT_NOTIFICATION_BYTES
            && self.kept.len() < KEPT_NOTIFICATIONS;
        if keep {
            // Copied, so that a small notification does not keep its frame.
            let copied = params.map(|params| params.copied());
            self.kept.push_back(Notification {
                method,
                params: copied,
            });
        } else {
            self.traffic.dropped_notifications += 1;
        }
        Ok(Received::Nothing)
    }
}

#[cfg(test)]
mod tests {
    use super::{Inbox, Received};
    use crate::{Error, Excess, Generation, Limits};

    fn receive(inbox: &mut Inbox, frame: &str) -> Result<Received, Error> {
        inbox.receive(frame.to_owned().into())
    }

    #[test]
    fn only_the_open_request_is_answered_and_only_once() {
        let mut inbox = Inbox::new(Limits::default());
        let answer = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
        assert!(
            receive(&mut inbox, &answer("1")).is_err(),
            "before it was sent"
        );
        assert_eq!(inbox.open(), 1);
        for other in ["\"1\"", "2", "0", "-1", "10", "01"] {
            assert!(receive(&mut inbox, &answer(other)).is_err(), "{other}");
        }
        assert!(matches!(
            receive(&mut inbox, &answer("1")),
            Ok(Received::Answer(Ok(_)))
        ));
        let Err(Error::Protocol(twice)) = receive(&mut inbox, &answer("1")) else {
            panic!("a violation");
        };
        assert!(twice.what.contains("second answer"));
    }

    #[test]
    fn late_answers_are_dropped_once() {
        let mut inbox = Inbox::new(Limits::default());
        let answer = |id: u64| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
        inbox.open();
        assert_eq!(inbox.give_up(), Some(1));
        inbox.open();
        // The second one was dropped without being given up.
        inbox.open();
        for late in [2, 1] {
            assert!(matches!(
                receive(&mut inbox, &answer(late)),
                Ok(Received::Nothing)
            ));
            assert!(receive(&mut inbox, &answer(late)).is_err());
        }
        assert_eq!(inbox.traffic.late_answers, 2);
        assert!(matches!(
            receive(&mut inbox, &answer(3)),
            Ok(Received::Answer(_))
        ));
    }

    #[test]
    fn a_bounded_number_of_abandoned_requests_is_remembered() {
        let mut inbox = Inbox::new(Limits::default());
        for _ in 0..2000 {
            inbox.open();
        }
        assert_eq!(inbox.abandoned.len(), 1024);
        assert!(inbox.abandoned.contains(&1999));
    }

    #[test]
    fn requests_are_refused_and_limited() {
        let mut inbox = Inbox::new(Limits {
            requests: 2,
            ..Limits::default()
        });
        let request = |method: &str| format!(r#"{{"jsonrpc":"2.0","id":"x","method":"{method}"}}"#);
        inbox.open();
        let Ok(Received::Reply(pong)) = receive(&mut inbox, &request("ping")) else {
            panic!("a reply");
        };
        assert_eq!(pong, r#"{"jsonrpc":"2.0","id":"x","result":{}}"#);
        let Ok(Received::Reply(no)) = receive(&mut inbox, &request("sampling/createMessage"))
        else {
            panic!("a reply");
        };
        assert!(no.contains("-32601"));
        let excess = Error::TooMany {
            what: Excess::Requests,
            limit: 2,
        };
        assert_eq!(receive(&mut inbox, &request("ping")).unwrap_err(), excess);
        // The next operation starts at 0, and without sessions there is no reply.
        inbox.open();
        inbox.generation = Some(Generation::Stateless);
        let silent = receive(&mut inbox, &request("roots/list"));
        assert!(matches!(silent, Ok(Received::Nothing)));
        assert_eq!(
            (inbox.traffic.refused_requests, inbox.traffic.pings),
            (2, 1)
        );
    }

    #[test]
    fn notifications_are_limited_and_a_few_kinds_are_kept() {
        let mut inbox = Inbox::new(Limits {
            notifications: 200,
            ..Limits::default()
        });
        let notify = |method: &str, data: &str| {
            format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{{"data":"{data}"}}}}"#)
        };
        inbox.open();
        receive(&mut inbox, &notify("notifications/message", "a")).unwrap();
        receive(
            &mut inbox,
            &notify("notifications/message", &"a".repeat(20_000)),
        )
        .unwrap();
        receive(&mut inbox, &notify("notifications/other", "a")).unwrap();
        assert!(!inbox.traffic.tools_changed);
        receive(&mut inbox, &notify("notifications/tools/list_changed", "a")).unwrap();
        assert!(inbox.traffic.tools_changed);
        assert_eq!(inbox.take_notifications().len(), 2);
        for _ in 4..200 {
            receive(&mut inbox, &notify("notifications/progress", "a")).unwrap();
        }
        let excess = Error::TooMany {
            what: Excess::Notifications,
            limit: 200,
        };
        let error = receive(&mut inbox, &notify("notifications/progress", "a"));
        assert_eq!(error.unwrap_err(), excess);
        assert_eq!(inbox.take_notifications().len(), 64);
    }
}
