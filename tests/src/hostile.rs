//! Inputs that no file in a repository should contain: bytes that git, editors or reviewers would
//! mangle, and inputs of many megabytes.
//!
//! The cases are in `tests/hostile`, one file for each kind of input. A case has two lines:
//!
//! ```text
//! a name of a megabyte: accepted
//!     name: a → name: ‹1_048_576 × a›
//! ```
//!
//! The first line has the name and every expected diagnostic in order, each as `CODE line:column`;
//! `5-7:3` is one on each of three lines. The second line is the recipe:
//!
//! | recipe | input |
//! |---|---|
//! | `= text` | the text |
//! | `old → new` | the base document of the kind, with the first `old` replaced by `new` |
//! | `@frame text` | the recipe of the frame, with `‹text›` replaced by the text |
//!
//! In texts `¶` is a line end. `‹` and `›` enclose directives:
//!
//! | directive | bytes |
//! |---|---|
//! | `‹›` | none |
//! | `‹c0 af›` | these |
//! | `‹U+FEFF›` | those of the character |
//! | `‹base›`, `‹base CRLF›`, `‹base CR›`, `‹base UTF-16›` | the base document, also with other line ends or in UTF-16 |
//! | `‹@frame text›` | the frame, with `‹text›` replaced by the text |
//! | `‹9 × text›` | nine times the text; `#` in it is the number of the repetition, from 0, and `###` the same in at least three digits |
//! | `‹9 × text / ,›` | the same with commas between |
//! | `‹9 by 7 mod 10 × text›` | the same, numbered 0, 7, 4, and so on |
//! | `‹to 512 × x›` | as many as make the input 512 bytes long |

use agent_diagnostic::{Code, Diagnostic, Severity};
use agent_lower as lower;
use agent_lower::Notation;
use std::collections::HashMap;
use std::io::Write as _;

/// An input with its expected diagnostics.
pub struct Hostile {
    /// The name of the case.
    pub name: &'static str,
    /// The kind of the input.
    pub kind: Kind,
    /// The recipe, with expanded frames.
    recipe: String,
    /// Every diagnostic, in order: code, line and column.
    pub expected: Vec<(Code, u32, u32)>,
}

/// The kind of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `agents.md`
    Manifest,
    /// `mcp.index.json`
    Index,
    /// `agents.lock`
    Lock,
    /// A task.
    Task,
    /// The configuration of a tenant.
    Tenant,
    /// A snapshot of health.
    Health,
}

impl Hostile {
    /// Makes the input.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let base = self.kind.base();
        let made = |text| {
            let mut out = Vec::new();
            expand(text, base, None, &mut out);
            out
        };
        if let Some(whole) = self.recipe.strip_prefix("= ") {
            return made(whole);
        }
        let (old, new) = self.recipe.split_once(" → ").expect("what is replaced");
        let old = String::from_utf8(made(old)).expect("UTF-8");
        replaced(base, &old, &made(new))
    }

    /// Returns the engine's diagnostics of the input.
    #[must_use]
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        self.diagnostics_of(self.bytes())
    }

    /// Returns the engine's diagnostics of [`Self::bytes`].
    #[must_use]
    pub fn diagnostics_of(&self, bytes: Vec<u8>) -> Vec<Diagnostic> {
        fn of<T>(lowered: lower::Lowered<T>) -> Vec<Diagnostic> {
            match lowered {
                Ok(checked) => {
                    assert!(
                        checked
                            .warnings
                            .iter()
                            .all(|w| w.severity == Severity::Warning)
                    );
                    checked.warnings
                }
                Err(found) => {
                    assert!(
                        found.iter().any(|d| d.severity == Severity::Error),
                        "{found:?}"
                    );
                    found
                }
            }
        }
        match self.kind {
            Kind::Manifest => of(lower::manifest(bytes)),
            Kind::Index => of(lower::index(bytes)),
            Kind::Lock => of(lower::lock(bytes)),
            Kind::Task => of(lower::task(bytes, Notation::ByContent)),
            Kind::Tenant => of(lower::tenant(bytes, Notation::ByContent, None)),
            Kind::Health => of(lower::health(bytes, Notation::ByContent)),
        }
    }
}

/// A manifest that is accepted without a warning.
pub const MANIFEST: &str = include_str!("../hostile/agents.md");

/// An index that is accepted without a warning, and meets [`MANIFEST`].
pub const INDEX: &str = include_str!("../hostile/mcp.index.json");

impl Kind {
    /// Returns a document of this kind that is accepted without a warning.
    fn base(self) -> &'static str {
        match self {
            Self::Manifest => MANIFEST,
            Self::Index => INDEX,
            Self::Lock => include_str!("../hostile/agents.lock").trim_end(),
            Self::Task => include_str!("../hostile/task.yaml"),
            Self::Tenant | Self::Health => "",
        }
    }

    fn cases(self) -> &'static str {
        match self {
            Self::Manifest => include_str!("../hostile/manifest.txt"),
            Self::Index => include_str!("../hostile/index.txt"),
            Self::Lock => include_str!("../hostile/lock.txt"),
            Self::Task => include_str!("../hostile/task.txt"),
            Self::Tenant => include_str!("../hostile/tenant.txt"),
            Self::Health => include_str!("../hostile/health.txt"),
        }
    }
}

/// Returns every case.
///
/// # Panics
/// If a file is not of the form that this module documents.
#[must_use]
pub fn cases() -> Vec<Hostile> {
    let kinds = [
        Kind::Manifest,
        Kind::Index,
        Kind::Lock,
        Kind::Task,
        Kind::Tenant,
        Kind::Health,
    ];
    kinds.into_iter().flat_map(cases_of).collect()
}

fn cases_of(kind: Kind) -> Vec<Hostile> {
    let mut frames = HashMap::new();
    let mut cases = Vec::new();
    let mut lines = kind
        .cases()
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    while let (Some(head), Some(recipe)) = (lines.next(), lines.next()) {
        let recipe = recipe.strip_prefix("    ").expect(head);
        if let Some(frame) = head.strip_prefix('@') {
            frames.insert(frame, recipe);
            continue;
        }
        let (name, expected) = head.rsplit_once(": ").expect(head);
        cases.push(Hostile {
            name,
            kind,
            recipe: framed(recipe, &frames),
            expected: diagnostics(expected),
        });
    }
    cases
}

/// Reads `accepted`, or diagnostics with commas between.
fn diagnostics(text: &str) -> Vec<(Code, u32, u32)> {
    let mut found = Vec::new();
    for one in text.split(", ").filter(|_| text != "accepted") {
        let (name, place) = one.split_once(' ').expect(text);
        let (lines, column) = place.split_once(':').expect(text);
        let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
        let code = Code::ALL.iter().find(|code| code.name() == name);
        let number = |digits: &str| digits.parse::<u32>().expect(text);
        for line in number(first)..=number(last) {
            found.push((*code.expect(text), line, number(column)));
        }
    }
    found
}

/// Replaces the names of frames by the frames.
fn framed(recipe: &str, frames: &HashMap<&str, &str>) -> String {
    let frame = |named: &str| {
        let (name, text) = named.split_once(' ').unwrap_or((named, ""));
        frames[name].replace("‹text›", text)
    };
    if let Some(named) = recipe.strip_prefix('@') {
        return frame(named);
    }
    let mut out = String::new();
    let mut rest = recipe;
    while let Some(at) = rest.find("‹@") {
        out.push_str(&rest[..at]);
        let (directive, behind) = directive(&rest[at..]);
        out.push_str(&frame(&directive[1..]));
        rest = behind;
    }
    out + rest
}

/// Returns the content of the directive at the beginning of a text, and the rest.
fn directive(text: &str) -> (&str, &str) {
    let mut depth = 0;
    let end = text.find(|c| {
        depth += i32::from(c == '‹') - i32::from(c == '›');
        depth == 0
    });
    let end = end.expect(text);
    (&text['‹'.len_utf8()..end], &text[end + '›'.len_utf8()..])
}

/// Appends the bytes of a text. `number` counts the innermost repetition.
fn expand(text: &str, base: &str, number: Option<usize>, out: &mut Vec<u8>) {
    let mut rest = text;
    while let Some(at) = rest.find(['‹', '¶', '#']) {
        out.extend_from_slice(&rest.as_bytes()[..at]);
        rest = &rest[at..];
        if let Some(behind) = rest.strip_prefix('¶') {
            out.push(b'\n');
            rest = behind;
        } else if rest.starts_with('#') {
            let behind = rest.trim_start_matches('#');
            let width = rest.len() - behind.len();
            match number {
                Some(number) => write!(out, "{number:0width$}").expect("a Vec takes all"),
                None => out.extend_from_slice(&rest.as_bytes()[..width]),
            }
            rest = behind;
        } else {
            let (inside, behind) = directive(rest);
            perform(inside, base, number, out);
            rest = behind;
        }
    }
    out.extend_from_slice(rest.as_bytes());
}

/// Appends the bytes of a directive.
fn perform(directive: &str, base: &str, number: Option<usize>, out: &mut Vec<u8>) {
    if let Some((count, unit)) = directive.split_once(" × ") {
        if let Some(len) = count.strip_prefix("to ") {
            let mut filler = Vec::new();
            expand(unit, base, number, &mut filler);
            // Unlike `resize`, this is quick without optimisation too.
            let mut filled = vec![filler[0]; whole_number(len)];
            filled[..out.len()].copy_from_slice(out);
            *out = filled;
        } else {
            repeat(count, unit, base, number, out);
        }
    } else if let Some(form) = directive.strip_prefix("base") {
        match form {
            "" => out.extend_from_slice(base.as_bytes()),
            " CRLF" => out.extend_from_slice(base.replace('\n', "\r\n").as_bytes()),
            " CR" => out.extend_from_slice(base.replace('\n', "\r").as_bytes()),
            " UTF-16" => out.extend(base.encode_utf16().flat_map(u16::to_le_bytes)),
            _ => panic!("{directive}"),
        }
    } else if let Some(character) = directive.strip_prefix("U+") {
        let number = u32::from_str_radix(character, 16).expect(directive);
        let character = char::from_u32(number).expect(directive);
        out.extend_from_slice(character.to_string().as_bytes());
    } else {
        let bytes = directive.split_whitespace();
        out.extend(bytes.map(|byte| u8::from_str_radix(byte, 16).expect(directive)));
    }
}

/// Appends a text `count` times.
fn repeat(count: &str, unit: &str, base: &str, number: Option<usize>, out: &mut Vec<u8>) {
    let mut words = count.split(' ');
    let count = match words.next() {
        Some("#") => number.expect(unit),
        digits => whole_number(digits.expect(unit)),
    };
    let (mut step, mut modulus) = (1, usize::MAX);
    while let (Some(word), Some(value)) = (words.next(), words.next()) {
        match word {
            "by" => step = whole_number(value),
            "mod" => modulus = whole_number(value),
            _ => panic!("{word}"),
        }
    }
    let (unit, between) = unit.rsplit_once(" / ").unwrap_or((unit, ""));
    if between.is_empty() && !unit.contains(['‹', '¶', '#']) {
        out.extend_from_slice(unit.repeat(count).as_bytes());
        return;
    }
    for n in 0..count {
        if n > 0 {
            out.extend_from_slice(between.as_bytes());
        }
        expand(unit, base, Some(n * step % modulus), out);
    }
}

fn whole_number(digits: &str) -> usize {
    digits.replace('_', "").parse().expect(digits)
}

/// Returns a text with the first `old` replaced by `new`.
///
/// # Panics
/// If `old` is not in it.
#[must_use]
pub fn replaced(text: &str, old: &str, new: &[u8]) -> Vec<u8> {
    let (before, behind) = text.split_once(old).expect("what is replaced is there");
    [before.as_bytes(), new, behind.as_bytes()].concat()
}
