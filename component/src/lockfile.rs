//! `agent:engine/lockfile`

use crate::Component;
use crate::bindings::exports::agent::engine::lockfile::{
    self, Code, Diagnostic, Drift, Guest, GuestLock, IndexBorrow, LockBorrow, ResolutionBorrow,
    Selection, UnreadableLock,
};
use crate::convert::all;
use crate::inputs::Index;
use crate::resolver::Resolution;
use agent_api::decide::PolicyEngine;
use agent_api::{self as api, LockText, compare, model, render, verify};
use std::sync::Arc;

/// A lock, its text if it was read from one, and the policy that decided if it was made here.
pub(crate) struct Lock(
    pub(crate) model::Lock,
    Option<String>,
    Option<Arc<dyn PolicyEngine>>,
);

impl Guest for Component {
    type Lock = Lock;

    fn unreadable(text: Vec<u8>, problems: Vec<Code>) -> UnreadableLock {
        api::unreadable_lock(&text, &all(problems)).into()
    }

    fn compare(older: Option<LockBorrow<'_>>, newer: LockBorrow<'_>) -> Vec<Drift> {
        let older = older.as_ref().map(|lock| lock.get::<Lock>().with_text());
        let newer = newer.get::<Lock>();
        all(&compare(older.as_ref(), &newer.0, newer.2.as_deref()))
    }
}

impl Lock {
    fn with_text(&self) -> LockText {
        LockText {
            lock: self.0.clone(),
            text: self.1.clone(),
        }
    }
}

impl GuestLock for Lock {
    fn parse(text: Vec<u8>) -> Result<lockfile::Lock, Vec<Diagnostic>> {
        let LockText { lock, text } = LockText::read(text).map_err(all)?.value;
        Ok(lockfile::Lock::new(Self(lock, text, None)))
    }

    fn of_resolution(resolution: ResolutionBorrow<'_>) -> Option<lockfile::Lock> {
        let resolution = &resolution.get::<Resolution>().0;
        let policy = resolution.matching().policy().map(Arc::clone);
        Some(lockfile::Lock::new(Self(resolution.lock()?, None, policy)))
    }

    fn render(&self) -> String {
        render::lock(&self.0)
    }

    fn selections(&self) -> Vec<Selection> {
        all(&self.0.selections)
    }

    fn definitions(&self, index: IndexBorrow<'_>) -> Option<String> {
        render::definitions(&self.0, &index.get::<Index>().value)
    }

    fn verify_definitions(&self, index: IndexBorrow<'_>, text: Option<Vec<u8>>) -> Option<Drift> {
        let index = &index.get::<Index>().value;
        let drift = api::verify_definitions(&self.0, index, text.as_deref())?;
        Some((&drift).into())
    }

    fn verify(&self, index: IndexBorrow<'_>, policy: Option<String>) -> Vec<Drift> {
        let index = &index.get::<Index>().value;
        all(&verify(&self.with_text(), index, policy.as_deref()))
    }
}
