//! The words and punctuation of JSON and of the YAML subset, by a reader that knows no more than what
//! the corpus contains.

use std::ops::Range;

/// A word of a document: a key or a scalar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// Without quotes.
    pub(super) span: Range<usize>,
    pub(super) quoted: bool,
    pub(super) is_key: bool,
    /// The keys around it; of a scalar the last one is its own key.
    pub(super) path: Vec<String>,
}

/// Punctuation outside of words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) at: usize,
    pub(super) byte: u8,
}

#[derive(Debug, Default)]
pub(super) struct Scan {
    pub(super) words: Vec<Word>,
    pub(super) marks: Vec<Mark>,
    pub(super) is_json: bool,
}

/// An open bracket.
struct Frame {
    bracket: u8,
    key: Option<String>,
}

struct Scanner<'t> {
    text: &'t str,
    at: usize,
    frames: Vec<Frame>,
    /// The indentation and key of each mapping in block style.
    block: Vec<(usize, String)>,
    scan: Scan,
}

/// Scans the JSON or YAML in a part of a text. Returns none for a notation that the reader doesn't know.
pub(super) fn scan(text: &str, within: Range<usize>) -> Option<Scan> {
    let start = text[within.clone()].trim_start_matches('\u{feff}');
    let is_json = start.trim_start().starts_with(['{', '[']);
    let mut scanner = Scanner {
        text: &text[..within.end],
        at: within.end - start.len(),
        frames: Vec::new(),
        block: Vec::new(),
        scan: Scan {
            is_json,
            ..Scan::default()
        },
    };
    while scanner.at < within.end {
        if is_json || !scanner.frames.is_empty() {
            scanner.flow()?;
        } else {
            scanner.line()?;
        }
    }
    scanner.frames.is_empty().then_some(scanner.scan)
}

impl<'t> Scanner<'t> {
    fn path(&self) -> Vec<String> {
        let block = self.block.iter().map(|(_, key)| key.clone());
        let flow = self.frames.iter().filter_map(|frame| frame.key.clone());
        block.chain(flow).collect()
    }

    fn mark(&mut self) {
        let byte = self.text.as_bytes()[self.at];
        self.scan.marks.push(Mark { at: self.at, byte });
        self.at += 1;
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn skip_comment(&mut self) {
        self.at += self.rest().find('\n').unwrap_or(self.rest().len());
    }

    /// Reads one token of JSON or of flow style.
    fn flow(&mut self) -> Option<()> {
        let byte = self.text.as_bytes()[self.at];
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => self.at += 1,
            b'#' => self.skip_comment(),
            b'{' | b'[' => {
                let key = None;
                self.frames.push(Frame { bracket: byte, key });
                self.mark();
            }
            b'}' | b']' => {
                self.frames.pop()?;
                self.mark();
            }
            b',' => {
                if let Some(frame) = self.frames.last_mut() {
                    frame.key = None;
                }
                self.mark();
            }
            b':' => self.mark(),
            _ => {
                let (span, quoted) = self.word(|rest| {
                    rest.starts_with([',', '[', ']', '{', '}', '\n', '\r'])
                        || rest.starts_with(": ")
                        || rest.starts_with(" #")
                })?;
                let is_object = self.frames.last().is_some_and(|it| it.bracket == b'{');
                let is_key = is_object && self.frames.last()?.key.is_none();
                let path = self.path();
                if is_key {
                    let key = self.text[span.clone()].to_owned();
                    self.frames.last_mut()?.key = Some(key);
                }
                self.add(span, quoted, is_key, path);
            }
        }
        Some(())
    }

    /// Reads a quoted or plain word. `ends` says where a plain one ends.
    fn word(&mut self, ends: impl Fn(&str) -> bool) -> Option<(Range<usize>, bool)> {
        let quote = self.rest().chars().next()?;
        let start = self.at;
        if matches!(quote, '"' | '\'') {
            let mut escaped = false;
            let close = self.rest()[1..].find(|c| {
                let closes = c == quote && !escaped;
                escaped = c == '\\' && !escaped;
                closes
            })?;
            self.at = start + close + 2;
            return Some((start + 1..start + 1 + close, true));
        }
        while self.at < self.text.len() && !ends(self.rest()) {
            self.at += self.rest().chars().next()?.len_utf8();
        }
        let len = self.text[start..self.at].trim_end().len();
        (len > 0).then_some((start..start + len, false))
    }

    fn add(&mut self, span: Range<usize>, quoted: bool, is_key: bool, path: Vec<String>) {
        self.scan.words.push(Word {
            span,
            quoted,
            is_key,
            path,
        });
    }

    /// Reads a line in block style.
    fn line(&mut self) -> Option<()> {
        let line = self.rest();
        let line = &line[..line.find('\n').map_or(line.len(), |at| at + 1)];
        let mut indent = line.len() - line.trim_start_matches(' ').len();
        let mut content = line[indent..].trim_end();
        if content.is_empty() || content.starts_with('#') || content.starts_with("---") {
            self.at += line.len();
            return Some(());
        }
        let end = self.at + line.len();
        while let Some(item) = content.strip_prefix("- ") {
            self.pop(indent + 1);
            indent += content.len() - item.trim_start().len();
            content = item.trim_start();
        }
        self.pop(indent);
        self.at += indent;
        if content.starts_with(['&', '*', '!', '?', '%', '|', '>', '-']) {
            return None;
        }
        if content.starts_with(['{', '[']) {
            return self.flow();
        }
        let ends = |rest: &str| {
            rest.starts_with(": ") || rest.starts_with(":\n") || rest.starts_with(" #")
        };
        let (span, quoted) = self.word(|rest| ends(rest) || rest.starts_with(['\n', '\r']))?;
        let path = self.path();
        if !self.rest().starts_with(':') {
            self.add(span, quoted, false, path);
            self.at = end;
            return Some(());
        }
        let key = self.text[span.clone()].to_owned();
        self.add(span, quoted, true, path);
        self.mark();
        self.block.push((indent, key));
        let value = self.text[self.at..end].trim_start();
        self.at = end - value.len();
        match value.chars().next() {
            Some('{' | '[') => return self.flow(),
            Some('&' | '*' | '!' | '|' | '>') => return None,
            None | Some('#') => {}
            Some(_) => {
                let (span, quoted) =
                    self.word(|rest| rest.starts_with(['\n', '\r']) || rest.starts_with(" #"))?;
                let path = self.path();
                self.add(span, quoted, false, path);
            }
        }
        self.at = end;
        Some(())
    }

    /// Leaves the mappings that are not further left than a line.
    fn pop(&mut self, indent: usize) {
        while self.block.last().is_some_and(|(at, _)| *at >= indent) {
            self.block.pop();
        }
    }
}
