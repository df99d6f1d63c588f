//! The engine of a worker.

use agent_host::contract::decision_point::{AskedCall, CallDecision, Digests, Point, Unanswerable};
use agent_host::contract::diagnostic::Diagnostic;
use agent_host::contract::session::Documents;
use agent_host::{Engine, Failure, Instance, Zone, call, clock};
use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

/// Time of a decision. Most take a thousandth of that.
const DECISION_TIME: Duration = Duration::from_secs(10);

/// Bytes by which an instance may grow. The memory of one never shrinks.
const GROWTH_MAX_BYTES: usize = 64 << 20;

/// Decides on calls in one instance. An instance that failed or grew too much is replaced.
pub(crate) struct Decider {
    engine: Engine,
    documents: Arc<Documents>,
    zone: Zone,
    current: RefCell<Current>,
}

/// The present instance.
struct Current {
    instance: Instance,
    point: Point,
    /// Bytes of its memory when it was opened.
    opened_with: usize,
}

impl Decider {
    /// Opens an instance with documents. The inner error lists why they can't be obeyed.
    ///
    /// # Errors
    ///
    /// When the engine fails.
    pub(crate) fn open(
        engine: &Engine,
        documents: &Arc<Documents>,
        zone: &Zone,
    ) -> Result<Result<Self, Vec<Diagnostic>>, Failure> {
        let opened = Current::open(engine, documents)?;
        Ok(opened.map(|current| Self {
            engine: engine.clone(),
            documents: Arc::clone(documents),
            zone: zone.clone(),
            current: RefCell::new(current),
        }))
    }

    /// Returns the digests of the documents.
    ///
    /// # Errors
    ///
    /// When the engine fails.
    pub(crate) fn documents(&self) -> Result<Digests, Failure> {
        let Current {
            instance, point, ..
        } = &mut *self.current.borrow_mut();
        call!(instance, decision_point.point.documents(*point))
    }

    /// Decides on a call now.
    ///
    /// # Errors
    ///
    /// When the engine fails. The next decision is made by another instance.
    pub(crate) fn decide(
        &self,
        asked: &AskedCall,
    ) -> Result<Result<CallDecision, Unanswerable>, Failure> {
        let now = clock(&self.zone);
        let mut current = self.current.borrow_mut();
        let Current {
            instance, point, ..
        } = &mut *current;
        let decided = call!(instance, decision_point.point.decide(*point, asked, now));
        let grown = current.instance.memory() - current.opened_with;
        // The documents were obeyed before.
        if (decided.is_err() || grown > GROWTH_MAX_BYTES)
            && let Ok(opened) = Current::open(&self.engine, &self.documents)?
        {
            *current = opened;
        }
        decided
    }
}

impl Current {
    fn open(
        engine: &Engine,
        documents: &Documents,
    ) -> Result<Result<Self, Vec<Diagnostic>>, Failure> {
        let mut instance = engine.instantiate()?;
        let opened = call!(instance, decision_point.point.open(documents))?;
        instance.limit_time(DECISION_TIME);
        Ok(opened.map(|point| Self {
            opened_with: instance.memory(),
            instance,
            point,
        }))
    }
}
