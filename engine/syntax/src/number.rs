//! The components of a number in JSON's notation.

/// A number as written: its digits before and after the point, and its power of ten.
pub struct Number<'t> {
    /// Whether it begins with a minus sign.
    pub negative: bool,
    /// The digits before the point.
    pub whole: &'t str,
    /// The digits after the point.
    pub fraction: &'t str,
    /// The exponent, limited so that adding to it does not overflow 64 bits.
    pub exponent: i64,
}

impl<'t> Number<'t> {
    /// Splits a number that is valid JSON.
    pub fn of(number: &'t str) -> Self {
        let (negative, number) = match number.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, number),
        };
        let (mantissa, exponent) = match number.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, saturating(exponent)),
            None => (number, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        Self {
            negative,
            whole,
            fraction,
            exponent,
        }
    }
}

fn saturating(exponent: &str) -> i64 {
    const FARTHEST: i64 = i64::MAX / 4;
    let digits = exponent.bytes().filter(u8::is_ascii_digit);
    let size = digits
        .fold(0_i64, |size, digit| {
            size.saturating_mul(10)
                .saturating_add(i64::from(digit - b'0'))
        })
        .min(FARTHEST);
    if exponent.starts_with('-') {
        -size
    } else {
        size
    }
}
