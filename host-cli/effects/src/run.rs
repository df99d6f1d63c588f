//! The turns of a run and this host.

use super::effects::Effects;
use super::progress::progress;
use agent_host::contract::run::{Action, Documents, Finished, Options, Outcome};
use agent_host::output::{self, Progress};
use agent_host::{Failure, Instance, ResourceAny, Zone, call, clock, hex, random, unix_ms};
use std::future::Future;
use std::pin::pin;
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
            run.plan_run.start(documents, options, clock(&zone))
        )?;
        Self::started(instance, started, zone)
    }

    /// Does the same with documents of evidence that does not verify, which the new evidence says.
    ///
    /// # Errors
    ///
    /// As [`Run::start`].
    pub fn start_unverified(
        instance: &'i mut Instance,
        documents: &Documents,
        options: &Options,
        zone: Zone,
    ) -> Result<Self, Failure> {
        let started = call!(
            instance,
            run.plan_run
                .start_unverified(documents, options, clock(&zone))
        )?;
        Self::started(instance, started, zone)
    }

    fn started(
        instance: &'i mut Instance,
        started: Result<ResourceAny, String>,
        zone: Zone,
    ) -> Result<Self, Failure> {
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
        call!(self.instance, run.plan_run.next(self.run))
    }

    fn complete(&mut self, outcome: &Outcome) -> Result<(), Failure> {
        let taken = call!(
            self.instance,
            run.plan_run.complete(self.run, outcome, clock(&self.zone))
        )?;
        // The run ends with `internal` and its evidence; `next` tells.
        let _ = taken;
        Ok(())
    }

    fn cancel(&mut self) -> Result<(), Failure> {
        call!(
            self.instance,
            run.plan_run.cancel(self.run, clock(&self.zone))
        )
    }
}

/// Returns the name of a new run: the time in milliseconds and random digits, so that names sort by
/// time and no two are equal.
///
/// # Errors
///
/// When the system has no random bytes.
pub fn run_id() -> Result<String, Failure> {
    Ok(format!("{:013}-{}", unix_ms(), hex(&random::<4>()?)))
}
