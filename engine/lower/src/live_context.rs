//! The context of a policy at the time of a decision \[4\].

use super::evaluation_context::write_json;
use agent_model::Context;
use agent_syntax::{Value, json};

/// The time of a decision, in the time zone of the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalTime {
    /// RFC 3339, with the offset of the time zone.
    pub time: String,
    /// The hour of the day, from 0 to 23.
    pub hour: u8,
    /// The day of the week in lower case, such as `monday`.
    pub weekday: &'static str,
}

/// Returns a context with `time`, `hour` and `weekday` of a decision. They replace those of `given`,
/// whose other members stay.
pub fn live_context(given: Option<&Context>, now: &LocalTime) -> Context {
    let mut out = String::from("{");
    let node = given.and_then(|it| json::parse_value(&mut json::Reader::new(&it.json)).ok());
    if let Some(Value::Mapping(entries)) = node.as_ref().map(|node| &node.value) {
        for entry in entries {
            if matches!(&*entry.key, "time" | "hour" | "weekday") {
                continue;
            }
            json::write_string(&entry.key, &mut out);
            out.push(':');
            // Its numbers were checked when it was read.
            write_json(&entry.value, &[], &mut out, &mut Vec::new());
            out.push(',');
        }
    }
    out.push_str(&format!("\"hour\":{},\"time\":", now.hour));
    json::write_string(&now.time, &mut out);
    out.push_str(",\"weekday\":");
    json::write_string(now.weekday, &mut out);
    out.push('}');
    Context { json: out }
}
