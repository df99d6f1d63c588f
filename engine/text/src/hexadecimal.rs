//! Bytes in digits.

/// Returns bytes as hexadecimal digits, in lower case.
pub fn hexadecimal(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|digit| char::from(DIGITS[usize::from(digit)]));
    let mut text = String::with_capacity(2 * bytes.len());
    text.extend(digits);
    text
}

#[cfg(test)]
mod tests {
    use super::hexadecimal;

    #[test]
    fn every_byte_has_two_digits() {
        assert_eq!(hexadecimal(&[0, 9, 10, 0x7f, 0xa0, 0xff]), "00090a7fa0ff");
        assert_eq!(hexadecimal(&[]), "");
    }
}
