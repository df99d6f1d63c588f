//! How much work an evaluation may be: counted, never measured, so that a verdict is the same on
//! every machine.
//!
//! Two counts make the budget. Steps are what the evaluator does: it asks a clock after each, and
//! the clock that it is given here counts how often it was asked. Units are what a step can cost
//! beyond itself, which is what `guard` makes a policy say: the nodes of the values that it
//! builds, compares and passes to built-ins, and the bytes of their strings.
//!
//! The evaluator knows one clock for all threads, so the counts are kept by thread. An evaluation
//! runs on one thread from its start to its end, starts from zero, and leaves nothing behind.

use core::time::Duration;
use regex::Regex;
use regorus::Value;
use regorus::utils::limits::{ExecutionTimerConfig, TimeSource, set_time_source};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::sync::Once;

/// How many steps an evaluation may take, and one more for each [`BYTES_PER_STEP`] of its input.
pub const STEP_LIMIT: u64 = 8_000_000;

/// How many units of values an evaluation may build, compare and pass to built-ins: one for each
/// value in a value, one for each 8 bytes of a string. One more for each [`BYTES_PER_STEP`] of its
/// input as well.
pub const UNIT_LIMIT: u64 = 8_000_000;

/// For how many bytes of its input an evaluation may take one more step: a policy that looks at
/// each candidate once can do so however many there are.
pub const BYTES_PER_STEP: u64 = 4;

/// How deep arrays, sets and objects may stand in one another.
pub const VALUE_DEPTH_LIMIT: u32 = 64;

/// How many units a member of a set or a key of an object may have. Those are compared again and
/// again.
pub const KEY_LIMIT: u64 = 4_096;

/// How large a number may get, either way. Numbers are exact, and would grow without bound.
pub const NUMBER_BITS_LIMIT: u32 = 1_024;

/// What an evaluation used and found so far.
#[derive(Default)]
pub(super) struct Meter {
    steps: u64,
    units: u64,
    /// What the input adds to each limit.
    more: u64,
    /// Why it has to end.
    spent: Option<&'static str>,
    /// The definitions whose bodies held.
    pub(super) held: BTreeSet<u32>,
    /// The patterns that were compiled.
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
            // A budget that is spent stays spent, whatever the evaluator swallows.
            if meter.spent.is_some() {
                Duration::MAX
            } else {
                Duration::ZERO
            }
        }))
    }
}

/// Look at the meter of this thread.
pub(super) fn with<T>(look: impl FnOnce(&mut Meter) -> T) -> T {
    METER.with(|meter| look(&mut meter.borrow_mut()))
}

/// The clock of the evaluator, which every evaluation has to have.
pub(super) fn timer() -> ExecutionTimerConfig {
    static SET: Once = Once::new();
    SET.call_once(|| {
        // Fails if there is one already, which `finish` finds out: then nothing counts.
        let _ = set_time_source(&Counter);
    });
    ExecutionTimerConfig {
        limit: Duration::from_secs(1),
        check_interval: NonZeroU32::MIN,
    }
}

/// Begin to count, for an input of so many bytes.
pub(super) fn start(input: usize) {
    with(|meter| {
        *meter = Meter {
            more: input as u64 / BYTES_PER_STEP,
            ..Meter::default()
        };
    });
}

/// What was counted since the start. Nothing of it stays.
pub(super) fn finish() -> Meter {
    with(std::mem::take)
}

impl Meter {
    /// Why the evaluation had to end, if it had to.
    pub(super) fn spent(&self) -> Option<&'static str> {
        match self.spent {
            None if self.steps == 0 => Some("nothing counts its steps"),
            spent => spent,
        }
    }

    /// Pay for work. The error is why there is nothing left.
    pub(super) fn pay(&mut self, units: u64) -> Result<(), &'static str> {
        self.units = self.units.saturating_add(units);
        if self.units > UNIT_LIMIT + self.more {
            return Err(self.end("its values are too much work"));
        }
        self.spent.map_or(Ok(()), Err)
    }

    /// End the evaluation.
    pub(super) fn end(&mut self, why: &'static str) -> &'static str {
        self.spent.get_or_insert(why)
    }

    /// Pay for all of a value, which may have at most some units.
    pub(super) fn pay_value(&mut self, value: &Value, limit: u64) -> Result<(), &'static str> {
        let before = self.units;
        self.walk(value, VALUE_DEPTH_LIMIT)?;
        if self.units - before > limit {
            return Err(self.end("a member of a set or a key of an object is too large"));
        }
        Ok(())
    }

    /// Pay for a value whose members may stand `depth` deep. Ends with the budget, so that it
    /// takes no longer than what is left.
    fn walk(&mut self, value: &Value, depth: u32) -> Result<(), &'static str> {
        self.pay(1)?;
        let Some(deeper) = depth.checked_sub(1) else {
            return Err(self.end("its values are nested too deeply"));
        };
        match value {
            Value::String(text) => self.pay(text.len() as u64 / 8),
            Value::Number(number) => {
                let large = number.as_u64().is_none()
                    && number.as_i64().is_none()
                    && number
                        .as_big()
                        .is_some_and(|big| big.bits() > u64::from(NUMBER_BITS_LIMIT));
                if large {
                    return Err(self.end("its numbers get too large"));
                }
                Ok(())
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

    fn walk_key(&mut self, key: &Value, depth: u32) -> Result<(), &'static str> {
        let before = self.units;
        self.walk(key, depth)?;
        if self.units - before > KEY_LIMIT {
            return Err(self.end("a member of a set or a key of an object is too large"));
        }
        Ok(())
    }
}
