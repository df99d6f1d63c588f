//! Bytes between both sides of a WebSocket.

use crate::buffer::Buffer;
use crate::deadline::Deadline;
use crate::exchange::Side;
use crate::flow::{Flow, Framing, Source};
use crate::limits::{BUFFER_BYTES, Limits};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite};

/// One direction of a tunnel.
struct Direction {
    flow: Flow,
    is_done: bool,
}

impl Direction {
    fn new() -> Self {
        let mut flow = Flow::new(Vec::new());
        flow.body(Source::UntilEnd, Framing::Plain, u64::MAX);
        Self {
            flow,
            is_done: false,
        }
    }

    /// Moves what is there. The end of one side ends the other side's input.
    fn poll<R: AsyncRead + Unpin, W: AsyncWrite + Unpin>(
        &mut self,
        reader: &mut R,
        input: &mut Buffer,
        writer: &mut W,
        has_moved: &mut bool,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        while !self.is_done {
            ready!(self.flow.poll_flush(writer, input, context))?;
            if self.flow.is_taken() {
                ready!(Pin::new(&mut *writer).poll_shutdown(context))?;
                self.is_done = true;
                break;
            }
            // A stream without an own end is never broken.
            if self.flow.feed(input).unwrap_or(false) {
                continue;
            }
            let number = ready!(input.poll_fill(reader, BUFFER_BYTES, context))?;
            *has_moved = true;
            if number == 0 {
                let _ = self.flow.end();
            }
        }
        Poll::Ready(Ok(()))
    }
}

/// A tunnel between a client and an app.
pub(crate) struct Tunnel<'a, C, A> {
    client: Side<'a, C>,
    app: Side<'a, A>,
    up: Direction,
    down: Direction,
    has_moved: bool,
}

impl<'a, C, A> Tunnel<'a, C, A>
where
    C: AsyncRead + AsyncWrite + Unpin,
    A: AsyncRead + AsyncWrite + Unpin,
{
    pub(crate) fn new(client: Side<'a, C>, app: Side<'a, A>) -> Self {
        Self {
            client,
            app,
            up: Direction::new(),
            down: Direction::new(),
            has_moved: true,
        }
    }

    /// Is ready when both directions have ended, one has failed, or nothing was sent for too long.
    pub(crate) fn poll(
        &mut self,
        limits: &Limits,
        deadline: &mut Deadline,
        context: &mut Context<'_>,
    ) -> Poll<()> {
        let moved = &mut self.has_moved;
        let (client, app) = (&mut self.client, &mut self.app);
        let up = self
            .up
            .poll(client.stream, client.input, app.stream, moved, context);
        let down = self
            .down
            .poll(app.stream, app.input, client.stream, moved, context);
        match (up, down) {
            (Poll::Ready(Err(_)), _) | (_, Poll::Ready(Err(_))) => return Poll::Ready(()),
            (Poll::Ready(Ok(())), Poll::Ready(Ok(()))) => return Poll::Ready(()),
            _ => {}
        }
        if self.has_moved {
            self.has_moved = false;
            let is_half = self.up.is_done || self.down.is_done;
            deadline.set(if is_half {
                limits.write_time
            } else {
                limits.stream_time
            });
        }
        deadline.poll(context)
    }
}
