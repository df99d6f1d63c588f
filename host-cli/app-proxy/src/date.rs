//! The date of responses, which is the same for a second.

use std::cell::RefCell;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

thread_local! {
    /// The last second with its text.
    static LAST: RefCell<(u64, String)> = const { RefCell::new((0, String::new())) };
}

/// Returns the present date (RFC 9110, 5.6.7).
pub(crate) fn now() -> String {
    let mut out = Vec::new();
    write(&mut out);
    String::from_utf8(out).unwrap_or_default()
}

/// Writes the present date.
pub(crate) fn write(out: &mut Vec<u8>) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let second = now.unwrap_or_default().as_secs();
    LAST.with_borrow_mut(|(last, text)| {
        if *last != second {
            *last = second;
            *text = httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(second));
        }
        out.extend_from_slice(text.as_bytes());
    });
}
