//! A connection over a pair of streams that carries several requests at the same time.

use crate::client::Client;
use crate::error::Error;
use crate::identity::{self, Call, Identity};
use crate::inbox::{Inbox, Notification, Received};
use crate::json::Json;
use crate::lines::Line;
use crate::message::{write_notification, write_request};
use crate::negotiation::{check_complete, requires_input};
use crate::stdio::Stdio;
use crate::tool_list::{Pages, ToolList};
use crate::version::Version;
use crate::wait::Wait;
use agent_syntax::json::Kind;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::{MissedTickBehavior, interval};

/// Maximum number of requests in the queue to the driver. More callers wait.
const QUEUE: usize = 64;

/// Maximum number of reports of progress that wait for one caller. Further ones are dropped.
const PROGRESS: usize = 16;

/// The time for which a server's requests and notifications are counted against their limits.
const COUNTED: Duration = Duration::from_secs(1);

/// A server that answers several requests at the same time. Clones share its connection.
#[derive(Debug, Clone)]
pub struct Multiplexed {
    requests: mpsc::Sender<Asked>,
    /// Tells the driver that a caller no longer waits.
    given_up: Arc<Notify>,
    next_token: Arc<AtomicU64>,
    identity: Identity,
    version: Version,
    server: Json,
    limits: crate::Limits,
    untidy: Arc<AtomicU64>,
}

/// Moves the messages of a [`Multiplexed`] connection, which works only while this is polled.
#[derive(Debug)]
pub struct Driver<R, W> {
    transport: Stdio<R, W>,
    inbox: Inbox,
    requests: mpsc::Receiver<Asked>,
    given_up: Arc<Notify>,
    open: BTreeMap<u64, Open>,
    notifications: mpsc::Sender<Notification>,
    /// Changes of lists, which wait until there is room for them.
    changes: Vec<Notification>,
    untidy: Arc<AtomicU64>,
}

/// A request on its way to the driver.
#[derive(Debug)]
struct Asked {
    method: &'static str,
    params: String,
    open: Open,
}

/// A request without an answer.
#[derive(Debug)]
struct Open {
    answer: oneshot::Sender<Result<Json, Error>>,
    progress: Option<(u64, mpsc::Sender<Json>)>,
}

impl<R, W> Client<Stdio<R, W>> {
    /// Lets several requests share the connection. The server's notifications go to `notifications`. A change of
    /// a list waits for room, once; others are dropped without.
    #[must_use]
    pub fn multiplexed(
        self,
        notifications: mpsc::Sender<Notification>,
    ) -> (Multiplexed, Driver<R, W>) {
        let (requests, received) = mpsc::channel(QUEUE);
        let given_up = Arc::new(Notify::new());
        let mut inbox = self.inbox;
        inbox.pass_progress();
        let driver = Driver {
            transport: self.transport,
            requests: received,
            given_up: Arc::clone(&given_up),
            open: BTreeMap::new(),
            notifications,
            changes: Vec::new(),
            untidy: Arc::default(),
            inbox,
        };
        let multiplexed = Multiplexed {
            requests,
            given_up,
            next_token: Arc::new(AtomicU64::new(1)),
            identity: self.identity,
            version: self.version,
            server: self.server,
            limits: driver.inbox.limits,
            untidy: Arc::clone(&driver.untidy),
        };
        (multiplexed, driver)
    }
}

impl Multiplexed {
    /// Returns the version that both sides speak.
    #[must_use]
    pub fn version(&self) -> Version {
        self.version
    }

    /// Returns the server's description: the result of `server/discover` or `initialize`.
    #[must_use]
    pub fn server(&self) -> &Json {
        &self.server
    }

    /// Returns how many messages of the server could not be read, or answered nothing.
    #[must_use]
    pub fn untidy(&self) -> u64 {
        self.untidy.load(Ordering::Relaxed)
    }

    /// Lists all tools, as [`Client::list_tools`].
    ///
    /// # Errors
    ///
    /// When a page does not arrive, or the list passes a limit.
    pub async fn list_tools(&self, wait: &Wait) -> Result<ToolList, Error> {
        self.pages("tools/list", "tools", wait).await?.finish()
    }

    /// Returns the whole list of a method, as [`Client::list`].
    ///
    /// # Errors
    ///
    /// When a page does not arrive, or the list passes a limit.
    pub async fn list(
        &self,
        method: &'static str,
        member: &'static str,
        wait: &Wait,
    ) -> Result<Json, Error> {
        Ok(self.pages(method, member, wait).await?.finish()?.json)
    }

    /// Sends a request with an object of parameters, and returns the result as it was received, as
    /// [`Client::ask`]. Dropping the future cancels the request at the server.
    ///
    /// # Errors
    ///
    /// As [`Client::ask`].
    pub async fn ask(
        &self,
        method: &'static str,
        params: &Json,
        wait: &Wait,
    ) -> Result<Json, Error> {
        let members = identity::members(params);
        let result = self.request(method, members, (None, None), wait).await?;
        requires_input(&result, self.version.generation())?;
        Ok(result)
    }

    async fn pages(
        &self,
        method: &'static str,
        member: &'static str,
        wait: &Wait,
    ) -> Result<Pages, Error> {
        let mut pages = Pages::new(member);
        let mut cursor: Option<String> = None;
        loop {
            let members = identity::page(cursor.as_deref());
            let page = self.request(method, members, (None, None), wait).await?;
            check_complete(&page, self.version.generation())?;
            let next = pages.add(&page, false, &self.limits)?;
            if next.is_some() && next == cursor {
                return Err(Error::protocol("a page names itself as the next one"));
            }
            match next {
                Some(next) => cursor = Some(next),
                None => return Ok(pages),
            }
        }
    }

    /// Calls a tool, and returns the result as it was received, as [`Client::call`]. Reports of
    /// progress go to `progress`: the parameters of the notifications. The server's span belongs to that of
    /// `traceparent` \[W3C Trace Context\]. Dropping the future cancels the call at the server.
    ///
    /// # Errors
    ///
    /// When the server answers with an error, or there is no answer. A tool's own error is a result.
    pub async fn call(
        &self,
        call: &Call<'_>,
        progress: Option<mpsc::Sender<Json>>,
        traceparent: Option<&str>,
        wait: &Wait,
    ) -> Result<Json, Error> {
        let about = (progress, traceparent);
        let result = self.request("tools/call", call.members(), about, wait);
        let result = result.await?;
        requires_input(&result, self.version.generation())?;
        Ok(result)
    }

    /// Sends a request, and returns its result, whose type the caller checks.
    async fn request(
        &self,
        method: &'static str,
        members: Vec<String>,
        (progress, traceparent): (Option<mpsc::Sender<Json>>, Option<&str>),
        wait: &Wait,
    ) -> Result<Json, Error> {
        let progress = progress.map(|sender| {
            let token = self.next_token.fetch_add(1, Ordering::Relaxed);
            (token, sender)
        });
        let token = progress.as_ref().map(|(token, _)| *token);
        let params = (self.identity).params(self.version, members, token, traceparent);
        let (answer, answered) = oneshot::channel();
        let asked = Asked {
            method,
            params,
            open: Open { answer, progress },
        };
        let closed = || Error::Closed("the connection has ended");
        let exchange = async {
            let sent = self.requests.send(asked).await;
            sent.map_err(|_| closed())?;
            // Announces the end of the wait, however it ends.
            let _wakes = Wakes(&self.given_up);
            answered.await.map_err(|_| closed())?
        };
        wait.within(exchange).await
    }
}

/// Wakes the driver when it is dropped.
struct Wakes<'n>(&'n Notify);

impl Drop for Wakes<'_> {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

impl<R, W> Driver<R, W>
where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send,
{
    /// Moves messages until the connection ends, and returns the reason. Every open request gets it too.
    pub async fn run(mut self) -> Error {
        let error = match self.moves().await {
            Ok(()) => Error::Closed("nobody uses the connection any more"),
            Err(error) => error,
        };
        for (_, open) in std::mem::take(&mut self.open) {
            let _ = open.answer.send(Err(error.clone()));
        }
        error
    }

    /// Moves messages until the last sender of requests is dropped.
    async fn moves(&mut self) -> Result<(), Error> {
        let mut counted = interval(COUNTED);
        counted.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let given_up = Arc::clone(&self.given_up);
        let notifications = self.notifications.clone();
        loop {
            tokio::select! {
                line = self.transport.next_line() => self.receive(line?)?,
                asked = self.requests.recv() => match asked {
                    Some(asked) => self.send(asked),
                    None => return Ok(()),
                },
                room = notifications.reserve(), if !self.changes.is_empty() => {
                    // Without a receiver nobody wants to know.
                    let change = self.changes.remove(0);
                    if let Ok(room) = room {
                        room.send(change);
                    }
                }
                () = given_up.notified() => self.cancel_abandoned(),
                _ = counted.tick() => self.inbox.renew(),
            }
        }
    }

    fn receive(&mut self, line: Line) -> Result<(), Error> {
        let received = self.inbox.receive_line(line)?;
        self.untidy
            .store(self.inbox.traffic.untidy, Ordering::Relaxed);
        match received {
            Received::Answer(id, outcome) => {
                if let Some(open) = self.open.remove(&id) {
                    // The caller may have gone.
                    let _ = open.answer.send(outcome.map_err(Error::Rpc));
                }
            }
            Received::Unreadable(id, error) => {
                if let Some(open) = self.open.remove(&id) {
                    let _ = open.answer.send(Err(error));
                }
            }
            Received::Reply(reply) => self.transport.reply(&reply),
            Received::Progress(params) => self.report(params),
            Received::Nothing => {}
        }
        for notification in self.inbox.take_notifications() {
            if !notification.is_change() {
                let _ = self.notifications.try_send(notification);
            } else if !self.changes.contains(&notification) {
                self.changes.push(notification);
            }
        }
        Ok(())
    }

    /// Passes progress on to the caller that it is about.
    fn report(&self, params: Json) {
        let token = params.member("progressToken");
        let Some(token) = token.filter(|token| token.kind() == Some(Kind::Number)) else {
            return;
        };
        let mut callers = self.open.values().filter_map(|open| open.progress.as_ref());
        if let Some((_, sender)) = callers.find(|(own, _)| token.as_str() == own.to_string()) {
            let _ = sender.try_send(params);
        }
    }

    fn send(&mut self, asked: Asked) {
        if asked.open.answer.is_closed() {
            return;
        }
        let id = self.inbox.open();
        let frame = write_request(&id.into(), asked.method, &asked.params);
        self.transport.queue(&frame);
        self.open.insert(id, asked.open);
    }

    /// Cancels the requests whose callers are gone.
    fn cancel_abandoned(&mut self) {
        let abandoned = self.open.iter().filter(|(_, open)| open.answer.is_closed());
        for id in abandoned.map(|(id, _)| *id).collect::<Vec<_>>() {
            self.open.remove(&id);
            self.inbox.give_up(id);
            let params = format!(r#"{{"requestId":{id}}}"#);
            let cancelled = write_notification("notifications/cancelled", Some(&params));
            self.transport.queue(&cancelled);
        }
    }
}

/// Returns a channel for the progress of one call.
#[must_use]
pub fn progress() -> (mpsc::Sender<Json>, mpsc::Receiver<Json>) {
    mpsc::channel(PROGRESS)
}
