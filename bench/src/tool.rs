//! Tools of generated worlds.

use crate::random::Random;
use serde_json::{Value, json};

const VERBS: [&str; 6] = ["execute", "notify", "read", "reason", "search", "write"];
const RESOURCES: [&str; 6] = ["aws", "codebase", "fs", "internet", "slack", "x-crm"];
const TAGS: [&str; 4] = ["human_in_the_loop", "pii_safe", "rate_limited", "readonly"];

/// Returns the name and the declaration of a tool, of about a kilobyte.
pub(crate) fn tool(number: usize, random: &mut Random) -> (String, Value) {
    let properties: serde_json::Map<_, _> = (0..6)
        .map(|i| {
            let description = format!(
                "What the tool is to take as its argument number {i}, in the form of the service {}",
                random.below(1_000)
            );
            let property = json!({ "type": "string", "description": description });
            (format!("argument_{i}"), property)
        })
        .collect();
    let blocks: Vec<_> = (0..1 + random.below(2))
        .map(|_| {
            json!({
                "verb": VERBS[random.below(VERBS.len())],
                "resource": RESOURCES[random.below(RESOURCES.len())],
                "constraints": random.distinct(0, 2, TAGS.len(), |i| TAGS[i].to_owned()),
            })
        })
        .collect();
    let tool = json!({
        "description": format!(
            "Does what the service {} offers under this name, and answers with its result as text.",
            random.below(1_000)
        ),
        "inputSchema": {
            "type": "object",
            "properties": properties,
            "required": ["argument_0", "argument_1"],
        },
        "annotations": { "readOnlyHint": true, "openWorldHint": false },
        "x-summit-capabilities": blocks,
    });
    (format!("tool_{number:02}"), tool)
}

impl Random {
    /// Returns between `least` and `most` different names.
    pub(crate) fn distinct(
        &mut self,
        least: usize,
        most: usize,
        of: usize,
        name: impl Fn(usize) -> String,
    ) -> Vec<String> {
        let count = least + self.below(most - least + 1);
        let mut numbers: Vec<usize> = Vec::with_capacity(count);
        while numbers.len() < count {
            let number = self.below(of);
            if !numbers.contains(&number) {
                numbers.push(number);
            }
        }
        numbers.into_iter().map(name).collect()
    }
}
