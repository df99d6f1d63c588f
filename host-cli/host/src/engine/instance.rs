//! Calls into one instance of the component.

use super::TICK;
use super::limits::{LimitReached, Limits, Usage};
use super::ticker::Ticker;
use crate::bindings::{self, EnginePre};
use crate::contract::catalogue::CodeEntry;
use crate::failure::Failure;
use std::time::Duration;
use wasmtime::{Store, Trap};

/// A running engine. Its resources, such as a parsed index, live as long as it does.
pub struct Instance {
    store: Store<Usage>,
    ticker: Ticker,
    exports: bindings::Engine,
    has_failed: bool,
    /// The catalogue of codes, after its first use.
    catalogue: Option<Vec<CodeEntry>>,
}

impl Instance {
    pub(super) fn new(
        component: &EnginePre<Usage>,
        ticker: Ticker,
        limits: Limits,
    ) -> Result<Self, Failure> {
        let mut store = Store::new(component.engine(), Usage::within(limits));
        store.limiter(|usage| usage);
        // Bounds the bytes that one call copies out of the engine's memory.
        store.set_hostcall_fuel(limits.memory);
        let running = ticker.run();
        begin(&mut store);
        let exports = component.instantiate(&mut store).map_err(|error| {
            limit_reached(&error, limits).unwrap_or_else(|| not_started(&error))
        })?;
        drop(running);
        Ok(Self {
            store,
            ticker,
            exports,
            has_failed: false,
            catalogue: None,
        })
    }

    /// Calls a function of the contract within the limits of one call. [`call!`](crate::call) is shorter.
    ///
    /// The engine's refusals are values of `T`.
    ///
    /// # Errors
    ///
    /// When the call reaches a limit or traps, and on every call after that.
    pub fn call<T>(
        &mut self,
        function: impl FnOnce(&bindings::Engine, &mut Store<Usage>) -> wasmtime::Result<T>,
    ) -> Result<T, Failure> {
        if self.has_failed {
            // A trap leaves the engine's memory in an inconsistent state.
            return Err(Failure::internal(
                "the engine was called again after a failure",
            ));
        }
        let limits = self.store.data().limits;
        let running = self.ticker.run();
        begin(&mut self.store);
        let answer = function(&self.exports, &mut self.store);
        drop(running);
        answer.map_err(|error| {
            self.has_failed = true;
            limit_reached(&error, limits).unwrap_or_else(|| stopped(&error))
        })
    }

    /// Gives the calls from now on another time.
    pub fn limit_time(&mut self, time_per_call: Duration) {
        self.store.data_mut().limits.time_per_call = time_per_call;
    }

    /// Returns the bytes of linear memory, which never shrinks.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.store.data().memory
    }

    /// Returns the catalogue of codes, which is fetched from the component once.
    ///
    /// # Errors
    ///
    /// As [`Instance::call`].
    pub fn catalogue(&mut self) -> Result<&[CodeEntry], Failure> {
        let catalogue = match self.catalogue.take() {
            Some(catalogue) => catalogue,
            None => self.call(|engine, store| engine.agent_engine_catalogue().call_codes(store))?,
        };
        Ok(self.catalogue.insert(catalogue))
    }
}

/// Calls a function of the contract: `call!(instance, interface.resource.function(arguments))`.
///
/// The names are those of [`contract`](crate::contract) and of the methods in it; a function of the
/// interface itself has no resource. The result is that of [`Instance::call`](crate::Instance::call).
#[macro_export]
#[rustfmt::skip]
macro_rules! call {
    (@audit $engine:ident) => { $engine.agent_engine_audit() };
    (@capability $engine:ident) => { $engine.agent_engine_capability() };
    (@bundles $engine:ident) => { $engine.agent_engine_bundles() };
    (@catalogue $engine:ident) => { $engine.agent_engine_catalogue() };
    (@clients $engine:ident) => { $engine.agent_engine_clients() };
    (@daemon $engine:ident) => { $engine.agent_engine_daemon() };
    (@decision_point $engine:ident) => { $engine.agent_engine_decision_point() };
    (@diagnostic $engine:ident) => { $engine.agent_engine_diagnostic() };
    (@evidence $engine:ident) => { $engine.agent_engine_evidence() };
    (@expansion $engine:ident) => { $engine.agent_engine_expansion() };
    (@explanation $engine:ident) => { $engine.agent_engine_explanation() };
    (@first_manifest $engine:ident) => { $engine.agent_engine_first_manifest() };
    (@fixes $engine:ident) => { $engine.agent_engine_fixes() };
    (@grounding $engine:ident) => { $engine.agent_engine_grounding() };
    (@importer $engine:ident) => { $engine.agent_engine_importer() };
    (@inputs $engine:ident) => { $engine.agent_engine_inputs() };
    (@lockfile $engine:ident) => { $engine.agent_engine_lockfile() };
    (@network $engine:ident) => { $engine.agent_engine_network() };
    (@plan $engine:ident) => { $engine.agent_engine_plan() };
    (@policy $engine:ident) => { $engine.agent_engine_policy() };
    (@resolver $engine:ident) => { $engine.agent_engine_resolver() };
    (@run $engine:ident) => { $engine.agent_engine_run() };
    (@schemas $engine:ident) => { $engine.agent_engine_schemas() };
    (@session $engine:ident) => { $engine.agent_engine_session() };
    (@view $engine:ident) => { $engine.agent_engine_view() };
    ($instance:expr, $interface:ident.$function:ident($($argument:expr),* $(,)?)) => {
        $crate::paste! {
            $instance.call(|engine, store| {
                $crate::call!(@$interface engine).[<call_ $function>](store $(, $argument)*)
            })
        }
    };
    ($instance:expr, $interface:ident.$resource:ident.$function:ident($($argument:expr),* $(,)?)) => {
        $crate::paste! {
            $instance.call(|engine, store| {
                $crate::call!(@$interface engine).$resource().[<call_ $function>](store $(, $argument)*)
            })
        }
    };
}

/// Gives a call its whole time.
fn begin(store: &mut Store<Usage>) {
    let time = store.data().limits.time_per_call;
    // The current tick may end at any moment.
    let ticks = time.as_millis().div_ceil(TICK.as_millis()) + 1;
    store.set_epoch_deadline(u64::try_from(ticks).unwrap_or(u64::MAX));
}

fn limit_reached(error: &wasmtime::Error, limits: Limits) -> Option<Failure> {
    let limit = match error.downcast_ref::<Trap>() {
        Some(Trap::Interrupt) => LimitReached::Time(limits.time_per_call),
        _ => *error.downcast_ref::<LimitReached>()?,
    };
    Some(Failure::new(limit).help("use smaller inputs"))
}

/// Creates the failure of a trap, which no input may cause.
fn stopped(error: &wasmtime::Error) -> Failure {
    Failure::internal(format_args!("the engine stopped: {error:#}"))
}

fn not_started(error: &wasmtime::Error) -> Failure {
    Failure::new(format_args!("the engine can't be started: {error:#}")).help(format_args!(
        "raise limits on address space such as `ulimit -v`: the engine reserves {} GiB of addresses, \
         which is not memory in use",
        agent_aot::MEMORY_RESERVATION >> 30
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trap_is_a_defect_to_be_reported() {
        let Failure { message, help } = stopped(&Trap::UnreachableCodeReached.into());
        assert!(
            message.starts_with("internal error: the engine stopped: wasm trap"),
            "{message}"
        );
        assert!(help.is_some_and(|help| help.contains("please report it")));
    }
}
