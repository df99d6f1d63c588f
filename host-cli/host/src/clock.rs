//! The clocks of this machine.

use super::contract::run::Clock;
use super::zone::Zone;
use std::sync::LazyLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Returns a reading of the clocks, for policies that see the time of a zone.
#[must_use]
pub fn clock(zone: &Zone) -> Clock {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let now = SystemTime::now();
    Clock {
        unix_ms: millis(now.duration_since(UNIX_EPOCH).unwrap_or_default()),
        monotonic_ms: millis(START.elapsed()),
        utc_offset_minutes: zone.offset_minutes(now),
    }
}

/// Returns the time since 1970; zero before.
#[must_use]
pub fn unix_time() -> Duration {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH);
    since_epoch.unwrap_or_default()
}

/// Returns the milliseconds since 1970; 0 before.
#[must_use]
pub fn unix_ms() -> u64 {
    millis(unix_time())
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
