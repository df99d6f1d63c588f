//! `wasi:keyvalue/store` in memory: what one request of an app leaves for the next one.

use crate::bindings::wasi::keyvalue::store::{self, Error, KeyResponse};
use crate::budget::Budget;
use crate::limits::{ENTRY_BYTES, PAGE_KEYS};
use crate::state::RequestState;
use bytes::Bytes;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use wasmtime::component::Resource;

/// The names of the one bucket.
const NAMES: [&str; 2] = ["", "default"];

/// The bucket as an app holds it. There is only one.
#[derive(Debug)]
#[expect(unreachable_pub, reason = "generated code exports it")]
pub struct Bucket;

/// The values of an app by their keys.
#[derive(Debug)]
pub(crate) struct Values {
    /// The memory of the app, and the part of it that values may have.
    budgets: [Arc<Budget>; 2],
    values: Mutex<BTreeMap<String, Bytes>>,
}

impl Values {
    /// Returns a store that has half of the app's memory: requests need the rest.
    pub(crate) fn new(app: Arc<Budget>) -> Self {
        let own = Arc::new(Budget::new(app.limit() / 2));
        Self {
            budgets: [app, own],
            values: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Bytes>> {
        self.values.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, bytes: usize) -> bool {
        let [app, own] = &self.budgets;
        if !own.take(bytes) {
            return false;
        }
        let taken = app.take(bytes);
        if !taken {
            own.give_back(bytes);
        }
        taken
    }

    fn give_back(&self, bytes: usize) {
        for budget in &self.budgets {
            budget.give_back(bytes);
        }
    }

    fn set(&self, key: String, value: Vec<u8>) -> Result<(), Error> {
        let mut values = self.lock();
        let size = size(&key, value.len());
        let before = values.get(&key).map_or(0, |it| self::size(&key, it.len()));
        // The old value is there until the new one is.
        if !self.take(size) {
            let message = "the memory for values is full".to_owned();
            return Err(Error::Other(message));
        }
        values.insert(key, value.into());
        self.give_back(before);
        Ok(())
    }

    fn delete(&self, key: &str) {
        if let Some(value) = self.lock().remove(key) {
            self.give_back(size(key, value.len()));
        }
    }

    fn page(&self, cursor: u64) -> KeyResponse {
        let values = self.lock();
        let begin = usize::try_from(cursor).unwrap_or(usize::MAX);
        let keys: Vec<_> = values.keys().skip(begin).take(PAGE_KEYS).cloned().collect();
        let end = begin.saturating_add(keys.len());
        KeyResponse {
            keys,
            cursor: (end < values.len()).then_some(end as u64),
        }
    }
}

/// Returns the memory of an entry.
fn size(key: &str, value: usize) -> usize {
    key.len().saturating_add(value).saturating_add(ENTRY_BYTES)
}

impl store::Host for RequestState {
    fn open(&mut self, identifier: String) -> wasmtime::Result<Result<Resource<Bucket>, Error>> {
        if !NAMES.contains(&&*identifier) {
            return Ok(Err(Error::NoSuchStore));
        }
        Ok(Ok(self.table.push(Bucket)?))
    }
}

impl store::HostBucket for RequestState {
    fn get(
        &mut self,
        _: Resource<Bucket>,
        key: String,
    ) -> wasmtime::Result<Result<Option<Vec<u8>>, Error>> {
        let value = self.values.lock().get(&key).cloned();
        Ok(Ok(value.map(Vec::from)))
    }

    fn set(
        &mut self,
        _: Resource<Bucket>,
        key: String,
        value: Vec<u8>,
    ) -> wasmtime::Result<Result<(), Error>> {
        Ok(self.values.set(key, value))
    }

    fn delete(&mut self, _: Resource<Bucket>, key: String) -> wasmtime::Result<Result<(), Error>> {
        self.values.delete(&key);
        Ok(Ok(()))
    }

    fn exists(
        &mut self,
        _: Resource<Bucket>,
        key: String,
    ) -> wasmtime::Result<Result<bool, Error>> {
        Ok(Ok(self.values.lock().contains_key(&key)))
    }

    fn list_keys(
        &mut self,
        _: Resource<Bucket>,
        cursor: Option<u64>,
    ) -> wasmtime::Result<Result<KeyResponse, Error>> {
        Ok(Ok(self.values.page(cursor.unwrap_or(0))))
    }

    fn drop(&mut self, bucket: Resource<Bucket>) -> wasmtime::Result<()> {
        self.table.delete(bucket)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Error, Values};
    use crate::budget::Budget;
    use crate::limits::{ENTRY_BYTES, PAGE_KEYS};
    use std::sync::Arc;

    #[test]
    fn values_have_half_of_the_memory() {
        let budget = Arc::new(Budget::new(4 * (ENTRY_BYTES + 11)));
        let values = Values::new(Arc::clone(&budget));
        let set = |key: &str, size: usize| values.set(key.to_owned(), vec![0; size]);
        assert!(set("a", 10).is_ok());
        assert!(set("b", 10).is_ok());
        assert!(matches!(set("c", 0), Err(Error::Other(_))));
        values.delete("b");
        values.delete("b");
        assert!(set("a", 10).is_ok());
        assert_eq!(budget.used(), ENTRY_BYTES + 11);
        values.delete("a");
        assert_eq!(budget.used(), 0);
        assert!(budget.take(3 * (ENTRY_BYTES + 11)));
        assert!(set("a", 10).is_ok());
        assert!(set("b", 10).is_err());
        values.delete("a");
        assert!(set("b", 10).is_ok());
    }

    #[test]
    fn keys_come_in_pages() {
        let values = Values::new(Arc::new(Budget::new(1 << 20)));
        for number in 0..=PAGE_KEYS {
            values.set(format!("{number:04}"), Vec::new()).unwrap();
        }
        let first = values.page(0);
        assert_eq!(first.keys.len(), PAGE_KEYS);
        let rest = values.page(first.cursor.unwrap());
        assert_eq!(rest.keys, [format!("{PAGE_KEYS:04}")]);
        assert_eq!(rest.cursor, None);
        assert!(values.page(u64::MAX).keys.is_empty());
    }
}
