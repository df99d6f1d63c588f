//! The engine of a worker.

use super::basis::Basis;
use agent_host::contract::decision_point::{
    AskedCall, AskedRequest, CallDecision, Digests, Enforced, Point, ReceivedResult, Unanswerable,
    Verdict,
};
use agent_host::contract::diagnostic::Diagnostic;
use agent_host::contract::run::Clock;
use agent_host::contract::session::Generation;
use agent_host::{Engine, Failure, Instance, Zone, call, clock};
use std::cell::{RefCell, RefMut};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch::Receiver;

/// Time of a decision. Most take a thousandth of that.
const DECISION_TIME: Duration = Duration::from_secs(10);

/// Bytes by which an instance may grow. The memory of one never shrinks.
const GROWTH_MAX_BYTES: usize = 64 << 20;

/// Decides on calls in one instance. An instance that failed, grew too much or has other documents is replaced.
pub(crate) struct Decider {
    engine: Engine,
    bases: Receiver<Arc<Basis>>,
    zone: Zone,
    current: RefCell<Current>,
}

/// A decision, and what decided.
pub(crate) struct Decided {
    pub(crate) decision: CallDecision,
    pub(crate) basis: Arc<Basis>,
}

impl Decided {
    /// Returns whether the call is allowed.
    pub(crate) fn is_allowed(&self) -> bool {
        matches!(self.decision.verdict, Verdict::Allowed)
    }
}

/// The present instance.
struct Current {
    basis: Arc<Basis>,
    instance: Instance,
    point: Point,
    /// Bytes of its memory when it was opened.
    opened_with: usize,
}

impl Decider {
    /// Opens an instance with the present documents. The inner error lists why they can't be obeyed.
    ///
    /// # Errors
    ///
    /// When the engine fails.
    pub(crate) fn open(
        engine: &Engine,
        bases: &Receiver<Arc<Basis>>,
        zone: &Zone,
    ) -> Result<Result<Self, Vec<Diagnostic>>, Failure> {
        let opened = Current::open(engine, bases.borrow().clone())?;
        Ok(opened.map(|current| Self {
            engine: engine.clone(),
            bases: bases.clone(),
            zone: zone.clone(),
            current: RefCell::new(current),
        }))
    }

    /// Returns what decides, and the digests of its documents.
    ///
    /// # Errors
    ///
    /// When the engine fails.
    pub(crate) fn documents(&self) -> Result<(Digests, Arc<Basis>), Failure> {
        let Current {
            basis,
            instance,
            point,
            ..
        } = &mut *self.current()?;
        let digests = call!(instance, decision_point.point.documents(*point))?;
        Ok((digests, Arc::clone(basis)))
    }

    /// Returns the locked tools.
    ///
    /// # Errors
    ///
    /// When the engine fails.
    pub(crate) fn tools(&self) -> Result<Vec<String>, Failure> {
        let Current {
            instance, point, ..
        } = &mut *self.current()?;
        call!(instance, decision_point.point.tools(*point))
    }

    /// Returns the locked tools of a server, as a result of `tools/list`.
    ///
    /// # Errors
    ///
    /// When the engine fails.
    pub(crate) fn list(
        &self,
        server: &str,
        generation: Generation,
    ) -> Result<Result<Vec<u8>, Unanswerable>, Failure> {
        let Current {
            instance, point, ..
        } = &mut *self.current()?;
        call!(
            instance,
            decision_point.point.list(*point, server, generation)
        )
    }

    /// Decides on a call now.
    ///
    /// # Errors
    ///
    /// When the engine fails. The next decision is made by another instance.
    pub(crate) fn decide(
        &self,
        asked: &AskedCall,
    ) -> Result<Result<Decided, Unanswerable>, Failure> {
        let decided = self.ask(|instance, point, now| {
            call!(instance, decision_point.point.decide(point, asked, now))
        })?;
        Ok(decided.map(|(decision, basis)| Decided { decision, basis }))
    }

    /// Decides on a request of a client now. Returns also what decided.
    ///
    /// # Errors
    ///
    /// As [`Self::decide`].
    pub(crate) fn enforce(
        &self,
        asked: &AskedRequest,
    ) -> Result<Result<(Enforced, Arc<Basis>), Unanswerable>, Failure> {
        self.ask(|instance, point, now| {
            call!(instance, decision_point.point.request(point, asked, now))
        })
    }

    /// Decides what a client gets of a result now. Returns also what decided.
    ///
    /// # Errors
    ///
    /// As [`Self::decide`].
    pub(crate) fn enforce_result(
        &self,
        received: &ReceivedResult,
    ) -> Result<Result<(Enforced, Arc<Basis>), Unanswerable>, Failure> {
        self.ask(|instance, point, now| {
            call!(instance, decision_point.point.result(point, received, now))
        })
    }

    /// Asks the instance. One that failed or grew too much is replaced.
    fn ask<T>(
        &self,
        question: impl FnOnce(&mut Instance, Point, Clock) -> Result<Result<T, Unanswerable>, Failure>,
    ) -> Result<Result<(T, Arc<Basis>), Unanswerable>, Failure> {
        let now = clock(&self.zone);
        let mut current = self.current()?;
        let Current {
            basis,
            instance,
            point,
            ..
        } = &mut *current;
        let by = Arc::clone(basis);
        let answered = question(instance, *point, now);
        let grown = current.instance.memory() - current.opened_with;
        if answered.is_err() || grown > GROWTH_MAX_BYTES {
            current.renew(&self.engine, Arc::clone(&by))?;
        }
        Ok(answered?.map(|answer| (answer, by)))
    }

    /// Returns the instance with the present documents.
    fn current(&self) -> Result<RefMut<'_, Current>, Failure> {
        let mut current = self.current.borrow_mut();
        let basis = self.bases.borrow().clone();
        if !Arc::ptr_eq(&current.basis, &basis) {
            current.renew(&self.engine, basis)?;
        }
        Ok(current)
    }
}

impl Current {
    fn open(engine: &Engine, basis: Arc<Basis>) -> Result<Result<Self, Vec<Diagnostic>>, Failure> {
        let mut instance = engine.instantiate()?;
        let opened = call!(instance, decision_point.point.open(&basis.documents))?;
        instance.limit_time(DECISION_TIME);
        Ok(opened.map(|point| Self {
            basis,
            opened_with: instance.memory(),
            instance,
            point,
        }))
    }

    /// Takes another instance. Its documents were obeyed before they became a basis.
    fn renew(&mut self, engine: &Engine, basis: Arc<Basis>) -> Result<(), Failure> {
        let opened = Self::open(engine, basis)?;
        *self = opened.map_err(|_| Failure::internal("documents were obeyed once only"))?;
        Ok(())
    }
}
