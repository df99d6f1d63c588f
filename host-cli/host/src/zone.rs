//! The time zone in which policies see the time.

use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};
use std::time::SystemTime;

/// A time zone.
#[derive(Clone, Debug)]
pub struct Zone(TimeZone);

impl Default for Zone {
    /// UTC.
    fn default() -> Self {
        Self(TimeZone::UTC)
    }
}

impl Zone {
    /// Reads `UTC`, an offset such as `+02:00`, or a name of the system's time zones.
    ///
    /// # Errors
    ///
    /// A sentence about a text that is none of these.
    pub fn parse(text: &str) -> Result<Self, String> {
        if matches!(text, "UTC" | "Z") {
            return Ok(Self::default());
        }
        if let Some(minutes) = offset_minutes(text) {
            let offset = Offset::from_seconds(minutes * 60).map_err(|error| error.to_string())?;
            return Ok(Self(TimeZone::fixed(offset)));
        }
        TimeZone::get(text).map(Self).map_err(|_| {
            format!("`{text}` is neither `UTC`, nor an offset such as `+02:00`, nor a time zone of this system")
        })
    }

    /// Returns the minutes that the local time is ahead of UTC at a time.
    pub(super) fn offset_minutes(&self, at: SystemTime) -> i16 {
        let seconds = Timestamp::try_from(at).map_or(0, |at| self.0.to_offset(at).seconds());
        i16::try_from(seconds / 60).unwrap_or_default()
    }
}

/// Reads `+HH:MM` or `-HH:MM`.
fn offset_minutes(text: &str) -> Option<i32> {
    let (sign, rest) = match text.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let (hours, minutes) = rest.split_once(':')?;
    let number = |text: &str, most: i32| {
        let is_pair = text.len() == 2 && text.bytes().all(|b| b.is_ascii_digit());
        let number = text.parse::<i32>().ok();
        number.filter(|it| is_pair && *it <= most)
    };
    Some(sign * (number(hours, 23)? * 60 + number(minutes, 59)?))
}

#[cfg(test)]
mod tests {
    use super::Zone;
    use std::time::{Duration, SystemTime};

    #[test]
    fn zones_are_names_or_offsets() {
        let at = |text: &str, seconds| {
            let zone = Zone::parse(text)?;
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            Ok::<_, String>(zone.offset_minutes(time))
        };
        assert_eq!(at("UTC", 0), Ok(0));
        assert_eq!(at("+05:30", 0), Ok(330));
        assert_eq!(at("-21:00", 0), Ok(-1_260));
        for wrong in ["", "+5:30", "+05:60", "05:30", "+24:00x", "Mars/Olympus"] {
            assert!(at(wrong, 0).unwrap_err().contains(wrong), "{wrong}");
        }
    }
}
