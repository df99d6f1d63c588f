//! One direction of a message: a body on its way from one socket to the other.

use crate::buffer::Buffer;
use crate::chunked::{self, Decoder, Found};
use crate::limits::BUFFER_BYTES;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::AsyncWrite;

/// How a body ends where it comes from.
#[derive(Debug)]
pub(crate) enum Source {
    /// So many bytes remain.
    Length(u64),
    Chunked(Decoder),
    /// With the connection.
    UntilEnd,
    Done,
}

/// How a body is sent on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// As it is: the head has said how long it is, or the connection ends with it.
    Plain,
    Chunked {
        /// Whether the fields of a trailer section are sent on.
        trailers: bool,
    },
}

/// Why a body can't go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Broken {
    /// The framing is wrong, or the body ended early.
    Framing,
    /// The body is larger than the limit.
    TooLarge,
}

/// A head and its body on their way.
///
/// A plain body is written from the buffer into which it was read, in one call together with its head.
#[derive(Debug)]
pub(crate) struct Flow {
    source: Source,
    framing: Framing,
    /// What has to be written first: a head, or a body in chunks.
    pub(crate) out: Vec<u8>,
    written: usize,
    /// Bytes at the front of the input that have to be written then.
    direct: usize,
    /// Bytes that the body may still have.
    rest: u64,
}

impl Flow {
    /// A flow that has nothing yet. The memory of `out` is used again.
    pub(crate) fn new(mut out: Vec<u8>) -> Self {
        out.clear();
        Self {
            source: Source::Done,
            framing: Framing::Plain,
            out,
            written: 0,
            direct: 0,
            rest: u64::MAX,
        }
    }

    /// A flow that starts with a head.
    pub(crate) fn with_head(head: Vec<u8>) -> Self {
        let mut flow = Self::new(Vec::new());
        flow.out = head;
        flow
    }

    /// Lets a body follow.
    pub(crate) fn body(&mut self, source: Source, framing: Framing, limit: u64) {
        self.source = match source {
            Source::Length(0) => Source::Done,
            source => source,
        };
        (self.framing, self.rest) = (framing, limit);
    }

    /// Starts again to write what was not followed by a body.
    pub(crate) fn rewind(&mut self) {
        self.written = 0;
    }

    /// Returns whether the whole body was taken from the input.
    pub(crate) fn is_taken(&self) -> bool {
        matches!(self.source, Source::Done)
    }

    /// Returns whether everything that was taken was written.
    pub(crate) fn is_flushed(&self) -> bool {
        self.written == self.out.len() && self.direct == 0
    }

    /// Gives the memory of `out` back.
    pub(crate) fn into_out(self) -> Vec<u8> {
        self.out
    }

    /// Writes everything that was taken.
    pub(crate) fn poll_flush<W: AsyncWrite + Unpin>(
        &mut self,
        writer: &mut W,
        input: &mut Buffer,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        while !self.is_flushed() {
            let first = &self.out[self.written..];
            let writer = Pin::new(&mut *writer);
            let number = match (first, self.direct) {
                (first, 0) => ready!(writer.poll_write(context, first))?,
                ([], direct) => ready!(writer.poll_write(context, &input.data()[..direct]))?,
                (first, direct) => {
                    let parts = [IoSlice::new(first), IoSlice::new(&input.data()[..direct])];
                    ready!(writer.poll_write_vectored(context, &parts))?
                }
            };
            if number == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            let of_first = number.min(first.len());
            self.written += of_first;
            self.direct -= number - of_first;
            input.consume(number - of_first);
        }
        Poll::Ready(Ok(()))
    }

    /// Takes from the input what is there. Returns whether it took something or found the end.
    ///
    /// Everything that was taken before must be written.
    pub(crate) fn feed(&mut self, input: &mut Buffer) -> Result<bool, Broken> {
        let is_plain = self.framing == Framing::Plain;
        match &mut self.source {
            Source::Done => Ok(false),
            Source::Length(rest) => {
                let here = usize::try_from(*rest).unwrap_or(usize::MAX);
                self.direct = here.min(input.data().len());
                *rest -= self.direct as u64;
                if *rest == 0 {
                    self.source = Source::Done;
                }
                Ok(self.direct > 0)
            }
            Source::UntilEnd if is_plain => {
                self.direct = input.data().len();
                Ok(self.direct > 0)
            }
            Source::UntilEnd => {
                if input.is_empty() {
                    return Ok(false);
                }
                self.reuse();
                chunked::write(input.data(), &mut self.out);
                input.clear();
                Ok(true)
            }
            Source::Chunked(_) => self.feed_chunks(input),
        }
    }

    fn feed_chunks(&mut self, input: &mut Buffer) -> Result<bool, Broken> {
        // The head may still be there: what is taken follows it.
        if self.is_flushed() {
            self.reuse();
        }
        let Source::Chunked(decoder) = &mut self.source else {
            return Ok(false);
        };
        let mut has_moved = false;
        while self.out.len() < BUFFER_BYTES {
            let used = match decoder.step(input.data()).map_err(|_| Broken::Framing)? {
                Found::Nothing => break,
                Found::Framing(used) => used,
                Found::Data(data) => {
                    let length = data.len();
                    self.rest = match self.rest.checked_sub(length as u64) {
                        Some(rest) => rest,
                        None => return Err(Broken::TooLarge),
                    };
                    match self.framing {
                        Framing::Plain => self.out.extend_from_slice(data),
                        Framing::Chunked { .. } => chunked::write(data, &mut self.out),
                    }
                    length
                }
                Found::End(used) => {
                    if let Framing::Chunked { trailers } = self.framing {
                        self.out.extend_from_slice(b"0\r\n");
                        let section = if trailers {
                            &input.data()[..used]
                        } else {
                            b"\r\n"
                        };
                        chunked::write_trailers(section, &mut self.out);
                    }
                    used
                }
            };
            input.consume(used);
            has_moved = true;
            if decoder.is_done() {
                self.source = Source::Done;
                break;
            }
        }
        Ok(has_moved)
    }

    fn reuse(&mut self) {
        if self.is_flushed() {
            self.out.clear();
            self.written = 0;
        }
    }

    /// Takes the end of the input.
    pub(crate) fn end(&mut self) -> Result<(), Broken> {
        match self.source {
            Source::Done => Ok(()),
            Source::UntilEnd => {
                self.source = Source::Done;
                if matches!(self.framing, Framing::Chunked { .. }) {
                    self.reuse();
                    self.out.extend_from_slice(b"0\r\n\r\n");
                }
                Ok(())
            }
            Source::Length(_) | Source::Chunked(_) => Err(Broken::Framing),
        }
    }
}
