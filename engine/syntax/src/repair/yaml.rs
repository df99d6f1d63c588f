//! Repairs of the YAML subset, line by line, in linear time.

use super::Repairs;
use crate::json::json_string;
use crate::yaml::DEPTH_LIMIT;
use agent_text::Span;

/// A line that is neither blank nor a comment.
#[derive(Clone, Copy)]
struct Line<'t> {
    start: usize,
    /// The white space before the content.
    indent: &'t str,
    /// The content without white space behind it.
    content: &'t str,
}

/// The line before.
struct Previous<'t> {
    start: usize,
    /// Whether it is the first line at its column.
    begins: bool,
    indent: &'t str,
    width: usize,
    /// The column of its key, behind dashes.
    inner: usize,
    has_key: bool,
    /// Whether its value is on the lines below.
    opens: bool,
    is_item: bool,
    is_plain: bool,
}

/// A column at which keys or items may begin.
struct Level<'t> {
    column: usize,
    is_item: bool,
    indent: &'t str,
}

/// Returns the repairs of the lines in a part of a text.
pub fn repair(text: &str, within: Span) -> Repairs {
    let mut fixer = Fixer {
        found: Repairs {
            list: Vec::new(),
            complete: true,
            cut_off: Vec::new(),
        },
        levels: Vec::new(),
        ended: Vec::new(),
        announced: None,
        previous: None,
    };
    let mut at = within.start as usize;
    let mut lines = Vec::new();
    for line in within.of(text).split_inclusive('\n') {
        let content = line.trim_start_matches([' ', '\t']);
        let indent = &line[..line.len() - content.len()];
        let content = content.trim_end();
        lines.push(Line {
            start: at,
            indent,
            content,
        });
        at += line.len();
    }
    let (mut block, mut flow, mut quoted) = (None, 0, None);
    for (number, line) in lines.iter().enumerate() {
        if line.content.is_empty() {
            continue;
        }
        if block.is_some_and(|parent| line.indent.len() > parent) {
            continue;
        }
        block = None;
        if let Some(quote) = quoted {
            if line.content.contains(quote) {
                quoted = None;
            }
            continue;
        }
        if line.content.starts_with('#') {
            continue;
        }
        if flow > 0 {
            flow += depth(line.content);
            continue;
        }
        let mut below = lines[number + 1..].iter();
        let next = below.find(|it| !it.content.is_empty() && !it.content.starts_with('#'));
        match fixer.line(*line, next.copied()) {
            Value::Block => block = fixer.previous.as_ref().map(|it| it.inner),
            Value::Flow(open) => flow = open,
            Value::Quoted(quote) => quoted = Some(quote),
            Value::Other => {}
        }
        if !fixer.found.complete {
            break;
        }
    }
    fixer.found
}

/// What the value of a line means for the lines below.
enum Value {
    /// A block scalar.
    Block,
    /// Open brackets.
    Flow(i32),
    /// A string in these quotes.
    Quoted(char),
    Other,
}

struct Fixer<'t> {
    found: Repairs,
    levels: Vec<Level<'t>>,
    /// The levels that the line before ended by its indentation.
    ended: Vec<Level<'t>>,
    /// The column of the keys that a line before that one announced, if it was the last one above.
    announced: Option<usize>,
    previous: Option<Previous<'t>>,
}

impl<'t> Fixer<'t> {
    fn replace(&mut self, span: (usize, usize), new: &str, words: [&str; 3]) {
        self.found.add(span, new, words, true);
    }

    fn line(&mut self, line: Line<'t>, next: Option<Line<'t>>) -> Value {
        let is_item = line.content.starts_with('-');
        if self.goes_on(line) && !is_item {
            return Value::Other;
        }
        let width = self.indentation(line, is_item);
        self.announced = (self.previous.as_ref())
            .filter(|it| it.opens && width <= it.inner)
            .map(|it| it.inner);
        let kept = self.levels.iter().rposition(|it| it.column <= width);
        self.ended = self.levels.split_off(kept.map_or(0, |last| last + 1));
        let (mut start, mut rest) = (line.start + line.indent.len(), line.content);
        let (mut inner, mut is_item) = (width, false);
        let below = self
            .previous
            .as_ref()
            .is_some_and(|it| it.opens && width > it.inner);
        loop {
            let behind = rest.strip_prefix('-').unwrap_or_default();
            let glued = behind
                .starts_with(|c: char| c.is_alphabetic() || matches!(c, '"' | '\'' | '{' | '['));
            let among_items = self
                .levels
                .iter()
                .any(|it| it.is_item && it.column == inner);
            let opened = self.previous.as_ref().is_some_and(|it| it.opens);
            let among_keys = (self.levels.iter()).any(|it| !it.is_item && it.column == inner);
            let key = behind.strip_prefix(' ').filter(|it| is_key(it));
            if let Some(key) = key
                && among_keys
                && !among_items
                && !opened
                && !is_item
            {
                let words = ["an item stands among keys", "a dash", "remove the dash"];
                self.replace((start, start + 2), "", words);
                start += 2;
                rest = key;
                break;
            }
            if glued && (among_items || opened) {
                let words = [
                    "a space is missing behind `-`",
                    "missing space",
                    "insert a space",
                ];
                self.replace((start + 1, start + 1), " ", words);
            } else if rest != "-" && !rest.starts_with("- ") {
                break;
            }
            self.level(inner, true, line.indent);
            if !self.found.complete {
                return Value::Other;
            }
            let trimmed = behind.trim_start();
            start += rest.len() - trimmed.len();
            inner += (rest.len() - trimmed.len()).max(2);
            rest = trimmed;
            is_item = true;
        }
        let sibling = next.filter(|it| is_key(it.content));
        // Among keys, a line has a key: behind a sibling, or before one.
        let is_member = match (is_item, below) {
            (false, false) => true,
            (false, true) => sibling.is_some_and(|it| it.indent == line.indent),
            (true, _) => sibling.is_some_and(|it| it.indent.len() > line.indent.len()),
        };
        let is_followed = next.is_some_and(|it| it.indent.len() > line.indent.len());
        let value = self.member(start, rest, is_member, is_followed);
        if value.is_some() {
            // A key after a dash takes the indentation of the dash.
            self.level(inner, false, if is_item { "" } else { line.indent });
        }
        let (at, value, has_key) = match value {
            Some((at, value)) => (at, value, true),
            None => (start, rest, false),
        };
        let is_note = has_key && is_followed && value.starts_with("//");
        if is_note {
            self.comment(at);
        }
        let opens = value.is_empty() || value.starts_with('#') || is_note;
        // A key or an item that is not further right, or nothing, ends what is open.
        let ends = next.is_none_or(|it| {
            it.indent.len() <= inner && (is_key(it.content) || it.content.starts_with('-'))
        });
        let kind = match has_key || is_item {
            true => self.value(at, value, has_key, ends),
            false => Value::Other,
        };
        let is_plain = !value.starts_with(['"', '\'', '[', '{', '|', '>']);
        self.previous = Some(Previous {
            start: line.start,
            begins: below && !is_item,
            indent: line.indent,
            width,
            inner,
            has_key,
            opens,
            is_item,
            is_plain,
        });
        kind
    }

    /// Returns whether a line goes on with the plain string of the line before.
    fn goes_on(&self, line: Line<'_>) -> bool {
        let width = line.indent.len();
        self.previous.as_ref().is_some_and(|previous| {
            previous.is_plain
                && !previous.opens
                && width
                    > (if previous.has_key {
                        previous.inner
                    } else {
                        previous.width
                    })
                && !line.indent.contains('\t')
                && !is_key(line.content)
        })
    }

    fn level(&mut self, column: usize, is_item: bool, indent: &'t str) {
        // More levels are refused anyway; this keeps the search for them short.
        self.found.complete &= self.levels.len() < 2 * DEPTH_LIMIT;
        let mut levels = self.levels.iter();
        if !levels.any(|it| it.column == column && it.is_item == is_item) {
            self.levels.push(Level {
                column,
                is_item,
                indent,
            });
        }
    }

    /// Checks the indentation of a line, and returns its width after repair.
    fn indentation(&mut self, line: Line<'t>, is_item: bool) -> usize {
        let end = line.start + line.indent.len();
        if line.indent.contains('\t') {
            let tabs = line.indent.bytes().filter(|byte| *byte == b'\t').count();
            let same = self.levels.iter().rev().find(|it| it.indent == line.indent);
            let width = match (&self.previous, same) {
                (Some(previous), _) if previous.indent == line.indent => previous.width,
                (_, Some(level)) => level.column,
                (Some(previous), _) if previous.opens => previous.inner + 2,
                (Some(previous), _)
                    if previous.is_item && line.indent.len() > previous.indent.len() =>
                {
                    previous.inner
                }
                _ => line.indent.len() + tabs,
            };
            let spaces = " ".repeat(width);
            let title = format!("indent with {width} spaces");
            self.replace(
                (line.start, end),
                &spaces,
                ["a line is indented with a tab", "a tab", &title],
            );
            return width;
        }
        let width = line.indent.len();
        let Some(previous) = &self.previous else {
            return width;
        };
        let fits = |column: usize| {
            self.levels
                .iter()
                .any(|it| it.column == column && (it.is_item == is_item || is_item))
        };
        let is_child = previous.opens && width > previous.inner;
        if is_child || fits(width) {
            return width;
        }
        if let Some(width) = self.lost_indentation(line, is_item) {
            return width;
        }
        if let Some(first) = self.first_sibling(line, is_item) {
            let title = format!("indent with {width} spaces");
            let message = format!(
                "a line is indented by {} spaces, the next one by {width}",
                first.1 - first.0
            );
            let label = format!("expected {width} spaces");
            let at = (first.1, first.1);
            self.replace(at, &" ".repeat(width), [&message, &label, &title]);
            if self.found.widen(first.0, first.1) {
                if let Some(level) = self.levels.last_mut() {
                    level.column = width;
                }
                return width;
            }
            self.found.list.pop();
        }
        let distance = |level: &&Level<'_>| level.column.abs_diff(width);
        let alike = || self.levels.iter().filter(|it| it.is_item == is_item);
        let Some(nearest) = alike().min_by_key(distance) else {
            return width;
        };
        let column = nearest.column;
        let ties = alike()
            .filter(|it| distance(it) == column.abs_diff(width))
            .count();
        let message = format!("a line is indented by {width} spaces, which fits no line above");
        let label = format!("expected {column} spaces");
        let title = format!("indent with {column} spaces");
        let words = [&*message, &label, &title];
        self.found
            .add((line.start, end), &" ".repeat(column), words, ties == 1);
        column
    }

    /// Reports that the line before has lost its indentation: it ended blocks, and this line goes on with one
    /// of them. To move this line out instead would take it from what it belongs to.
    fn lost_indentation(&mut self, line: Line<'t>, is_item: bool) -> Option<usize> {
        let previous = self
            .previous
            .as_ref()
            .filter(|it| !it.opens && !it.is_item)?;
        let width = line.indent.len();
        let goes_on = (self.ended.iter()).any(|it| it.column == width && it.is_item == is_item);
        let is_first = self.announced.is_some_and(|column| width > column);
        if is_item || !(goes_on || is_first) {
            return None;
        }
        let deepest = self.ended.iter().map(|it| it.column).max();
        let expected = if is_first {
            width
        } else {
            deepest.unwrap_or(width)
        };
        // Of several blocks a person has to choose.
        let safe = is_first || self.ended.len() == 1;
        let (start, end) = (previous.start, previous.start + previous.indent.len());
        let title = format!("indent with {expected} spaces");
        let message = format!(
            "a line is indented by {} spaces, but the block around it goes on below",
            previous.width
        );
        let label = format!("expected {expected} spaces");
        let words = [&*message, &label, &title];
        self.found
            .add((end, end), &" ".repeat(expected), words, safe);
        if let Some(repair) = self.found.list.last_mut() {
            repair.edit = Span::new(start, end);
        }
        if let Some(previous) = &mut self.previous {
            (previous.width, previous.inner) = (expected, expected);
        }
        // The blocks of the line before are those that it seemed to end.
        let own = self.levels.pop();
        let mut ended = std::mem::take(&mut self.ended);
        self.levels.append(&mut ended);
        if is_first {
            self.levels.extend(own.map(|own| Level {
                column: width,
                ..own
            }));
        }
        Some(width)
    }

    /// Returns the indentation of the line before, if it alone began a block at a column that no other
    /// block of the document would have, and this line is where one would.
    fn first_sibling(&self, line: Line<'t>, is_item: bool) -> Option<(usize, usize)> {
        let previous = self.previous.as_ref().filter(|it| it.begins && !it.opens)?;
        let [.., outer, parent, own] = &self.levels[..] else {
            return None;
        };
        let step = parent.column.checked_sub(outer.column)?;
        let width = line.indent.len();
        let is_own = own.column == previous.width && !own.is_item;
        (is_own && !is_item && step > 0 && width == parent.column + step && is_key(line.content))
            .then_some((previous.start, previous.start + previous.indent.len()))
    }

    /// Reads a key, and returns its value with its place.
    fn member(
        &mut self,
        start: usize,
        rest: &'t str,
        is_member: bool,
        is_followed: bool,
    ) -> Option<(usize, &'t str)> {
        let len = key_len(rest);
        if len == 0 {
            return None;
        }
        let behind = &rest[len..];
        let value = behind.trim_start_matches([' ', '\t']);
        let blanks = behind.len() - value.len();
        let at = start + len;
        if let Some(value) = behind.strip_prefix(':') {
            let trimmed = value.trim_start_matches([' ', '\t']);
            let blanks = value.len() - trimmed.len();
            if value[..blanks].contains('\t') {
                let words = ["a tab follows a colon", "a tab", "write a space"];
                self.replace((at + 1, at + 1 + blanks), " ", words);
            } else if blanks == 0 && !value.is_empty() {
                if !is_member || value.starts_with("//") {
                    return None;
                }
                let odd = value.chars().next().filter(|c| c.is_whitespace());
                let width = value.len() - value.trim_start().len();
                let message = odd.map_or_else(
                    || "a space is missing behind a colon".to_owned(),
                    |odd| format!("U+{:04X} is behind a colon, not a space", u32::from(odd)),
                );
                let words = match odd {
                    None => [&*message, "missing space", "insert a space"],
                    Some(_) => [&*message, "not a space", "write a space"],
                };
                self.replace((at + 1, at + 1 + width), " ", words);
                return Some((at + 1 + width, &value[width..]));
            }
            return Some((at + 1 + blanks, trimmed));
        }
        let is_alone = is_followed && matches!(value, "" | "=");
        if !is_member && !is_alone {
            return None;
        }
        if let Some(after) = value.strip_prefix('=') {
            let trimmed = after.trim_start_matches(['>', ' ', '\t']);
            let end = start + rest.len() - trimmed.len();
            let words = ["a key is followed by `=`", "expected `:`", "write `: `"];
            let colon = if trimmed.is_empty() { ":" } else { ": " };
            self.replace((at, end), colon, words);
            return Some((end, trimmed));
        }
        let is_missing = if value.is_empty() {
            is_followed
        } else {
            blanks > 0 && !value.starts_with('#')
        };
        if !is_missing {
            return None;
        }
        let words = [
            "a colon is missing behind a key",
            "missing `:`",
            "insert `:`",
        ];
        self.replace((at, at), ":", words);
        Some((at + blanks, value))
    }

    /// Writes the mark of a comment for that of other languages.
    fn comment(&mut self, at: usize) {
        let words = [
            "YAML has no comments with `//`",
            "expected `#`",
            "write `#`",
        ];
        self.replace((at, at + 2), "#", words);
    }

    /// Inserts missing commas into a list or a mapping on one line, and checks what follows it.
    fn flow(&mut self, start: usize, text: &str) {
        let mut open = Vec::new();
        let mut at = 0;
        // The end of the last item, until a comma; and whether a key and its colon precede.
        let (mut item, mut is_value) = (None, false);
        while let Some(c) = text[at..].chars().next() {
            let rest = &text[at..];
            if matches!(c, ' ' | '\t') {
                at += 1;
                continue;
            }
            if !matches!(c, ',' | ':' | ']' | '}')
                && let Some(end) = item.take()
            {
                self.missing_comma(start + end);
            }
            match c {
                '[' | '{' => {
                    open.push(c);
                    is_value = false;
                    at += 1;
                }
                ']' | '}' => {
                    open.pop();
                    at += 1;
                    item = Some(at);
                    is_value = false;
                    if open.is_empty() {
                        let behind = text[at..].trim_start();
                        if behind.starts_with("//") {
                            self.comment(start + text.len() - behind.len());
                        }
                        return;
                    }
                }
                ',' | ':' => {
                    is_value = c == ':';
                    item = None;
                    at += 1;
                }
                '"' | '\'' => {
                    let Some(len) = quoted_len(rest) else { return };
                    at += len;
                    item = Some(at);
                }
                _ => {
                    let len = plain_len(rest);
                    let word = rest[..len].trim_end();
                    let is_key = rest[len..].starts_with(':');
                    // Behind a value and a blank, the last word is the next key.
                    match word.rsplit_once([' ', '\t']) {
                        Some((value, _)) if is_key && is_value => {
                            self.missing_comma(start + at + value.trim_end().len());
                        }
                        _ => {}
                    }
                    at += len;
                    item = Some(at - (len - word.len()));
                }
            }
        }
    }

    fn missing_comma(&mut self, at: usize) {
        let words = ["a comma is missing", "missing `,`", "insert `,`"];
        self.replace((at, at), ",", words);
    }

    /// Checks the value of a key or an item.
    fn value(&mut self, start: usize, value: &str, has_key: bool, ends: bool) -> Value {
        let comment = match value.find(" #") {
            Some(at) if !value.starts_with(['"', '\'']) => at,
            _ => value.len(),
        };
        let plain = value[..comment].trim_end();
        let end = start + plain.len();
        match value.bytes().next() {
            Some(b'|' | b'>') => return Value::Block,
            Some(quote @ (b'"' | b'\'')) => {
                let is_closed = is_closed(value, quote);
                if !is_closed && !ends {
                    return Value::Quoted(char::from(quote));
                }
                if !is_closed {
                    let quote = if quote == b'"' { "\"" } else { "'" };
                    let label = format!("missing `{quote}`");
                    let title = format!("insert `{quote}`");
                    let at = start + value.len();
                    self.replace(
                        (at, at),
                        quote,
                        ["a quoted string is not closed", &label, &title],
                    );
                }
            }
            Some(b'{') if plain.starts_with("{{") && plain.ends_with("}}") => {
                let message = format!("`{plain}` is a placeholder for a value");
                let words = [&*message, "a placeholder", "write the value in its place"];
                let stand_in = json_string(plain);
                self.found.add((start, end), &stand_in, words, false);
            }
            Some(b'[' | b'{') => {
                self.flow(start, plain);
                let open = depth(plain);
                if open > 0 && !ends {
                    return Value::Flow(open);
                }
                if open > 0 {
                    let closers = closers(plain);
                    let message = format!("`{}` is not closed", &plain[..1]);
                    let label = format!("missing `{closers}`");
                    let title = format!("insert `{closers}`");
                    self.replace((end, end), &closers, [&message, &label, &title]);
                }
            }
            Some(b'@' | b'`' | b'%') => {
                let message = format!("a string without quotes begins with `{}`", &plain[..1]);
                let words = [&*message, "expected quotes", "write the string in quotes"];
                self.replace((start, end), &json_string(plain), words);
            }
            Some(_) if has_key && (plain.contains(": ") || plain.ends_with(':')) => {
                let words = [
                    "a string without quotes contains a colon",
                    "expected quotes",
                    "write the string in quotes",
                ];
                self.replace((start, end), &json_string(plain), words);
            }
            _ => {}
        }
        Value::Other
    }
}

/// Returns the length of a key at the start of a text.
fn key_len(text: &str) -> usize {
    match text.as_bytes().first() {
        Some(quote @ (b'"' | b'\'')) => {
            let close = text[1..].find(char::from(*quote)).map_or(0, |at| at + 2);
            if text[close..].trim_start().starts_with([':', '=']) {
                close
            } else {
                0
            }
        }
        Some(b'a'..=b'z' | b'A'..=b'Z' | b'_') => {
            let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
            text.find(|c: char| !is_name(c)).unwrap_or(text.len())
        }
        _ => 0,
    }
}

/// Returns whether a line begins with a key.
pub(super) fn is_key(content: &str) -> bool {
    let content = content.trim_start_matches("- ");
    let behind = &content[key_len(content)..];
    behind.len() < content.len()
        && (behind == ":"
            || [": ", ":\t", " = ", "= "]
                .iter()
                .any(|it| behind.starts_with(it)))
}

/// Returns the length of a string in quotes, if it ends on its line.
fn quoted_len(text: &str) -> Option<usize> {
    let quote = text.as_bytes()[0];
    let mut escaped = false;
    let close = text.bytes().skip(1).position(|byte| {
        let closes = byte == quote && !escaped;
        escaped = byte == b'\\' && quote == b'"' && !escaped;
        closes
    });
    close.map(|at| at + 2)
}

/// Returns the length of a string without quotes in a list or a mapping on one line: at least 1.
fn plain_len(text: &str) -> usize {
    let mut ends = text.char_indices().skip(1).filter(|(at, c)| match c {
        ',' | '[' | ']' | '{' | '}' => true,
        ':' => {
            let behind = &text[at + 1..];
            behind.is_empty() || behind.starts_with([' ', ',', '[', ']', '{', '}'])
        }
        _ => false,
    });
    ends.next().map_or(text.len(), |(at, _)| at)
}

/// Returns whether a string in quotes ends on its line.
fn is_closed(value: &str, quote: u8) -> bool {
    let bytes = value.as_bytes();
    let mut at = 1;
    while let Some(byte) = bytes.get(at) {
        match *byte {
            b'\\' if quote == b'"' => at += 1,
            found if found == quote => return true,
            _ => {}
        }
        at += 1;
    }
    false
}

/// Returns the number of brackets that a line opens, less those that it closes.
fn depth(content: &str) -> i32 {
    let mut quote = None;
    let mut open = 0;
    for c in content.chars() {
        match (quote, c) {
            (Some(it), _) if it == c => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '[' | '{') => open += 1,
            (None, ']' | '}') => open -= 1,
            _ => {}
        }
    }
    open
}

/// Returns the closing brackets that a line lacks.
fn closers(content: &str) -> String {
    let mut open = Vec::new();
    for c in content.chars() {
        match c {
            '[' => open.push(']'),
            '{' => open.push('}'),
            ']' | '}' => drop(open.pop()),
            _ => {}
        }
    }
    open.into_iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::repair;
    use crate::repair::Repaired;
    use crate::yaml::parse;
    use agent_diagnostic::Problems;
    use agent_text::{DocumentKind, Span, Text};

    fn is_yaml(text: &str) -> bool {
        let text = Text::new(DocumentKind::Task, text.to_owned());
        let mut problems = Problems::new(&text);
        let within = Span::new(0, text.as_str().len());
        parse(within, &mut problems).is_some() && !problems.has_errors()
    }

    #[test]
    fn repairs_make_yaml() {
        for (broken, expected) in [
            (
                "a:\n\tb:\n\t\t- c: x\n\t\t  d: []\n\te: 1\n",
                "a:\n  b:\n    - c: x\n      d: []\n  e: 1\n",
            ),
            ("a:\tb\nc:d\n", "a: b\nc: d\n"),
            ("a:\n  - b\n  -c\n", "a:\n  - b\n  - c\n"),
            ("a b\nc: d\n", "a: b\nc: d\n"),
            ("a\n  b: c\n", "a:\n  b: c\n"),
            ("a = b\nc= d\n", "a: b\nc: d\n"),
            ("a: \"b\nc: d\n", "a: \"b\"\nc: d\n"),
            ("a: [b, {c: d\ne: f\n", "a: [b, {c: d}]\ne: f\n"),
            ("a:\n  - b: c\n     d: e\n", "a:\n  - b: c\n    d: e\n"),
            (
                "a:\n  - b: c\n   d: e\nf: g\n",
                "a:\n  - b: c\n    d: e\nf: g\n",
            ),
            ("a: b: c\nd: @e # f\n", "a: \"b: c\"\nd: \"@e\" # f\n"),
            ("a:\n  - b:c\n    d: e\n", "a:\n  - b: c\n    d: e\n"),
            ("a: {b: c d: e}\n", "a: {b: c, d: e}\n"),
            ("a: [{b: 'c' d: e} f]\n", "a: [{b: 'c', d: e}, f]\n"),
            ("a: [\"b\" \"c:d\", e f]\n", "a: [\"b\", \"c:d\", e f]\n"),
            ("a: [b] // c\n", "a: [b] # c\n"),
            (
                "a: // b\n  c: // d\n    - e: f\n",
                "a: # b\n  c: # d\n    - e: f\n",
            ),
            ("a:\n  b =\n    c: d\n", "a:\n  b:\n    c: d\n"),
            ("a:\n  - b: c\n    d [e]\n", "a:\n  - b: c\n    d: [e]\n"),
        ] {
            assert!(!is_yaml(broken) || broken.starts_with("a = b"), "{broken}");
            let repairs = repair(broken, Span::new(0, broken.len()));
            let edits = repairs.list.iter().map(|it| (it.edit, &*it.replacement));
            let text = Repaired::new(broken, edits).text;
            assert_eq!(text, expected, "{broken}");
            assert!(is_yaml(&text), "{text}");
        }
    }

    #[test]
    fn right_lines_stay() {
        let text = "a: b c\n# x\nd:\n- read:reports\n- https://x.example\n- e: |\n    f g\n     h = i\n  j: >-\n    k\nl: m\n  n o\np: [q,\n  r: s\n ]\np2: {q: \"r, s\", https://t.example: [u v, {}], 'w': x}\nt: \"u\n  v\"\nw:\n  x y\n";
        let repairs = repair(text, Span::new(0, text.len()));
        assert_eq!(repairs.list, []);
    }
}
