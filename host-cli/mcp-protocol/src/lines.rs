//! Framing by lines: one message each, without line breaks in it.

use crate::error::Error;
use crate::id::Id;
use crate::scan::IdScan;
use bytes::{Buf as _, Bytes, BytesMut};
use std::io;
use tokio::io::{AsyncRead, AsyncReadExt as _};

/// Number of bytes to make room for before each read.
const READ: usize = 16 << 10;

/// A line of a peer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// A whole line, without its line break.
    Whole(Bytes),
    /// A part of a line that is longer than the limit. More of it follows.
    Part {
        /// Its number of bytes.
        bytes: usize,
        /// The id of the answer that it belongs to, as far as it was read.
        id: Option<Id>,
    },
    /// The end of such a line.
    TooLong {
        /// The id of its object, if it has exactly one.
        id: Option<Id>,
        /// Whether it is a request.
        is_request: bool,
    },
}

/// A reader of lines of limited size.
#[derive(Debug)]
pub struct Lines<R> {
    reader: R,
    buffer: BytesMut,
    /// The bytes of the buffer that hold no line break.
    searched: usize,
    limit: usize,
    /// The scan of a line that is longer than the limit.
    scan: Option<IdScan>,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// Returns a reader of lines of at most `limit` bytes, without the line break.
    pub fn new(reader: R, limit: usize) -> Self {
        Self {
            reader,
            buffer: BytesMut::new(),
            searched: 0,
            limit,
            scan: None,
        }
    }

    /// Limits the next lines to `limit` bytes.
    pub fn limit(&mut self, limit: usize) {
        self.limit = limit;
    }

    /// Waits for the next line. Returns `None` at the end. A line beyond the limit takes no memory.
    ///
    /// The future can be dropped and called again without loss.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`] when the stream fails or ends within a line.
    pub async fn next(&mut self) -> Result<Option<Line>, Error> {
        loop {
            if let Some(line) = self.line() {
                return Ok(Some(line));
            }
            self.buffer.reserve(READ);
            let read = self.reader.read_buf(&mut self.buffer).await;
            match read.map_err(closed)? {
                0 if self.buffer.is_empty() && self.scan.is_none() => return Ok(None),
                0 => return Err(Error::Closed("the stream ended within a message")),
                _ => {}
            }
        }
    }

    /// Takes a line, or a part of one that is too long, from the buffer.
    fn line(&mut self) -> Option<Line> {
        let new = &self.buffer[self.searched..];
        let end = new.iter().position(|byte| *byte == b'\n');
        let length = self.searched + end.unwrap_or(new.len());
        if self.scan.is_none() && length <= self.limit {
            if end.is_none() {
                self.searched = self.buffer.len();
                return None;
            }
            let line = self.buffer.split_to(length).freeze();
            self.buffer.advance(1);
            self.searched = 0;
            return Some(Line::Whole(line));
        }
        self.searched = 0;
        let scan = self.scan.get_or_insert_default();
        scan.feed(&self.buffer[..length]);
        self.buffer.advance(length);
        if end.is_none() {
            let id = scan.id().filter(|_| !scan.is_request());
            return (length > 0).then_some(Line::Part { bytes: length, id });
        }
        self.buffer.advance(1);
        let (id, is_request) = (scan.id(), scan.is_request());
        self.scan = None;
        Some(Line::TooLong { id, is_request })
    }
}

fn closed(_: io::Error) -> Error {
    Error::Closed("the stream can't be read")
}

#[cfg(test)]
mod tests {
    use super::{Line, Lines};
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
                        Ok(Some(Line::Whole(line))) => found.push(line.to_vec()),
                        Ok(Some(Line::Part { .. })) => {}
                        Ok(Some(Line::TooLong { id, .. })) => {
                            let id = id.map_or("?".to_owned(), |id| id.to_json());
                            found.push(format!("too long: {id}").into_bytes());
                        }
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
    fn a_line_may_have_its_limit_and_a_longer_one_costs_only_itself() {
        let line = |length| vec![b'x'; length];
        let whole = |length| [line(length), vec![b'\n']].concat();
        assert_eq!(read(&[whole(20)], 20), (vec![line(20)], None));
        let long = b"too long: ?".to_vec();
        let both = [whole(21), whole(3)];
        assert_eq!(read(&both, 20), (vec![long, line(3)], None));
        let result = format!(r#"{{"result":"{}","id":7}}"#, "x".repeat(100_000));
        let found = (vec![b"too long: 7".to_vec(), line(3)], None);
        assert_eq!(
            read(&[result.into_bytes(), b"\n".to_vec(), whole(3)], 20),
            found
        );
        // Without a line break at all.
        let (lines, error) = read(&[line(100_000)], 20);
        assert_eq!(lines, [b""; 0]);
        assert!(matches!(error, Some(Error::Closed(_))), "{error:?}");
    }

    #[test]
    fn an_end_within_a_line_is_an_error() {
        let (lines, error) = read(&[b"a\nb".to_vec()], 20);
        assert_eq!(lines, [b"a"]);
        assert!(matches!(error, Some(Error::Closed(_))));
    }
}
