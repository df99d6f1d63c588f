//! Objects of JSON whose members are read one by one.

use serde::de::{DeserializeOwned, Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::fmt;

/// The members of an object, as written. A name that appears twice is an error: others may read the
/// other value.
pub(crate) struct Members(BTreeMap<String, Box<RawValue>>);

impl Members {
    /// Returns a member. A missing one and `null` are `None`.
    pub(crate) fn get<T: DeserializeOwned>(&self, name: &str) -> serde_json::Result<Option<T>> {
        match self.0.get(name) {
            Some(value) => serde_json::from_str(value.get()),
            None => Ok(None),
        }
    }
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
        let mut members = BTreeMap::new();
        while let Some((name, value)) = map.next_entry::<String, Box<RawValue>>()? {
            if members.contains_key(&name) {
                return Err(A::Error::custom(format!(
                    "the member `{name}` appears twice"
                )));
            }
            members.insert(name, value);
        }
        Ok(Members(members))
    }
}
