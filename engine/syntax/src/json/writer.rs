//! The JSON writer: sorted keys, minimal escapes.

/// A writer of one JSON value. It writes either one line or, like `serde_json` and Python's
/// `json.dumps(indent=2)`, one element per line.
#[derive(Debug)]
pub struct Writer {
    out: String,
    pretty: bool,
    depth: usize,
    /// Whether nothing has been written since the last opening bracket.
    fresh: bool,
    /// Whether a key has been written whose value comes next.
    keyed: bool,
    /// The last key of each open object, to check that keys are sorted.
    #[cfg(debug_assertions)]
    keys: Vec<String>,
}

impl Writer {
    /// Returns a writer with one element per line.
    pub fn pretty() -> Self {
        Self::new(true)
    }

    /// Returns a writer of one line.
    pub fn dense() -> Self {
        Self::new(false)
    }

    fn new(pretty: bool) -> Self {
        Self {
            out: String::new(),
            pretty,
            depth: 0,
            fresh: true,
            keyed: false,
            #[cfg(debug_assertions)]
            keys: Vec::new(),
        }
    }

    /// Returns the number of bytes written.
    pub fn len(&self) -> usize {
        self.out.len()
    }

    /// Returns whether nothing has been written.
    pub fn is_empty(&self) -> bool {
        self.out.is_empty()
    }

    /// Returns the text with a final newline.
    pub fn finish(mut self) -> String {
        debug_assert_eq!(self.depth, 0);
        self.out.push('\n');
        self.out
    }

    fn line(&mut self) {
        const SPACES: &str = "\n                                ";
        if self.pretty {
            let shallow = (self.depth * 2).min(SPACES.len() - 1);
            self.out.push_str(&SPACES[..=shallow]);
            // The project's own files are shallow, but copied values can be deeper.
            for _ in shallow / 2..self.depth {
                self.out.push_str("  ");
            }
        }
    }

    /// Writes what precedes a value.
    #[inline]
    fn value(&mut self) {
        if self.keyed {
            self.keyed = false;
        } else if self.depth > 0 {
            if !self.fresh {
                self.out.push(',');
            }
            self.line();
        }
        self.fresh = false;
    }

    /// Opens a collection, which the caller must close.
    #[inline]
    pub fn open(&mut self, bracket: char) {
        self.value();
        self.out.push(bracket);
        self.depth += 1;
        self.fresh = true;
        #[cfg(debug_assertions)]
        if bracket == '{' {
            self.keys.push(String::new());
        }
    }

    /// Closes a collection.
    #[inline]
    pub fn close(&mut self, bracket: char) {
        self.depth -= 1;
        if !self.fresh {
            self.line();
        }
        self.fresh = false;
        self.out.push(bracket);
        #[cfg(debug_assertions)]
        if bracket == '}' {
            self.keys.pop();
        }
    }

    /// Writes an object; `members` writes its keys and values.
    pub fn object(&mut self, members: impl FnOnce(&mut Self)) {
        self.open('{');
        members(self);
        self.close('}');
    }

    /// Writes an array; `items` writes its items.
    pub fn array(&mut self, items: impl FnOnce(&mut Self)) {
        self.open('[');
        items(self);
        self.close(']');
    }

    /// Writes the key of the next value.
    pub fn key(&mut self, key: &str) -> &mut Self {
        #[cfg(debug_assertions)]
        if let Some(last) = self.keys.last_mut() {
            debug_assert!(
                (last.is_empty() || &**last < key) && !self.keyed,
                "{last} {key}"
            );
            key.clone_into(last);
        }
        self.value();
        write_string(key, &mut self.out);
        self.out.push_str(if self.pretty { ": " } else { ":" });
        self.keyed = true;
        self
    }

    /// Writes a string.
    #[inline]
    pub fn string(&mut self, string: &str) {
        self.value();
        write_string(string, &mut self.out);
    }

    /// Writes an array of strings.
    pub fn strings<'s>(&mut self, strings: impl IntoIterator<Item = &'s str>) {
        self.array(|w| strings.into_iter().for_each(|string| w.string(string)));
    }

    /// Writes a string, or `null` for `None`.
    pub fn optional(&mut self, string: Option<&str>) {
        match string {
            Some(string) => self.string(string),
            None => self.null(),
        }
    }

    /// Writes a whole number.
    #[inline]
    pub fn number(&mut self, number: u32) {
        self.value();
        write_number(number, &mut self.out);
    }

    /// Writes an array of whole numbers.
    pub fn numbers(&mut self, numbers: impl IntoIterator<Item = u32>) {
        self.array(|w| numbers.into_iter().for_each(|number| w.number(number)));
    }

    /// Writes a JSON text unchanged.
    pub fn json(&mut self, json: &str) {
        self.value();
        self.out.push_str(json);
    }

    /// Writes a boolean.
    #[inline]
    pub fn bool(&mut self, value: bool) {
        self.value();
        self.out.push_str(if value { "true" } else { "false" });
    }

    /// Writes `null`.
    pub fn null(&mut self) {
        self.value();
        self.out.push_str("null");
    }
}

/// The numbers below 100, with two digits each.
const PAIRS: &str = "0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849\
     5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";

/// Writes a number: faster than formatting, for the millions of a compact explanation.
fn write_number(number: u32, out: &mut String) {
    if number < 10 {
        return out.push(char::from(b'0' + number as u8));
    }
    if number >= 100 {
        write_number(number / 100, out);
    }
    let pair = 2 * (number % 100) as usize;
    out.push_str(&PAIRS[pair..pair + 2]);
}

/// Returns a text as a JSON string.
pub fn json_string(text: &str) -> String {
    let mut out = String::new();
    write_string(text, &mut out);
    out
}

/// Writes a JSON string as the canonical form and all files of the project require. It escapes only
/// quotes, backslashes and control characters below U+0020.
#[inline]
pub fn write_string(string: &str, out: &mut String) {
    out.push('"');
    let mut rest = string;
    while let Some(at) = rest
        .bytes()
        .position(|b| matches!(b, b'"' | b'\\' | 0..0x20))
    {
        out.push_str(&rest[..at]);
        match rest.as_bytes()[at] {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            0x08 => out.push_str("\\b"),
            0x09 => out.push_str("\\t"),
            0x0a => out.push_str("\\n"),
            0x0c => out.push_str("\\f"),
            0x0d => out.push_str("\\r"),
            control => {
                out.push_str("\\u00");
                for digit in [control >> 4, control & 15] {
                    out.push(char::from(b"0123456789abcdef"[digit as usize]));
                }
            }
        }
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::{Writer, write_number};

    fn write(mut w: Writer) -> String {
        w.object(|w| {
            w.key("a").array(|_| ());
            w.key("b").array(|w| {
                w.number(0);
                w.number(u32::MAX);
                w.object(|_| ());
                w.null();
            });
            w.key("c\n").string("\"é\u{1}\u{7f}\\");
            w.key("d").bool(false);
        });
        w.finish()
    }

    #[test]
    fn numbers_have_their_digits() {
        let powers = (0..10).map(|exponent| 10_u32.pow(exponent));
        let numbers = powers.flat_map(|power| [power - 1, power, power + 1, 7 * (power / 2)]);
        for number in numbers.chain([u32::MAX]) {
            let mut out = String::new();
            write_number(number, &mut out);
            assert_eq!(out, number.to_string());
        }
    }

    #[test]
    fn pretty_is_as_others_print_it() {
        assert_eq!(
            write(Writer::pretty()),
            "{\n  \"a\": [],\n  \"b\": [\n    0,\n    4294967295,\n    {},\n    null\n  ],\n  \
             \"c\\n\": \"\\\"é\\u0001\u{7f}\\\\\",\n  \"d\": false\n}\n"
        );
    }

    #[test]
    fn what_is_deep_is_indented_as_well() {
        fn nest(w: &mut Writer, levels: usize) {
            w.array(|w| match levels {
                0 => w.null(),
                _ => nest(w, levels - 1),
            });
        }
        let mut w = Writer::pretty();
        nest(&mut w, 30);
        let text = w.finish();
        for (depth, line) in text.lines().take(32).enumerate() {
            assert_eq!(line.len() - line.trim_start().len(), depth * 2, "{line}");
        }
    }

    #[test]
    fn dense_has_no_space() {
        assert_eq!(
            write(Writer::dense()),
            "{\"a\":[],\"b\":[0,4294967295,{},null],\"c\\n\":\"\\\"é\\u0001\u{7f}\\\\\",\"d\":false}\n"
        );
    }
}
