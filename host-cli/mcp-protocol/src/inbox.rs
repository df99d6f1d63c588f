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
    PROGRESS,
    "notifications/prompts/list_changed",
    "notifications/resources/list_changed",
    TOOLS_CHANGED,
];

/// The notification of how far a request has come.
const PROGRESS: &str = "notifications/progress";

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
    /// The answer to the open request with this id.
    Answer(u64, Result<Json, RpcError>),
    /// A message to send to the server.
    Reply(String),
    /// A report on an open request: the parameters of `notifications/progress`.
    Progress(Json),
    /// Nothing.
    Nothing,
}

/// The state of a conversation: its open requests, and counts of received messages.
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
    open: BTreeSet<u64>,
    /// Whether progress goes to the caller at once, and is not kept.
    passes_progress: bool,
    /// Requests without an answer whose operation has ended.
    abandoned: BTreeSet<u64>,
    /// Requests and notifications of the server since the counts began anew.
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
            open: BTreeSet::new(),
            passes_progress: false,
            abandoned: BTreeSet::new(),
            requests: 0,
            notifications: 0,
            kept: VecDeque::new(),
        }
    }

    /// Returns the state of another conversation of the same session. Its ids begin behind `last`.
    pub(crate) fn fork(&self, last: u64) -> Self {
        Self {
            generation: self.generation,
            last,
            ..Self::new(self.limits)
        }
    }

    /// Lets the caller have progress at once.
    pub(crate) fn pass_progress(&mut self) {
        self.passes_progress = true;
    }

    /// Starts to count the server's requests and notifications anew.
    pub(crate) fn renew(&mut self) {
        (self.requests, self.notifications) = (0, 0);
    }

    /// Opens the next request and returns its id. Abandons requests that are still open, because their
    /// operation was dropped.
    pub(crate) fn open_alone(&mut self) -> u64 {
        self.give_up_all();
        self.renew();
        self.open()
    }

    /// Opens the next request, beside others, and returns its id.
    pub(crate) fn open(&mut self) -> u64 {
        self.last += 1;
        self.open.insert(self.last);
        self.last
    }

    /// Abandons every open request, and returns the id of the last one.
    pub(crate) fn give_up_all(&mut self) -> Option<u64> {
        let open = std::mem::take(&mut self.open);
        let last = open.last().copied();
        for id in open {
            self.abandon(id);
        }
        last
    }

    /// Abandons a request, if it is open.
    pub(crate) fn give_up(&mut self, id: u64) -> bool {
        let was_open = self.open.remove(&id);
        if was_open {
            self.abandon(id);
        }
        was_open
    }

    fn abandon(&mut self, id: u64) {
        self.abandoned.insert(id);
        if self.abandoned.len() > ABANDONED {
            self.abandoned.pop_first();
        }
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
            return match self.open.pop_first() {
                Some(only) if self.open.is_empty() => Ok(Received::Answer(only, outcome)),
                Some(_) => Err(self.violation("an error without the id of its request")),
                None => Err(self.violation("an error without a request")),
            };
        };
        // The ids of this side begin with 1.
        let number = id.number().unwrap_or(0);
        if self.open.remove(&number) {
            return Ok(Received::Answer(number, outcome));
        }
        if self.abandoned.remove(&number) {
            self.traffic.late_answers += 1;
            return Ok(Received::Nothing);
        }
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
        if self.passes_progress && method == PROGRESS {
            return Ok(params.map_or(Received::Nothing, Received::Progress));
        }
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
        assert_eq!(inbox.open_alone(), 1);
        for other in ["\"1\"", "2", "0", "-1", "10", "01"] {
            assert!(receive(&mut inbox, &answer(other)).is_err(), "{other}");
        }
        assert!(matches!(
            receive(&mut inbox, &answer("1")),
            Ok(Received::Answer(1, Ok(_)))
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
        inbox.open_alone();
        assert!(inbox.give_up(1));
        assert!(!inbox.give_up(1));
        inbox.open_alone();
        // The second one was dropped without being given up.
        inbox.open_alone();
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
            Ok(Received::Answer(3, _))
        ));
    }

    #[test]
    fn a_bounded_number_of_abandoned_requests_is_remembered() {
        let mut inbox = Inbox::new(Limits::default());
        for _ in 0..2000 {
            inbox.open_alone();
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
        inbox.open_alone();
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
        inbox.open_alone();
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
        inbox.open_alone();
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
