//! What an overlay has to set, as text to paste.

use agent_syntax::json_string;

/// A mapping from keys to values or placeholders, in the order in which they were set.
#[derive(Debug, Default)]
pub(super) struct Blank(Vec<(String, Value)>);

#[derive(Debug)]
enum Value {
    Text(String),
    Mapping(Blank),
}

impl Blank {
    /// Sets the value at a path.
    pub(super) fn set(&mut self, path: &[&str], value: &str) {
        let Some((key, rest)) = path.split_first() else {
            return;
        };
        if rest.is_empty() {
            self.0
                .push(((*key).to_owned(), Value::Text(value.to_owned())));
            return;
        }
        let known = self.0.iter_mut().find(|(it, _)| it == key);
        if let Some((_, Value::Mapping(inner))) = known {
            inner.set(rest, value);
            return;
        }
        let mut inner = Self::default();
        inner.set(rest, value);
        self.0.push(((*key).to_owned(), Value::Mapping(inner)));
    }

    /// Writes lines of YAML, each behind a line feed.
    pub(super) fn write_yaml(&self, out: &mut String, depth: usize) {
        for (key, value) in &self.0 {
            out.push_str(&format!("\n{}{}:", "  ".repeat(depth), plain(key)));
            match value {
                Value::Text(text) => out.push_str(&format!(" {text}")),
                Value::Mapping(inner) => inner.write_yaml(out, depth + 1),
            }
        }
    }

    /// Writes the members of a JSON object of mappings: a line for each member of these.
    pub(super) fn write_json(&self, out: &mut String) {
        for (number, (key, value)) in self.0.iter().enumerate() {
            out.push_str(if number == 0 { "\n" } else { ",\n" });
            out.push_str(&json_string(key));
            match value {
                Value::Text(text) => out.push_str(&format!(": {text}")),
                Value::Mapping(inner) => {
                    let lines = inner.0.iter().map(|it| format!("\n  {}", inline(it)));
                    let lines: Vec<_> = lines.collect();
                    out.push_str(&format!(": {{{}\n}}", lines.join(",")));
                }
            }
        }
    }
}

fn inline((key, value): &(String, Value)) -> String {
    let value = match value {
        Value::Text(text) => text.clone(),
        Value::Mapping(inner) => {
            let members: Vec<_> = inner.0.iter().map(inline).collect();
            format!("{{ {} }}", members.join(", "))
        }
    };
    format!("{}: {value}", json_string(key))
}

/// Returns a key of YAML.
fn plain(key: &str) -> String {
    let inner = |c: char| c.is_ascii_alphanumeric() || "_./-".contains(c);
    if key.starts_with(|c: char| c.is_ascii_alphanumeric()) && key.chars().all(inner) {
        key.to_owned()
    } else {
        json_string(key)
    }
}
