//! Answers a JSON document with itself.

mod wasi;
mod world;

use wasi::{response, Request, Response};

const BODY_BYTES: usize = 1 << 20;

/// Maximum nesting of a document.
const DEPTH: usize = 100;

fn handle(request: Request) -> Response {
    if request.method != "POST" {
        let (method, path) = (quoted(&request.method), quoted(&request.path));
        return answer(200, format!(r#"{{"method":{method},"path":{path}}}"#));
    }
    match request.body(BODY_BYTES) {
        None => answer(413, r#"{"error":"the body is too large"}"#),
        Some(body) => match is_json(&body) {
            true => answer(200, body),
            false => answer(400, r#"{"error":"the body is not JSON"}"#),
        },
    }
}

fn answer(status: u16, body: impl Into<Vec<u8>>) -> Response {
    response(status, "application/json", body)
}

/// Returns a text as a string of JSON.
fn quoted(text: &str) -> String {
    let mut json = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => json.extend(['\\', c]),
            '\0'..='\u{1f}' => json.push_str(&format!("\\u{:04x}", c as u32)),
            _ => json.push(c),
        }
    }
    json.push('"');
    json
}

/// Returns whether a text is a document of JSON.
fn is_json(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else {
        return false;
    };
    let mut rest = Rest(text.as_bytes());
    rest.value(DEPTH).is_some() && rest.0.is_empty()
}

/// The rest of a text. Each function takes a part of it, with the blanks behind it.
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    fn value(&mut self, depth: usize) -> Option<()> {
        self.blanks();
        match *self.0.first()? {
            b'{' => self.list(depth, b'}', |rest| {
                rest.string()?;
                rest.blanks();
                rest.take(b":")?;
                rest.value(depth - 1)
            })?,
            b'[' => self.list(depth, b']', |rest| rest.value(depth - 1))?,
            b'"' => self.string()?,
            b't' => self.take(b"true")?,
            b'f' => self.take(b"false")?,
            b'n' => self.take(b"null")?,
            _ => self.number()?,
        }
        self.blanks();
        Some(())
    }

    /// Takes what is between brackets, with commas in between.
    fn list(
        &mut self,
        depth: usize,
        end: u8,
        mut item: impl FnMut(&mut Self) -> Option<()>,
    ) -> Option<()> {
        if depth == 0 {
            return None;
        }
        self.0 = &self.0[1..];
        self.blanks();
        if self.take(&[end]).is_some() {
            return Some(());
        }
        loop {
            self.blanks();
            item(self)?;
            self.blanks();
            if self.take(b",").is_none() {
                return self.take(&[end]);
            }
        }
    }

    fn string(&mut self) -> Option<()> {
        self.take(b"\"")?;
        loop {
            let (first, rest) = self.0.split_first()?;
            self.0 = rest;
            match first {
                b'"' => return Some(()),
                b'\\' => match self.0.split_first()? {
                    (b'u', rest) => {
                        let digits = rest.get(..4)?;
                        digits.iter().all(u8::is_ascii_hexdigit).then_some(())?;
                        self.0 = &rest[4..];
                    }
                    (escaped, rest) => {
                        b"\"\\/bfnrt".contains(escaped).then_some(())?;
                        self.0 = rest;
                    }
                },
                0..=0x1f => return None,
                _ => {}
            }
        }
    }

    fn number(&mut self) -> Option<()> {
        let _ = self.take(b"-");
        if self.take(b"0").is_none() {
            self.digits()?;
        }
        if self.take(b".").is_some() {
            self.digits()?;
        }
        if self.take(b"e").or_else(|| self.take(b"E")).is_some() {
            let _ = self.take(b"+").or_else(|| self.take(b"-"));
            self.digits()?;
        }
        Some(())
    }

    fn digits(&mut self) -> Option<()> {
        let count = self.0.iter().take_while(|it| it.is_ascii_digit()).count();
        self.0 = &self.0[count..];
        (count > 0).then_some(())
    }

    fn take(&mut self, text: &[u8]) -> Option<()> {
        self.0 = self.0.strip_prefix(text)?;
        Some(())
    }

    fn blanks(&mut self) {
        while let [b' ' | b'\t' | b'\n' | b'\r', rest @ ..] = self.0 {
            self.0 = rest;
        }
    }
}
