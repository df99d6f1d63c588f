//! Exact decimal numbers, in time proportional to their digits.

use super::budget::{Budget, OverBudget};
use agent_syntax::Number;
use std::cmp::Ordering;

/// Maximum digits of a `multipleOf`, without leading and trailing zeros. Ten times the remainder
/// of a division by it must fit in 128 bits.
pub(super) const DIVISOR_DIGITS: usize = 37;

/// Returns whether two numbers of valid JSON have the same decimal value.
pub fn same_number(a: &str, b: &str) -> bool {
    Decimal::new(a).compare(&Decimal::new(b)).is_eq()
}

/// A decimal number: the digits of a text, and the position of its point.
#[derive(Debug, Clone, Copy)]
pub(super) struct Decimal<'a> {
    negative: bool,
    /// The digits before and after the point, without zeros at either end of the two together.
    whole: &'a str,
    fraction: &'a str,
    /// The power of ten of the last digit.
    exponent: i64,
}

impl<'a> Decimal<'a> {
    /// Parses a number that is valid JSON.
    pub(super) fn new(number: &'a str) -> Self {
        let Number {
            negative,
            whole,
            fraction,
            exponent,
        } = Number::of(number);
        let mut fraction = fraction.trim_end_matches('0');
        let mut exponent = exponent.saturating_sub(fraction.len() as i64);
        let mut whole = whole.trim_start_matches('0');
        if fraction.is_empty() {
            let trimmed = whole.trim_end_matches('0');
            exponent = exponent.saturating_add((whole.len() - trimmed.len()) as i64);
            whole = trimmed;
        }
        if whole.is_empty() {
            fraction = fraction.trim_start_matches('0');
        }
        let zero = whole.is_empty() && fraction.is_empty();
        Self {
            negative: negative && !zero,
            whole,
            fraction,
            exponent: if zero { 0 } else { exponent },
        }
    }

    fn digits(&self) -> impl Iterator<Item = u8> + use<'a> {
        self.whole.bytes().chain(self.fraction.bytes())
    }

    fn len(&self) -> usize {
        self.whole.len() + self.fraction.len()
    }

    fn is_zero(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether it has no fraction.
    pub(super) fn is_integer(&self) -> bool {
        self.exponent >= 0
    }

    /// Returns whether it is above zero.
    pub(super) fn is_positive(&self) -> bool {
        !self.negative && !self.is_zero()
    }

    /// Returns a whole number that is not negative; the largest of 64 bits for larger ones.
    pub(super) fn natural(&self) -> Option<u64> {
        if self.negative || !self.is_integer() {
            return None;
        }
        let mut natural = self.digits().fold(0_u64, |natural, digit| {
            natural
                .saturating_mul(10)
                .saturating_add(u64::from(digit - b'0'))
        });
        // Twenty zeros exceed 64 bits, unless the number is zero.
        for _ in 0..self.exponent.min(20) {
            natural = natural.saturating_mul(10);
        }
        Some(natural)
    }

    /// Compares two numbers.
    pub(super) fn compare(&self, other: &Self) -> Ordering {
        let sign = |it: &Self| i8::from(it.is_positive()) - i8::from(it.negative);
        let size = |it: &Self| it.exponent.saturating_add(it.len() as i64);
        sign(self).cmp(&sign(other)).then_with(|| {
            let sizes = size(self).cmp(&size(other));
            let sizes = sizes.then_with(|| self.digits().cmp(other.digits()));
            if self.negative {
                sizes.reverse()
            } else {
                sizes
            }
        })
    }

    /// Writes the normal form, which all notations of a number share.
    pub(super) fn write(&self, out: &mut String) {
        if self.negative {
            out.push('-');
        }
        if self.is_zero() {
            out.push('0');
        }
        out.push_str(self.whole);
        out.push_str(self.fraction);
        if self.exponent != 0 {
            out.push('e');
            out.push_str(&self.exponent.to_string());
        }
    }

    /// Returns whether it is a multiple of the divisor. Charges a step for each two digits, and for
    /// each two powers of ten between the two.
    pub(super) fn is_multiple_of(
        &self,
        divisor: &Divisor,
        budget: &mut Budget,
    ) -> Result<bool, OverBudget> {
        if self.is_zero() {
            return Ok(true);
        }
        // Its last digit is not zero, so it contains no further power of ten.
        let Ok(mut powers) = u64::try_from(self.exponent.saturating_sub(divisor.exponent)) else {
            return Ok(false);
        };
        budget.charge(self.len() as u64 / 2)?;
        let mut rest = self.digits().fold(0_u128, |rest, digit| {
            (rest * 10 + u128::from(digit - b'0')) % divisor.digits
        });
        while powers > 0 && rest > 0 {
            budget.charge(1)?;
            for _ in 0..powers.min(2) {
                rest = rest * 10 % divisor.digits;
            }
            powers = powers.saturating_sub(2);
        }
        Ok(rest == 0)
    }
}

/// The divisor of a `multipleOf`: above zero, with at most [`DIVISOR_DIGITS`] digits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Divisor {
    digits: u128,
    exponent: i64,
}

impl Divisor {
    /// Returns `None` if the number is too long, or not above zero.
    pub(super) fn new(number: &Decimal<'_>) -> Option<Self> {
        (number.is_positive() && number.len() <= DIVISOR_DIGITS).then(|| Self {
            digits: number
                .digits()
                .fold(0, |digits, digit| digits * 10 + u128::from(digit - b'0')),
            exponent: number.exponent,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Decimal, Divisor};
    use crate::Budget;
    use std::cmp::Ordering;

    #[test]
    fn numbers_are_compared_by_value() {
        let ascending = [
            "-1e400",
            "-10",
            "-9.99",
            "-1e-9999999999999999999999",
            "0",
            "1e-9999999999",
            "0.1",
            "0.10000000000000000000000001",
            "1",
            "1.5",
            "2",
            "10",
            "9007199254740992",
            "9007199254740993",
            "1e17",
            "1e99999999999999999999999",
        ];
        for (i, a) in ascending.iter().enumerate() {
            for (j, b) in ascending.iter().enumerate() {
                assert_eq!(
                    Decimal::new(a).compare(&Decimal::new(b)),
                    i.cmp(&j),
                    "{a} {b}"
                );
            }
        }
    }

    #[test]
    fn notations_of_one_number_are_equal() {
        for group in [
            &["0", "-0", "0.00", "0e7", "-0.0e-3"][..],
            &["100", "1e2", "100.0", "1E+2", "0.01e4", "1000e-1"],
            &["-1.5", "-15e-1", "-0.15e1", "-1.50"],
        ] {
            let forms: Vec<_> = group
                .iter()
                .map(|text| {
                    let mut out = String::new();
                    Decimal::new(text).write(&mut out);
                    out
                })
                .collect();
            assert!(forms.iter().all(|form| *form == forms[0]), "{forms:?}");
            for text in group {
                let equal = Decimal::new(text).compare(&Decimal::new(group[0]));
                assert_eq!(equal, Ordering::Equal, "{text}");
            }
        }
    }

    #[test]
    fn integers_and_naturals() {
        for (text, natural, integer) in [
            ("3", Some(3), true),
            ("3.0", Some(3), true),
            ("1e3", Some(1000), true),
            ("-1", None, true),
            ("-0", Some(0), true),
            ("1.5", None, false),
            ("1e-1", None, false),
            ("1e40", Some(u64::MAX), true),
        ] {
            let number = Decimal::new(text);
            assert_eq!(
                (number.natural(), number.is_integer()),
                (natural, integer),
                "{text}"
            );
        }
    }

    #[test]
    fn multiples_are_exact() {
        for (number, divisor, expected) in [
            ("0.0075", "0.0001", true),
            ("0.00751", "0.0001", false),
            ("4.35", "0.01", true),
            ("19.99", "0.01", true),
            ("1e308", "0.123456789", false),
            ("1e308", "0.5", true),
            ("12391239123", "1e-8", true),
            ("-9", "3", true),
            ("10", "3", false),
            ("0", "7.3", true),
            ("30", "20", false),
            ("1e2", "50", true),
            ("9007199254740993", "2", false),
            ("2e37", "9999999999999999999999999999999999999", false),
        ] {
            let divisor = Divisor::new(&Decimal::new(divisor)).expect("a divisor");
            let mut budget = Budget::new();
            let found = Decimal::new(number).is_multiple_of(&divisor, &mut budget);
            assert_eq!(found.ok(), Some(expected), "{number}");
        }
        assert!(Divisor::new(&Decimal::new("0.0")).is_none());
        assert!(Divisor::new(&Decimal::new(&"1".repeat(38))).is_none());
    }
}
