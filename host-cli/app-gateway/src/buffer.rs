//! Bytes that were read and not yet consumed.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, ReadBuf};

/// The size of a buffer until something larger arrives, in bytes.
const FIRST_BYTES: usize = 8 << 10;

/// A buffer that is read into at its end and consumed from its front.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
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

    /// Frees the memory of a stream that is over. What is in the buffer stays.
    pub(crate) fn shrink(&mut self) {
        if self.is_empty() && self.bytes.len() > FIRST_BYTES {
            self.bytes = Vec::new();
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
        if self.end == self.bytes.len() {
            self.make_room(limit);
        }
        let mut room = ReadBuf::new(&mut self.bytes[self.end..]);
        ready!(Pin::new(reader).poll_read(context, &mut room))?;
        let number = room.filled().len();
        self.end += number;
        Poll::Ready(Ok(number))
    }

    fn make_room(&mut self, limit: usize) {
        if self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        } else {
            let size = (self.bytes.len() * 4).clamp(FIRST_BYTES.min(limit), limit);
            self.bytes.resize(size.max(self.bytes.len()), 0);
        }
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
