//! The turns of a run and this host.

use super::effects::Effects;
use super::progress::progress;
use super::zone::Zone;
use agent_host::contract::run::{Action, Clock, Documents, Finished, Options, Outcome};
use agent_host::output::{self, Progress};
use agent_host::{Failure, Instance, ResourceAny, call};
use std::future::Future;
use std::pin::pin;
use std::sync::LazyLock;
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use tokio::runtime::Builder;
use tokio::select;

/// A run in its instance of the engine.
pub struct Run<'i> {
    instance: &'i mut Instance,
    run: ResourceAny,
    zone: Zone,
}

impl<'i> Run<'i> {
    /// Starts a run, whose policies see the time of a zone.
    ///
    /// # Errors
    ///
    /// When the engine fails, or the options are invalid.
    pub fn start(
        instance: &'i mut Instance,
        documents: &Documents,
        options: &Options,
        zone: Zone,
    ) -> Result<Self, Failure> {
        let started = call!(
            instance,
            run.plan_run.call_start(documents, options, clock(&zone))
        )?;
        let run = started.map_err(Failure::internal)?;
        Ok(Self {
            instance,
            run,
            zone,
        })
    }

    /// Carries out the run to its end. An interrupt of the user (Ctrl-C) and a request to terminate
    /// (SIGTERM) cancel it: the present effect is dropped, and the evidence is completed.
    ///
    /// # Errors
    ///
    /// When the engine fails, which no document may cause.
    pub async fn carry_out(self, effects: &mut Effects) -> Result<Finished, Failure> {
        let mut signals = effects.signals()?;
        self.carry_out_until(effects, signals.cancelled()).await
    }

    /// Carries out the run to its end, or until `cancelled` resolves.
    async fn carry_out_until(
        mut self,
        effects: &mut Effects,
        cancelled: impl Future<Output = ()>,
    ) -> Result<Finished, Failure> {
        let mut cancelled = pin!(cancelled);
        loop {
            let outcome = match self.next()? {
                Action::Finished(finished) => return Ok(finished),
                // Evidence is stored, whatever happens.
                Action::Store(store) => effects.store(&store),
                action => {
                    let _progress = progress(&action).map(Progress::of);
                    let is_question = matches!(action, Action::Approve(_));
                    let performed = pin!(effects.perform(action));
                    select! {
                        biased;
                        () = &mut cancelled => {
                            if is_question {
                                output::end_question();
                            }
                            // After this, nothing but evidence is wanted.
                            self.cancel()?;
                            continue;
                        }
                        outcome = performed => outcome,
                    }
                }
            };
            self.complete(&outcome)?;
        }
    }

    fn next(&mut self) -> Result<Action, Failure> {
        call!(self.instance, run.plan_run.call_next(self.run))
    }

    fn complete(&mut self, outcome: &Outcome) -> Result<(), Failure> {
        let taken = call!(
            self.instance,
            run.plan_run
                .call_complete(self.run, outcome, clock(&self.zone))
        )?;
        // The run ends with `internal` and its evidence; `next` tells.
        let _ = taken;
        Ok(())
    }

    fn cancel(&mut self) -> Result<(), Failure> {
        call!(
            self.instance,
            run.plan_run.call_cancel(self.run, clock(&self.zone))
        )
    }
}

/// Runs work of this library to its end, on this thread.
///
/// # Errors
///
/// When the system refuses a runtime, or the work fails.
pub fn block_on<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime =
        runtime.map_err(|error| Failure::internal(format_args!("no runtime: {error}")))?;
    let done = runtime.block_on(work);
    // A thread that waits for standard input can't be interrupted.
    runtime.shutdown_background();
    done
}

/// Returns 32 random bytes of the system.
///
/// # Errors
///
/// When the system has none.
pub fn random() -> Result<Vec<u8>, Failure> {
    let mut bytes = vec![0; 32];
    getrandom::fill(&mut bytes)
        .map_err(|error| Failure::internal(format_args!("no random bytes: {error}")))?;
    Ok(bytes)
}

/// Returns the name of a new run: the time in milliseconds and random digits, so that names sort by
/// time and no two are equal.
///
/// # Errors
///
/// When the system has no random bytes.
pub fn run_id() -> Result<String, Failure> {
    let digits = random()?[..4]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect::<String>();
    Ok(format!("{:013}-{digits}", clock(&Zone::default()).unix_ms))
}

/// Returns a reading of the clocks.
#[must_use]
pub fn clock(zone: &Zone) -> Clock {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let millis =
        |duration: std::time::Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let now = SystemTime::now();
    let since_epoch = now.duration_since(UNIX_EPOCH);
    Clock {
        unix_ms: millis(since_epoch.unwrap_or_default()),
        monotonic_ms: millis(START.elapsed()),
        utc_offset_minutes: zone.offset_minutes(now),
    }
}
