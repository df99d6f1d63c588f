//! The engine of a worker.

use super::basis::Basis;
use agent_host::contract::decision_point::{
    AskedApproval, AskedCall, AskedRequest, CallDecision, Digests, Enforced, KeptApproval, KeptAt,
    Point, ReceivedResult, Unanswerable, Verdict,
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

/// A decision on a call, and what decided.
pub(crate) struct Decided {
    pub(crate) decision: CallDecision,
    /// What a human is asked first.
    pub(crate) approval: Option<AskedApproval>,
    pub(crate) basis: Arc<Basis>,
}

/// What an engine says, or why a question has no answer.
pub(crate) type Said<T> = Result<Result<T, Unanswerable>, Failure>;

/// An answer after what a store keeps, and what is kept next.
type After<A> = (A, Option<Vec<u8>>);

/// A question that is decided by documents, or also after what a store keeps of its client.
pub(crate) trait Question {
    type Answer;

    /// Returns where a store keeps what decides on it, if anything does beside the documents.
    fn kept_at(&self, instance: &mut Instance, point: Point) -> Said<Option<KeptAt>>;

    /// Decides by documents alone.
    fn decide(&self, instance: &mut Instance, point: Point, now: Clock) -> Said<Self::Answer>;

    /// Decides after what is kept. Returns also what is kept next.
    fn decide_after(
        &self,
        instance: &mut Instance,
        point: Point,
        kept: Option<&[u8]>,
        now: Clock,
    ) -> Said<After<Self::Answer>>;
}

impl Question for AskedCall {
    type Answer = (CallDecision, Option<AskedApproval>);

    fn kept_at(&self, instance: &mut Instance, point: Point) -> Said<Option<KeptAt>> {
        call!(instance, decision_point.point.kept_at(point, self))
    }

    fn decide(&self, instance: &mut Instance, point: Point, now: Clock) -> Said<Self::Answer> {
        let decided = call!(instance, decision_point.point.decide(point, self, now))?;
        Ok(decided.map(|it| (it, None)))
    }

    fn decide_after(
        &self,
        instance: &mut Instance,
        point: Point,
        kept: Option<&[u8]>,
        now: Clock,
    ) -> Said<After<Self::Answer>> {
        let decided = call!(
            instance,
            decision_point.point.decide_after(point, self, kept, now)
        )?;
        Ok(decided.map(|it| ((it.decision, it.approval), it.kept)))
    }
}

impl Question for AskedRequest {
    type Answer = Enforced;

    fn kept_at(&self, instance: &mut Instance, point: Point) -> Said<Option<KeptAt>> {
        call!(instance, decision_point.point.request_kept_at(point, self))
    }

    fn decide(&self, instance: &mut Instance, point: Point, now: Clock) -> Said<Self::Answer> {
        call!(instance, decision_point.point.request(point, self, now))
    }

    fn decide_after(
        &self,
        instance: &mut Instance,
        point: Point,
        kept: Option<&[u8]>,
        now: Clock,
    ) -> Said<After<Self::Answer>> {
        let decided = call!(
            instance,
            decision_point.point.request_after(point, self, kept, now)
        )?;
        Ok(decided.map(|it| (it.enforced, it.kept)))
    }
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
    pub(crate) fn list(&self, server: &str, generation: Generation) -> Said<Vec<u8>> {
        let Current {
            instance, point, ..
        } = &mut *self.current()?;
        call!(
            instance,
            decision_point.point.list(*point, server, generation)
        )
    }

    /// Decides on a question now, by documents alone. Returns also what decided.
    ///
    /// # Errors
    ///
    /// When the engine fails. The next decision is made by another instance.
    pub(crate) fn decide<Q: Question>(&self, question: &Q) -> Said<(Q::Answer, Arc<Basis>)> {
        self.ask(|instance, point, now| question.decide(instance, point, now))
    }

    /// Returns where a store keeps what decides on a question, and what decided on that.
    ///
    /// # Errors
    ///
    /// As [`Self::decide`].
    pub(crate) fn kept_at(&self, question: &impl Question) -> Said<(Option<KeptAt>, Arc<Basis>)> {
        self.ask(|instance, point, _| question.kept_at(instance, point))
    }

    /// Decides on a question after what is kept. Returns also what is kept next, and what decided.
    ///
    /// # Errors
    ///
    /// As [`Self::decide`].
    pub(crate) fn decide_after<Q: Question>(
        &self,
        question: &Q,
        kept: Option<&[u8]>,
    ) -> Said<(After<Q::Answer>, Arc<Basis>)> {
        self.ask(|instance, point, now| question.decide_after(instance, point, kept, now))
    }

    /// Shows an approval of what is kept at a key, or takes the answer to it.
    ///
    /// # Errors
    ///
    /// As [`Self::decide`].
    pub(crate) fn approval(
        &self,
        (key, kept): (&str, &[u8]),
        id: &str,
        answer: Option<bool>,
    ) -> Said<(KeptApproval, Arc<Basis>)> {
        self.ask(|instance, point, now| {
            call!(
                instance,
                decision_point
                    .point
                    .approval(point, key, kept, id, answer, now)
            )
        })
    }

    /// Decides what a client gets of a result now. Returns also what decided.
    ///
    /// # Errors
    ///
    /// As [`Self::decide`].
    pub(crate) fn enforce_result(&self, received: &ReceivedResult) -> Said<(Enforced, Arc<Basis>)> {
        self.ask(|instance, point, now| {
            call!(instance, decision_point.point.result(point, received, now))
        })
    }

    /// Asks the instance. One that failed or grew too much is replaced.
    fn ask<T>(
        &self,
        question: impl FnOnce(&mut Instance, Point, Clock) -> Said<T>,
    ) -> Said<(T, Arc<Basis>)> {
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
