//! Messages of a server: answers, requests and notifications.

use crate::error::Error;
use crate::id::Id;
use crate::json::Json;
use crate::limits::{ABANDONED, FLOOD, KEPT_NOTIFICATION_BYTES, KEPT_NOTIFICATIONS, Limits};
use crate::lines::Line;
use crate::message::{METHOD_NOT_FOUND, Message, OVERLOADED, RpcError, write_error, write_result};
use crate::scan::IdScan;
use crate::version::Generation;
use bytes::Bytes;
use std::collections::{BTreeSet, VecDeque};

/// The notifications that are kept for the caller.
const KEPT: [&str; 3] = ["notifications/cancelled", "notifications/message", PROGRESS];

/// The notifications that a list has changed. Each is kept once, and never dropped.
const CHANGED: [&str; 3] = [
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

impl Notification {
    /// Returns whether it says that a list has changed.
    pub(crate) fn is_change(&self) -> bool {
        CHANGED.contains(&self.method.as_str())
    }
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
    /// Lines that are no message, messages that can't be read, and answers to nothing.
    pub untidy: u64,
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
    /// The answer to the open request with this id can't be read.
    Unreadable(u64, Error),
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
    /// The lists that have changed.
    changed: BTreeSet<&'static str>,
    /// Bytes since the last valid message that came while no request was open.
    wasted: u64,
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
            changed: BTreeSet::new(),
            wasted: 0,
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

    /// Takes the kept notifications, those of changed lists first.
    pub(crate) fn take_notifications(&mut self) -> Vec<Notification> {
        let changed = std::mem::take(&mut self.changed).into_iter();
        let changed = changed.map(|method| Notification {
            method: method.to_owned(),
            params: None,
        });
        changed.chain(std::mem::take(&mut self.kept)).collect()
    }

    /// Receives a line of a stream that requests share. What can't be read costs the request whose id it has, and
    /// nothing else.
    ///
    /// # Errors
    /// The server sends nothing but what can't be read, while no request is open.
    pub(crate) fn receive_line(&mut self, line: Line) -> Result<Received, Error> {
        match line {
            Line::Part { bytes, .. } => self.waste(bytes).map(|()| Received::Nothing),
            Line::TooLong { id, is_request } => Ok(self.unreadable(
                id.filter(|_| !is_request),
                Error::TooLarge {
                    what: "a message",
                    limit: self.limits.frame_bytes,
                },
            )),
            Line::Whole(frame) => {
                let first = frame.iter().find(|byte| !byte.is_ascii_whitespace());
                if first != Some(&b'{') {
                    // Such as a greeting, or what the server meant for its log.
                    self.traffic.untidy += u64::from(first.is_some());
                    return self.waste(frame.len()).map(|()| Received::Nothing);
                }
                match self.receive(frame.clone()) {
                    Err(error) => {
                        self.waste(frame.len())?;
                        let mut scan = IdScan::default();
                        scan.feed(&frame);
                        let id = scan.id().filter(|_| !scan.is_request());
                        Ok(self.unreadable(id, error))
                    }
                    received => {
                        self.wasted = 0;
                        received
                    }
                }
            }
        }
    }

    /// Returns whether a request is open.
    pub(crate) fn is_open(&self, id: &Id) -> bool {
        id.number().is_some_and(|id| self.open.contains(&id))
    }

    /// Counts bytes that belong to no message.
    fn waste(&mut self, bytes: usize) -> Result<(), Error> {
        if !self.open.is_empty() {
            return Ok(());
        }
        self.wasted += bytes as u64;
        match self.wasted > FLOOD {
            true => Err(Error::Closed("the server sent 64 MiB without a message")),
            false => Ok(()),
        }
    }

    /// Ends the open request of an answer that can't be read.
    fn unreadable(&mut self, id: Option<Id>, error: Error) -> Received {
        self.traffic.untidy += 1;
        let id = id.and_then(|id| id.number());
        match id.filter(|id| self.open.remove(id)) {
            Some(id) => Received::Unreadable(id, error),
            None => Received::Nothing,
        }
    }

    /// Receives a frame.
    ///
    /// # Errors
    /// It is no message.
    pub(crate) fn receive(&mut self, frame: Bytes) -> Result<Received, Error> {
        self.frames += 1;
        let message = Message::read(frame).map_err(|e| Error::malformed(e, self.frames))?;
        match message {
            Message::Response { id, outcome } => Ok(self.answer(id.as_ref(), outcome)),
            Message::Request { id, method, .. } => Ok(self.request(&id, &method)),
            Message::Notification { method, params } => Ok(self.notification(method, params)),
        }
    }

    fn answer(&mut self, id: Option<&Id>, outcome: Result<Json, RpcError>) -> Received {
        let number = match id {
            // The ids of this side begin with 1.
            Some(id) => id.number().unwrap_or(0),
            // Only one request can have been unreadable.
            None if self.open.len() == 1 => self.open.first().copied().unwrap_or(0),
            None => 0,
        };
        if self.open.remove(&number) {
            return Received::Answer(number, outcome);
        }
        if self.abandoned.remove(&number) {
            self.traffic.late_answers += 1;
        } else {
            // A second answer, or one to nothing.
            self.traffic.untidy += 1;
        }
        Received::Nothing
    }

    fn request(&mut self, id: &Id, method: &str) -> Received {
        self.requests += 1;
        let reply = if self.requests > self.limits.requests {
            self.traffic.refused_requests += 1;
            write_error(id, OVERLOADED, "too many requests")
        } else if method == "ping" {
            self.traffic.pings += 1;
            write_result(id, "{}")
        } else {
            self.traffic.refused_requests += 1;
            write_error(id, METHOD_NOT_FOUND, "not supported")
        };
        // Since 2026-07-28 servers must not send requests, and clients must not send responses.
        match self.generation {
            Some(Generation::Stateless) => Received::Nothing,
            Some(Generation::Sessions) | None => Received::Reply(reply),
        }
    }

    fn notification(&mut self, method: String, params: Option<Json>) -> Received {
        self.notifications += 1;
        self.traffic.notifications += 1;
        if let Some(changed) = CHANGED.into_iter().find(|it| *it == method) {
            self.traffic.tools_changed |= changed == TOOLS_CHANGED;
            self.changed.insert(changed);
            return Received::Nothing;
        }
        if self.notifications > self.limits.notifications {
            self.traffic.dropped_notifications += 1;
            return Received::Nothing;
        }
        if self.passes_progress && method == PROGRESS {
            return params.map_or(Received::Nothing, Received::Progress);
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
        Received::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::{Inbox, Received};
    use crate::lines::Line;
    use crate::{Error, Generation, Limits};

    fn receive(inbox: &mut Inbox, frame: &str) -> Result<Received, Error> {
        inbox.receive(frame.to_owned().into())
    }

    #[test]
    fn only_the_open_request_is_answered_and_only_once() {
        let mut inbox = Inbox::new(Limits::default());
        let answer = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
        let is_ignored = |inbox: &mut Inbox, id: &str| {
            let received = receive(inbox, &answer(id));
            matches!(received, Ok(Received::Nothing))
        };
        assert!(is_ignored(&mut inbox, "1"), "before it was sent");
        assert_eq!(inbox.open_alone(), 1);
        for other in ["\"1\"", "2", "0", "-1", "10"] {
            assert!(is_ignored(&mut inbox, other), "{other}");
        }
        assert!(receive(&mut inbox, &answer("01")).is_err(), "no JSON");
        assert!(matches!(
            receive(&mut inbox, &answer("1")),
            Ok(Received::Answer(1, Ok(_)))
        ));
        assert!(is_ignored(&mut inbox, "1"), "a second answer");
        assert_eq!(inbox.traffic.untidy, 7);
    }

    #[test]
    fn an_error_without_an_id_is_that_of_the_only_request() {
        let error = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"a"}}"#;
        let mut inbox = Inbox::new(Limits::default());
        assert!(matches!(receive(&mut inbox, error), Ok(Received::Nothing)));
        inbox.open();
        assert!(matches!(
            receive(&mut inbox, error),
            Ok(Received::Answer(1, Err(_)))
        ));
        inbox.open();
        inbox.open();
        assert!(matches!(receive(&mut inbox, error), Ok(Received::Nothing)));
        assert_eq!(inbox.open.len(), 2);
    }

    fn line(text: &str) -> Line {
        Line::Whole(text.to_owned().into())
    }

    #[test]
    fn what_is_no_message_costs_at_most_the_request_that_it_names() {
        let mut inbox = Inbox::new(Limits::default());
        let (first, second) = (inbox.open(), inbox.open());
        for text in [
            "",
            "  ",
            "listening",
            "[1]",
            "{",
            "{}",
            r#"{"jsonrpc":"2.0","id":9,"result":1}"#,
        ] {
            let received = inbox.receive_line(line(text));
            assert!(matches!(received, Ok(Received::Nothing)), "{text}");
        }
        let nan = r#"{"jsonrpc":"2.0","result":{"a":NaN},"id":1}"#;
        let received = inbox.receive_line(line(nan));
        assert!(matches!(
            received,
            Ok(Received::Unreadable(1, Error::Protocol(_)))
        ));
        // The ids of its requests are the server's own.
        let request = r#"{"jsonrpc":"2.0","id":2,"method":"ping","params":[]}"#;
        assert!(matches!(
            inbox.receive_line(line(request)),
            Ok(Received::Nothing)
        ));
        let long = |id: u64, is_request| Line::TooLong {
            id: Some(id.into()),
            is_request,
        };
        assert!(matches!(
            inbox.receive_line(long(second, true)),
            Ok(Received::Nothing)
        ));
        let received = inbox.receive_line(long(second, false));
        assert!(matches!(
            received,
            Ok(Received::Unreadable(2, Error::TooLarge { .. }))
        ));
        assert!(matches!(
            inbox.receive_line(long(first, false)),
            Ok(Received::Nothing)
        ));
        assert_eq!(inbox.traffic.untidy, 10);
    }

    #[test]
    fn a_server_that_sends_no_message_is_ended_if_nobody_waits() {
        let mut inbox = Inbox::new(Limits::default());
        let part = || Line::Part {
            bytes: 40 << 20,
            id: None,
        };
        let flood = |inbox: &mut Inbox| inbox.receive_line(part());
        inbox.open_alone();
        for _ in 0..3 {
            assert!(flood(&mut inbox).is_ok(), "while a request is open");
        }
        inbox.give_up_all();
        assert!(flood(&mut inbox).is_ok());
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        assert!(inbox.receive_line(line(ping)).is_ok());
        assert!(flood(&mut inbox).is_ok(), "after a message");
        assert!(matches!(flood(&mut inbox), Err(Error::Closed(_))));
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
            receive(&mut inbox, &answer(late)).unwrap();
        }
        assert_eq!(inbox.traffic.untidy, 2);
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
        let Ok(Received::Reply(excess)) = receive(&mut inbox, &request("ping")) else {
            panic!("a reply");
        };
        assert!(excess.contains("-32000"), "{excess}");
        // The next operation starts at 0, and without sessions there is no reply.
        inbox.open_alone();
        inbox.generation = Some(Generation::Stateless);
        let silent = receive(&mut inbox, &request("roots/list"));
        assert!(matches!(silent, Ok(Received::Nothing)));
        assert_eq!(
            (inbox.traffic.refused_requests, inbox.traffic.pings),
            (3, 1)
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
        let kept = inbox.take_notifications();
        assert_eq!(kept.len(), 2);
        assert!(kept[0].is_change() && !kept[1].is_change());
        for _ in 0..400 {
            receive(&mut inbox, &notify("notifications/progress", "a")).unwrap();
        }
        // A change is kept once, however many notifications come before it.
        for _ in 0..3 {
            receive(&mut inbox, &notify("notifications/tools/list_changed", "a")).unwrap();
        }
        let kept = inbox.take_notifications();
        assert_eq!(kept.iter().filter(|it| it.is_change()).count(), 1);
        assert_eq!(kept.len(), 65);
    }
}
