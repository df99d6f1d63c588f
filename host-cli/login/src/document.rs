//! Members of JSON documents and of queries.

use agent_mcp_protocol::Json;

/// A JSON object of an authorization server.
pub(super) struct Document(Json);

impl Document {
    /// Reads an object of strict JSON.
    pub(super) fn new(bytes: &[u8], what: &str) -> Result<Self, String> {
        let json = Json::new(bytes.to_vec()).ok();
        let object = json.filter(|it| it.members([]).is_some());
        object
            .map(Self)
            .ok_or_else(|| format!("{what} is not a JSON object"))
    }

    /// Returns a string.
    pub(super) fn string(&self, key: &str) -> Option<String> {
        self.0.member(key)?.string()
    }

    /// Returns the strings of a list.
    pub(super) fn strings(&self, key: &str) -> Option<Vec<String>> {
        self.0.member(key)?.strings()
    }

    /// Returns whether a member is `true`.
    pub(super) fn is_true(&self, key: &str) -> bool {
        self.0.member(key).is_some_and(|it| it.as_str() == "true")
    }

    /// Returns a whole number.
    pub(super) fn number(&self, key: &str) -> Option<u64> {
        self.0.member(key)?.as_str().parse().ok()
    }
}

/// Returns the value of a member of a query. A member that is there twice has none.
pub(super) fn member(query: &str, name: &str) -> Option<String> {
    let members = query.split('&').filter_map(|it| it.split_once('='));
    let mut values = members.filter(|(key, _)| decoded(key).as_deref() == Some(name));
    let (_, value) = values.next()?;
    if values.next().is_some() {
        return None;
    }
    decoded(value)
}

fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        rest = tail;
        match first {
            b'+' => bytes.push(b' '),
            b'%' => {
                let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
                bytes.push(u8::from_str_radix(digits, 16).ok()?);
                rest = &rest[2..];
            }
            other => bytes.push(other),
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::{Document, member};
    use agent_way_out::form;

    #[test]
    fn a_member_of_a_query_is_there_once() {
        let query = form(&[("state", "a b&c=%"), ("iss", "https://as.example")]);
        assert_eq!(member(&query, "state").as_deref(), Some("a b&c=%"));
        assert_eq!(member("state=a&state=b", "state"), None);
        assert_eq!(member("state=%zz", "state"), None);
        assert_eq!(member("state=%", "state"), None);
    }

    #[test]
    fn documents_are_strict_objects() {
        let document = Document::new(br#"{"a":["x","y"],"b":true,"c":3600}"#, "it").unwrap();
        assert_eq!(document.strings("a").unwrap(), ["x", "y"]);
        assert!(document.is_true("b") && !document.is_true("a"));
        assert_eq!(document.number("c"), Some(3600));
        assert!(Document::new(br#"{"a":1,"a":2}"#, "it").is_err());
        assert!(Document::new(b"[]", "it").is_err());
    }
}
