//! What differs between locks or from an index, and what is a file that is no readable lock \[0, 4\]?

use agent_diagnostic::Code;

/// The key that every lock has had.
const MARK: &[u8] = b"\"lockVersion\"";

/// A file in the place of a lock that can't be read as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnreadableLock {
    /// It never was a lock.
    Foreign,
    /// It is a lock that this engine can't read: of a later format, or too large.
    Later,
    /// It is a damaged lock, which a new one may replace. An empty file is one.
    Damaged,
}

/// Tells what a text is of which no lock can be made.
pub fn unreadable_lock(text: Vec<u8>) -> UnreadableLock {
    let marked = text.is_empty() || text.windows(MARK.len()).any(|it| it == MARK);
    let found = agent_lower::lock(text).err().unwrap_or_default();
    let later = |code: Code| matches!(code, Code::LockVersion | Code::InputTooLarge);
    if !marked {
        UnreadableLock::Foreign
    } else if found.iter().any(|problem| later(problem.code)) {
        UnreadableLock::Later
    } else {
        UnreadableLock::Damaged
    }
}

#[cfg(test)]
mod tests {
    use super::{UnreadableLock, unreadable_lock};

    #[test]
    fn a_damaged_lock_is_told_from_a_later_one_and_from_another_file() {
        let kind = |text: &str| unreadable_lock(text.as_bytes().to_vec());
        assert_eq!(kind(""), UnreadableLock::Damaged);
        assert_eq!(kind(r#"{"lockVersion": 1, "#), UnreadableLock::Damaged);
        assert_eq!(kind(r#"{"lockVersion": 99}"#), UnreadableLock::Later);
        assert_eq!(kind("# Notes"), UnreadableLock::Foreign);
    }
}
