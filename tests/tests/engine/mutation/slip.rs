//! Documents broken as people and language models break them: words misspelt, punctuation forgotten.
//!
//! A [`Break`] is one such slip. It knows the place and the words, so that a test can judge an answer
//! that was given without that knowledge.

mod scan;
mod vocabulary;

pub(super) use vocabulary::Names;
use vocabulary::Referent;

use crate::random::Random;
use agent_text::DocumentKind;
use scan::{Mark, Scan, Word, scan};
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;

/// What a slip breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    /// A known key.
    Key,
    /// A value out of few known ones.
    ClosedValue,
    /// A name of something that another place defines.
    Reference,
    /// The syntax of JSON or YAML.
    Syntax,
}

impl Class {
    /// All classes, in order.
    pub(super) const ALL: [Self; 4] = [Self::Key, Self::ClosedValue, Self::Reference, Self::Syntax];
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Key => "key",
            Self::ClosedValue => "closed value",
            Self::Reference => "reference",
            Self::Syntax => "syntax",
        })
    }
}

/// A slip in a sound text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Break {
    /// What it breaks.
    pub(super) class: Class,
    /// The manner, such as `a letter dropped`.
    pub(super) manner: &'static str,
    /// The replaced bytes of the sound text.
    pub(super) span: Range<usize>,
    /// The new text there.
    pub(super) replacement: String,
    /// The bytes of the sound text where a reader may look for it, from its first line to its last.
    pub(super) around: Range<usize>,
    /// The right word and the wrong one.
    pub(super) words: Option<(String, String)>,
    /// Whether the text alone doesn't tell a reader what it was: another word is as near, or the word is too
    /// short.
    pub(super) is_ambiguous: bool,
}

/// The places of a document where slips are likely.
#[derive(Debug)]
pub(super) struct Breakable {
    kind: DocumentKind,
    text: String,
    start: usize,
    end: usize,
    scan: Scan,
}

impl Breakable {
    /// Reads a sound document. Returns none for one in a notation that the module doesn't know.
    #[must_use]
    pub(super) fn new(kind: DocumentKind, text: &str) -> Option<Self> {
        let within = match kind {
            DocumentKind::Manifest => {
                let start = text.find('\n')? + 1;
                start
                    ..start
                        + text[start..]
                            .find("\n---")
                            .or(text[start..].find("\n..."))?
                        + 1
            }
            _ => 0..text.len(),
        };
        Some(Self {
            kind,
            text: text.to_owned(),
            start: within.start,
            end: within.end,
            scan: scan(text, within)?,
        })
    }

    /// Adds the names that the document defines.
    pub(super) fn define(&self, names: &mut Names) {
        let mut pairs = Vec::new();
        for word in &self.scan.words {
            let text = &self.text[word.span.clone()];
            if let Some(referent) = vocabulary::definition(self.kind, &word.path, word.is_key) {
                names.entry(referent).or_default().insert(text.to_owned());
            }
            // The tools of a pool, as rules name them.
            if self.kind == DocumentKind::ToolPool && !word.is_key {
                match word.path.last().map(|key| &**key) {
                    Some("connector_id") => pairs.push((text, None)),
                    Some("tool_id") => pairs.extend(pairs.last().map(|it| (it.0, Some(text)))),
                    _ => {}
                }
            }
        }
        for (connector, tool) in pairs {
            let selector = tool.map(|tool| format!("{connector}/{tool}"));
            let selectors = names.entry(Referent::Selector).or_default();
            selectors.extend(selector);
        }
    }

    /// Returns a slip of a class, if the document has a place for one.
    pub(super) fn broken(&self, class: Class, names: &Names, random: &mut Random) -> Option<Break> {
        if class == Class::Syntax {
            return self.punctuation(random);
        }
        let none = BTreeSet::new();
        let words: Vec<_> = (self.scan.words.iter())
            .filter_map(|word| {
                let (found, known) = self.known(word, names, &none)?;
                (found == class).then_some((word, known))
            })
            .collect();
        if words.is_empty() {
            return None;
        }
        let (word, known) = random.one_of(&words);
        let right = &self.text[word.span.clone()];
        let (manner, wrong) = misspelt(right, random)?;
        let nearness = |it: &str| distance(&wrong, it);
        let own = nearness(right);
        // A wrong letter makes another name of a short one.
        let shortest = match class {
            Class::Reference => 4,
            _ => 3,
        };
        let is_short =
            own > 0 && right.len().min(wrong.len() + usize::from(shortest == 4)) < shortest;
        let is_ambiguous =
            is_short || (known.iter()).any(|other| *other != right && nearness(other) <= own);
        (wrong != right && !known.contains(&&*wrong)).then(|| Break {
            class,
            manner,
            span: word.span.clone(),
            around: word.span.clone(),
            words: Some((right.to_owned(), wrong.clone())),
            replacement: wrong,
            is_ambiguous,
        })
    }

    /// Returns the class of a word and the words that could be meant.
    fn known<'n>(
        &self,
        word: &Word,
        names: &'n Names,
        none: &'n BTreeSet<String>,
    ) -> Option<(Class, Vec<&'n str>)> {
        let text = &self.text[word.span.clone()];
        if vocabulary::is_free(&word.path) {
            return None;
        }
        if let Some(referent) = vocabulary::referent(self.kind, &word.path, word.is_key) {
            let known = names.get(&referent).unwrap_or(none);
            let known: Vec<_> = known.iter().map(|name| &**name).collect();
            return known.contains(&text).then_some((Class::Reference, known));
        }
        let (class, known) = match word.is_key {
            true => (Class::Key, vocabulary::keys(self.kind)),
            false => {
                let key = word.path.last().map_or("", |key| &**key);
                let values = vocabulary::values(self.kind, key);
                (Class::ClosedValue, values.to_vec())
            }
        };
        known.contains(&text).then_some((class, known))
    }

    fn punctuation(&self, random: &mut Random) -> Option<Break> {
        let manners: &[Manner] = if self.scan.is_json { &JSON } else { &YAML };
        let (manner, find) = random.one_of(manners);
        let places = find(self);
        if places.is_empty() {
            return None;
        }
        let (span, replacement, around) = random.one_of(&places).clone();
        Some(Break {
            class: Class::Syntax,
            manner,
            span,
            replacement,
            around,
            words: None,
            is_ambiguous: false,
        })
    }

    fn marks(&self, bytes: &[u8]) -> impl Iterator<Item = &Mark> {
        let marks = self.scan.marks.iter();
        marks.filter(move |mark| bytes.contains(&mark.byte))
    }

    fn words(&self) -> impl Iterator<Item = &Word> {
        self.scan.words.iter()
    }

    /// Returns the place from a mark to the next word or mark.
    fn to_next(&self, at: usize) -> Range<usize> {
        let rest = &self.text[at + 1..self.end];
        at..at + 1 + rest.len() - rest.trim_start().len()
    }

    /// Returns the place of a quoted word with its quotes.
    fn with_quotes(&self, word: &Word) -> Range<usize> {
        word.span.start - 1..word.span.end + 1
    }

    fn replaced_marks(&self, bytes: &[u8], new: &str) -> Vec<Place> {
        let places = self
            .marks(bytes)
            .map(|mark| (mark.at..mark.at + 1, new.to_owned(), self.to_next(mark.at)));
        places.collect()
    }

    /// Returns the quoted words with each of their quotes replaced.
    fn requoted(&self, open: &str, close: &str) -> Vec<Place> {
        let quoted = self.words().filter(|word| word.quoted);
        let places = quoted.map(|word| {
            let inner = &self.text[word.span.clone()];
            let span = self.with_quotes(word);
            (span.clone(), format!("{open}{inner}{close}"), span)
        });
        places.collect()
    }

    /// Returns the places behind the last word or mark of each line.
    fn line_ends(&self, new: &str) -> Vec<Place> {
        let mut places = Vec::new();
        let mut at = self.start;
        for line in self.text[self.start..self.end].split_inclusive('\n') {
            let end = at + line.trim_end().len();
            let is_word = self
                .words()
                .any(|word| word.span.end + 1 >= end && word.span.start < end);
            if is_word || self.marks(b",[{]}:").any(|mark| mark.at + 1 == end) {
                places.push((end..end, new.to_owned(), end..end));
            }
            at += line.len();
        }
        places
    }

    /// Returns the last brackets of the text: one, or two that follow each other.
    fn last_brackets(&self) -> Vec<Place> {
        let mut marks = self.marks(b"]}").collect::<Vec<_>>();
        let Some(last) = marks.pop() else {
            return Vec::new();
        };
        let mut places = vec![last.at];
        places.extend(marks.pop().map(|mark| mark.at));
        let places = places.into_iter().filter(|at| {
            let rest = &self.text[*at..self.end];
            rest.bytes()
                .all(|byte| byte.is_ascii_whitespace() || matches!(byte, b']' | b'}'))
        });
        let places = places.map(|at| (at..self.end, "\n".to_owned(), self.start..self.end));
        places.collect()
    }
}

/// The replaced bytes, the new text, and where a reader may look for it.
type Place = (Range<usize>, String, Range<usize>);

/// The name of a slip, and its possible places.
type Manner = (&'static str, fn(&Breakable) -> Vec<Place>);

const JSON: [Manner; 13] = [
    ("comma missing", |it| it.replaced_marks(b",", "")),
    ("semicolon for a comma", |it| it.replaced_marks(b",", ";")),
    ("comma twice", |it| it.replaced_marks(b",", ",,")),
    ("comma before a bracket", |it| {
        let closing = it.marks(b"]}").filter_map(|mark| {
            let before = it.text[..mark.at].trim_end();
            let at = before.len();
            let is_full = !before.ends_with(['[', '{', ',']);
            is_full.then(|| (at..at, ",".to_owned(), at..mark.at))
        });
        closing.collect()
    }),
    ("colon missing", |it| it.replaced_marks(b":", "")),
    ("equals sign for a colon", |it| it.replaced_marks(b":", "=")),
    ("closing quote missing", |it| {
        let quoted = it.words().filter(|word| word.quoted);
        let places = quoted.map(|word| {
            let end = word.span.end;
            (end..end + 1, String::new(), it.with_quotes(word))
        });
        places.collect()
    }),
    ("opening quote missing", |it| {
        let quoted = it.words().filter(|word| word.quoted);
        let places = quoted.map(|word| {
            let start = word.span.start;
            (start - 1..start, String::new(), it.with_quotes(word))
        });
        places.collect()
    }),
    ("key without quotes", |it| {
        let keys = it.words().filter(|word| {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
            word.is_key && word.quoted && it.text[word.span.clone()].bytes().all(plain)
        });
        let places = keys.map(|word| {
            let key = it.text[word.span.clone()].to_owned();
            (it.with_quotes(word), key, it.with_quotes(word))
        });
        places.collect()
    }),
    ("single quotes", |it| it.requoted("'", "'")),
    ("typographic quotes", |it| {
        it.requoted("\u{201c}", "\u{201d}")
    }),
    ("comment", |it| it.line_ends(" // a note")),
    ("bracket at the end missing", Breakable::last_brackets),
];

const YAML: [Manner; 9] = [
    ("tab for spaces", |it| {
        let mut places = Vec::new();
        let mut at = it.start;
        for line in it.text[it.start..it.end].split_inclusive('\n') {
            let indent = line.len() - line.trim_start_matches(' ').len();
            if indent > 0 && !line.trim().is_empty() {
                let tabs = "\t".repeat(indent.div_ceil(2));
                places.push((at..at + indent, tabs, at..at + indent));
            }
            at += line.len();
        }
        places
    }),
    ("colon missing", |it| it.replaced_marks(b":", "")),
    ("equals sign for a colon", |it| {
        it.replaced_marks(b":", " =")
    }),
    ("space behind a colon missing", |it| {
        let colons = it.marks(b":");
        let places = colons.filter(|mark| it.text[mark.at..].starts_with(": "));
        let places =
            places.map(|mark| (mark.at + 1..mark.at + 2, String::new(), it.to_next(mark.at)));
        places.collect()
    }),
    ("space behind a dash missing", |it| {
        let dashes = it.text[it.start..it.end].match_indices("- ");
        let dashes = dashes.map(|(at, _)| it.start + at).filter(|at| {
            let line = &it.text[..*at];
            let line = &line[line.rfind('\n').map_or(0, |at| at + 1)..];
            line.trim().is_empty()
        });
        let places = dashes.map(|at| (at + 1..at + 2, String::new(), at..at + 2));
        places.collect()
    }),
    ("comma missing", |it| it.replaced_marks(b",", "")),
    ("bracket not closed", |it| {
        let closing = it.marks(b"]}").filter(|mark| {
            let rest = &it.text[mark.at + 1..it.end];
            rest.is_empty() || rest.starts_with(['\n', '\r'])
        });
        let places = closing.map(|mark| {
            let line = it.text[..mark.at].rfind('\n').map_or(0, |at| at + 1);
            (mark.at..mark.at + 1, String::new(), line..mark.at + 1)
        });
        places.collect()
    }),
    ("quote not closed", |it| {
        let scalars = it.words().filter(|word| {
            let rest = &it.text[word.span.end..it.end];
            !word.is_key && !word.quoted && (rest.is_empty() || rest.starts_with('\n'))
        });
        let places = scalars.map(|word| {
            let at = word.span.start;
            (at..at, "\"".to_owned(), word.span.clone())
        });
        places.collect()
    }),
    ("comment with slashes", |it| it.line_ends(" // a note")),
];

/// Misspells a word.
fn misspelt(word: &str, random: &mut Random) -> Option<(&'static str, String)> {
    let chars: Vec<char> = word.chars().collect();
    let letters: Vec<usize> = (0..chars.len())
        .filter(|at| chars[*at].is_ascii_alphabetic())
        .collect();
    if letters.is_empty() {
        return None;
    }
    let at = *random.one_of(&letters);
    let spelled = |chars: &[char]| chars.iter().collect::<String>();
    let (before, behind) = (&chars[..at], &chars[at + 1..]);
    let with = |middle: &[char]| spelled(&[before, middle, behind].concat());
    Some(match random.below(8) {
        0 => {
            let wrong = match random.below(3) {
                0 => word.to_ascii_uppercase(),
                1 => capitalised(word),
                _ => camel_case(word),
            };
            ("other case", wrong)
        }
        1 => {
            let other = *random.one_of(&["-", "_", ""]);
            let separator = |c: char| c == '-' || c == '_';
            ("other separator", word.replace(separator, other))
        }
        2 => ("letter dropped", with(&[])),
        3 => ("letter doubled", with(&[chars[at], chars[at]])),
        4 => {
            let mut swapped = chars.clone();
            if at + 1 < swapped.len() {
                swapped.swap(at, at + 1);
            }
            ("letters transposed", spelled(&swapped))
        }
        5 | 6 => ("wrong letter", with(&[neighbour(chars[at])])),
        _ => {
            let wrong = match word.strip_suffix('s') {
                Some(singular) => singular.to_owned(),
                None => match word.strip_suffix('y') {
                    Some(stem) => format!("{stem}ies"),
                    None => format!("{word}s"),
                },
            };
            ("other number", wrong)
        }
    })
}

fn capitalised(word: &str) -> String {
    let mut chars = word.chars();
    let first = chars.next().map(|c| c.to_ascii_uppercase());
    first.into_iter().chain(chars).collect()
}

fn camel_case(word: &str) -> String {
    let mut parts = word.split(['_', '-']);
    let first = parts.next().unwrap_or_default().to_owned();
    first + &parts.map(capitalised).collect::<String>()
}

/// Returns the letter to the right on a keyboard, or to the left of the last one.
fn neighbour(letter: char) -> char {
    let small = letter.to_ascii_lowercase();
    let row = ["qwertyuiop", "asdfghjkl", "zxcvbnm"];
    let row = row.iter().find(|row| row.contains(small)).unwrap_or(&"xy");
    let at = row.find(small).unwrap_or(0);
    let other = row.as_bytes()[if at + 1 < row.len() { at + 1 } else { at - 1 }];
    match letter.is_ascii_uppercase() {
        true => char::from(other).to_ascii_uppercase(),
        false => char::from(other),
    }
}

/// Returns the distance of two words as a reader sees it: none if they differ in case, separators or
/// number only, else the letters to change.
fn distance(a: &str, b: &str) -> usize {
    let letters = |word: &str| {
        let kept = word.chars().filter(|c| !matches!(c, '-' | '_'));
        kept.map(|c| c.to_ascii_lowercase()).collect::<Vec<_>>()
    };
    let (a, b) = (letters(a), letters(b));
    // The optimal string alignment.
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            if i == 0 || j == 0 {
                rows[i][j] = i + j;
                continue;
            }
            let differs = usize::from(a[i - 1] != b[j - 1]);
            let mut least = (rows[i - 1][j] + 1)
                .min(rows[i][j - 1] + 1)
                .min(rows[i - 1][j - 1] + differs);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = least;
        }
    }
    rows[a.len()][b.len()]
}
