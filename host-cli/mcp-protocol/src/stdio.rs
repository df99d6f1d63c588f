//! The transport over a pair of streams, such as the pipes of a child process.

use crate::error::Error;
use crate::inbox::{Inbox, Received};
use crate::limits::{FAREWELL, REPLY_BYTES};
use crate::lines::{Line, Lines};
use crate::message::write_notification;
use crate::transport::{Outgoing, RpcAnswer, Transport};
use crate::version::Version;
use crate::wait::Wait;
use bytes::{Buf as _, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};

/// Messages as lines over a pair of streams. The caller owns the process, and its standard error.
#[derive(Debug)]
pub struct Stdio<R, W> {
    lines: Lines<R>,
    writer: W,
    /// Bytes to write. They stay here when an operation ends early, so that no line is cut.
    outgoing: BytesMut,
    /// Whether the writer may hold bytes that are not flushed.
    unflushed: bool,
    /// Whether the stream ended.
    ended: bool,
}

impl<R, W> Stdio<R, W>
where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send,
{
    /// Returns a transport that reads messages of at most `frame_bytes` from `reader`, the standard
    /// output of a server, and writes to `writer`, its standard input.
    pub fn new(reader: R, writer: W, frame_bytes: usize) -> Self {
        Self {
            lines: Lines::new(reader, frame_bytes),
            writer,
            outgoing: BytesMut::new(),
            unflushed: false,
            ended: false,
        }
    }

    pub(crate) fn queue(&mut self, frame: &str) {
        self.outgoing.extend_from_slice(frame.as_bytes());
        self.outgoing.extend_from_slice(b"\n");
    }

    /// Adds the reply to a request of the server, unless it reads none.
    pub(crate) fn reply(&mut self, reply: &str) {
        if self.outgoing.len() < REPLY_BYTES {
            self.queue(reply);
        }
    }

    /// Reads the next line, and writes the queue at the same time: a server whose output is full may not
    /// read its input.
    pub(crate) async fn next_line(&mut self) -> Result<Line, Error> {
        loop {
            tokio::select! {
                biased;
                line = self.lines.next() => {
                    return line?.ok_or(Error::Closed("the server closed its output"));
                }
                written = write_some(&mut self.writer, &mut self.outgoing, &mut self.unflushed),
                    if !self.outgoing.is_empty() || self.unflushed => written?,
            }
        }
    }

    async fn write_all(&mut self) -> Result<(), Error> {
        while !self.outgoing.is_empty() || self.unflushed {
            write_some(&mut self.writer, &mut self.outgoing, &mut self.unflushed).await?;
        }
        Ok(())
    }

    async fn answer(&mut self, inbox: &mut Inbox) -> Result<RpcAnswer, Error> {
        loop {
            let line = self.next_line().await?;
            // Nobody else waits for what follows, so it need not be read to its end.
            if let Line::Part { id: Some(id), .. } = &line
                && inbox.is_open(id)
            {
                return Err(Error::TooLarge {
                    what: "a message",
                    limit: inbox.limits.frame_bytes,
                });
            }
            match inbox.receive_line(line)? {
                Received::Answer(_, outcome) => return Ok(RpcAnswer { outcome }),
                Received::Unreadable(_, error) => return Err(error),
                Received::Reply(reply) => self.reply(&reply),
                Received::Progress(_) | Received::Nothing => {}
            }
        }
    }
}

/// Writes some of the queue. The future can be dropped without loss.
async fn write_some(
    writer: &mut (impl AsyncWrite + Unpin),
    queue: &mut BytesMut,
    unflushed: &mut bool,
) -> Result<(), Error> {
    let closed = |_| Error::Closed("the server closed its input");
    if queue.is_empty() {
        writer.flush().await.map_err(closed)?;
        *unflushed = false;
        return Ok(());
    }
    let written = writer.write(queue).await.map_err(closed)?;
    if written == 0 {
        return Err(Error::Closed("the server closed its input"));
    }
    queue.advance(written);
    *unflushed = true;
    Ok(())
}

impl<R, W> Transport for Stdio<R, W>
where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send,
{
    const HAS_HEADERS: bool = false;

    fn limit(&mut self, frame_bytes: usize) {
        self.lines.limit(frame_bytes);
    }

    async fn exchange(
        &mut self,
        request: &Outgoing<'_>,
        inbox: &mut Inbox,
        wait: &Wait,
    ) -> Result<RpcAnswer, Error> {
        if self.ended {
            return Err(Error::Closed("the connection has ended"));
        }
        self.queue(&request.frame());
        let answer = wait.within(self.answer(inbox)).await;
        self.ended = matches!(answer, Err(Error::Closed(_)));
        answer
    }

    async fn notify(&mut self, notification: String, _: Version, wait: &Wait) -> Result<(), Error> {
        self.queue(&notification);
        wait.within(self.write_all()).await
    }

    async fn abandon(&mut self, id: u64, _: Version) {
        let params = format!(r#"{{"requestId":{id}}}"#);
        self.queue(&write_notification(
            "notifications/cancelled",
            Some(&params),
        ));
        // The next operation writes the rest.
        let _ = Wait::time(FAREWELL).within(self.write_all()).await;
    }

    async fn close(mut self, wait: &Wait) -> Result<(), Error> {
        // A server exits at the end of its input.
        let closed = |_| Error::Closed("the server closed its input");
        let shut = async { self.writer.shutdown().await.map_err(closed) };
        wait.within(shut).await
    }
}
