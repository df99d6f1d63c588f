//! Ids of requests.

use crate::json::Json;
use agent_syntax::json::Kind;
use agent_syntax::json_string;

/// Maximum number of bytes of an id of a peer. It is sent back, once for each request.
const ID_BYTES: usize = 256;

/// The id of a request: a string or an integer. Two ids are equal if they have one type and one
/// value: `1`, `"1"` and `1.0` are three things.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Id {
    /// An integer, in its only notation: no fraction, exponent or leading zero.
    Integer(String),
    /// A string.
    String(String),
}

impl Id {
    /// Reads an id.
    ///
    /// # Errors
    ///
    /// When the value is not an id.
    pub fn read(json: &Json) -> Result<Self, &'static str> {
        let text = json.as_str();
        let id = match json.kind() {
            Some(Kind::Number) if text.contains(['.', 'e', 'E']) || text == "-0" => {
                return Err("the id is a number in another notation than that of integers");
            }
            Some(Kind::Number) => Self::Integer(text.to_owned()),
            Some(Kind::String) => Self::String(json.string().unwrap_or_default()),
            _ => return Err("the id is neither a string nor an integer"),
        };
        let (Self::Integer(text) | Self::String(text)) = &id;
        if text.len() > ID_BYTES {
            return Err("the id is longer than 256 bytes");
        }
        Ok(id)
    }

    /// Returns the value of an integer that is not negative and has at most 64 bits.
    #[must_use]
    pub fn number(&self) -> Option<u64> {
        match self {
            Self::Integer(digits) => digits.parse().ok(),
            Self::String(_) => None,
        }
    }

    /// Returns the id in JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        match self {
            Self::Integer(text) => text.clone(),
            Self::String(text) => json_string(text),
        }
    }
}

impl From<u64> for Id {
    fn from(number: u64) -> Self {
        Self::Integer(number.to_string())
    }
}
