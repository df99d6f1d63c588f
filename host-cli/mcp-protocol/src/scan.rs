//! The `id` of a message that can't be read as a whole: found in constant memory, wherever it stands.

use crate::id::Id;
use crate::json::Json;

/// Maximum number of bytes of an id in JSON.
const TOKEN: usize = 512;

/// A scan of one line for the `id` of its object. What is nested has none, and of two ids neither counts.
#[derive(Debug, Default)]
pub(crate) struct IdScan {
    depth: u32,
    in_string: bool,
    escaped: bool,
    /// Whether the next string of the object is a key.
    at_key: bool,
    /// The present key, or the value of `id`.
    token: Vec<u8>,
    /// Whether the value of `id` is being read.
    in_id: bool,
    ids: u32,
    id: Option<Vec<u8>>,
    is_request: bool,
}

impl IdScan {
    /// Scans the next bytes.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.byte(*byte);
        }
    }

    /// Returns the only id.
    pub(crate) fn id(&self) -> Option<Id> {
        let id = self.id.clone().filter(|_| self.ids == 1)?;
        Id::read(&Json::new(id.trim_ascii().to_vec()).ok()?).ok()
    }

    /// Returns whether the object has a `method`: its id is then one of the peer's own.
    pub(crate) fn is_request(&self) -> bool {
        self.is_request
    }

    fn byte(&mut self, byte: u8) {
        if self.in_string {
            self.keep(byte);
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return;
        }
        match byte {
            b'"' => {
                self.in_string = true;
                if self.at_key {
                    self.token.clear();
                }
                self.keep(byte);
            }
            b'{' | b'[' => {
                self.depth += 1;
                self.at_key = self.depth == 1 && byte == b'{';
                // An id is no object.
                self.keep(byte);
            }
            b'}' | b']' => {
                if self.depth == 1 {
                    self.end_member();
                }
                self.depth = self.depth.saturating_sub(1);
                self.keep(byte);
            }
            b':' if self.depth == 1 && self.at_key => {
                self.at_key = false;
                self.in_id = self.token == br#""id""#;
                self.is_request |= self.token == br#""method""#;
                self.token.clear();
            }
            b',' if self.depth == 1 => {
                self.end_member();
                self.at_key = true;
            }
            _ if self.in_id => self.keep(byte),
            _ => {}
        }
    }

    /// Keeps a byte of a key or of the id.
    fn keep(&mut self, byte: u8) {
        let is_part = self.depth == 1 && self.at_key || self.in_id;
        if is_part && self.token.len() < TOKEN {
            self.token.push(byte);
        }
    }

    fn end_member(&mut self) {
        if std::mem::take(&mut self.in_id) {
            self.ids += 1;
            self.id = Some(std::mem::take(&mut self.token));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::IdScan;

    fn id(line: &str) -> Option<String> {
        let mut scan = IdScan::default();
        // In pieces of any length.
        for piece in line.as_bytes().chunks(3) {
            scan.feed(piece);
        }
        scan.id().map(|id| id.to_json())
    }

    #[test]
    fn the_id_is_found_wherever_it_stands() {
        for (line, expected) in [
            (r#"{"jsonrpc":"2.0","id":7,"result":{}}"#, Some("7")),
            (
                r#"{"result":{"id":1,"a":[{"id":2}]},"id" : 42 }"#,
                Some("42"),
            ),
            (r#"{"result":"\",\"id\":1","id":"x\"y"}"#, Some(r#""x\"y""#)),
            // What follows it may be anything.
            (r#"{"id":3,"result":{"a":NaN,]"#, Some("3")),
            (r#"{"id":3,"error":{"code":1"#, Some("3")),
            // A value that is cut off may be another one.
            (r#"{"id":3"#, None),
            (r#"{"id":3,"result":{},"id":3}"#, None),
            (r#"{"result":{"id":3}}"#, None),
            (r#"[{"id":3}]"#, None),
            (r#"{"id":[3]}"#, None),
            (r#"{"id":3.5}"#, None),
            (r#"{"id":null,"error":{}}"#, None),
            (r#"{"\u0069d":3}"#, None),
            (r#"{"a":"id","b":"id"}"#, None),
            (r#"{"id":3,"method":"ping","params":[]}"#, Some("3")),
            ("", None),
            ("}}}}{\"id\":1}", Some("1")),
        ] {
            assert_eq!(id(line).as_deref(), expected, "{line}");
        }
    }

    #[test]
    fn a_request_is_one_wherever_its_method_stands() {
        for (line, expected) in [
            (r#"{"id":1,"params":[{}],"method":"a"}"#, true),
            (r#"{"method":"a""#, true),
            (r#"{"id":1,"result":{"method":"a"}}"#, false),
        ] {
            let mut scan = IdScan::default();
            scan.feed(line.as_bytes());
            assert_eq!(scan.is_request(), expected, "{line}");
        }
    }

    #[test]
    fn memory_has_a_limit() {
        let mut scan = IdScan::default();
        scan.feed(b"{\"");
        for _ in 0..100 {
            scan.feed(&[b'x'; 10_000]);
        }
        scan.feed(b"\":1,\"id\":");
        scan.feed(&[b'1'; 10_000]);
        scan.feed(b"}");
        assert!(scan.token.capacity() < 2_000);
        assert_eq!(scan.id(), None);
    }
}
