//! The encoding of forms and queries.

/// Encodes the members of a form or of a query.
#[must_use]
pub fn form(members: &[(&str, &str)]) -> String {
    let members = members.iter().map(|(name, value)| {
        let [name, value] = [name, value].map(percent_encoded);
        format!("{name}={value}")
    });
    members.collect::<Vec<_>>().join("&")
}

/// Encodes every byte but the unreserved characters of RFC 3986, 2.3.
#[must_use]
pub fn percent_encoded(text: impl AsRef<[u8]>) -> String {
    let mut out = String::new();
    for &byte in text.as_ref() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}
