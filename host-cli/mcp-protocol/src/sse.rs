//! Framing by server-sent events, as the HTML standard defines them.

use crate::error::Error;
use crate::limits::EVENT_ID_BYTES;
use bytes::{Bytes, BytesMut};
use std::collections::VecDeque;
use std::time::Duration;

/// Maximum time that a server can ask for before a stream is resumed, in milliseconds.
const RETRY_MILLISECONDS: u64 = 24 * 60 * 60 * 1000;

/// An event with data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The type, `message` where the stream names none.
    pub name: String,
    /// The lines of data, with line breaks between them. They need not be UTF-8.
    pub data: Bytes,
}

/// A decoder of a stream of events, in chunks of any size.
#[derive(Debug)]
pub struct Decoder {
    /// The present line.
    line: Vec<u8>,
    /// Whether the last byte was a carriage return, after which a line feed ends no second line.
    after_return: bool,
    /// Whether the present line is the first one, which may begin with a byte order mark.
    first: bool,
    name: Vec<u8>,
    data: BytesMut,
    /// Whether the event has a line of data, though it may be empty.
    has_data: bool,
    events: VecDeque<Event>,
    last_id: Option<String>,
    retry: Option<Duration>,
    limit: usize,
}

impl Decoder {
    /// Returns a decoder of events whose lines and data have at most `limit` bytes.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            line: Vec::new(),
            after_return: false,
            first: true,
            name: Vec::new(),
            data: BytesMut::new(),
            has_data: false,
            events: VecDeque::new(),
            last_id: None,
            retry: None,
            limit,
        }
    }

    /// Starts another stream that continues this one. What was not complete is lost.
    pub fn restart(&mut self) {
        let (last_id, retry) = (self.last_id.take(), self.retry);
        *self = Self {
            last_id,
            retry,
            ..Self::new(self.limit)
        };
    }

    /// Decodes the next bytes of the stream.
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`] for a longer line or longer data.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), Error> {
        for byte in bytes {
            let after_return = std::mem::replace(&mut self.after_return, *byte == b'\r');
            match byte {
                b'\n' if after_return => {}
                b'\n' | b'\r' => self.end_line()?,
                _ if self.line.len() >= self.limit => return Err(self.too_large()),
                _ => self.line.push(*byte),
            }
        }
        Ok(())
    }

    /// Takes the next event with data. Events without data are dropped, as the standard says.
    pub fn next_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Returns the id of the last event that had one, by which the stream can be resumed.
    #[must_use]
    pub fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref().filter(|id| !id.is_empty())
    }

    /// Returns the time that the server asks for before the stream is resumed.
    #[must_use]
    pub fn retry(&self) -> Option<Duration> {
        self.retry
    }

    fn too_large(&self) -> Error {
        Error::TooLarge {
            what: "an event",
            limit: self.limit,
        }
    }

    fn end_line(&mut self) -> Result<(), Error> {
        let line = std::mem::take(&mut self.line);
        let mut rest = line.as_slice();
        if std::mem::take(&mut self.first) {
            rest = rest.strip_prefix(b"\xef\xbb\xbf").unwrap_or(rest);
        }
        if rest.is_empty() {
            self.end_event();
        } else {
            let colon = rest.iter().position(|byte| *byte == b':');
            let (field, value) = match colon {
                Some(colon) => (&rest[..colon], &rest[colon + 1..]),
                None => (rest, &[][..]),
            };
            self.field(field, value.strip_prefix(b" ").unwrap_or(value))?;
        }
        // The buffer is used again.
        self.line = line;
        self.line.clear();
        Ok(())
    }

    fn field(&mut self, field: &[u8], value: &[u8]) -> Result<(), Error> {
        match field {
            b"data" => {
                if self.data.len() + value.len() + 1 > self.limit {
                    return Err(self.too_large());
                }
                if std::mem::replace(&mut self.has_data, true) {
                    self.data.extend_from_slice(b"\n");
                }
                self.data.extend_from_slice(value);
            }
            b"event" => value.clone_into(&mut self.name),
            b"id" => {
                // A client sends the id back as a header, so that only visible ASCII is usable.
                let usable = |byte: &u8| matches!(byte, 0x20..=0x7e);
                if value.len() <= EVENT_ID_BYTES && value.iter().all(usable) {
                    self.last_id = String::from_utf8(value.to_vec()).ok();
                }
            }
            b"retry" => {
                let text = std::str::from_utf8(value).unwrap_or_default();
                if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
                    let time = text.parse().unwrap_or(u64::MAX).min(RETRY_MILLISECONDS);
                    self.retry = Some(Duration::from_millis(time));
                }
            }
            // Comments and unknown fields.
            _ => {}
        }
        Ok(())
    }

    fn end_event(&mut self) {
        let name = std::mem::take(&mut self.name);
        let data = self.data.split().freeze();
        self.has_data = false;
        if !data.is_empty() {
            let name = match name.as_slice() {
                [] => "message".to_owned(),
                name => String::from_utf8_lossy(name).into_owned(),
            };
            self.events.push_back(Event { name, data });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Decoder, Event};
    use proptest::collection::vec;
    use proptest::prelude::{any, prop_assert_eq, proptest};
    use std::time::Duration;

    fn decode(chunks: &[&[u8]]) -> (Vec<(String, String)>, Decoder) {
        let mut decoder = Decoder::new(100);
        let mut events = Vec::new();
        for chunk in chunks {
            decoder.push(chunk).unwrap();
            while let Some(Event { name, data }) = decoder.next_event() {
                events.push((name, String::from_utf8(data.to_vec()).unwrap()));
            }
        }
        (events, decoder)
    }

    fn message(data: &str) -> (String, String) {
        ("message".to_owned(), data.to_owned())
    }

    #[test]
    fn events_are_decoded_as_the_standard_says() {
        for (stream, expected) in [
            ("data: a\n\n", vec![message("a")]),
            ("data:a\r\n\r\n", vec![message("a")]),
            ("data:a\r\rdata:b\r\r", vec![message("a"), message("b")]),
            ("data:a\r\ndata:b\r\n\r\n", vec![message("a\nb")]),
            ("data:  a\n\n", vec![message(" a")]),
            ("data: a\ndata: b\ndata:c\n\n", vec![message("a\nb\nc")]),
            ("data\ndata\n\n", vec![message("\n")]),
            (": comment\n:\ndata: a\n: more\n\n", vec![message("a")]),
            (
                "event: ping\ndata: a\n\ndata: b\n\n",
                vec![("ping".to_owned(), "a".to_owned()), message("b")],
            ),
            ("\u{feff}data: a\n\n\u{feff}data: b\n\n", vec![message("a")]),
            ("id: 1\ndata:\n\n", vec![]),
            ("event: x\n\ndata: a\n\n", vec![message("a")]),
            ("data: unfinished\n", vec![]),
            ("unknown: x\ndatum: y\nDATA: z\n\n", vec![]),
            ("data: {\"a\": 1}:2\n\n", vec![message("{\"a\": 1}:2")]),
        ] {
            assert_eq!(decode(&[stream.as_bytes()]).0, expected, "{stream:?}");
        }
    }

    #[test]
    fn ids_and_times_are_kept() {
        let (_, decoder) = decode(&[b"id: 7/a\nretry: 1500\ndata:\n\n"]);
        assert_eq!(decoder.last_id(), Some("7/a"));
        assert_eq!(decoder.retry(), Some(Duration::from_millis(1500)));
        // What can't be used changes nothing.
        let (_, decoder) = decode(&[
            b"id: 7\nretry: 1\n\nid: a\x00b\nid: \xc3\xbc\nretry: 1s\nretry:\nretry: -1\n\n",
        ]);
        assert_eq!(decoder.last_id(), Some("7"));
        assert_eq!(decoder.retry(), Some(Duration::from_millis(1)));
        let (_, decoder) = decode(&[b"id: 7\n\nid\n\nretry: 99999999999999999999999\n\n"]);
        assert_eq!(decoder.last_id(), None);
        assert_eq!(decoder.retry(), Some(Duration::from_secs(24 * 60 * 60)));
    }

    #[test]
    fn lines_and_data_have_a_limit() {
        let mut long = Decoder::new(100);
        assert!(long.push(&[b':'; 100]).is_ok());
        assert!(long.push(b":").is_err());
        let mut many = Decoder::new(100);
        let line = format!("data: {}\n", "x".repeat(40));
        assert!(many.push(line.as_bytes()).is_ok());
        assert!(many.push(line.as_bytes()).is_ok());
        assert!(many.push(line.as_bytes()).is_err());
        // The limit is for each event, not for all of them.
        let mut endless = Decoder::new(100);
        for _ in 0..1000 {
            assert!(endless.push(format!(":\n{line}\n").as_bytes()).is_ok());
            assert!(endless.next_event().is_some());
        }
    }

    proptest! {
        #[test]
        fn events_are_the_same_for_all_boundaries_of_chunks(
            lines in vec((0..6_usize, 0..3_usize), 0..24),
            cuts in vec(any::<proptest::sample::Index>(), 0..12),
        ) {
            const LINES: [&str; 6] = ["data: a", "", "event: e", ":", "id: 1", "data:\u{fc}"];
            const ENDS: [&str; 3] = ["\n", "\r\n", "\r"];
            let mut stream = Vec::new();
            for (line, end) in lines {
                stream.extend_from_slice(LINES[line].as_bytes());
                stream.extend_from_slice(ENDS[end].as_bytes());
            }
            let mut ends: Vec<_> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
            ends.push(stream.len());
            ends.sort_unstable();
            let mut start = 0;
            let mut chunks = Vec::new();
            for end in ends {
                chunks.push(&stream[start..end]);
                start = end;
            }
            let (whole, _) = decode(&[&stream]);
            prop_assert_eq!(decode(&chunks).0, whole);
        }
    }
}
