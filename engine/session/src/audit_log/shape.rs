//! The shapes of values in records.

use agent_record::{Clock, is_presence};
use agent_syntax::{Node, Value};

/// The shape of a value in a record.
#[derive(Debug, Clone, Copy)]
pub enum Shape {
    /// `true` or `false`.
    Boolean,
    /// A whole number without a sign.
    Count,
    /// A number.
    Number,
    /// A string, or `{len, present}` in place of one that is secret as a whole.
    Text,
    /// `sha256-` and the base64 of 32 bytes.
    Digest,
    /// A time as RFC 3339 with milliseconds.
    Time,
    /// One of these strings.
    OneOf(&'static [&'static str]),
    /// This shape or null.
    OrNull(&'static Shape),
    /// A list of values of one shape.
    List(&'static Shape),
    /// An object of any members, each with a value of one shape.
    Entries(&'static Shape),
    /// An object with these members, ordered by name.
    Object(&'static [Member]),
    /// Any JSON.
    Any,
}

/// A member of an object in a record.
#[derive(Debug, Clone, Copy)]
pub struct Member {
    /// Its name.
    pub name: &'static str,
    /// The shape of its value.
    pub shape: Shape,
    /// Whether each object has it.
    pub is_required: bool,
}

/// Returns a member that each object has.
pub(crate) const fn required(name: &'static str, shape: Shape) -> Member {
    Member {
        name,
        shape,
        is_required: true,
    }
}

/// Returns a member that some objects lack.
pub(crate) const fn optional(name: &'static str, shape: Shape) -> Member {
    Member {
        name,
        shape,
        is_required: false,
    }
}

impl Shape {
    /// Checks a value.
    ///
    /// # Errors
    /// The path of the first value of another shape, such as `content.client.id`, and what is wrong.
    pub(crate) fn check(&self, node: &Node<'_>, path: &str) -> Result<(), String> {
        let is_it = match (self, &node.value) {
            (Self::Any, _)
            | (Self::Boolean, Value::Bool(_))
            | (Self::Text, Value::String(_))
            | (Self::OrNull(_), Value::Null) => true,
            (Self::Text, Value::Mapping(_)) => is_presence(node),
            (Self::Number, Value::Number(_)) => true,
            (Self::Count, Value::Number(digits)) => digits.parse::<u64>().is_ok(),
            (Self::Digest, Value::String(text)) => is_digest(text),
            (Self::Time, Value::String(text)) => Clock::read(text).is_some(),
            (Self::OneOf(known), Value::String(text)) => known.contains(&&**text),
            (Self::OrNull(shape), _) => return shape.check(node, path),
            (Self::List(shape), Value::Sequence(items)) => {
                let mut items = items.iter().zip(0_usize..);
                return items.try_for_each(|(it, at)| shape.check(it, &format!("{path}[{at}]")));
            }
            (Self::Entries(shape), Value::Mapping(entries)) => {
                let mut entries = entries.iter();
                return entries
                    .try_for_each(|it| shape.check(&it.value, &format!("{path}.{}", it.key)));
            }
            (Self::Object(members), Value::Mapping(_)) => return check(members, node, path),
            _ => false,
        };
        match is_it {
            true => Ok(()),
            false => Err(format!("`{path}` is not {}", self.in_words())),
        }
    }

    /// Returns the shape as the reference of the log writes it.
    pub fn in_words(&self) -> String {
        match self {
            Self::Boolean => "a boolean".to_owned(),
            Self::Count => "a whole number".to_owned(),
            Self::Number => "a number".to_owned(),
            Self::Text => "a string".to_owned(),
            Self::Digest => "a digest".to_owned(),
            Self::Time => "a time".to_owned(),
            Self::OneOf(known) => {
                let known: Vec<_> = known.iter().map(|it| format!("`{it}`")).collect();
                format!("one of {}", known.join(", "))
            }
            Self::OrNull(shape) => format!("{} or null", shape.in_words()),
            Self::List(shape) => format!("a list, each {}", shape.in_words()),
            Self::Object(members) => {
                let names = members.iter().map(|it| match it.is_required {
                    true => it.name.to_owned(),
                    false => format!("{}?", it.name),
                });
                let names: Vec<_> = names.collect();
                format!("an object `{{{}}}`", names.join(", "))
            }
            Self::Entries(shape) => format!("an object, each value {}", shape.in_words()),
            Self::Any => "any value".to_owned(),
        }
    }
}

/// The path of a whole record.
pub(crate) const RECORD_PATH: &str = "the record";

/// Checks the members of an object, which stand in the order of their names.
pub(crate) fn check(members: &[Member], node: &Node<'_>, path: &str) -> Result<(), String> {
    let Value::Mapping(entries) = &node.value else {
        return Err(format!("{} is not an object", quoted(path)));
    };
    let inner = |name: &str| match path {
        RECORD_PATH => name.to_owned(),
        _ => format!("{path}.{name}"),
    };
    let mut known = members.iter();
    for entry in entries {
        let name = &*entry.key;
        let member = loop {
            match known.next() {
                Some(member) if member.name == name => break member,
                Some(member) if !member.is_required => {}
                Some(member) => {
                    return Err(format!("`{}` is not where it belongs", inner(member.name)));
                }
                None => {
                    return Err(format!(
                        "{} has a member that no session writes",
                        quoted(path)
                    ));
                }
            }
        };
        member.shape.check(&entry.value, &inner(name))?;
    }
    match known.find(|it| it.is_required) {
        Some(missing) => Err(format!("`{}` is missing", inner(missing.name))),
        None => Ok(()),
    }
}

fn quoted(path: &str) -> String {
    match path {
        RECORD_PATH => path.to_owned(),
        _ => format!("`{path}`"),
    }
}

/// Returns whether a text is `sha256-` and the base64 of 32 bytes.
pub(crate) fn is_digest(text: &str) -> bool {
    let Some(digits) = text.strip_prefix("sha256-") else {
        return false;
    };
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    // The last digit has four bits, so its other two are 0.
    let ends = |byte: u8| b"AEIMQUYcgkosw048".contains(&byte);
    match digits.as_bytes() {
        [digits @ .., last, b'='] => {
            digits.len() == 42 && digits.iter().all(|byte| is_digit(*byte)) && ends(*last)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{Shape, is_digest, optional, required};
    use agent_api::lower::bytes_digest;
    use agent_syntax::json::parse_strict;

    #[test]
    fn digests_have_one_form() {
        for text in ["", "a", "ab", "other"] {
            assert!(is_digest(&bytes_digest(text.as_bytes())), "{text}");
        }
        let digest = bytes_digest(b"a");
        for wrong in [
            digest.replace("sha256-", "sha256:"),
            digest.replace('=', ""),
            format!("{digest}="),
            digest.replace(&digest[7..8], "-"),
            format!("{}B=", &digest[..digest.len() - 2]),
        ] {
            assert!(!is_digest(&wrong), "{wrong}");
        }
    }

    #[test]
    fn members_are_known_and_ordered() {
        const SHAPE: Shape = Shape::Object(&[
            required("a", Shape::Count),
            optional("b", Shape::OrNull(&Shape::Text)),
            required("c", Shape::List(&Shape::OneOf(&["x", "y"]))),
        ]);
        let check = |text: &str| SHAPE.check(&parse_strict(text).expect("JSON"), "it");
        for right in [
            r#"{"a":1,"c":[]}"#,
            r#"{"a":1,"b":null,"c":["x","y"]}"#,
            r#"{"a":1,"b":{"len":8,"present":true},"c":["x"]}"#,
        ] {
            assert_eq!(check(right), Ok(()), "{right}");
        }
        for (wrong, why) in [
            (r#"{"a":-1,"c":[]}"#, "`it.a` is not a whole number"),
            (r#"{"a":1.0,"c":[]}"#, "`it.a` is not a whole number"),
            (r#"{"a":1,"b":{},"c":[]}"#, "`it.b` is not a string"),
            (r#"{"a":1,"c":["z"]}"#, "`it.c[0]` is not one of `x`, `y`"),
            (r#"{"c":[],"a":1}"#, "`it.a` is not where it belongs"),
            (r#"{"a":1}"#, "`it.c` is missing"),
            (
                r#"{"a":1,"c":[],"d":1}"#,
                "`it` has a member that no session writes",
            ),
            ("[]", "`it` is not an object `{a, b?, c}`"),
        ] {
            assert_eq!(check(wrong), Err(why.to_owned()), "{wrong}");
        }
    }
}
