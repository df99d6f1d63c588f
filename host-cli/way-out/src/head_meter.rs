//! The size of a response's head, counted as it arrives.

use crate::limits::{HEADER_LINES, INFORMATIONAL_RESPONSES};

/// Number of bytes of a status line up to the end of the status code: `HTTP/1.1 200`.
const STATUS_END: usize = 12;

/// A counter of the bytes, header lines and informational responses before a response's body.
///
/// It only counts. It need not agree with the parser on malformed heads, because the parser refuses
/// those.
#[derive(Debug, Default)]
pub(crate) struct HeadMeter {
    /// The bytes that the head may still have, or `None` outside of a head.
    left: Option<usize>,
    lines: usize,
    informational: usize,
    /// The present line without its end, cut after the status code.
    line: Vec<u8>,
    /// Whether the present line is the status line.
    at_status: bool,
    /// Whether the present head is that of an informational response.
    is_informational: bool,
    exceeded: bool,
}

impl HeadMeter {
    /// Starts the head of the next response.
    pub(crate) fn begin(&mut self, limit: usize) {
        *self = Self {
            left: Some(limit),
            at_status: true,
            ..Self::default()
        };
    }

    /// Returns whether a head passed its limits.
    pub(crate) fn exceeded(&self) -> bool {
        self.exceeded
    }

    /// Counts arrived bytes. Returns whether the head is within its limits.
    pub(crate) fn count(&mut self, bytes: &[u8]) -> bool {
        for byte in bytes {
            let Some(left) = &mut self.left else {
                break;
            };
            let Some(fewer) = left.checked_sub(1) else {
                self.exceeded = true;
                break;
            };
            *left = fewer;
            match byte {
                b'\n' => self.end_line(),
                b'\r' => {}
                _ if self.line.len() < STATUS_END => self.line.push(*byte),
                _ => {}
            }
        }
        !self.exceeded
    }

    fn end_line(&mut self) {
        if self.at_status {
            // Empty lines before the status line are skipped by the parser too.
            if !self.line.is_empty() {
                let code = self.line.get(STATUS_END - 3..).unwrap_or_default();
                self.is_informational = code.starts_with(b"1") && code != b"101";
                self.at_status = false;
            }
        } else if self.line.is_empty() {
            if self.is_informational {
                self.informational += 1;
                self.at_status = true;
            } else {
                self.left = None;
            }
        } else {
            self.lines += 1;
        }
        self.line.clear();
        self.exceeded |= self.lines > HEADER_LINES || self.informational > INFORMATIONAL_RESPONSES;
    }
}

#[cfg(test)]
mod tests {
    use super::HeadMeter;
    use crate::limits::{HEADER_LINES, INFORMATIONAL_RESPONSES};

    fn meter(limit: usize) -> HeadMeter {
        let mut meter = HeadMeter::default();
        meter.begin(limit);
        meter
    }

    #[test]
    fn a_head_ends_before_its_body() {
        for head in [
            "HTTP/1.1 200 OK\r\nA: b\r\n\r\n",
            "HTTP/1.1 200 OK\nA: b\n\n",
            "\r\nHTTP/1.1 204\r\n\r\n",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
        ] {
            // In one piece, and byte by byte.
            let mut whole = meter(head.len());
            assert!(
                whole.count(format!("{head}{}", "x".repeat(1000)).as_bytes()),
                "{head}"
            );
            let mut single = meter(head.len());
            assert!(
                head.bytes().chain([b'x'; 1000]).all(|b| single.count(&[b])),
                "{head}"
            );
            let mut short = meter(head.len() - 1);
            assert!(!short.count(head.as_bytes()), "{head}");
            assert!(short.exceeded());
        }
    }

    #[test]
    fn lines_and_informational_responses_are_counted() {
        let lines = |count| format!("HTTP/1.1 200 OK\r\n{}\r\n", "A: b\r\n".repeat(count));
        assert!(meter(1 << 20).count(lines(HEADER_LINES).as_bytes()));
        assert!(!meter(1 << 20).count(lines(HEADER_LINES + 1).as_bytes()));

        let hints = |count| "HTTP/1.1 103 Hints\r\n\r\n".repeat(count);
        assert!(meter(1 << 20).count(hints(INFORMATIONAL_RESPONSES).as_bytes()));
        assert!(!meter(1 << 20).count(hints(INFORMATIONAL_RESPONSES + 1).as_bytes()));
    }

    #[test]
    fn nothing_is_counted_before_a_head_begins() {
        assert!(HeadMeter::default().count(&[b'x'; 4096]));
    }
}
