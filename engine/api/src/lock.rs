//! Drifts of locks, files that are no locks, and the definitions beside a lock \[0, 4\].

use agent_decide::{self as decide, Drift, PolicyEngine, compare_definitions};
use agent_diagnostic::Code;
use agent_explain::located;
use agent_lower::{self as lower, Checked, Lowered, stored_definitions};
use agent_model::{Index, Lock};

/// A lock, and its text if it was read from one.
#[derive(Debug, Clone)]
pub struct LockText {
    /// The lock.
    pub lock: Lock,
    /// The text, for the places of drifts.
    pub text: Option<String>,
}

impl LockText {
    /// Reads a lock, and keeps its text.
    ///
    /// # Errors
    /// Every problem of the text, ordered by place.
    pub fn read(bytes: Vec<u8>) -> Lowered<Self> {
        let text = String::from_utf8(bytes.clone()).ok();
        let Checked { value, warnings } = lower::lock(bytes)?;
        let value = Self { lock: value, text };
        Ok(Checked { value, warnings })
    }
}

/// Returns the differences between the older lock, if any, and the newer, with their places in the older.
///
/// `policy` is that of the newer. A digest of it that an earlier version wrote is no difference.
pub fn compare(
    older: Option<&LockText>,
    newer: &Lock,
    policy: Option<&dyn PolicyEngine>,
) -> Vec<Drift> {
    let renewed = older.zip(policy).and_then(|(older, policy)| {
        let locked = older.lock.policy.as_deref();
        let is_same = Some(&*policy.digest_for(locked)) == locked;
        is_same.then(|| Lock {
            policy: newer.policy.clone(),
            ..older.lock.clone()
        })
    });
    let compared = renewed.as_ref().or(older.map(|older| &older.lock));
    let state = decide::compare(compared, newer);
    let mut drifts = state.drifts().to_vec();
    if let Some(text) = older.and_then(|older| older.text.as_ref()) {
        located(&mut drifts, text, None);
    }
    drifts
}

/// Returns the differences between a lock and an index, with their places in both. The digest of a
/// policy is compared too if it is given.
pub fn verify(lock: &LockText, index: &Index, policy: Option<&str>) -> Vec<Drift> {
    let mut drifts = decide::verify_under(&lock.lock, index, policy)
        .drifts()
        .to_vec();
    if let Some(text) = &lock.text {
        located(&mut drifts, text, Some(index));
    }
    drifts
}

/// The key that every lock has had.
const MARK: &[u8] = b"\"lockVersion\"";

/// The kind of a file at the path of a lock that is not a readable lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnreadableLock {
    /// It never was a lock.
    Foreign,
    /// It is a lock that this engine does not support: of a later format, or too large.
    Later,
    /// It is a damaged lock, which a new one may replace. An empty file counts as damaged.
    Damaged,
}

/// Classifies a text that the reader of locks refuses, by the codes of its problems.
pub fn unreadable_lock(text: &[u8], problems: &[Code]) -> UnreadableLock {
    let marked = text.is_empty() || text.windows(MARK.len()).any(|it| it == MARK);
    let later = |code: &Code| matches!(code, Code::LockVersion | Code::InputTooLarge);
    if !marked {
        UnreadableLock::Foreign
    } else if problems.iter().any(later) {
        UnreadableLock::Later
    } else {
        UnreadableLock::Damaged
    }
}

/// Compares the text of `agents.definitions.json`, if the file exists, with the definitions that belong
/// beside a lock.
pub fn verify_definitions(lock: &Lock, index: &Index, text: Option<&[u8]>) -> Option<Drift> {
    let stored = text.and_then(stored_definitions);
    compare_definitions(lock, index, stored.as_deref())
}

#[cfg(test)]
mod tests {
    use super::{UnreadableLock, unreadable_lock};

    #[test]
    fn a_damaged_lock_is_told_from_a_later_one_and_from_another_file() {
        let kind = |text: &str| {
            let found = agent_lower::lock(text.as_bytes().to_vec()).expect_err("refused");
            let codes: Vec<_> = found.iter().map(|problem| problem.code).collect();
            unreadable_lock(text.as_bytes(), &codes)
        };
        assert_eq!(kind(""), UnreadableLock::Damaged);
        assert_eq!(kind(r#"{"lockVersion": 1, "#), UnreadableLock::Damaged);
        assert_eq!(kind(r#"{"lockVersion": 99}"#), UnreadableLock::Later);
        assert_eq!(kind("# Notes"), UnreadableLock::Foreign);
    }
}
