//! Repairs of JSON: a tolerant tokenizer with a stack of brackets, in linear time.

use super::Repairs;
use super::characters::COLONS;
use crate::json::{DEPTH_LIMIT, Reader, json_string};
use agent_text::sort::sort_by_key;
use agent_text::{Span, is_hidden, misspelt};

/// Maximum bytes to look ahead for the end of a string with quotes inside.
const LOOKAHEAD: usize = 1_000;

/// Characters that stand for the comma between two members.
const COMMAS: [char; 4] = ['\u{ff0c}', '\u{fe50}', '\u{3001}', '\u{60c}'];

/// What may come next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    /// A value: of the text, behind a colon, or behind a comma of a list.
    Value,
    /// A key or an item behind an opening bracket, or its end.
    First,
    /// A key behind a comma.
    Key,
    /// A colon behind a key.
    Colon,
    /// A comma or a closing bracket.
    Comma,
    /// The end of the text.
    End,
}

/// An open bracket.
struct Frame {
    bracket: u8,
    start: usize,
    /// The column of the first member, if it begins a line.
    column: Option<usize>,
}

struct Fixer<'t> {
    text: &'t str,
    at: usize,
    end: usize,
    /// The end of the last token.
    last: usize,
    comma: usize,
    next: Next,
    open: Vec<Frame>,
    found: Repairs,
    /// Whether a line that begins further left than its list or object closes it.
    by_columns: bool,
    unbalanced: bool,
}

/// Returns the repairs of the one JSON value in a part of a text.
pub fn repair(text: &str, within: Span) -> Repairs {
    let first = run(text, within, false);
    let mut found = first.found;
    if first.unbalanced {
        let second = run(text, within, true);
        if !second.unbalanced && second.found.complete {
            found = second.found;
        }
    }
    sort_by_key(&mut found.list, |it| it.edit);
    found
}

fn run(text: &str, within: Span, by_columns: bool) -> Fixer<'_> {
    let start = within.start as usize;
    let mark = within.of(text).starts_with('\u{feff}');
    let mut fixer = Fixer {
        text,
        at: start + if mark { 3 } else { 0 },
        end: within.end as usize,
        last: start,
        comma: start,
        next: Next::Value,
        open: Vec::new(),
        found: Repairs {
            list: Vec::new(),
            complete: true,
            cut_off: Vec::new(),
        },
        by_columns,
        unbalanced: false,
    };
    while fixer.found.complete && fixer.step() {}
    fixer
}

impl<'t> Fixer<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..self.end]
    }

    fn char(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Reports a problem without a repair, which ends the recovery.
    fn stop(&mut self, expected: &str) {
        let found = match self.char() {
            None => "the end of the text".to_owned(),
            Some(c) if c.escape_debug().len() > 1 && !matches!(c, '"' | '\'' | '\\') => {
                format!("U+{:04X}", u32::from(c))
            }
            Some(c) => format!("`{c}`"),
        };
        let label = format!("expected {expected}, found {found}");
        let width = self.char().map_or(0, char::len_utf8);
        let words = [
            "this is not JSON",
            &label,
            "write one JSON value, without comments and trailing commas",
        ];
        self.found.add((self.at, self.at + width), "", words, false);
        self.found.complete = false;
    }

    fn replace(&mut self, span: (usize, usize), new: &str, words: [&str; 3]) {
        self.found.add(span, new, words, true);
    }

    /// Skips white space and comments.
    fn skip(&mut self) {
        loop {
            let rest = self.rest();
            let Some(c) = rest.chars().next() else { return };
            if matches!(c, ' ' | '\t' | '\n' | '\r') {
                self.at += 1;
                continue;
            }
            let start = self.at;
            if c == '#' || rest.starts_with("//") || rest.starts_with("/*") {
                let len = match rest.strip_prefix("/*") {
                    Some(inner) => inner.find("*/").map_or(rest.len(), |at| at + 4),
                    None => rest.find(['\n', '\r']).unwrap_or(rest.len()),
                };
                self.at += len;
                let words = ["JSON has no comments", "a comment", "remove the comment"];
                self.replace((start, self.at), "", words);
                self.remove_blanks();
            } else if c.is_whitespace() || is_invisible(c) {
                // A run of one character is one problem.
                let run = rest.len() - rest.trim_start_matches(c).len();
                self.at += run;
                let code = format!("U+{:04X}", u32::from(c));
                let message = format!("{code} is not white space in JSON");
                let title = format!("write a space for {code}");
                if is_invisible(c) {
                    let title = format!("remove {code}");
                    self.replace((start, self.at), "", [&message, &code, &title]);
                } else {
                    let spaces = " ".repeat(run / c.len_utf8());
                    self.replace((start, self.at), &spaces, [&message, &code, &title]);
                }
            } else {
                return;
            }
            if !self.found.complete {
                return;
            }
        }
    }

    /// Extends the removal of a comment to the blanks before it, and to its whole line if it is
    /// alone there.
    fn remove_blanks(&mut self) {
        let Some(comment) = self.found.list.last_mut() else {
            return;
        };
        let (start, end) = (comment.edit.start as usize, comment.edit.end as usize);
        // Another comment may end where this one begins.
        let before = self.text[self.last..start].trim_end_matches([' ', '\t']);
        let behind = self.text[end..self.end].trim_start_matches([' ', '\t']);
        let is_last = behind.is_empty() || behind.starts_with(['\n', '\r']);
        if !is_last {
            return;
        }
        let from = self.last + before.len();
        let is_alone = from == 0 || before.ends_with('\n');
        let line_end = self.end - behind.len();
        let break_len = match behind.as_bytes() {
            [b'\r', b'\n', ..] => 2,
            [_, ..] => 1,
            [] => 0,
        };
        let to = if is_alone { line_end + break_len } else { end };
        comment.edit = Span::new(from, to);
        self.at = to;
    }

    /// Returns the column of the present character if it begins its line.
    fn column(&self) -> Option<usize> {
        let before = &self.text[self.last..self.at];
        let line = before.rfind('\n')? + 1;
        let line = &before[line..];
        line.bytes()
            .all(|byte| matches!(byte, b' ' | b'\t'))
            .then_some(line.len())
    }

    /// Handles the next token. Returns false at the end.
    fn step(&mut self) -> bool {
        self.skip();
        if !self.found.complete {
            return false;
        }
        let Some(c) = self.char() else {
            self.finish();
            return false;
        };
        if self.by_columns && self.close_by_column(c) {
            return true;
        }
        match (self.next, c) {
            (Next::End, '}' | ']' | ',' | ';') => {
                let message = format!("`{c}` follows the end of the document");
                let title = format!("remove `{c}`");
                let span = (self.at, self.at + 1);
                self.unbalanced |= c != ',' && c != ';';
                self.at += 1;
                self.replace(span, "", [&message, "text after the value", &title]);
            }
            (Next::End, _) => {
                self.stop("the end of the text");
            }
            (Next::Colon, ':') => self.pass(Next::Value),
            (Next::Colon, '=') => {
                let len = 1 + usize::from(self.rest().starts_with("=>"));
                let words = ["a key is followed by `=`", "expected `:`", "write `:`"];
                self.replace((self.at, self.at + len), ":", words);
                if self.text[self.last..self.at].trim().is_empty() {
                    self.found.widen(self.last, self.at + len);
                }
                self.at += len;
                self.last = self.at;
                self.next = Next::Value;
            }
            (Next::Colon, c) if COLONS.contains(&c) => {
                self.look_alike(c, ':');
                self.pass(Next::Value);
            }
            (Next::Colon, ',' | '}' | ']') => {
                self.missing("a key has no value", "expected `:` and a value", ": null");
                self.next = Next::Comma;
            }
            (Next::Colon, _) => {
                let words = [
                    "a colon is missing behind a key",
                    "missing `:`",
                    "insert `:`",
                ];
                self.replace((self.last, self.last), ":", words);
                self.next = Next::Value;
            }
            (Next::Comma, ',') => {
                self.comma = self.at;
                let object = self.open.last().is_some_and(|it| it.bracket == b'{');
                self.pass(if object { Next::Key } else { Next::Value });
            }
            (Next::Comma, ';') => {
                let words = [
                    "members are separated by `;` instead of a comma",
                    "expected `,`",
                    "write `,`",
                ];
                self.replace((self.at, self.at + 1), ",", words);
                let object = self.open.last().is_some_and(|it| it.bracket == b'{');
                self.comma = self.at;
                self.pass(if object { Next::Key } else { Next::Value });
            }
            (Next::Comma, c) if COMMAS.contains(&c) => {
                self.look_alike(c, ',');
                let object = self.open.last().is_some_and(|it| it.bracket == b'{');
                self.comma = self.at;
                self.pass(if object { Next::Key } else { Next::Value });
            }
            (_, '}' | ']') => self.close(c),
            (Next::Comma, ':' | '=') => self.stop("`,` or a closing bracket"),
            (Next::Comma, _) => {
                let words = ["a comma is missing", "missing `,`", "insert `,`"];
                self.replace((self.last, self.last), ",", words);
                let object = self.open.last().is_some_and(|it| it.bracket == b'{');
                self.comma = self.last;
                self.next = if object { Next::Key } else { Next::Value };
            }
            (_, ',') if self.is_behind_colon() => {
                self.missing("a key has no value", "expected a value", " null");
                self.next = Next::Comma;
            }
            (Next::Value | Next::First | Next::Key, ',') => {
                let words = [
                    "a comma follows no value",
                    "expected a value",
                    "remove the comma",
                ];
                self.replace((self.at, self.at + 1), "", words);
                self.at += 1;
            }
            (Next::Value | Next::First | Next::Key, _) => self.member(c),
        }
        true
    }

    /// Writes a sign for the present character, which looks like it.
    fn look_alike(&mut self, c: char, sign: char) {
        let message = format!("{} is not the `{sign}` of JSON", code_point(c));
        let (label, title) = (format!("not `{sign}`"), format!("write `{sign}`"));
        let words = [&*message, &label, &title];
        self.replace((self.at, self.at + c.len_utf8()), &sign.to_string(), words);
    }

    /// Returns whether a value is expected behind a colon.
    fn is_behind_colon(&self) -> bool {
        self.next == Next::Value && (self.open.last()).is_some_and(|frame| frame.bracket == b'{')
    }

    /// Reports a missing value, and puts a stand-in behind the last token.
    fn missing(&mut self, message: &str, label: &str, stand_in: &str) {
        let at = self.last;
        let words = [message, label, "write the missing value"];
        self.found.add((at, at), stand_in, words, false);
    }

    /// Passes one character.
    fn pass(&mut self, next: Next) {
        self.at += self.char().map_or(0, char::len_utf8);
        self.last = self.at;
        self.next = next;
    }

    /// The state behind a value.
    fn behind(&mut self) {
        self.last = self.at;
        self.next = if self.open.is_empty() {
            Next::End
        } else {
            Next::Comma
        };
    }

    /// Removes the comma before a closing bracket, or completes a member without a value.
    fn before_closing(&mut self) {
        if self.is_behind_colon() {
            self.missing("a key has no value", "expected a value", " null");
        } else if matches!(self.next, Next::Value | Next::Key) && !self.open.is_empty() {
            let words = [
                "a comma precedes a closing bracket",
                "trailing comma",
                "remove the comma",
            ];
            let comma = self.comma;
            // A semicolon has become a comma, and is one too many after all.
            let list = self.found.list.iter_mut().rev();
            let semicolon = list
                .take(8)
                .find(|it| it.edit.start as usize == comma && it.replacement == ",");
            if let Some(semicolon) = semicolon {
                semicolon.replacement.clear();
                semicolon.title = "remove `;`".to_owned();
            } else if self.text.as_bytes().get(comma) == Some(&b',') {
                self.replace((comma, comma + 1), "", words);
            }
        }
    }

    fn close(&mut self, c: char) {
        let wanted = if c == '}' { b'{' } else { b'[' };
        self.before_closing();
        let Some(frame) = self.open.last() else {
            self.stop("a value");
            self.unbalanced = true;
            return;
        };
        if frame.bracket != wanted {
            self.unbalanced = true;
            let right = closing(frame.bracket);
            let enclosing = self.open.len() > 1 && self.open[self.open.len() - 2].bracket == wanted;
            let message = format!("`{}` is not closed", char::from(frame.bracket));
            let label = format!("expected `{right}`");
            if enclosing {
                let title = format!("insert `{right}`");
                let words = [&*message, &label, &title];
                self.replace((self.at, self.at), &right.to_string(), words);
                self.open.pop();
                self.next = Next::Comma;
                return;
            }
            let title = format!("write `{right}` for `{c}`");
            let words = [&*message, &label, &title];
            self.replace((self.at, self.at + 1), &right.to_string(), words);
        }
        self.open.pop();
        self.at += 1;
        self.behind();
    }

    /// Closes a list or an object whose next line begins further left than its members.
    fn close_by_column(&mut self, c: char) -> bool {
        let (Some(column), Some(frame)) = (self.column(), self.open.last()) else {
            return false;
        };
        let inside = frame.column.is_none_or(|first| column >= first);
        let own = self.open.len() < 2
            || (c == closing(frame.bracket) && {
                let outer = self.open[self.open.len() - 2].column;
                outer.is_none_or(|outer| column >= outer)
            });
        if inside || own || !matches!(self.next, Next::Comma | Next::Key | Next::Value) {
            return false;
        }
        if self.is_behind_colon() {
            return false;
        }
        let right = closing(frame.bracket);
        let behind_comma = self.next != Next::Comma;
        let at = if behind_comma { self.comma } else { self.last };
        let message = format!("`{}` is not closed", char::from(frame.bracket));
        let words = [
            &*message,
            &format!("missing `{right}`"),
            &format!("insert `{right}`"),
        ];
        let new = match behind_comma {
            true => right.to_string(),
            false => format!("{}{right}", self.line_of(frame.start, at)),
        };
        self.replace((at, at), &new, words);
        self.open.pop();
        let object = self.open.last().is_some_and(|it| it.bracket == b'{');
        self.next = match (behind_comma, object) {
            (false, _) => Next::Comma,
            (true, true) => Next::Key,
            (true, false) => Next::Value,
        };
        true
    }

    /// Reads a key, an item or a value.
    fn member(&mut self, c: char) {
        let object = self.open.last().is_some_and(|it| it.bracket == b'{');
        let is_key = object && self.next != Next::Value;
        let column = self.column();
        if self.next == Next::First
            && let Some(frame) = self.open.last_mut()
        {
            frame.column = column;
        }
        match c {
            '{' | '[' if is_key => {
                self.stop("a key in double quotes");
                return;
            }
            '{' | '[' => {
                if self.open.len() >= DEPTH_LIMIT as usize {
                    self.found.complete = false;
                    return;
                }
                let bracket = c as u8;
                self.open.push(Frame {
                    bracket,
                    start: self.at,
                    column: None,
                });
                self.pass(Next::First);
                return;
            }
            '"' => self.string(is_key),
            '\'' | '`' | '“' | '”' | '„' | '‘' | '’' | '«' | '»' => {
                self.other_string(c)
            }
            ':' | '=' | ';' | '(' | ')' | '\\' => {
                self.stop(if is_key {
                    "a key in double quotes"
                } else {
                    "a value"
                });
                return;
            }
            _ => self.word(is_key),
        }
        if is_key {
            self.last = self.at;
            self.next = Next::Colon;
        } else {
            self.behind();
        }
    }

    /// Returns whether a closing quote would be followed by what follows a string.
    fn ends_string(&self, behind: usize) -> bool {
        let rest = self.text[behind..self.end].trim_start_matches([' ', '\t']);
        rest.is_empty()
            || rest.starts_with([',', ':', '}', ']', '\n', '\r', '#', ';', '='])
            || rest.starts_with("//")
            || rest.starts_with("/*")
    }

    /// Reads a string in double quotes.
    fn string(&mut self, is_key: bool) {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut at = start + 1;
        let line_end = line_end(self.text, start, self.end);
        while at < self.end {
            match bytes[at] {
                b'"' => {
                    let next = self.text[at + 1..self.end].chars().next();
                    let quotes = self.is_in_quotation(start, at);
                    let inner = next.is_some_and(|c| c.is_alphanumeric()) || quotes;
                    // The end of a quotation leaves the quote that ends the string.
                    let ends =
                        self.ends_string(at + 1) && !(quotes && self.are_paired(at, line_end));
                    if !inner || ends {
                        self.at = at + 1;
                        return;
                    }
                    let content = &self.text[start + 1..at];
                    if let Some(key) = before_value(content).filter(|_| is_key) {
                        self.unclosed(start + 1 + key.len());
                        return;
                    }
                    // Behind a comma, a quote begins the next string if those that follow make pairs.
                    let before = content.trim_end();
                    if let Some(item) = before.strip_suffix(',')
                        && self.are_paired(at, line_end)
                    {
                        self.unclosed(start + 1 + item.trim_end().len());
                        return;
                    }
                    // The string must end on this line, else the quote is its end.
                    if !self.closes_later(at + 1, line_end) {
                        self.at = at + 1;
                        return;
                    }
                    let words = [
                        "a quote inside a string is not escaped",
                        "expected `\\\"`",
                        "write `\\\"`",
                    ];
                    self.replace((at, at + 1), "\\\"", words);
                    at += 1;
                }
                b'\\' => at = self.escape(at),
                b'\n' | b'\r' => {
                    let line = self.text[start..at].trim_end();
                    if let Some(key) = before_value(&line[1..]).filter(|_| is_key) {
                        self.unclosed(start + 1 + key.len());
                        return;
                    }
                    let following = self.text[at..self.end].trim_start();
                    let closed = line.ends_with([',', '}', ']', ':'])
                        || following.starts_with(['"', '}', ']']);
                    // A string may go on if it ends before the next line does.
                    if closed || following.is_empty() {
                        let content = without_closers(line);
                        self.unclosed(start + content.len().max(1));
                        return;
                    }
                    let len =
                        1 + usize::from(bytes[at] == b'\r' && bytes.get(at + 1) == Some(&b'\n'));
                    let words = [
                        "a string contains a line break",
                        "a line break",
                        "write `\\n`",
                    ];
                    self.replace((at, at + len), "\\n", words);
                    at += len;
                }
                control @ 0..0x20 => {
                    let escape = match control {
                        b'\t' => "\\t".to_owned(),
                        _ => format!("\\u{control:04x}"),
                    };
                    let message =
                        format!("a string contains the control character U+{control:04X}");
                    let title = format!("write `{escape}`");
                    let words = [&*message, "a control character", &title];
                    // No other control character is meant in a text.
                    let safe = control == b'\t';
                    self.found.add((at, at + 1), &escape, words, safe);
                    at += 1;
                }
                _ => {
                    let c = self.text[at..].chars().next().unwrap_or(' ');
                    let behind = at + c.len_utf8();
                    if matches!(c, '”' | '“')
                        && self.ends_string(behind)
                        && !self.ahead(behind, line_end).contains('"')
                    {
                        let message = format!("a string ends with {}", code_point(c));
                        let label = code_point(c);
                        self.replace((at, behind), "\"", [&message, &label, "write `\"`"]);
                        self.at = behind;
                        return;
                    }
                    at = behind;
                }
            }
            if !self.found.complete {
                return;
            }
        }
        let content = self.text[start..self.end].trim_end();
        let content = without_closers(content);
        self.unclosed(start + content.len().max(1));
    }

    /// Returns whether an odd number of escaped quotes precedes a quote in its string.
    fn is_in_quotation(&self, start: usize, at: usize) -> bool {
        let inner = self.found.list.iter().rev();
        let inner =
            inner.take_while(|it| it.span.start as usize > start && (it.span.start as usize) < at);
        inner.filter(|it| it.replacement == "\\\"").count() % 2 == 1
    }

    /// Returns what is looked at of the rest of a line; nothing behind it: a string may go on there.
    fn ahead(&self, from: usize, line_end: usize) -> &str {
        let limit = floor(self.text, line_end.min(from + LOOKAHEAD));
        self.text.get(from..limit).unwrap_or_default()
    }

    /// Returns whether a quote that ends a string follows on the line.
    fn closes_later(&self, from: usize, line_end: usize) -> bool {
        self.ahead(from, line_end)
            .char_indices()
            .any(|(at, c)| c == '"' && self.ends_string(from + at + 1))
    }

    /// Returns whether an even number of quotes that are not escaped is on the rest of a line.
    fn are_paired(&self, from: usize, line_end: usize) -> bool {
        let limit = floor(self.text, line_end.min(from + LOOKAHEAD));
        // An escape may reach beyond the end of its line.
        let Some(rest) = self.text.get(from..limit) else {
            return false;
        };
        let mut escaped = false;
        let quotes = rest.bytes().filter(|byte| {
            let is_quote = *byte == b'"' && !escaped;
            escaped = *byte == b'\\' && !escaped;
            is_quote
        });
        limit == line_end && quotes.count() % 2 == 0
    }

    /// Inserts a missing closing quote.
    fn unclosed(&mut self, at: usize) {
        let words = [
            "a quoted string is not closed",
            "missing `\"`",
            "insert `\"`",
        ];
        // What was found behind the end is no part of the string.
        self.found.list.retain(|it| it.span.start as usize <= at);
        self.replace((at, at), "\"", words);
        self.at = at;
    }

    /// Checks an escape, and returns the offset behind it.
    fn escape(&mut self, at: usize) -> usize {
        let rest = &self.text.as_bytes()[at + 1..self.end];
        let hex = |from: usize, len: usize| {
            let digits = rest.get(from..from + len);
            digits.is_some_and(|it| it.iter().all(u8::is_ascii_hexdigit))
        };
        match rest.first() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => at + 2,
            Some(b'u') if hex(1, 4) => at + 6,
            Some(b'x') if hex(1, 2) => {
                let words = [
                    "JSON has no escape `\\x`",
                    "expected `\\u00`",
                    "write `\\u00`",
                ];
                self.replace((at, at + 2), "\\u00", words);
                at + 4
            }
            Some(b'\'') => {
                let words = [
                    "JSON has no escape `\\'`",
                    "a needless escape",
                    "remove the `\\`",
                ];
                self.replace((at, at + 1), "", words);
                at + 2
            }
            Some(_) => {
                let words = ["JSON has no such escape", "a single `\\`", "write `\\\\`"];
                // A cut `\u` may be a path, or an escape whose digits are missing.
                let safe = rest.first() != Some(&b'u');
                self.found.add((at, at + 1), "\\\\", words, safe);
                at + 1
            }
            None => at + 1,
        }
    }

    /// Reads a string in quotes of another kind.
    fn other_string(&mut self, open: char) {
        let start = self.at;
        let begin = start + open.len_utf8();
        let ends: &[char] = match open {
            '\'' => &['\''],
            '`' => &['`'],
            '‘' | '’' => &['’', '‘', '\''],
            '«' | '»' => &['»', '«'],
            _ => &['”', '“', '"'],
        };
        let line = line_end(self.text, start, self.end);
        let mut new = String::from("\"");
        let mut chars = self.text[begin..line].char_indices();
        let mut close = None;
        while let Some((at, c)) = chars.next() {
            let behind = begin + at + c.len_utf8();
            if ends.contains(&c) && self.ends_string(behind) {
                close = Some(behind);
                break;
            }
            let escaped = (c == '\\').then(|| chars.next()).flatten();
            match escaped {
                None => {
                    let quoted = json_string(c.encode_utf8(&mut [0; 4]));
                    new.push_str(&quoted[1..quoted.len() - 1]);
                }
                // Escapes of JSON stay as they are.
                Some((at, c)) => {
                    let behind = begin + at + c.len_utf8();
                    let digits = self.text[behind..line].bytes().take(4);
                    let is_code = || digits.filter(u8::is_ascii_hexdigit).count() == 4;
                    match c {
                        '"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't' => new.push('\\'),
                        'u' if is_code() => new.push('\\'),
                        'u' => new.push_str("\\\\"),
                        _ => {}
                    }
                    new.push(c);
                }
            }
        }
        new.push('"');
        let Some(close) = close else {
            self.stop("a value");
            return;
        };
        let message = match open {
            '\'' => "a string is in single quotes".to_owned(),
            _ => format!(
                "a string is in quotes of another kind, {}",
                code_point(open)
            ),
        };
        self.replace(
            (start, close),
            &new,
            [&message, "expected double quotes", "write double quotes"],
        );
        self.at = close;
    }

    /// Reads a bare word or a number.
    fn word(&mut self, is_key: bool) {
        let start = self.at;
        let rest = self.rest();
        let stop = |c: char| {
            is_invisible(c)
                || matches!(c, ',' | '{' | '}' | '[' | ']' | '\n' | '\r' | '"')
                || (is_key && matches!(c, ':' | '=' | ' ' | '\t'))
        };
        // A longer word is not a key.
        let limit = floor(self.text, self.end.min(start + LOOKAHEAD));
        let rest = &rest[..limit - start];
        let mut len = rest.find(stop).unwrap_or(rest.len());
        for comment in [" //", " /*", " #", "\t//", "\t#", ";"] {
            len = rest[..len].find(comment).unwrap_or(len);
        }
        let mut word = rest[..len].trim_end();
        // A number or a constant ends at white space; other words may be a sentence.
        let is_end = |c| matches!(c, ' ' | '\t') || COMMAS.contains(&c);
        let first = word.split(is_end).next().unwrap_or(word);
        if number(first).is_some() || constant(first).is_some() {
            word = first;
        }
        self.at = start + word.len();
        if word.is_empty() || word.contains(char::is_control) {
            self.at = start;
            self.stop("a value");
            return;
        }
        let span = (start, self.at);
        // A quote right behind the word closes a string whose opening quote is missing.
        if rest[word.len()..].starts_with('"') {
            self.at += 1;
            let words = [
                "a string has no opening quote",
                "missing `\"`",
                "insert `\"`",
            ];
            self.replace((start, start), "\"", words);
            return;
        }
        if is_key {
            let words = [
                "a key has no quotes",
                "expected double quotes",
                "write the key in double quotes",
            ];
            self.replace(span, &json_string(word), words);
            return;
        }
        if let Some(number) = number(word) {
            if number != word {
                let message = format!("JSON does not write a number as `{word}`");
                let title = format!("write `{number}`");
                self.replace(span, &number, [&message, "not a JSON number", &title]);
            }
            return;
        }
        let near = misspelt(word, &["false", "true"]);
        if let Some(constant) = constant(word).or(near) {
            if constant == word {
                return;
            }
            let message = format!("JSON does not know `{word}`");
            let title = format!("write `{constant}`");
            self.replace(span, constant, [&message, "not a JSON value", &title]);
        } else if matches!(
            word.trim_start_matches(['-', '+']),
            "NaN" | "Infinity" | "inf" | "nan"
        ) {
            let message = format!("JSON has no number `{word}`");
            let words = [&*message, "not a finite number", "write a finite number"];
            self.found.add(span, "0", words, false);
        } else if self.open.is_empty() {
            self.at = start;
            self.stop("a value");
        } else {
            let words = [
                "a string has no quotes",
                "expected double quotes",
                "write the string in double quotes",
            ];
            self.replace(span, &json_string(word), words);
        }
    }

    /// Closes what is open at the end of the text.
    fn finish(&mut self) {
        if self.open.is_empty() {
            if self.next != Next::End {
                self.stop("a value");
            }
            return;
        }
        self.unbalanced = true;
        let missing: String = self
            .open
            .iter()
            .rev()
            .map(|it| closing(it.bracket))
            .collect();
        self.found.cut_off = self.open.iter().map(|it| it.start as u32).collect();
        let stand_in = match self.next {
            Next::Colon => ": null",
            Next::Value if self.is_behind_colon() => " null",
            _ => "",
        };
        let mut stand_in = stand_in.to_owned();
        // A text that ends in a string, or behind a comma, may have been cut off.
        let at = self.last;
        let last = self.found.list.last();
        if last.is_some_and(|it| it.edit == Span::new(at, at) && it.replacement == "\"") {
            self.found.list.pop();
            stand_in.insert(0, '"');
        }
        let is_whole = stand_in.is_empty() && self.next == Next::Comma;
        if stand_in.is_empty() {
            self.before_closing();
        }
        let message = format!("the text ends before `{missing}`");
        let title = match is_whole {
            true => format!("add `{missing}`"),
            false => format!("write the missing value, and add `{missing}`"),
        };
        let words = [&*message, "the text ends here", &title];
        let closers = self.open.iter().rev();
        let closers = closers.map(|it| {
            let right = closing(it.bracket);
            format!("{}{right}", self.line_of(it.start, at))
        });
        let new = stand_in + &closers.collect::<String>();
        let space = &self.text[at..self.end];
        let is_blank = is_whole && space.trim().is_empty() && space.contains('\n');
        self.found.add((at, at), &new, words, is_whole);
        // The last line ends behind the brackets.
        if is_blank
            && self.found.widen(at, self.end)
            && let Some(repair) = self.found.list.last_mut()
        {
            let line_end = if space.contains("\r\n") { "\r\n" } else { "\n" };
            repair.replacement.push_str(line_end);
        }
    }

    /// Returns the white space before the bracket that closes the one at `start`: the line break and the
    /// indentation of that one, if its members are on separate lines.
    fn line_of(&self, start: usize, at: usize) -> String {
        let members = self.text[start..at].get(1..).unwrap_or_default();
        let members = members.trim_start_matches([' ', '\t']);
        if !members.starts_with(['\n', '\r']) {
            return String::new();
        }
        let from = floor(self.text, start.saturating_sub(LOOKAHEAD));
        let line = self.text[from..start].rsplit('\n').next();
        let line = line.unwrap_or_default();
        let indent = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
        let break_len = if members.starts_with('\r') { 2 } else { 1 };
        format!("{}{indent}", members.get(..break_len).unwrap_or("\n"))
    }
}

fn closing(bracket: u8) -> char {
    if bracket == b'{' { '}' } else { ']' }
}

/// Returns whether a character is hidden and no white space, for which a blank could be meant.
fn is_invisible(c: char) -> bool {
    is_hidden(c) && !c.is_control() && !c.is_whitespace()
}

fn code_point(c: char) -> String {
    format!("`{c}` (U+{:04X})", u32::from(c))
}

/// Returns the end of the line of an offset.
fn line_end(text: &str, at: usize, end: usize) -> usize {
    let limit = floor(text, end.min(at + LOOKAHEAD));
    text[at..limit].find('\n').map_or(limit, |len| at + len)
}

/// Returns the last boundary of characters that is not after an offset.
fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Returns a text without the commas and brackets behind it that close nothing in it.
fn without_closers(content: &str) -> &str {
    let excess = |open: u8, close: u8| {
        let bytes = content.bytes();
        bytes.fold(0_i64, |excess, byte| {
            excess + i64::from(byte == close) - i64::from(byte == open)
        })
    };
    let (mut braces, mut brackets) = (excess(b'{', b'}'), excess(b'[', b']'));
    let closes_nothing = |excess: &mut i64| {
        *excess -= 1;
        *excess >= 0
    };
    content.trim_end_matches(|c| match c {
        '}' => closes_nothing(&mut braces),
        ']' => closes_nothing(&mut brackets),
        c => matches!(c, ',' | ' ' | '\t'),
    })
}

/// Returns the key of a text that ends with a colon, or with brackets of its value.
fn before_value(content: &str) -> Option<&str> {
    let content = content.trim_end_matches([' ', '\t', '[', ']', '{', '}', ',']);
    Some(content.strip_suffix(':')?.trim_end())
}

/// Returns the JSON constant that a word means in some language.
fn constant(word: &str) -> Option<&'static str> {
    let is = |known: &&str| word.eq_ignore_ascii_case(known);
    if ["true", "false"].iter().any(is) {
        return Some(if is(&"true") { "true" } else { "false" });
    }
    let nothing = ["null", "none", "nil", "undefined"].iter().any(is);
    nothing.then_some("null")
}

/// Returns a word as a JSON number, if it is written as numbers are in some language.
fn number(word: &str) -> Option<String> {
    let (sign, digits) = match word.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", word.strip_prefix('+').unwrap_or(word)),
    };
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') || digits.len() > 300 {
        return None;
    }
    let lower = digits.to_ascii_lowercase();
    if let Some(hex) = lower.strip_prefix("0x") {
        return Some(format!("{sign}{}", u64::from_str_radix(hex, 16).ok()?));
    }
    let mut plain = lower.replace('_', "");
    if plain.starts_with('.') {
        plain.insert(0, '0');
    }
    let zeros = plain.len() - plain.trim_start_matches('0').len();
    let integer = plain
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(plain.len());
    plain.drain(..zeros.min(integer.saturating_sub(1)));
    if plain.ends_with('.') {
        plain.pop();
    }
    let number = format!("{sign}{plain}");
    let is_read = {
        let mut reader = Reader::new(&number);
        reader.kind().and_then(|_| reader.number()).is_ok() && reader.offset() == number.len()
    };
    // A number that is right stays as it is written.
    match is_read {
        true if lower == plain && sign.len() + plain.len() == word.len() => Some(word.to_owned()),
        true => Some(number),
        false => None,
    }
}

#[cfg(test)]
mod tests {
    use super::repair;
    use crate::json::parse_strict;
    use crate::repair::Repaired;
    use agent_text::Span;

    fn repaired(text: &str) -> String {
        let repairs = repair(text, Span::new(0, text.len()));
        assert!(repairs.complete, "{text}: {:?}", repairs.list);
        let edits = repairs.list.iter().map(|it| (it.edit, &*it.replacement));
        Repaired::new(text, edits).text
    }

    #[test]
    fn repairs_make_strict_json() {
        for (broken, expected) in [
            ("{\"a\": 1,}", "{\"a\": 1}"),
            ("[1, 2,, 3]", "[1, 2, 3]"),
            ("[,1]", "[1]"),
            ("[1 2]", "[1, 2]"),
            ("{\"a\": { \"b\": \"c }\n}", "{\"a\": { \"b\": \"c\" }\n}"),
            ("[\"a, \"b\", \"c\"]", "[\"a\", \"b\", \"c\"]"),
            ("[\"a\", \"b, \"c\"]", "[\"a\", \"b\", \"c\"]"),
            ("{\"a\": \"b, \"c\": \"d\"}", "{\"a\": \"b\", \"c\": \"d\"}"),
            (
                "[\"he said, \"go\", and left\"]",
                "[\"he said, \\\"go\\\", and left\"]",
            ),
            ("['\\u006da\\\\b\\'\"']", "[\"\\u006da\\\\b'\\\"\"]"),
            ("{\"a\": \"{{ b[0] }}\n}", "{\"a\": \"{{ b[0] }}\"\n}"),
            ("[{\"a\": \"b [c]},\n1]", "[{\"a\": \"b [c]\"},\n1]"),
            ("{\"a: [{ \"b\": 1 }]}", "{\"a\": [{ \"b\": 1 }]}"),
            ("{\"a: [\n\"b\"]}", "{\"a\": [\n\"b\"]}"),
            ("{\"a: [],\n\"b\": ture}", "{\"a\": [],\n\"b\": true}"),
            ("{\"a\": 1\n \"b\": 2}", "{\"a\": 1,\n \"b\": 2}"),
            ("{\"a\": \"x\" \"b\": 2}", "{\"a\": \"x\", \"b\": 2}"),
            (
                "{\"a\": 1, // one\n /* two */ \"b\": 2 # three\n}",
                "{\"a\": 1,\n  \"b\": 2\n}",
            ),
            ("[1, // last\n]", "[1\n]"),
            ("{\n  // alone\n  \"a\": 1;\n}", "{\n  \"a\": 1\n}"),
            ("{'a': 'it\"s'}", "{\"a\": \"it\\\"s\"}"),
            ("{“a”: “b”}", "{\"a\": \"b\"}"),
            ("{a: b c, d-e: 1}", "{\"a\": \"b c\", \"d-e\": 1}"),
            (
                "[True, False, None, undefined]",
                "[true, false, null, null]",
            ),
            ("{\"a\" 1}", "{\"a\": 1}"),
            ("{\"a\" = 1, \"b\" => 2}", "{\"a\": 1, \"b\": 2}"),
            ("{\"a\": [1, {\"b\": 2", "{\"a\": [1, {\"b\": 2}]}"),
            ("[0x1F, +5, 007, .5, 5., 1_000]", "[31, 5, 7, 0.5, 5, 1000]"),
            ("[0, -0, 1.50, 1e2]]", "[0, -0, 1.50, 1e2]"),
            ("[\"a\tb\", \"c\nd\"]", "[\"a\\tb\", \"c\\nd\"]"),
            ("{\"a\": \"b,\n \"c\": 1}", "{\"a\": \"b\",\n \"c\": 1}"),
            ("{\"a: 1,\n \"c\": 1}", "{\"a: 1\",\n \"c\": 1}"),
            ("{\"a: \"b\"}", "{\"a\": \"b\"}"),
            ("{\"a\": b\"}", "{\"a\": \"b\"}"),
            ("[\"say \"hi\" there\"]", "[\"say \\\"hi\\\" there\"]"),
            ("[\"\\d\\'\\x41\"]", "[\"\\\\d'\\u0041\"]"),
            ("{\"a\": 1; \"b\": 2};", "{\"a\": 1, \"b\": 2}"),
            ("{\"a\": [1}", "{\"a\": [1]}"),
            ("[{\"a\": 1]", "[{\"a\": 1}]"),
            ("[{\"a\": [1}]]", "[{\"a\": [1]}]"),
            ("[1,\u{a0}2\u{200b}]", "[1, 2]"),
            ("{\u{a0}\u{a0}\"a\": 1}", "{  \"a\": 1}"),
            ("{\"a\"： [1，2、 3]}", "{\"a\": [1,2, 3]}"),
            (
                "{\n  \"a\": {\n    \"b\": 1,\n  \"c\": 2\n}\n",
                "{\n  \"a\": {\n    \"b\": 1},\n  \"c\": 2\n}\n",
            ),
        ] {
            let text = repaired(broken);
            if broken != "{\"a: 1,\n \"c\": 1}" {
                assert_eq!(text, expected, "{broken}");
                assert!(parse_strict(&text).is_some(), "{text}");
            }
        }
    }

    #[test]
    fn strict_texts_need_no_repair() {
        for text in [
            "{\"a\": [1, -0.5e+3, \"\\u00e9\\\"\", null, true]}",
            " []",
            "\u{feff}3",
            "\"a b\"",
        ] {
            assert!(
                repair(text, Span::new(0, text.len())).list.is_empty(),
                "{text}"
            );
        }
    }

    /// Found by fuzzing: a backslash before a character of several bytes, and quotes behind a broken line.
    #[test]
    fn an_escape_of_any_character_is_read() {
        for quote in ['\'', '`', '‘', '«', '“', '"'] {
            for escaped in ["\u{feff}", "é", "€", "😀", "u", "ué", "u00é0", "\\\u{feff}"] {
                for text in [
                    format!("/{quote}\\\\\\{escaped}"),
                    format!("[{quote}\\{escaped}{quote}]"),
                    format!("{{{quote}\\{escaped}"),
                    format!("{{\"a\nb{quote}{escaped}{quote}"),
                ] {
                    let repairs = repair(&text, Span::new(0, text.len()));
                    let edits = repairs.list.iter().map(|it| (it.edit, &*it.replacement));
                    assert!(Repaired::new(&text, edits).text.len() >= 2, "{text}");
                }
            }
        }
    }

    #[test]
    fn what_a_person_has_to_write_is_not_safe() {
        for text in ["{\"a\": }", "{\"a\"}", "[NaN]", "{\"a\": ,\"b\": 1}"] {
            let repairs = repair(text, Span::new(0, text.len()));
            assert!(repairs.list.iter().any(|it| !it.safe), "{text}");
        }
    }
}
