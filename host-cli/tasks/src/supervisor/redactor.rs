//! Secrets in the output of an app, which are found also where they are split over several reads.

use crate::Secret;
use std::collections::BTreeSet;
use std::ops::Range;

/// Replaces secrets in a stream of bytes.
#[derive(Debug, Default)]
pub(super) struct Redactor {
    patterns: Vec<Pattern>,
    /// The last bytes, which may be the begin of a secret.
    held: Vec<u8>,
    /// What of them is a secret, in order, with the length of the secret. They do not overlap.
    hidden: Vec<(Range<usize>, usize)>,
    /// Whether the first of these began in bytes that are gone.
    continues: bool,
}

/// A text that is searched in linear time \[Knuth, Morris, Pratt 1977\].
#[derive(Debug, Clone)]
struct Pattern {
    text: Vec<u8>,
    /// For each length of a begin of the text, less one: the length of its longest own end that also begins the text.
    failure: Vec<u32>,
    /// The length of the text's longest begin at the present end of the stream.
    matched: usize,
    /// The length of the secret, in bytes.
    secret_len: usize,
}

impl Redactor {
    pub(super) fn new<'s>(secrets: impl IntoIterator<Item = &'s Secret>) -> Self {
        let texts = secrets.into_iter().flat_map(|secret| {
            let forms = secret.forms.iter().chain([&secret.value]);
            forms.map(|text| (text.as_bytes(), secret.value.len()))
        });
        let texts: BTreeSet<_> = texts.filter(|(text, _)| !text.is_empty()).collect();
        Self {
            patterns: texts
                .into_iter()
                .map(|(text, len)| Pattern::new(text, len))
                .collect(),
            ..Self::default()
        }
    }

    /// Returns a redactor of the same secrets for another text.
    pub(super) fn fresh(&self) -> Self {
        let patterns = self.patterns.iter().cloned();
        Self {
            patterns: patterns.map(|it| Pattern { matched: 0, ..it }).collect(),
            ..Self::default()
        }
    }

    /// Takes bytes. Returns those that can't belong to a secret any more, with a marker in the place of each secret.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        if self.patterns.is_empty() {
            return bytes.to_vec();
        }
        for byte in bytes {
            self.held.push(*byte);
            let end = self.held.len();
            for pattern in &mut self.patterns {
                if pattern.advance(*byte) {
                    let found = end - pattern.text.len()..end;
                    hide(&mut self.hidden, found, pattern.secret_len);
                }
            }
        }
        let kept = self.patterns.iter().map(|it| it.matched).max();
        self.release(self.held.len() - kept.unwrap_or_default())
    }

    /// Returns the last bytes.
    pub(super) fn finish(&mut self) -> Vec<u8> {
        self.release(self.held.len())
    }

    /// Returns the first bytes that are held.
    fn release(&mut self, count: usize) -> Vec<u8> {
        let mut out = Vec::with_capacity(count);
        let mut at = 0;
        for (range, secret_len) in &self.hidden {
            if range.start >= count {
                break;
            }
            out.extend_from_slice(&self.held[at..range.start]);
            if !self.continues {
                out.extend_from_slice(format!("{{present, len: {secret_len}}}").as_bytes());
            }
            at = range.end.min(count);
            self.continues = range.end > count;
        }
        out.extend_from_slice(&self.held[at..count]);
        self.held.drain(..count);
        self.hidden.retain(|(range, _)| range.end > count);
        for (range, _) in &mut self.hidden {
            *range = range.start.saturating_sub(count)..range.end - count;
        }
        out
    }
}

/// Adds a range behind others. Ranges that overlap become one.
fn hide(hidden: &mut Vec<(Range<usize>, usize)>, mut range: Range<usize>, mut secret_len: usize) {
    while let Some((last, len)) = hidden.pop_if(|(last, _)| last.end > range.start) {
        secret_len = if last.start <= range.start {
            len
        } else {
            secret_len
        };
        range = last.start.min(range.start)..last.end.max(range.end);
    }
    hidden.push((range, secret_len));
}

impl Pattern {
    fn new(text: &[u8], secret_len: usize) -> Self {
        let mut failure = vec![0; text.len()];
        let mut length = 0;
        for at in 1..text.len() {
            while length > 0 && text[at] != text[length] {
                length = failure[length - 1] as usize;
            }
            length += usize::from(text[at] == text[length]);
            // Secrets are far shorter.
            failure[at] = u32::try_from(length).unwrap_or(u32::MAX);
        }
        Self {
            text: text.to_vec(),
            failure,
            matched: 0,
            secret_len,
        }
    }

    /// Takes a byte. Returns whether the text ends with it.
    fn advance(&mut self, byte: u8) -> bool {
        while self.matched > 0 && self.text[self.matched] != byte {
            self.matched = self.failure[self.matched - 1] as usize;
        }
        self.matched += usize::from(self.text[self.matched] == byte);
        let is_whole = self.matched == self.text.len();
        if is_whole {
            self.matched = self.failure[self.matched - 1] as usize;
        }
        is_whole
    }
}

#[cfg(test)]
mod tests {
    use super::Redactor;
    use crate::Secret;

    fn secret(value: &str) -> Secret {
        Secret {
            value: value.to_owned(),
            forms: vec![value.to_uppercase()],
        }
    }

    /// Redacts a text that arrives in pieces of a size.
    fn redacted(secrets: &[Secret], text: &str, size: usize) -> String {
        let mut redactor = Redactor::new(secrets);
        let mut out = Vec::new();
        for piece in text.as_bytes().chunks(size) {
            out.extend(redactor.push(piece));
        }
        out.extend(redactor.finish());
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn secrets_are_hidden_however_they_arrive() {
        for (values, text, hidden) in [
            (&["abc"][..], "xabcx ABC abcabc ab", "x#x # ## ab"),
            (&["aab"], "aaab aab aa", "a# # aa"),
            // A secret within another one, and two that overlap.
            (&["cde", "abcdefg"], "abcdefg abcdef cdefg", "# ab#f #fg"),
            (&["abcd", "cdef"], "abcdef", "#"),
            (&["aaa"], "aaaaa aa", "# aa"),
            (&[], "abc", "abc"),
        ] {
            let secrets: Vec<_> = values.iter().map(|it| secret(it)).collect();
            for size in 1..=text.len() {
                let mut found = redacted(&secrets, text, size);
                for len in 1..10 {
                    found = found.replace(&format!("{{present, len: {len}}}"), "#");
                }
                assert_eq!(found, hidden, "{text} in pieces of {size}");
            }
        }
    }

    #[test]
    fn only_what_may_be_a_secret_waits() {
        let secrets = [secret("open sesame")];
        let mut redactor = Redactor::new(&secrets);
        assert_eq!(redactor.push(b"say: op"), b"say: ");
        assert_eq!(redactor.push(b"era"), b"opera");
        assert_eq!(redactor.push(b" open sesam"), b" ");
        assert_eq!(redactor.push(b"e"), b"{present, len: 11}");
        assert!(redactor.finish().is_empty());
        assert!(!format!("{:?}", secrets[0]).contains("sesame"));
    }
}
