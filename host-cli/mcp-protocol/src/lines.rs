//! Framing by lines: one message each, without line breaks in it.

use crate::error::Error;
use bytes::{Buf as _, Bytes, BytesMut};
use std::io;
use tokio::io::{AsyncRead, AsyncReadExt as _};

/// Number of bytes to make room for before each read.
const READ: usize = 16 << 10;

/// A reader of lines of limited size.
#[derive(Debug)]
pub struct Lines<R> {
    reader: R,
    buffer: BytesMut,
    /// The bytes of the buffer that hold no line break.
    searched: usize,
    limit: usize,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// Returns a reader of lines of at most `limit` bytes, without the line break.
    pub fn new(reader: R, limit: usize) -> Self {
        Self {
            reader,
            buffer: BytesMut::new(),
            searched: 0,
            limit,
        }
    }

    /// Limits the next lines to `limit` bytes.
    pub fn limit(&mut self, limit: usize) {
        self.limit = limit;
    }

    /// Waits for the next line. Returns it without its line break, and `None` at the end.
    ///
    /// The future can be dropped and called again without loss.
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`] for a longer line, and [`Error::Closed`] when the stream fails or ends
    /// within a line.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        loop {
            if let Some(line) = self.line()? {
                return Ok(Some(line));
            }
            self.buffer.reserve(READ);
            let read = self.reader.read_buf(&mut self.buffer).await;
            match read.map_err(closed)? {
                0 if self.buffer.is_empty() => return Ok(None),
                0 => return Err(Error::Closed("the stream ended within a message")),
                _ => {}
            }
        }
    }

    /// Takes a whole line from the buffer.
    fn line(&mut self) -> Result<Option<Bytes>, Error> {
        let new = &self.buffer[self.searched..];
        let end = new.iter().position(|byte| *byte == b'\n');
        let length = self.searched + end.unwrap_or(new.len());
        if length > self.limit {
            return Err(Error::TooLarge {
                what: "a message",
                limit: self.limit,
            });
        }
        if end.is_none() {
            self.searched = self.buffer.len();
            return Ok(None);
        }
        let line = self.buffer.split_to(length).freeze();
        self.buffer.advance(1);
        self.searched = 0;
        Ok(Some(line))
    }
}

fn closed(_: io::Error) -> Error {
    Error::Closed("the stream can't be read")
}

#[cfg(test)]
mod tests {
    use super::Lines;
    use crate::Error;
    use proptest::collection::vec;
    use proptest::prelude::{Strategy as _, any, prop_assert_eq, proptest};
    use tokio::io::AsyncWriteExt as _;

    /// Reads all lines of chunks that arrive one after the other.
    fn read(chunks: &[Vec<u8>], limit: usize) -> (Vec<Vec<u8>>, Option<Error>) {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        runtime.unwrap().block_on(async {
            let (mut writer, reader) = tokio::io::duplex(8);
            let mut lines = Lines::new(reader, limit);
            let write = async {
                for chunk in chunks {
                    if writer.write_all(chunk).await.is_err() {
                        break;
                    }
                }
                drop(writer);
            };
            let read = async {
                let mut found = Vec::new();
                loop {
                    match lines.next().await {
                        Ok(Some(line)) => found.push(line.to_vec()),
                        Ok(None) => return (found, None),
                        Err(error) => return (found, Some(error)),
                    }
                }
            };
            tokio::select! {
                read = read => read,
                ((), read) = async { tokio::join!(write, std::future::pending()) } => read,
            }
        })
    }

    proptest! {
        #[test]
        fn lines_are_the_same_for_all_boundaries_of_chunks(
            lines in vec(vec((0..=u8::MAX).prop_filter("a line break", |b| *b != b'\n'), 0..40), 0..8),
            cuts in vec(any::<proptest::sample::Index>(), 0..12),
        ) {
            let mut whole = Vec::new();
            for line in &lines {
                whole.extend_from_slice(line);
                whole.push(b'\n');
            }
            let mut ends: Vec<_> = cuts.iter().map(|cut| cut.index(whole.len() + 1)).collect();
            ends.push(whole.len());
            ends.sort_unstable();
            let mut start = 0;
            let mut chunks = Vec::new();
            for end in ends {
                chunks.push(whole[start..end].to_vec());
                start = end;
            }
            prop_assert_eq!(read(&chunks, 40), (lines, None));
        }
    }

    #[test]
    fn a_line_may_have_its_limit_and_no_byte_more() {
        let line = |length| vec![b'x'; length];
        let whole = |length| [line(length), vec![b'\n']].concat();
        assert_eq!(read(&[whole(20)], 20), (vec![line(20)], None));
        let too_large = Error::TooLarge {
            what: "a message",
            limit: 20,
        };
        assert_eq!(read(&[whole(21)], 20), (vec![], Some(too_large.clone())));
        // Without a line break at all.
        assert_eq!(read(&[line(100_000)], 20), (vec![], Some(too_large)));
    }

    #[test]
    fn an_end_within_a_line_is_an_error() {
        let (lines, error) = read(&[b"a\nb".to_vec()], 20);
        assert_eq!(lines, [b"a"]);
        assert!(matches!(error, Some(Error::Closed(_))));
    }
}
