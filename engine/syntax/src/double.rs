//! Conversion of decimal numbers to doubles.
//!
//! The standard library's conversion is faster, but has tables of 11 kB, which every browser would
//! load. An index contains few numbers that are not small and whole. This conversion uses whole
//! numbers of any size instead.

use super::number::Number;
use std::iter::repeat_n;

/// Maximum number of digits to keep: more than any number halfway between two doubles has (767).
/// Digits after them only decide on which side of the half a number is.
const DIGITS: usize = 800;

/// Returns the double nearest to a number in JSON's notation, and the even one of two equally near
/// ones; infinite from 1.8e308 on.
pub(crate) fn double(number: &str) -> f64 {
    let Number {
        negative,
        whole,
        fraction,
        exponent,
    } = Number::of(number);
    let bytes = || whole.bytes().chain(fraction.bytes());
    let zeros = bytes().take_while(|byte| *byte == b'0').count();
    let len = whole.len() + fraction.len() - zeros;
    // The position of the point, counted from the first digit that is not zero.
    let point = exponent.saturating_add(whole.len() as i64 - zeros as i64);
    let positive = if len == 0 || point < -330 {
        0.0
    } else if point > 310 {
        f64::INFINITY
    } else {
        let mut digits = bytes().skip(zeros);
        let kept: Vec<u8> = digits.by_ref().take(DIGITS).collect();
        let beyond = digits.any(|byte| byte != b'0');
        scaled(&kept, point - kept.len() as i64, beyond)
    };
    if negative { -positive } else { positive }
}

/// Returns the double nearest to `digits` × 10^`exponent`. `beyond` means that digits other than
/// zero follow.
fn scaled(digits: &[u8], exponent: i64, mut beyond: bool) -> f64 {
    let mut natural = Natural(Vec::new());
    for digit in digits {
        natural.multiply_add(10, u32::from(digit - b'0'));
    }
    for _ in 0..exponent {
        natural.multiply_add(10, 0);
    }
    let divisions = exponent.min(0).unsigned_abs() as usize;
    // One limb for each nine divisions, and two more, keep all bits that the result needs.
    let limbs = if divisions == 0 { 0 } else { divisions / 9 + 3 };
    natural.0.splice(0..0, repeat_n(0, limbs));
    for _ in 0..divisions {
        beyond |= natural.divide(10) != 0;
    }
    let (top, place, below) = natural.top();
    rounded(top, place - 32 * limbs as i64, beyond | below)
}

/// Returns the double nearest to `top` × 2^`place`. `beyond` means that the exact value is a little
/// larger. The highest bit of `top` must be set.
fn rounded(top: u64, place: i64, beyond: bool) -> f64 {
    // Doubles have 53 bits; near zero, their lowest bit is 2^-1074.
    let dropped = (-1074 - place).clamp(11, 65) as u32;
    let top = u128::from(top);
    let (mut kept, rest, half) = (
        top >> dropped,
        top & ((1 << dropped) - 1),
        1_u128 << (dropped - 1),
    );
    if rest > half || rest == half && (beyond || kept % 2 == 1) {
        kept += 1;
    }
    // The lowest of the kept bits is 2^(place + dropped). A carry increments the exponent, as the
    // layout of doubles requires.
    let steps = (place + i64::from(dropped) + 1074).max(0) as u64;
    let bits = (steps << 52) + kept as u64;
    f64::from_bits(bits.min(f64::INFINITY.to_bits()))
}

/// A natural number of 32-bit limbs, lowest first.
struct Natural(Vec<u32>);

impl Natural {
    fn multiply_add(&mut self, factor: u32, addend: u32) {
        let mut carry = u64::from(addend);
        for limb in &mut self.0 {
            carry += u64::from(*limb) * u64::from(factor);
            *limb = carry as u32;
            carry >>= 32;
        }
        if carry > 0 {
            self.0.push(carry as u32);
        }
    }

    /// Divides the number and returns the remainder.
    fn divide(&mut self, divisor: u32) -> u32 {
        let mut rest = 0;
        for limb in self.0.iter_mut().rev() {
            let part = rest << 32 | u64::from(*limb);
            *limb = (part / u64::from(divisor)) as u32;
            rest = part % u64::from(divisor);
        }
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
        rest as u32
    }

    /// Returns its 64 highest bits, the power of two of the lowest of them, and whether any lower bit
    /// is set.
    fn top(&self) -> (u64, i64, bool) {
        let mut top = 0;
        for limb in self.0.iter().rev().take(3) {
            top = top << 32 | u128::from(*limb);
        }
        let lower = self.0.len().saturating_sub(3);
        let place = 32 * lower as i64 + 64 - i64::from(top.leading_zeros());
        let shifted = top << top.leading_zeros();
        let below = shifted as u64 != 0 || self.0[..lower].iter().any(|limb| *limb != 0);
        ((shifted >> 64) as u64, place, below)
    }
}

#[cfg(test)]
mod tests {
    use super::double;

    fn agrees(text: &str) {
        let expected: f64 = text.parse().expect("a number");
        assert_eq!(double(text).to_bits(), expected.to_bits(), "{text}");
    }

    #[test]
    fn edges() {
        for text in [
            "0",
            "-0",
            "-0.0e-7",
            "1",
            "-1",
            "10",
            "0.1",
            "0.3",
            "123.456",
            "1e0",
            "1E+2",
            "5e-324",
            "2.4703282292062327e-324",
            "2.4703282292062328e-324",
            "2.2250738585072011e-308",
            "2.2250738585072014e-308",
            "2.225073858507201e-308",
            "4.9e-325",
            "1e-400",
            "0e999999999999999999999",
            "1.7976931348623157e308",
            "1.7976931348623158e308",
            "1.7976931348623159e308",
            "1.8e308",
            "1e309",
            "-1e400",
            "1e99999999999999999999999",
            "1e-99999999999999999999999",
            "9007199254740993",
            "9007199254740992.9999999999999999999",
            "9007199254740995",
            "9007199254740993.00000000000000000000000000000000001",
            "333333333.33333329",
            "6.929001713869936e+236",
            "1.448997445238699",
            "18446744073709551615",
            "0.000000000000000000001e21",
            "340282366920938463463374607431768211456",
            "18446744073709551616",
            "4294967296",
        ] {
            agrees(text);
        }
        agrees(&format!("0.{}1e400", "0".repeat(400)));
        agrees(&format!("1{}e-500", "0".repeat(500)));
        agrees(&format!("9007199254740993{}", "0".repeat(290)));
        // The deciding digit comes after all kept digits.
        agrees(&format!("9007199254740993.{}", "0".repeat(900)));
        agrees(&format!("9007199254740993.{}1", "0".repeat(900)));
        agrees(&format!("{}.5", "9".repeat(308)));
        // The longest halves, between the smallest doubles.
        let half = format!("{:.1100}", f64::from_bits(1));
        agrees(&half);
    }

    /// Compares numbers halfway between neighbours and slightly beside: the digits of both, added
    /// and halved.
    #[test]
    fn halves() {
        for bits in [
            1,
            2,
            3,
            0xf_ffff_ffff_ffff,
            0x10_0000_0000_0000,
            0x3ff0_0000_0000_0001,
            0x4340_0000_0000_0001,
        ] {
            let [low, high] = [bits, bits + 1].map(|it| format!("{:.1074}", f64::from_bits(it)));
            let mut carry = 0;
            let mut sum: Vec<u8> = low
                .bytes()
                .rev()
                .zip(high.bytes().rev())
                .map(|(a, b)| {
                    if a == b'.' {
                        return b'.';
                    }
                    let digit = a - b'0' + (b - b'0') + carry;
                    carry = digit / 10;
                    b'0' + digit % 10
                })
                .collect();
            sum.push(b'0' + carry);
            sum.reverse();
            let mut rest = 0;
            for digit in sum.iter_mut().filter(|digit| **digit != b'.') {
                let part = rest * 10 + *digit - b'0';
                *digit = b'0' + part / 2;
                rest = part % 2;
            }
            let half = String::from_utf8(sum).expect("digits") + if rest == 1 { "5" } else { "0" };
            let half = half.trim_start_matches('0');
            let half = if half.starts_with('.') {
                format!("0{half}")
            } else {
                half.to_owned()
            };
            agrees(&half);
            agrees(&format!("{half}0000000001"));
            let below = half.trim_end_matches('0');
            agrees(&format!("{}49999", &below[..below.len() - 1]));
        }
    }

    #[test]
    fn doubles_of_all_sizes_in_each_notation() {
        let mut random = 0x9e37_79b9_7f4a_7c15_u64;
        for _ in 0..20_000 {
            // xorshift64
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let value = f64::from_bits(random);
            if value.is_finite() {
                agrees(&format!("{value:e}"));
                agrees(&format!("{value:.17e}"));
                agrees(&format!("{value:.30}"));
                agrees(&format!("{random}.{random}e-{}", random % 400));
            }
        }
    }
}
