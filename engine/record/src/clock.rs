//! Readings of the host's clock, and how evidence writes them.

use agent_lower::LocalTime;
use core::ops::Range;

/// A reading of the host's clock. The engine has no clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Clock {
    /// Milliseconds since 1970-01-01T00:00:00Z. Readings after the year 9999 count as its end.
    pub unix_ms: u64,
    /// Milliseconds since any fixed moment; it never goes back.
    pub monotonic_ms: u64,
    /// Minutes that the local time of policies is ahead of UTC.
    pub utc_offset_minutes: i16,
}

/// The last millisecond that RFC 3339 can write: 9999-12-31T23:59:59.999Z.
const LAST_MS: u64 = 253_402_300_799_999;

const MS_PER_DAY: u64 = 86_400_000;

/// The days of the week, from that of 1970-01-01.
const WEEKDAYS: [&str; 7] = [
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "monday",
    "tuesday",
    "wednesday",
];

impl Clock {
    /// Returns the reading as RFC 3339 in UTC with milliseconds.
    pub fn rfc3339(self) -> String {
        let ms = self.unix_ms.min(LAST_MS);
        let (year, month, day) = date(ms / MS_PER_DAY);
        let (hours, minutes) = (ms / 3_600_000 % 24, ms / 60_000 % 60);
        let (seconds, ms) = (ms / 1000 % 60, ms % 1000);
        format!("{year:04}-{month:02}-{day:02}T{hours:02}:{minutes:02}:{seconds:02}.{ms:03}Z")
    }

    /// Returns the reading as policies see it: in the host's time zone.
    pub fn local_time(self) -> LocalTime {
        let offset_ms = i64::from(self.utc_offset_minutes) * 60_000;
        let unix_ms = self.unix_ms.min(LAST_MS).saturating_add_signed(offset_ms);
        let local = Self {
            unix_ms: unix_ms.min(LAST_MS),
            ..self
        };
        let sign = if offset_ms < 0 { '-' } else { '+' };
        let minutes = self.utc_offset_minutes.unsigned_abs();
        let (hours, minutes) = (minutes / 60, minutes % 60);
        let mut time = local.rfc3339();
        if self.utc_offset_minutes != 0 {
            time.pop();
            time.push_str(&format!("{sign}{hours:02}:{minutes:02}"));
        }
        let hour = local.unix_ms / 3_600_000 % 24;
        let weekday = local.unix_ms / MS_PER_DAY % 7;
        LocalTime {
            time,
            hour: u8::try_from(hour).unwrap_or_default(),
            weekday: WEEKDAYS[usize::try_from(weekday).unwrap_or_default()],
        }
    }

    /// Returns the reading that policies saw as a [`LocalTime::time`]. Returns `None` for any other text. Its
    /// monotonic time is 0.
    pub fn read(time: &str) -> Option<Self> {
        let number = |at: Range<usize>| {
            let digits = time.get(at)?;
            let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit());
            digits.parse::<u64>().ok().filter(|_| is_plain)
        };
        let day = days(number(0..4)?, number(5..7)?, number(8..10)?)?;
        let (hours, minutes) = (number(11..13)?, number(14..16)?);
        let (seconds, ms) = (number(17..19)?, number(20..23)?);
        let of_day = ((hours * 60 + minutes) * 60 + seconds) * 1000 + ms;
        let local_ms = day * MS_PER_DAY + of_day;
        let ahead = match time.get(23..24)? {
            "Z" => 0,
            sign => {
                let minutes = number(24..26)? * 60 + number(27..29)?;
                let minutes = i16::try_from(minutes).ok()?;
                if sign == "-" { -minutes } else { minutes }
            }
        };
        let clock = Self {
            unix_ms: local_ms.checked_add_signed(-i64::from(ahead) * 60_000)?,
            monotonic_ms: 0,
            utc_offset_minutes: ahead,
        };
        // One reading has one text.
        (clock.local_time().time == time).then_some(clock)
    }

    /// Returns the milliseconds since an earlier reading.
    pub fn since(self, earlier: Self) -> u64 {
        self.monotonic_ms.saturating_sub(earlier.monotonic_ms)
    }
}

/// Returns the Gregorian date of a number of days after 1970-01-01: year, month, day.
fn date(days: u64) -> (u64, u64, u64) {
    // Years begin in March here, so that a leap day is the last day of its year. 719,468 days lie
    // between 0000-03-01 and 1970-01-01; 146,097 days are 400 years.
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 {
        from_march + 3
    } else {
        from_march - 9
    };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    (year, month, day)
}

/// Returns the number of days from 1970-01-01 to a Gregorian date. Returns `None` for an earlier one.
fn days(year: u64, month: u64, day: u64) -> Option<u64> {
    // As `date` counts, whose inverse this is.
    let year = year.checked_sub(u64::from(month <= 2))?;
    let from_march = (month + 9) % 12;
    let day_of_year = (153 * from_march + 2) / 5 + day.checked_sub(1)?;
    let (era, year_of_era) = (year / 400, year % 400);
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    (era * 146_097 + day_of_era).checked_sub(719_468)
}

#[cfg(test)]
mod tests {
    use super::{Clock, LAST_MS, MS_PER_DAY};

    fn written(unix_ms: u64) -> String {
        Clock {
            unix_ms,
            ..Clock::default()
        }
        .rfc3339()
    }

    #[test]
    fn readings_are_written_as_dates() {
        // The expected texts are those of `date -u -d @SECONDS`.
        for (ms, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399_999, "2000-02-28T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (951_868_800_000, "2000-03-01T00:00:00.000Z"),
            (1_795_467_208_042, "2026-11-23T20:53:28.042Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (LAST_MS, "9999-12-31T23:59:59.999Z"),
            (u64::MAX, "9999-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(written(ms), text);
        }
    }

    #[test]
    fn policies_see_the_time_of_the_zone() {
        // As `TZ=... date -d @1795467208` has it.
        for (minutes, time, hour, weekday) in [
            (0, "2026-11-23T20:53:28.042Z", 20, "monday"),
            (330, "2026-11-24T02:23:28.042+05:30", 2, "tuesday"),
            (-1_260, "2026-11-22T23:53:28.042-21:00", 23, "sunday"),
        ] {
            let clock = Clock {
                unix_ms: 1_795_467_208_042,
                monotonic_ms: 0,
                utc_offset_minutes: minutes,
            };
            let now = clock.local_time();
            assert_eq!((&*now.time, now.hour, now.weekday), (time, hour, weekday));
        }
    }

    #[test]
    fn a_time_is_read_as_it_is_written() {
        for day in (0..60_000).step_by(13) {
            for utc_offset_minutes in [0, 330, -1_260, 60] {
                let clock = Clock {
                    unix_ms: 2 * MS_PER_DAY + day * MS_PER_DAY + day * 1_777 % MS_PER_DAY,
                    monotonic_ms: 0,
                    utc_offset_minutes,
                };
                assert_eq!(Clock::read(&clock.local_time().time), Some(clock));
            }
        }
        for wrong in [
            "",
            "2026-11-23",
            "2026-11-23T20:53:28Z",
            "2026-11-23T20:53:28.042",
            "2026-11-23T20:53:28.042+00:00",
            "2026-11-23t20:53:28.042Z",
            "2026-13-23T20:53:28.042Z",
            "2026-02-30T20:53:28.042Z",
            "2026-11-23T24:53:28.042Z",
            "2026-11-23T20:53:28.042Zé",
            "1969-12-31T23:59:59.999Z",
            "0000-00-00T00:00:00.000Z",
        ] {
            assert_eq!(Clock::read(wrong), None, "{wrong}");
        }
    }
}
