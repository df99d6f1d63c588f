//! Bytes that were read and not yet consumed.

use crate::limits::SPARE_BUFFERS;
use std::cell::RefCell;
use std::io;
use std::mem::{replace, take};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, ReadBuf};

/// The size of a buffer until something larger arrives, in bytes.
const FIRST_BYTES: usize = 8 << 10;

thread_local! {
    /// The memory of streams that are over, all of one size: getting it from the system for each is expensive.
    static SPARE: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// A buffer that is read into at its end and consumed from its front.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    /// Whether the last read left no room: more was there than the buffer takes.
    was_full: bool,
}

impl Buffer {
    pub(crate) fn data(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.start == self.end
    }

    pub(crate) fn consume(&mut self, number: usize) {
        self.start += number.min(self.end - self.start);
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
    }

    pub(crate) fn clear(&mut self) {
        (self.start, self.end) = (0, 0);
    }

    /// Gives the memory of a stream back that is over. What is in the buffer stays.
    pub(crate) fn shrink(&mut self) {
        if self.is_empty() && self.bytes.len() > FIRST_BYTES {
            let bytes = take(&mut self.bytes);
            SPARE.with_borrow_mut(|spare| {
                if spare.len() < SPARE_BUFFERS {
                    spare.push(bytes);
                }
            });
        }
    }

    /// Returns whether there is room for more, in a buffer of at most `limit` bytes.
    pub(crate) fn has_room(&self, limit: usize) -> bool {
        self.end - self.start < limit
    }

    /// Reads once. 0 bytes are the end of the stream; the caller checks that there is room.
    ///
    /// A read that does not fill the buffer shows that the socket is empty: the runtime then waits for the next event
    /// without a further call of the system.
    pub(crate) fn poll_fill<R: AsyncRead + Unpin>(
        &mut self,
        reader: &mut R,
        limit: usize,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        if self.end == self.bytes.len() || self.was_full {
            self.make_room(limit);
        }
        let mut room = ReadBuf::new(&mut self.bytes[self.end..]);
        ready!(Pin::new(reader).poll_read(context, &mut room))?;
        let number = room.filled().len();
        self.end += number;
        self.was_full = self.end == self.bytes.len();
        Poll::Ready(Ok(number))
    }

    fn make_room(&mut self, limit: usize) {
        if self.bytes.is_empty() {
            self.bytes.resize(FIRST_BYTES.min(limit), 0);
        } else if self.was_full && self.bytes.len() < limit {
            // A full buffer is a stream.
            let spare = SPARE
                .with_borrow_mut(Vec::pop)
                .filter(|it| it.len() == limit);
            let first = replace(&mut self.bytes, spare.unwrap_or_else(|| vec![0; limit]));
            let data = &first[self.start..self.end];
            self.bytes[..data.len()].copy_from_slice(data);
            (self.start, self.end) = (0, data.len());
        } else if self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        self.was_full = false;
    }
}

#[cfg(test)]
mod tests {
    use super::{Buffer, FIRST_BYTES};
    use std::task::{Context, Poll, Waker};

    fn fill(buffer: &mut Buffer, mut from: &[u8], limit: usize) -> usize {
        let mut context = Context::from_waker(Waker::noop());
        match buffer.poll_fill(&mut from, limit, &mut context) {
            Poll::Ready(Ok(number)) => number,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_buffer_grows_to_its_limit_and_no_further() {
        let mut buffer = Buffer::default();
        let bytes = vec![7; 100_000];
        let limit = 4 * FIRST_BYTES;
        assert_eq!(fill(&mut buffer, &bytes, limit), FIRST_BYTES);
        assert_eq!(fill(&mut buffer, &bytes, limit), 3 * FIRST_BYTES);
        assert!(!buffer.has_room(limit));
        buffer.consume(10);
        assert_eq!(fill(&mut buffer, b"the front is free again", limit), 10);
        assert_eq!(buffer.data().len(), limit);
        assert_eq!(&buffer.data()[limit - 10..], b"the front ");
        assert!(buffer.data()[..limit - 10].iter().all(|byte| *byte == 7));
    }

    #[test]
    fn a_stream_gets_memory_that_is_used_again() {
        let limit = 2 * FIRST_BYTES;
        let place = || {
            let mut buffer = Buffer::default();
            assert_eq!(fill(&mut buffer, &[1; 2 * FIRST_BYTES], limit), FIRST_BYTES);
            // Also where everything was consumed at once.
            buffer.consume(FIRST_BYTES - 1);
            assert_eq!(
                fill(&mut buffer, &[2; 2 * FIRST_BYTES], limit),
                2 * FIRST_BYTES - 1
            );
            assert_eq!(buffer.data()[..2], [1, 2]);
            buffer.consume(2 * FIRST_BYTES);
            let place = buffer.bytes.as_ptr();
            buffer.shrink();
            place
        };
        assert_eq!(place(), place());
    }

    #[test]
    fn an_empty_buffer_starts_again_and_frees_what_a_stream_needed() {
        let mut buffer = Buffer::default();
        fill(&mut buffer, &[1; FIRST_BYTES], 1 << 20);
        fill(&mut buffer, &[2; 3], 1 << 20);
        buffer.shrink();
        assert_eq!(buffer.data().len(), FIRST_BYTES + 3);
        buffer.consume(FIRST_BYTES + 3);
        buffer.shrink();
        assert!(buffer.is_empty() && buffer.bytes.is_empty());
    }
}
