//! State machines without input and output, as straight code that awaits the outcome of each effect.
//!
//! Code that awaits [`Turns::perform`] alone can leave out no state and reorder none. [`Machine`] polls it until it
//! wants an effect, which [`Machine::next_effect`] returns, and again once [`Machine::complete`] has the outcome. The host
//! decides nothing between the two, and nothing runs in the background.

#![forbid(unsafe_code)]

use core::cell::RefCell;
use core::fmt;
use core::future::{Future, poll_fn};
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use std::rc::Rc;

/// What a machine wants of its host: an effect, or the end, which the code returns.
pub trait Effect: Clone {
    /// What the host completes an effect with.
    type Outcome;
    /// Why the code ends early.
    type Stop: Clone;

    /// Returns whether an outcome is one of this effect.
    fn accepts(&self, outcome: &Self::Outcome) -> bool;

    /// Returns whether this effect is wanted also after an interruption, such as one that undoes another.
    fn outlasts(&self) -> bool;

    /// Returns why the code ends after an outcome out of turn.
    fn out_of_turn() -> Self::Stop;

    /// Returns what the code gets for this effect after an outcome out of turn.
    fn confused(&self, stop: &Self::Stop) -> Result<Self::Outcome, Self::Stop> {
        Err(stop.clone())
    }
}

/// An outcome that belongs to no wanted effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutOfTurn;

#[derive(Debug)]
struct Slot<E: Effect> {
    wanted: Option<E>,
    outcome: Option<Result<E::Outcome, E::Stop>>,
    /// Why only effects that outlast it are wanted.
    interrupted: Option<E::Stop>,
}

/// What the code of a machine wants and gets.
pub struct Turns<E: Effect>(Rc<RefCell<Slot<E>>>);

impl<E: Effect> Clone for Turns<E> {
    fn clone(&self) -> Self {
        Self(Rc::clone(&self.0))
    }
}

impl<E: Effect> fmt::Debug for Turns<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turns").finish_non_exhaustive()
    }
}

impl<E: Effect> Default for Turns<E> {
    fn default() -> Self {
        Self(Rc::new(RefCell::new(Slot {
            wanted: None,
            outcome: None,
            interrupted: None,
        })))
    }
}

impl<E: Effect> Turns<E> {
    /// Waits for the outcome of an effect.
    ///
    /// # Errors
    /// The machine was cancelled, or the host answered out of turn.
    pub async fn perform(&self, effect: E) -> Result<E::Outcome, E::Stop> {
        {
            let mut slot = self.0.borrow_mut();
            if let Some(stop) = slot.interrupted.clone().filter(|_| !effect.outlasts()) {
                return Err(stop);
            }
            slot.wanted = Some(effect);
            slot.outcome = None;
        }
        poll_fn(|_| match self.0.borrow_mut().outcome.take() {
            Some(outcome) => Poll::Ready(outcome),
            None => Poll::Pending,
        })
        .await
    }
}

/// A state machine without input and output.
pub struct Machine<E: Effect> {
    turns: Turns<E>,
    code: Pin<Box<dyn Future<Output = E>>>,
    /// The end.
    finished: Option<E>,
}

impl<E: Effect> fmt::Debug for Machine<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Machine").finish_non_exhaustive()
    }
}

impl<E: Effect> Machine<E> {
    /// Returns the machine of some code, which awaits these turns alone and returns the end. Nothing of the code runs
    /// before the first [`Machine::next_effect`].
    pub fn new(turns: Turns<E>, code: impl Future<Output = E> + 'static) -> Self {
        Self {
            turns,
            code: Box::pin(code),
            finished: None,
        }
    }

    /// Returns the effect that the host has to perform, the same one until it is completed, or the end.
    pub fn next_effect(&mut self) -> E {
        let wanted = self.finished.clone();
        if let Some(effect) = wanted.or_else(|| self.wanted()) {
            return effect;
        }
        let mut context = Context::from_waker(Waker::noop());
        match self.code.as_mut().poll(&mut context) {
            Poll::Ready(end) => self.finished.insert(end).clone(),
            // Invariant: the code awaits `Turns::perform` alone, which wants an effect before it waits.
            Poll::Pending => self
                .wanted()
                .unwrap_or_else(|| unreachable!("an effect is wanted")),
        }
    }

    /// Returns whether the code has ended.
    pub fn is_finished(&self) -> bool {
        self.finished.is_some()
    }

    fn wanted(&self) -> Option<E> {
        self.turns.0.borrow().wanted.clone()
    }

    /// Takes the outcome of the effect that [`Machine::next_effect`] returned.
    ///
    /// # Errors
    /// No effect was returned, or the outcome belongs to another one. The code then ends early.
    pub fn complete(&mut self, outcome: E::Outcome) -> Result<(), OutOfTurn> {
        if self.is_finished() {
            return Err(OutOfTurn);
        }
        let mut slot = self.turns.0.borrow_mut();
        match slot.wanted.take() {
            Some(effect) if effect.accepts(&outcome) => {
                slot.outcome = Some(Ok(outcome));
                Ok(())
            }
            wanted => {
                let stop = slot.interrupted.get_or_insert_with(E::out_of_turn).clone();
                slot.outcome = wanted.map(|effect| effect.confused(&stop));
                Err(OutOfTurn)
            }
        }
    }

    /// Ends the code early. A wanted effect is withdrawn, unless it outlasts that.
    pub fn cancel(&mut self, stop: E::Stop) {
        if self.is_finished() {
            return;
        }
        let mut slot = self.turns.0.borrow_mut();
        let stop = slot.interrupted.get_or_insert(stop).clone();
        if slot.wanted.take_if(|effect| !effect.outlasts()).is_some() {
            slot.outcome = Some(Err(stop));
        }
    }
}
