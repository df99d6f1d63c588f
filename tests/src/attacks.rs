//! The attacks of `attacks/`: tables that say what an attacker does and how it ends.

use serde_json::Value;
use std::fs;

/// One attack: a row of a table.
#[derive(Debug, Clone)]
pub struct Attack {
    /// The table and the row's name.
    pub name: String,
    /// The members of the row.
    pub row: Value,
}

impl Attack {
    /// Returns the stable code of the row. It is `None` for a harmless row, which has to work.
    ///
    /// # Panics
    /// If the row has no code.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        match &self.row["code"] {
            Value::Null if self.row.get("code").is_some() => None,
            Value::String(code) => Some(code),
            other => panic!("{}: {other} is no code", self.name),
        }
    }

    /// Returns a text of the row.
    #[must_use]
    pub fn text(&self, member: &str) -> String {
        text(&self.row[member])
    }

    /// Returns the texts of a list of the row; an absent list is empty.
    #[must_use]
    pub fn texts(&self, member: &str) -> Vec<String> {
        let items = self.row[member].as_array();
        items.into_iter().flatten().map(text).collect()
    }
}

/// Returns the attacks of a table.
///
/// # Panics
/// If the table can't be read, or two rows have one name.
#[must_use]
pub fn attacks(table: &str) -> Vec<Attack> {
    let path = crate::root().join(format!("tests/attacks/{table}.json"));
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let rows: Vec<Value> = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{table}: {e}"));
    let mut attacks: Vec<Attack> = Vec::new();
    for row in rows {
        let name = row["name"].as_str().expect("a name");
        let name = format!("{table}: {name}");
        assert!(attacks.iter().all(|it| it.name != name), "{name} twice");
        attacks.push(Attack { name, row });
    }
    attacks
}

/// Returns a text: a string, or a list of parts, of which `[n, "x"]` is `x` so many times.
///
/// # Panics
/// If the value is neither.
#[must_use]
pub fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => match &parts[..] {
            [Value::Number(times), Value::String(part)] => part.repeat(
                times
                    .as_u64()
                    .and_then(|it| it.try_into().ok())
                    .expect("a size"),
            ),
            parts => parts.iter().map(text).collect(),
        },
        other => panic!("{other} is no text"),
    }
}
