//! Texts by their names, as JSON: what links hold, and what is kept for the next visit.
//!
//! A general reader has numbers and messages about all that a value could be instead, a tenth of
//! the page; here values are texts, and others are passed over.

/// How deep what is passed over may be.
const DEPTH_LIMIT: u32 = 128;

const NO_JSON: &str = "it is not JSON, or cut off";

/// The texts of an object, each with its name.
pub(crate) struct Texts {
    /// None: a value that is no text.
    fields: Vec<(String, Option<String>)>,
}

/// Writes an object.
pub(crate) fn write<'t>(fields: impl IntoIterator<Item = (&'t str, &'t str)>) -> String {
    let mut out = String::from("{");
    for (name, text) in fields {
        if out.len() > 1 {
            out.push(',');
        }
        write_string(&mut out, name);
        out.push(':');
        write_string(&mut out, text);
    }
    out.push('}');
    out
}

fn write_string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c if c < ' ' => {
                out.push_str("\\u00");
                let digits = [c as u32 / 16, c as u32 % 16];
                out.extend(digits.into_iter().filter_map(|it| char::from_digit(it, 16)));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

impl Texts {
    /// Reads an object.
    pub(crate) fn read(json: &str) -> Result<Self, String> {
        let fields = Reader { rest: json }.document();
        fields
            .map(|fields| Self { fields })
            .ok_or_else(|| NO_JSON.to_owned())
    }

    /// Takes the text of a name out, if there is one.
    pub(crate) fn take(&mut self, name: &str) -> Result<Option<String>, String> {
        let found = self.fields.iter_mut().find(|(field, _)| field == name);
        let text = found.map(|(_, text)| text.take().ok_or(format!("`{name}` is no text")));
        text.transpose()
    }

    /// Takes the text of a name out, which has to be there.
    pub(crate) fn require(&mut self, name: &str) -> Result<String, String> {
        self.take(name)?
            .ok_or_else(|| format!("missing field `{name}`"))
    }
}

struct Reader<'j> {
    rest: &'j str,
}

impl<'j> Reader<'j> {
    fn document(mut self) -> Option<Vec<(String, Option<String>)>> {
        let mut fields = Vec::new();
        self.expect("{")?;
        self.object(|reader, name| {
            let text = reader.value(0)?;
            fields.push((name, text));
            Some(())
        })?;
        self.space();
        self.rest.is_empty().then_some(fields)
    }

    fn space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\n', '\r', '\t']);
    }

    /// Passes over a token, if it comes next.
    fn eat(&mut self, token: &str) -> bool {
        self.space();
        let rest = self.rest.strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn expect(&mut self, token: &str) -> Option<()> {
        self.eat(token).then_some(())
    }

    /// The fields of an object, behind its brace; each is told its name and reads its value.
    fn object(&mut self, mut field: impl FnMut(&mut Self, String) -> Option<()>) -> Option<()> {
        if self.eat("}") {
            return Some(());
        }
        loop {
            self.expect("\"")?;
            let name = self.string()?;
            self.expect(":")?;
            field(self, name)?;
            if !self.eat(",") {
                return self.expect("}");
            }
        }
    }

    /// A value. None in it: it is no text, and was passed over.
    fn value(&mut self, depth: u32) -> Option<Option<String>> {
        if self.eat("\"") {
            return self.string().map(Some);
        }
        if depth == DEPTH_LIMIT {
            return None;
        }
        if self.eat("{") {
            self.object(|reader, _| reader.value(depth + 1).map(|_| ()))?;
        } else if self.eat("[") {
            if !self.eat("]") {
                loop {
                    self.value(depth + 1)?;
                    if !self.eat(",") {
                        self.expect("]")?;
                        break;
                    }
                }
            }
        } else {
            self.word()?;
        }
        Some(None)
    }

    /// Null, a boolean or a number. Which number it is does not matter.
    fn word(&mut self) -> Option<()> {
        let of_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
        let rest = self.rest.trim_start_matches(of_word);
        let (word, rest) = self.rest.split_at(self.rest.len() - rest.len());
        self.rest = rest;
        let number = || {
            word.starts_with(|c: char| c == '-' || c.is_ascii_digit())
                && word.ends_with(|c: char| c.is_ascii_digit())
        };
        (matches!(word, "null" | "true" | "false") || number()).then_some(())
    }

    /// The rest of a string, behind its first quote.
    fn string(&mut self) -> Option<String> {
        let mut text = String::new();
        loop {
            let end = self.rest.find(|c| matches!(c, '"' | '\\') || c < ' ')?;
            let (plain, rest) = self.rest.split_at(end);
            text.push_str(plain);
            let mut rest = rest.chars();
            let special = rest.next()?;
            self.rest = rest.as_str();
            match special {
                '"' => return Some(text),
                '\\' => text.push(self.escaped()?),
                _ => return None,
            }
        }
    }

    /// The character of an escape, behind its backslash.
    fn escaped(&mut self) -> Option<char> {
        let mut rest = self.rest.chars();
        let kind = rest.next()?;
        self.rest = rest.as_str();
        Some(match kind {
            '"' | '\\' | '/' => kind,
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'u' => {
                let high = self.unit()?;
                // Half of a pair needs the other half.
                let pair = if (0xd800..0xdc00).contains(&high) {
                    self.rest = self.rest.strip_prefix("\\u")?;
                    let low = self
                        .unit()?
                        .checked_sub(0xdc00)
                        .filter(|low| *low < 0x400)?;
                    0x10000 + ((high - 0xd800) << 10) + low
                } else {
                    high
                };
                char::from_u32(pair)?
            }
            _ => return None,
        })
    }

    /// Four hexadecimal digits.
    fn unit(&mut self) -> Option<u32> {
        let (digits, rest) = self.rest.split_at_checked(4)?;
        self.rest = rest;
        let mut digits = digits.chars();
        digits.try_fold(0, |unit, digit| Some(unit * 16 + digit.to_digit(16)?))
    }
}

#[cfg(test)]
mod tests {
    use super::{Texts, write};
    use std::collections::BTreeMap;

    fn every_ascii() -> String {
        (0..=127).map(char::from).collect()
    }

    #[test]
    fn what_is_written_is_what_serde_writes() {
        for text in ["", &every_ascii(), "𝄞 é \u{2028}\u{ffff}"] {
            let fields = BTreeMap::from([("a", text), (text, "b")]);
            let json = write(fields.iter().map(|(name, text)| (*name, *text)));
            assert_eq!(json, serde_json::to_string(&fields).unwrap());
            let mut read = Texts::read(&json).unwrap();
            assert_eq!(read.take("a"), Ok(Some(text.to_owned())));
            assert_eq!(read.take(text), Ok(Some("b".to_owned())));
        }
        assert_eq!(write([]), "{}");
    }

    #[test]
    fn strings_are_read_as_serde_reads_them() {
        for string in [
            r#""\"\\\/\b\f\n\r\t""#,
            r#""\u0041\u00e9\u00E9\uffff\u0000""#,
            r#""\ud834\udd1e""#,
            r#""\ud834""#,
            r#""\ud834x""#,
            r#""\ud834\u0041""#,
            r#""\ud834\ud834""#,
            r#""\udd1e""#,
            r#""\u004""#,
            r#""\u00é""#,
            r#""\x""#,
            r#""\"#,
            r#"""#,
            "\"\n\"",
            "\"\u{7f}𝄞\"",
        ] {
            let expected = serde_json::from_str::<String>(string).ok();
            let read = Texts::read(&format!("{{\"a\":{string}}}"));
            let read = read.ok().and_then(|mut texts| texts.take("a").ok()?);
            assert_eq!(read, expected, "{string}");
        }
    }

    #[test]
    fn documents_are_refused_as_serde_refuses_them() {
        let deep = |depth| format!("{{\"a\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
        for json in [
            " {\t\"a\" :\r\n1 } ",
            r#"{"a":-0.5e+3,"b":[],"c":{},"d":[null,{"e":[true,false]}]}"#,
            "",
            "{",
            "{}",
            "{}}",
            "{,}",
            "[]",
            "null",
            "\"a\"",
            r#"{"a"}"#,
            r#"{"a":}"#,
            r#"{"a":1,}"#,
            r#"{"a":1 "b":2}"#,
            r#"{"a":[1,]}"#,
            r#"{"a":[1 2]}"#,
            r#"{"a":[1}"#,
            r#"{"a":nul}"#,
            r#"{"a":.5}"#,
            r#"{"a":1.}"#,
            r#"{a:1}"#,
            r#"{"a":1} and more"#,
            "{\u{a0}}",
            &deep(100),
            &deep(100_000),
        ] {
            let expected = serde_json::from_str::<BTreeMap<String, serde_json::Value>>(json);
            assert_eq!(Texts::read(json).is_ok(), expected.is_ok(), "{json:.60}");
        }
    }

    #[test]
    fn a_text_is_there_or_not_or_it_is_none() {
        let mut texts = Texts::read(r#"{"a":"b","c":{"a":"d"},"e":null}"#).unwrap();
        assert_eq!(texts.require("b"), Err("missing field `b`".to_owned()));
        assert_eq!(texts.take("b"), Ok(None));
        assert_eq!(texts.take("c"), Err("`c` is no text".to_owned()));
        assert_eq!(texts.take("e"), Err("`e` is no text".to_owned()));
        assert_eq!(texts.require("a"), Ok("b".to_owned()));
    }
}
