//! One request and its response, both on their way at the same time.

use crate::buffer::Buffer;
use crate::deadline::Deadline;
use crate::flow::{Broken, Flow};
use crate::limits::{BUFFER_BYTES, HEAD_BYTES, INTERIM_RESPONSES, Limits};
use crate::refusal::Refusal;
use crate::request::Facts;
use crate::response::{Answer, BadResponse, translate};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};

/// A socket with what was read of it.
pub(crate) struct Side<'a, S> {
    pub(crate) stream: &'a mut S,
    pub(crate) input: &'a mut Buffer,
}

/// How an exchange ends.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The client has the whole response.
    Done {
        /// Whether the app's connection can be used again.
        is_kept: bool,
        /// Whether the client's connection ends.
        is_close: bool,
    },
    /// Both sides have left HTTP.
    Upgraded,
    /// The app had closed its idle connection, and the request can be sent again.
    Stale,
    /// The client has nothing of a response yet.
    Refused(Refusal),
    /// The client has gone, or the response broke off: its connection must end.
    Broken,
}

/// What an exchange waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wait {
    /// The client reads.
    ClientReads,
    /// The client sends its body.
    ClientWrites,
    /// The app does something.
    App,
}

enum Stage {
    /// The head of the response, after so many interim ones.
    Head(u32),
    Body {
        is_kept: bool,
        is_close: bool,
    },
    Upgraded,
}

/// An exchange between a client and an app.
pub(crate) struct Exchange<'a, C, A> {
    request: &'a Facts,
    limits: &'a Limits,
    client: Side<'a, C>,
    app: Side<'a, A>,
    /// Whether the apps of other tasks have the same origin.
    is_shared: bool,
    is_reused: bool,
    /// To the app.
    pub(crate) up: Flow,
    /// To the client.
    pub(crate) down: Flow,
    stage: Stage,
    /// Whether the app still reads.
    is_heard: bool,
    /// Bytes of the response's head in which the end was not found.
    seen: usize,
    has_moved: bool,
}

impl<'a, C, A> Exchange<'a, C, A>
where
    C: AsyncRead + AsyncWrite + Unpin,
    A: AsyncRead + AsyncWrite + Unpin,
{
    /// Starts an exchange. `up` has the head of the request.
    pub(crate) fn new(
        request: &'a Facts,
        limits: &'a Limits,
        (client, app): (Side<'a, C>, Side<'a, A>),
        (up, down): (Flow, Flow),
        is_shared: bool,
        is_reused: bool,
    ) -> Self {
        Self {
            request,
            limits,
            client,
            app,
            is_shared,
            is_reused,
            up,
            down,
            stage: Stage::Head(0),
            is_heard: true,
            seen: 0,
            has_moved: true,
        }
    }

    /// Moves what can be moved.
    pub(crate) fn poll(&mut self, deadline: &mut Deadline, context: &mut Context<'_>) -> Poll<End> {
        let up = match self.poll_up(context) {
            Ok(wait) => wait,
            Err(end) => return Poll::Ready(end),
        };
        let down = match self.poll_down(context) {
            Ok(wait) => wait,
            Err(end) => return Poll::Ready(end),
        };
        let is_head = matches!(self.stage, Stage::Head(_));
        let (wait, time) = match (up, down) {
            (_, Wait::ClientReads) => (Wait::ClientReads, self.limits.write_time),
            (Wait::ClientWrites, _) if is_head => (Wait::ClientWrites, self.limits.body_time),
            _ if is_head => (Wait::App, self.limits.response_time),
            _ => (Wait::App, self.limits.stream_time),
        };
        self.poll_time(wait, time, deadline, context)
    }

    fn poll_time(
        &mut self,
        wait: Wait,
        time: Duration,
        deadline: &mut Deadline,
        context: &mut Context<'_>,
    ) -> Poll<End> {
        if self.has_moved {
            self.has_moved = false;
            deadline.set(time);
        }
        deadline.poll(context).map(|()| match wait {
            Wait::ClientReads => End::Broken,
            Wait::ClientWrites => self.refuse(Refusal::new(
                408,
                "the body of the request did not arrive in time",
            )),
            Wait::App => self.refuse(Refusal::new(504, "the app did not respond in time")),
        })
    }

    /// Ends an exchange of which the client may have something already.
    fn refuse(&self, refusal: Refusal) -> End {
        match self.stage {
            Stage::Head(_) => End::Refused(refusal),
            _ => End::Broken,
        }
    }

    /// Sends the request, and watches the client when that is done.
    fn poll_up(&mut self, context: &mut Context<'_>) -> Result<Wait, End> {
        while self.is_heard {
            let (app, input) = (&mut *self.app.stream, &mut *self.client.input);
            match self.up.poll_flush(app, input, context) {
                Poll::Pending => return Ok(Wait::App),
                Poll::Ready(Ok(())) => {}
                // The app may have responded before it closed.
                Poll::Ready(Err(_)) => self.is_heard = false,
            }
            if self.up.is_taken() {
                break;
            }
            match self.up.feed(self.client.input) {
                Ok(true) => {
                    self.has_moved = true;
                    continue;
                }
                Ok(false) => {}
                Err(broken) => return Err(self.refuse(broken_body(broken, self.limits))),
            }
            if self.poll_client(context)?.is_pending() {
                return Ok(Wait::ClientWrites);
            }
        }
        // The end of a client's stream cancels its request. What it sends early is the next one.
        while self.client.input.has_room(HEAD_BYTES) {
            if self.poll_client(context)?.is_pending() {
                break;
            }
        }
        Ok(Wait::App)
    }

    fn poll_client(&mut self, context: &mut Context<'_>) -> Result<Poll<()>, End> {
        let input = &mut *self.client.input;
        match input.poll_fill(self.client.stream, BUFFER_BYTES, context) {
            Poll::Pending => Ok(Poll::Pending),
            Poll::Ready(Ok(number)) if number > 0 => {
                self.has_moved = true;
                Ok(Poll::Ready(()))
            }
            Poll::Ready(_) => Err(End::Broken),
        }
    }

    /// Passes the response on.
    fn poll_down(&mut self, context: &mut Context<'_>) -> Result<Wait, End> {
        loop {
            let (client, input) = (&mut *self.client.stream, &mut *self.app.input);
            match self.down.poll_flush(client, input, context) {
                Poll::Pending => return Ok(Wait::ClientReads),
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(_)) => return Err(End::Broken),
            }
            let has_moved = match self.stage {
                Stage::Upgraded => return Err(End::Upgraded),
                Stage::Body { is_kept, is_close } if self.down.is_taken() => {
                    let is_sent = self.is_heard && self.up.is_taken() && self.up.is_flushed();
                    return Err(End::Done {
                        is_kept: is_kept && is_sent && self.app.input.is_empty(),
                        is_close: is_close || !self.up.is_taken(),
                    });
                }
                Stage::Body { .. } => {
                    // A part of the response is with the client: it can only be broken off.
                    self.down.feed(self.app.input).map_err(|_| End::Broken)?
                }
                Stage::Head(interim) => self.take_head(interim).map_err(|bad| {
                    self.refuse(Refusal::new(502, bad.0).help("the app breaks a rule of HTTP"))
                })?,
            };
            if has_moved {
                self.has_moved = true;
                continue;
            }
            let input = &mut *self.app.input;
            match input.poll_fill(self.app.stream, BUFFER_BYTES, context) {
                Poll::Pending => return Ok(Wait::App),
                Poll::Ready(Ok(number)) if number > 0 => self.has_moved = true,
                Poll::Ready(ended) => self.take_end(ended.is_ok())?,
            }
        }
    }

    /// Reads the head of the response. Returns whether there was a whole one.
    fn take_head(&mut self, interim: u32) -> Result<bool, BadResponse> {
        let data = self.app.input.data();
        let news = &data[self.seen.min(data.len())..];
        if data.len() <= HEAD_BYTES && memchr::memchr(b'\n', news).is_none() {
            self.seen = data.len();
            return Ok(false);
        }
        self.seen = data.len();
        // A request that is not read to its end leaves no place where the next one begins.
        let is_close = self.request.is_close || !self.up.is_taken();
        self.down.out.clear();
        self.down.rewind();
        let out = &mut self.down.out;
        let Some((length, answer)) = translate(data, self.request, self.is_shared, is_close, out)?
        else {
            return Ok(false);
        };
        self.app.input.consume(length);
        self.seen = 0;
        match answer {
            Answer::Interim if interim >= INTERIM_RESPONSES => {
                return Err(BadResponse(
                    "the app sends interim responses without an end",
                ));
            }
            Answer::Interim => self.stage = Stage::Head(interim + 1),
            Answer::Upgraded => self.stage = Stage::Upgraded,
            Answer::Final {
                source,
                framing,
                is_kept,
                is_close,
            } => {
                self.down.body(source, framing, u64::MAX);
                // What is there of the body is written together with the head.
                if self.down.feed(self.app.input).is_err() {
                    self.down.out.clear();
                    return Err(BadResponse(
                        "the chunks of the app's response are malformed",
                    ));
                }
                self.stage = Stage::Body { is_kept, is_close };
            }
        }
        Ok(true)
    }

    /// Takes the end of the app's stream, or its failure.
    fn take_end(&mut self, is_regular: bool) -> Result<(), End> {
        match self.stage {
            Stage::Body { .. } if is_regular => self.down.end().map_err(|_| End::Broken),
            Stage::Head(0) if self.app.input.is_empty() => {
                if self.is_reused && self.request.is_repeatable {
                    return Err(End::Stale);
                }
                Err(self.refuse(Refusal::new(
                    502,
                    "the app closed the connection without a response",
                )))
            }
            Stage::Head(_) => {
                Err(self.refuse(Refusal::new(502, "the app's response ends within its head")))
            }
            _ => Err(End::Broken),
        }
    }
}

/// A body of a request that can't go on.
pub(crate) fn broken_body(broken: Broken, limits: &Limits) -> Refusal {
    match broken {
        Broken::Framing => Refusal::bad("the chunks of the body are malformed"),
        Broken::TooLarge => too_large(limits),
    }
}

/// A body that is larger than the limit.
pub(crate) fn too_large(limits: &Limits) -> Refusal {
    let limit = limits.body_bytes;
    Refusal::new(
        413,
        format!("the body of the request is larger than {limit} bytes"),
    )
}
