//! The budget of an evaluation: counted, never measured, so that a verdict is the same on every
//! machine.
//!
//! Two counts make the budget. Steps are the work of the evaluator: it reads a clock after each,
//! and the clock here counts its readings. Units are the further cost of a step: the nodes of the
//! values that are built, compared and passed to built-ins, and the bytes of their strings.
//! `instrument` makes a policy count those.
//!
//! The evaluator has one clock for all threads, so each thread has its own counts. An evaluation
//! runs on one thread from start to end, starts from zero, and leaves nothing behind.

use anyhow::{Error, Result};
use core::time::Duration;
use regex::Regex;
use regorus::Value;
use regorus::utils::limits::{ExecutionTimerConfig, TimeSource, set_time_source};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::sync::Once;

/// Maximum steps of an evaluation, to which each [`BYTES_PER_STEP`] of its input add one.
pub const STEP_LIMIT: u64 = 8_000_000;

/// Maximum units of an evaluation, to which each [`BYTES_PER_STEP`] of its input add one. A value
/// inside a value is a unit, and so are 8 bytes of a string.
pub const UNIT_LIMIT: u64 = 8_000_000;

/// Bytes of the input for which an evaluation may take one more step: a policy can look at each
/// candidate once, however many there are.
pub const BYTES_PER_STEP: u64 = 4;

/// Maximum nesting of arrays, sets and objects.
pub const VALUE_DEPTH_LIMIT: u32 = 64;

/// Maximum units of a member of a set or a key of an object, which are compared again and again.
pub const KEY_LIMIT: u64 = 4_096;

/// Maximum bits of a number. Numbers are exact, and would grow without bound.
pub const NUMBER_BITS_LIMIT: u32 = 1_024;

/// The counts of an evaluation, and its findings.
#[derive(Default)]
pub(super) struct Meter {
    steps: u64,
    units: u64,
    /// The steps and units that the input adds.
    more: u64,
    /// The reason why the evaluation must end.
    spent: Option<&'static str>,
    /// The bodies that held, by number.
    pub(super) held: BTreeSet<u32>,
    /// The compiled patterns, with their weights.
    pub(super) patterns: BTreeMap<String, (Regex, u64)>,
}

thread_local! {
    static METER: RefCell<Meter> = RefCell::default();
}

struct Counter;

impl TimeSource for Counter {
    fn now(&self) -> Option<Duration> {
        Some(with(|meter| {
            meter.steps += 1;
            if meter.steps > STEP_LIMIT + meter.more {
                meter.spent.get_or_insert("it takes too many steps");
            }
            // A spent budget stays spent, even if the evaluator ignores an error.
            if meter.spent.is_some() {
                Duration::MAX
            } else {
                Duration::ZERO
            }
        }))
    }
}

/// Gives access to the meter of this thread.
pub(super) fn with<T>(access: impl FnOnce(&mut Meter) -> T) -> T {
    METER.with(|meter| access(&mut meter.borrow_mut()))
}

/// Returns the clock that every evaluation must have.
pub(super) fn timer() -> ExecutionTimerConfig {
    static SET: Once = Once::new();
    SET.call_once(|| {
        // Fails if there is a clock already. Then nothing counts, which `Meter::spent` reports.
        let _ = set_time_source(&Counter);
    });
    ExecutionTimerConfig {
        limit: Duration::from_secs(1),
        check_interval: NonZeroU32::MIN,
    }
}

/// Starts the counts for an input of a number of bytes.
pub(super) fn start(input: usize) {
    with(|meter| {
        *meter = Meter {
            more: input as u64 / BYTES_PER_STEP,
            ..Meter::default()
        };
    });
}

/// Returns the counts since the start, and clears them.
pub(super) fn finish() -> Meter {
    with(std::mem::take)
}

impl Meter {
    /// Returns the reason why the evaluation had to end, if it had to.
    pub(super) fn spent(&self) -> Option<&'static str> {
        match self.spent {
            None if self.steps == 0 => Some("nothing counts its steps"),
            spent => spent,
        }
    }

    /// Pays for work. The error is the reason why nothing is left.
    pub(super) fn pay(&mut self, units: u64) -> Result<()> {
        self.units = self.units.saturating_add(units);
        if self.units > UNIT_LIMIT + self.more {
            return Err(self.end("its values take too much work"));
        }
        self.spent.map_or(Ok(()), |why| Err(Error::msg(why)))
    }

    fn end(&mut self, why: &'static str) -> Error {
        Error::msg(*self.spent.get_or_insert(why))
    }

    /// Pays for all of a value.
    pub(super) fn pay_value(&mut self, value: &Value) -> Result<()> {
        self.walk(value, VALUE_DEPTH_LIMIT)
    }

    /// Pays for a member of a set or a key of an object.
    pub(super) fn pay_key(&mut self, key: &Value) -> Result<()> {
        self.walk_key(key, VALUE_DEPTH_LIMIT)
    }

    /// Pays for a value whose members may be `depth` deep. The remaining budget bounds the work.
    fn walk(&mut self, value: &Value, depth: u32) -> Result<()> {
        self.pay(1)?;
        let Some(deeper) = depth.checked_sub(1) else {
            return Err(self.end("its values are nested too deeply"));
        };
        match value {
            Value::String(text) => self.pay(text.len() as u64 / 8),
            Value::Number(number) if number.as_u64().is_none() && number.as_i64().is_none() => {
                match number.as_big() {
                    Some(big) if big.bits() > u64::from(NUMBER_BITS_LIMIT) => {
                        Err(self.end("its numbers get too large"))
                    }
                    _ => Ok(()),
                }
            }
            Value::Array(items) => items.iter().try_for_each(|item| self.walk(item, deeper)),
            Value::Set(items) => items
                .iter()
                .try_for_each(|item| self.walk_key(item, deeper)),
            Value::Object(fields) => fields.iter().try_for_each(|(key, value)| {
                self.walk_key(key, deeper)?;
                self.walk(value, deeper)
            }),
            _ => Ok(()),
        }
    }

    fn walk_key(&mut self, key: &Value, depth: u32) -> Result<()> {
        let before = self.units;
        self.walk(key, depth)?;
        if self.units - before > KEY_LIMIT {
            return Err(self.end("a member of a set or a key of an object is too large"));
        }
        Ok(())
    }
}
