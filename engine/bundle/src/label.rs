//! The name, the sequence and the end of a bundle.

use agent_api::diagnostic::{Code, Diagnostic};
use agent_api::text::visible;
use agent_record::Clock;

/// Maximum number of characters of a name.
const NAME_MAX: usize = 64;

/// The highest sequence: the last whole number that every reader of JSON knows exactly.
const SEQUENCE_MAX: u64 = (1 << 53) - 1;

/// What a bundle says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// The name: 1 to 64 of `a` to `z`, digits, `.`, `_` and `-`, of which a letter or digit is first. Bundles of one name
    /// replace each other.
    pub name: String,
    /// The sequence. A lower one than was accepted under the name is refused.
    pub sequence: u64,
    /// The last millisecond at which it decides, since 1970-01-01T00:00:00Z.
    pub not_after_ms: u64,
}

impl Label {
    /// Checks a label. The end is a time of RFC 3339 in UTC, to the second or the millisecond.
    ///
    /// # Errors
    /// Every member that has not its form.
    pub fn new(name: &str, sequence: u64, not_after: &str) -> Result<Self, Vec<Diagnostic>> {
        let mut problems = Vec::new();
        if !is_name(name) {
            let text = format!("`{}` can't be the name of a bundle", visible(name));
            problems.push(Diagnostic::new(Code::InvalidName, text).help(NAME_HELP));
        }
        if sequence > SEQUENCE_MAX {
            let text = format!("the sequence {sequence} is above {SEQUENCE_MAX}");
            problems.push(Diagnostic::new(Code::NumberOutOfRange, text).help("use a smaller one"));
        }
        let end = moment(not_after);
        if end.is_none() {
            let text = format!("`{}` can't be the end of a bundle", visible(not_after));
            problems.push(Diagnostic::new(Code::UnknownValue, text).help(MOMENT_HELP));
        }
        match end.filter(|_| problems.is_empty()) {
            Some(not_after_ms) => Ok(Self {
                name: name.to_owned(),
                sequence,
                not_after_ms,
            }),
            None => Err(problems),
        }
    }

    /// Returns the end as RFC 3339 in UTC with milliseconds.
    pub fn not_after(&self) -> String {
        shown(self.not_after_ms)
    }
}

/// How a name is written.
pub(crate) const NAME_HELP: &str =
    "use 1 to 64 of the letters `a` to `z`, digits, `.`, `_` and `-`; begin with a letter or digit";

/// How a moment is written.
pub(crate) const MOMENT_HELP: &str = "write a time in UTC such as `2027-01-31T12:00:00Z`";

/// Reads a time of RFC 3339 in UTC, to the second or the millisecond, as milliseconds since 1970.
pub(crate) fn moment(text: &str) -> Option<u64> {
    let seconds = text.strip_suffix('Z').filter(|it| !it.contains('.'));
    let clock = match seconds {
        Some(seconds) => Clock::read(&format!("{seconds}.000Z")),
        None => Clock::read(text).filter(|_| text.ends_with('Z')),
    };
    clock.map(|it| it.unix_ms)
}

/// Returns a moment as RFC 3339 in UTC with milliseconds.
pub(crate) fn shown(unix_ms: u64) -> String {
    let clock = Clock {
        unix_ms,
        ..Clock::default()
    };
    clock.rfc3339()
}

/// Returns whether a text can be the name of a bundle.
pub(crate) fn is_name(text: &str) -> bool {
    let is_word = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit();
    text.len() <= NAME_MAX
        && text.bytes().next().is_some_and(is_word)
        && text.bytes().all(|it| is_word(it) || b"._-".contains(&it))
}
