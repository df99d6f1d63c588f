//! What decides on calls beside the documents, in a store that all instances share.
//!
//! A value is read, and written only if nobody wrote it meanwhile. What can't be read or written allows nothing.
//!
//! | module | content |
//! |---|---|
//! | `nats` | the store: a key-value bucket of NATS JetStream |

mod nats;

pub(crate) use nats::Nats;

use super::answer::Refusal;
use agent_host::contract::diagnostic::Code;
use bytes::Bytes;
use hyper::StatusCode;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::{sleep, timeout};

/// Maximum time of a decision with a store.
const TIME: Duration = Duration::from_secs(5);

/// Maximum number of times that others may come between.
const TRIES: u32 = 32;

/// Time by which each next try waits longer.
const PAUSE: Duration = Duration::from_millis(1);

/// Number of groups of clients of which one is decided about at a time. Two instances of one client would only repeat each
/// other's work.
const GROUPS: usize = 64;

/// A value, and the revision that a next one replaces.
#[derive(Debug, Clone, Default)]
pub(crate) struct Entry {
    pub(crate) value: Option<Bytes>,
    /// 0 before the first one.
    pub(crate) revision: u64,
}

/// Why nothing is known of the store, as one clause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unavailable(pub(crate) String);

impl From<Unavailable> for Refusal {
    fn from(Unavailable(text): Unavailable) -> Self {
        Self {
            code: Some(Code::StateUnavailable),
            ..Self::of_http(StatusCode::SERVICE_UNAVAILABLE, text)
        }
    }
}

/// Values by key.
pub(crate) trait Values {
    /// Reads a value.
    ///
    /// # Errors
    ///
    /// It is not known.
    async fn read(&self, key: &str) -> Result<Entry, Unavailable>;

    /// Writes a value in the place of a revision. Returns whether it was still the last one.
    ///
    /// # Errors
    ///
    /// It is not known whether it was written.
    async fn write(&self, key: &str, value: Vec<u8>, revision: u64) -> Result<bool, Unavailable>;
}

/// What a function makes of a value.
pub(crate) enum Step<T> {
    /// The answer, which counts once the next value is written, if there is one.
    Answer(T, Option<Vec<u8>>),
    /// Something else changed, so that the value is none of the question.
    Outdated,
}

/// A store.
pub(crate) struct Store<V> {
    pub(crate) values: V,
    turns: [Mutex<()>; GROUPS],
}

impl<V: Values> Store<V> {
    pub(crate) fn new(values: V) -> Self {
        Self {
            values,
            turns: [(); GROUPS].map(Mutex::new),
        }
    }

    /// Answers by the value of a key, and replaces it. A function is asked again whenever others came between. Returns
    /// nothing if the value is none of the question any more.
    ///
    /// # Errors
    ///
    /// The store does not answer in time, others come between too often, or the function refuses.
    pub(crate) async fn change<T>(
        &self,
        key: &str,
        next: impl FnMut(Option<&[u8]>) -> Result<Step<T>, Refusal>,
    ) -> Result<Option<T>, Refusal> {
        let changed = timeout(TIME, self.change_in_turn(key, next)).await;
        changed.unwrap_or_else(|_| {
            let seconds = TIME.as_secs();
            Err(Unavailable(format!("the store did not answer within {seconds} s")).into())
        })
    }

    async fn change_in_turn<T>(
        &self,
        key: &str,
        mut next: impl FnMut(Option<&[u8]>) -> Result<Step<T>, Refusal>,
    ) -> Result<Option<T>, Refusal> {
        let group = key
            .bytes()
            .fold(0, |sum, it| (sum * 31 + usize::from(it)) % GROUPS);
        let _turn = self.turns[group].lock().await;
        for number in 0..TRIES {
            let Entry { value, revision } = self.values.read(key).await?;
            let (answer, written) = match next(value.as_deref())? {
                Step::Answer(answer, written) => (answer, written),
                Step::Outdated => return Ok(None),
            };
            match written {
                None => return Ok(Some(answer)),
                Some(written) => {
                    if self.values.write(key, written, revision).await? {
                        return Ok(Some(answer));
                    }
                }
            }
            sleep(PAUSE * number).await;
        }
        let text = format!("others decided about the client {TRIES} times meanwhile");
        Err(Unavailable(text).into())
    }
}

#[cfg(test)]
mod tests {
    use super::{Entry, Refusal, Step, Store, TRIES, Unavailable, Values};
    use agent_host::contract::diagnostic::Code;
    use bytes::Bytes;
    use std::cell::{Cell, RefCell};
    use std::future::pending;

    /// A value in memory, which others write too.
    #[derive(Default)]
    struct Memory {
        entry: RefCell<Entry>,
        /// How often others still come between.
        others: Cell<u32>,
        is_silent: Cell<bool>,
    }

    impl Values for Memory {
        async fn read(&self, _: &str) -> Result<Entry, Unavailable> {
            if self.is_silent.get() {
                pending::<()>().await;
            }
            Ok(self.entry.borrow().clone())
        }

        async fn write(&self, _: &str, value: Vec<u8>, revision: u64) -> Result<bool, Unavailable> {
            let mut entry = self.entry.borrow_mut();
            if self.others.get() > 0 {
                self.others.set(self.others.get() - 1);
                entry.revision += 1;
                entry.value = Some(Bytes::from_static(b"other"));
            }
            if entry.revision != revision {
                return Ok(false);
            }
            entry.revision += 1;
            entry.value = Some(value.into());
            Ok(true)
        }
    }

    type Seen = Vec<Option<Vec<u8>>>;

    /// Writes `own`. Returns the answer, and the values that were seen.
    async fn changed(store: &Store<Memory>) -> (Result<Option<&'static str>, Refusal>, Seen) {
        let mut seen = Vec::new();
        let changed = store.change("key", |value| {
            seen.push(value.map(<[u8]>::to_vec));
            Ok(Step::Answer("answer", Some(b"own".to_vec())))
        });
        (changed.await, seen)
    }

    #[tokio::test]
    async fn a_decision_is_made_again_until_nobody_comes_between() {
        let store = Store::new(Memory::default());
        store.values.others.set(2);
        let (answer, seen) = changed(&store).await;
        assert_eq!(answer, Ok(Some("answer")));
        let other = Some(b"other".to_vec());
        assert_eq!(seen, [None, other.clone(), other]);
        assert_eq!(
            store.values.entry.borrow().value.as_deref(),
            Some(&b"own"[..])
        );
    }

    #[tokio::test]
    async fn others_come_between_only_so_often() {
        let store = Store::new(Memory::default());
        store.values.others.set(u32::MAX);
        let (answer, seen) = changed(&store).await;
        let refusal = answer.expect_err("it is refused");
        assert_eq!(refusal.code, Some(Code::StateUnavailable));
        assert_eq!(seen.len(), TRIES as usize);
        assert_ne!(
            store.values.entry.borrow().value.as_deref(),
            Some(&b"own"[..])
        );
    }

    #[tokio::test]
    async fn a_silent_store_allows_nothing() {
        let store = Store::new(Memory::default());
        store.values.is_silent.set(true);
        let (answer, seen) = changed(&store).await;
        let refusal = answer.expect_err("it is refused");
        assert_eq!(
            (refusal.code, seen.len()),
            (Some(Code::StateUnavailable), 0)
        );
        assert_eq!(refusal.text, "the store did not answer within 5 s");
        store.values.is_silent.set(false);
        assert_eq!(changed(&store).await.0, Ok(Some("answer")));
    }

    #[tokio::test]
    async fn what_is_only_looked_at_is_not_written() {
        let store = Store::new(Memory::default());
        let looked = store.change("key", |_| Ok(Step::Answer((), None)));
        assert_eq!(looked.await, Ok(Some(())));
        let outdated = store.change::<()>("key", |_| Ok(Step::Outdated));
        assert_eq!(outdated.await, Ok(None));
        assert_eq!(store.values.entry.borrow().revision, 0);
    }
}
