//! The chunked transfer coding, decoded strictly (RFC 9112, 7.1).

use crate::field;
use crate::limits::{CHUNK_EXTENSION_BYTES, CHUNK_LINE_BYTES, HEADERS, TRAILER_BYTES};

/// A body that is not framed as it should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BadChunk;

/// What a step found at the front of its input.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found<'b> {
    /// More input is needed.
    Nothing,
    /// So many bytes of framing.
    Framing(usize),
    /// Bytes of the body.
    Data(&'b [u8]),
    /// The end of the body: so many bytes of framing with the trailer section.
    End(usize),
}

/// Decodes a body, step by step.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    state: State,
    /// Bytes of all extensions up to now.
    extensions: usize,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before the line with the size of a chunk.
    #[default]
    Size,
    /// Within a chunk.
    Data(u64),
    /// Behind the data of a chunk.
    DataEnd,
    Trailers,
    End,
}

impl Decoder {
    pub(crate) fn is_done(&self) -> bool {
        self.state == State::End
    }

    /// Looks at the front of the input. The caller consumes what was found.
    pub(crate) fn step<'b>(&mut self, input: &'b [u8]) -> Result<Found<'b>, BadChunk> {
        match self.state {
            State::Size => self.size(input),
            State::Data(rest) => {
                let here = usize::try_from(rest).unwrap_or(usize::MAX).min(input.len());
                if here == 0 {
                    return Ok(Found::Nothing);
                }
                let rest = rest - here as u64;
                self.state = if rest == 0 {
                    State::DataEnd
                } else {
                    State::Data(rest)
                };
                Ok(Found::Data(&input[..here]))
            }
            State::DataEnd => match input {
                [b'\r', b'\n', ..] => {
                    self.state = State::Size;
                    Ok(Found::Framing(2))
                }
                [] | [b'\r'] => Ok(Found::Nothing),
                _ => Err(BadChunk),
            },
            State::Trailers => self.trailers(input),
            State::End => Ok(Found::End(0)),
        }
    }

    fn size<'b>(&mut self, input: &'b [u8]) -> Result<Found<'b>, BadChunk> {
        let line = &input[..input.len().min(CHUNK_LINE_BYTES)];
        let digits = line.iter().position(|byte| !byte.is_ascii_hexdigit());
        let digits = digits.unwrap_or(line.len());
        // 16 digits are all that 64 bits hold.
        if digits > 16 || (digits == 0 && !line.is_empty()) {
            return Err(BadChunk);
        }
        let mut end = digits;
        if line.get(end) == Some(&b';') {
            let is_inside = |byte: &u8| matches!(byte, b'\t' | b' '..=b'~' | 0x80..);
            let extension = line[end..].iter().position(|byte| !is_inside(byte));
            end = extension.map_or(line.len(), |length| end + length);
        }
        match line[end..] {
            [b'\r', b'\n', ..] => {}
            [] | [b'\r'] if line.len() < CHUNK_LINE_BYTES => return Ok(Found::Nothing),
            _ => return Err(BadChunk),
        }
        self.extensions += end - digits;
        if self.extensions > CHUNK_EXTENSION_BYTES {
            return Err(BadChunk);
        }
        let text = str::from_utf8(&line[..digits]).map_err(|_| BadChunk)?;
        let size = u64::from_str_radix(text, 16).map_err(|_| BadChunk)?;
        self.state = if size == 0 {
            State::Trailers
        } else {
            State::Data(size)
        };
        Ok(Found::Framing(end + 2))
    }

    fn trailers<'b>(&mut self, input: &'b [u8]) -> Result<Found<'b>, BadChunk> {
        let end = match input {
            [b'\r', b'\n', ..] => 2,
            _ => match find_end(input) {
                Some(end) => end,
                None if input.len() > TRAILER_BYTES => return Err(BadChunk),
                None => return Ok(Found::Nothing),
            },
        };
        if end > TRAILER_BYTES {
            return Err(BadChunk);
        }
        parse(&input[..end], |_, _| {})?;
        self.state = State::End;
        Ok(Found::End(end))
    }
}

fn find_end(input: &[u8]) -> Option<usize> {
    let end = input.windows(4).position(|window| window == b"\r\n\r\n");
    end.map(|end| end + 4)
}

fn parse(section: &[u8], mut each: impl FnMut(&str, &[u8])) -> Result<(), BadChunk> {
    if !has_only_crlf(section) {
        return Err(BadChunk);
    }
    let mut fields = [httparse::EMPTY_HEADER; HEADERS];
    match httparse::parse_headers(section, &mut fields) {
        Ok(httparse::Status::Complete((_, fields))) => {
            fields.iter().for_each(|it| each(it.name, it.value));
            Ok(())
        }
        _ => Err(BadChunk),
    }
}

/// Appends the fields of a trailer section that may be passed on, and its end.
pub(crate) fn write_trailers(section: &[u8], out: &mut Vec<u8>) {
    // The decoder has read the section before.
    let _ = parse(section, |name, value| {
        if field::is_trailer(name) {
            for part in [name.as_bytes(), b": ", value, b"\r\n"] {
                out.extend_from_slice(part);
            }
        }
    });
    out.extend_from_slice(b"\r\n");
}

/// Appends data as a chunk.
pub(crate) fn write(data: &[u8], out: &mut Vec<u8>) {
    let mut digits = [b'0'; 16];
    let (mut size, mut place) = (data.len(), digits.len());
    while size > 0 {
        place -= 1;
        digits[place] = b"0123456789abcdef"[size & 15];
        size >>= 4;
    }
    out.extend_from_slice(&digits[place..]);
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(data);
    out.extend_from_slice(b"\r\n");
}

/// Returns whether every line ends with CRLF: a bare LF means different things to different parsers.
pub(crate) fn has_only_crlf(bytes: &[u8]) -> bool {
    memchr::memchr_iter(b'\n', bytes).all(|place| place > 0 && bytes[place - 1] == b'\r')
}

#[cfg(test)]
mod tests {
    use super::{BadChunk, Decoder, Found, write, write_trailers};
    use crate::limits::{CHUNK_EXTENSION_BYTES, CHUNK_LINE_BYTES};

    /// Decodes a body that arrives in pieces of `step` bytes, and returns what follows it.
    fn decode(input: &[u8], step: usize) -> Result<(Vec<u8>, Vec<u8>), BadChunk> {
        let (mut decoder, mut data, mut waiting) = (Decoder::default(), Vec::new(), Vec::new());
        let mut pieces = input.chunks(step);
        loop {
            let used = match decoder.step(&waiting)? {
                Found::Nothing => match pieces.next() {
                    Some(piece) => {
                        waiting.extend_from_slice(piece);
                        0
                    }
                    None => return Err(BadChunk),
                },
                Found::Framing(used) => used,
                Found::Data(found) => {
                    data.extend_from_slice(found);
                    found.len()
                }
                Found::End(used) => {
                    waiting.drain(..used);
                    waiting.extend(pieces.flatten());
                    return Ok((data, waiting));
                }
            };
            waiting.drain(..used);
        }
    }

    #[test]
    fn a_body_is_decoded_however_it_arrives() {
        let body = b"5\r\nhello\r\n00A;x=\"y\"\r\n, world..!\r\n0\r\nA: b\r\nC:d\r\n\r\nnext";
        for step in [1, 2, 3, 7, 100] {
            let (data, rest) = decode(body, step).unwrap();
            assert_eq!(data, b"hello, world..!");
            assert_eq!(rest, b"next");
        }
    }

    #[test]
    fn a_body_with_other_framing_is_refused() {
        for body in [
            &b"5\nhello\n0\n\n"[..],
            b"5\r\nhello0\r\n\r\n",
            b"5 \r\nhello\r\n0\r\n\r\n",
            b"+5\r\nhello\r\n0\r\n\r\n",
            b"0x5\r\nhello\r\n0\r\n\r\n",
            b"\r\n5\r\nhello\r\n0\r\n\r\n",
            b"5;a\nb\r\nhello\r\n0\r\n\r\n",
            b"5;a\rb\r\nhello\r\n0\r\n\r\n",
            b"00000000000000005\r\nhello\r\n0\r\n\r\n",
            b"fffffffffffffffff\r\n",
            b"5\r\nhello\r\n0\r\nA : b\r\n\r\n",
            b"5\r\nhello\r\n0\r\nA: b\n\r\n\r\n",
            b"5\r\nhello\r\n0\r\nA: b\r\n c\r\n\r\n",
            b"-1\r\n",
        ] {
            for step in [1, 100] {
                let text = String::from_utf8_lossy(body);
                assert_eq!(decode(body, step), Err(BadChunk), "{text:?}");
            }
        }
    }

    #[test]
    fn extensions_are_bounded() {
        let line = |length: usize| format!("1;{}\r\nx\r\n", "e".repeat(length));
        let longest = CHUNK_LINE_BYTES - 4;
        let end = "0\r\n\r\n";
        assert!(decode((line(longest) + end).as_bytes(), 100).is_ok());
        assert!(decode((line(longest + 1) + end).as_bytes(), 100).is_err());
        let many = |number: usize| line(127).repeat(number) + end;
        let most = CHUNK_EXTENSION_BYTES / 128;
        assert!(decode(many(most).as_bytes(), 100).is_ok());
        assert!(decode(many(most + 1).as_bytes(), 100).is_err());
    }

    #[test]
    fn what_is_written_can_be_decoded() {
        let mut out = Vec::new();
        write(&[b'x'; 300], &mut out);
        assert!(out.starts_with(b"12c\r\nxxx"));
        out.extend_from_slice(b"0\r\n");
        write_trailers(b"Server-Timing: a\r\nContent-Length: 5\r\n\r\n", &mut out);
        assert!(out.ends_with(b"0\r\nServer-Timing: a\r\n\r\n"));
        assert_eq!(decode(&out, 1000).unwrap().0.len(), 300);
    }
}
