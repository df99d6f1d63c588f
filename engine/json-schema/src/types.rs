//! Sets of the types of JSON Schema.

use super::number::Decimal;
use agent_syntax::Value;

/// A set of types. A set with numbers also contains integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Types(u8);

impl Types {
    /// No value.
    pub const NONE: Self = Self(0);
    /// `null`
    pub const NULL: Self = Self(1);
    /// `true` and `false`
    pub const BOOLEAN: Self = Self(2);
    /// Whole numbers, however they are written: `1.0` is one.
    pub const INTEGER: Self = Self(4);
    /// All numbers.
    pub const NUMBER: Self = Self(4 | 8);
    /// Strings.
    pub const STRING: Self = Self(16);
    /// Arrays.
    pub const ARRAY: Self = Self(32);
    /// Objects.
    pub const OBJECT: Self = Self(64);
    /// Every value.
    pub const ANY: Self = Self(127);

    /// Types by name, numbers before integers.
    const NAMED: [(&'static str, Self); 7] = [
        ("null", Self::NULL),
        ("boolean", Self::BOOLEAN),
        ("number", Self::NUMBER),
        ("integer", Self::INTEGER),
        ("string", Self::STRING),
        ("array", Self::ARRAY),
        ("object", Self::OBJECT),
    ];

    /// Returns the type of a name.
    pub(super) fn named(name: &str) -> Option<Self> {
        let mut types = Self::NAMED.iter();
        types.find(|(known, _)| *known == name).map(|(_, it)| *it)
    }

    /// Returns the narrowest type of a value.
    pub(super) fn of(value: &Value<'_>) -> Self {
        match value {
            Value::Null | Value::Refused => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Number(number) if Decimal::new(number).is_integer() => Self::INTEGER,
            // The numbers that are not integers.
            Value::Number(_) => Self(8),
            Value::String(_) | Value::Plain(_) => Self::STRING,
            Value::Sequence(_) => Self::ARRAY,
            Value::Mapping(_) => Self::OBJECT,
        }
    }

    /// Returns the union.
    pub fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the intersection.
    pub fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns whether the set contains all types of another.
    pub fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns the names of the types in schemas; `integer` only without `number`.
    pub fn names(self) -> Vec<&'static str> {
        let mut rest = self;
        let mut names = Vec::new();
        for (name, types) in Self::NAMED {
            if rest.contains(types) {
                names.push(name);
                rest = Self(rest.0 & !types.0);
            }
        }
        names
    }
}
