//! What no spelling of a payload may change of a grounding, and what every answer holds to, on
//! generated payloads with evidence that is taken from them and changed.

use agent_tests::native;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Map, Value, json};

/// Words of many kinds: escapes, other scripts, look-alikes, forms of Unicode, marks, digits.
const WORDS: [&str; 20] = [
    "invoice",
    "Invoice",
    "inv\u{43e}ice",
    "was",
    "sent",
    "late",
    "again",
    "\"no\"",
    "\\n",
    "\n",
    "Zo\u{eb}",
    "Zoe\u{308}",
    "𝄞",
    "42",
    "1,250",
    "EUR",
    "\u{a0}",
    "日本語",
    "—",
    "of",
];

fn texts() -> impl Strategy<Value = String> {
    vec(select(WORDS.as_slice()), 0..12).prop_map(|words| words.join(" "))
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        4 => texts().prop_map(Value::from),
        1 => any::<u32>().prop_map(Value::from),
        1 => any::<bool>().prop_map(Value::from),
        1 => Just(Value::Null),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((select(WORDS.as_slice()), inner), 0..4).prop_map(|members| {
                let members = members
                    .into_iter()
                    .map(|(key, value)| (key.to_owned(), value));
                Value::Object(members.collect())
            }),
        ]
    })
}

/// Payloads: any value, or a result of `tools/call` with the value as its structured content.
fn payloads() -> impl Strategy<Value = Value> {
    let result = (texts(), values()).prop_map(|(text, value)| {
        json!({
            "content": [{ "type": "text", "text": text }],
            "isError": false,
            "structuredContent": value,
        })
    });
    prop_oneof![values(), result]
}

/// The leaves that can be evidence: a string, or the source text of a number, which counts only whole
/// and in the structured content of a result.
fn leaves(payload: &Value) -> Vec<(bool, String)> {
    let mut found = Vec::new();
    match payload.get("structuredContent") {
        Some(content) => {
            strings(&payload["content"][0]["text"], false, &mut found);
            strings(content, true, &mut found);
        }
        None => strings(payload, false, &mut found),
    }
    found
}

fn strings(value: &Value, numbers: bool, found: &mut Vec<(bool, String)>) {
    let mut each = |value| strings(value, numbers, found);
    match value {
        Value::Null | Value::Bool(_) => {}
        Value::String(text) => found.push((true, text.clone())),
        Value::Number(number) if numbers => found.push((false, number.to_string())),
        Value::Number(_) => {}
        Value::Array(items) => items.iter().for_each(&mut each),
        Value::Object(members) => members.values().for_each(&mut each),
    }
}

/// The rule, a second time.
fn is_grounded(evidence: &str, leaves: &[(bool, String)]) -> bool {
    leaves.iter().any(|(is_string, text)| {
        let is_part = *is_string && text.contains(evidence);
        let is_whole = text == evidence && (!is_string || evidence.chars().count() >= 2);
        is_whole || is_part && evidence.trim().chars().count() >= 8
    })
}

/// Evidence: a part of a leaf, perhaps with a change, or words.
fn evidence() -> impl Strategy<Value = Evidence> {
    (
        any::<Index>(),
        any::<Index>(),
        1..40_usize,
        0..8_u8,
        texts(),
    )
        .prop_map(|(leaf, start, length, change, words)| Evidence {
            leaf,
            start,
            length,
            change,
            words,
        })
}

#[derive(Debug, Clone)]
struct Evidence {
    leaf: Index,
    start: Index,
    length: usize,
    change: u8,
    words: String,
}

impl Evidence {
    fn of(&self, leaves: &[(bool, String)]) -> String {
        let text = match leaves {
            [] => &self.words,
            leaves => &self.leaf.get(leaves).1,
        };
        let characters: Vec<char> = text.chars().collect();
        let start = match characters.len() {
            0 => 0,
            count => self.start.index(count),
        };
        let part: String = characters[start..].iter().take(self.length).collect();
        let evidence = match self.change {
            0..=3 => part,
            4 => part.to_uppercase(),
            5 => part.replace(' ', "  "),
            6 => part.replacen('e', "x", 1),
            _ => self.words.clone(),
        };
        match evidence.trim() {
            "" => "nothing".to_owned(),
            _ => evidence,
        }
    }
}

fn quoted(text: &str, escaped: bool) -> String {
    if !escaped {
        return Value::from(text).to_string();
    }
    let units = text.encode_utf16().map(|unit| format!("\\u{unit:04X}"));
    format!("\"{}\"", units.collect::<String>())
}

/// The same value, with the members the other way around, white space, and every character escaped.
fn other_spelling(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text, true),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(other_spelling).collect();
            format!("[ {} ]", items.join(" ,\n"))
        }
        Value::Object(members) => {
            let members = members.iter().rev();
            let members = members
                .map(|(key, value)| format!("{} :\t{}", quoted(key, true), other_spelling(value)));
            format!("{{ {} }}", members.collect::<Vec<_>>().join(" , "))
        }
        other => other.to_string(),
    }
}

fn answer(evidence: &str, payload: &str) -> Value {
    let summary = json!([{ "claim": "c", "evidence": evidence }]).to_string();
    let answers = native::grounded(summary.as_bytes(), payload.as_bytes());
    serde_json::from_str(&answers["grounding.json"]).expect("JSON")
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: ProptestConfig::default().cases.max(2_000),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_answer_is_that_of_the_rule_and_says_where(value in payloads(), evidence in evidence()) {
        let known = leaves(&value);
        let evidence = evidence.of(&known);
        let text = value.to_string();
        let told = answer(&evidence, &text);
        prop_assert_eq!(&told["grounded"], is_grounded(&evidence, &known), "{} in {}", evidence, text);
        let item = &told["items"][0];
        for (quote, said) in [(&item["found"]["first"], &evidence), (&item["nearest"], &String::new())] {
            if quote.is_null() {
                continue;
            }
            let leaf = match value.pointer(quote["pointer"].as_str().expect("a pointer")) {
                Some(Value::String(text)) => text.clone(),
                other => other.expect("a leaf").to_string(),
            };
            let range = |name: &str| {
                let at = |end: &str| quote[name][end].as_u64().expect("a number") as usize;
                at("start")..at("end")
            };
            let found = quote["text"].as_str().expect("a text");
            prop_assert_eq!(&leaf[range("bytes")], found);
            let characters = range("characters");
            let part: String = leaf.chars().skip(characters.start).take(characters.len()).collect();
            prop_assert_eq!(&part, found);
            // The place holds the same, as JSON; a whole string with its quotes.
            let at = |name: &str| quote["place"][name].as_u64().expect("a number") as usize;
            let source = &text[at("offset")..at("endOffset")];
            let is_whole = found == leaf;
            let read = match is_whole {
                true => source.to_owned(),
                false => format!("\"{source}\""),
            };
            let read: Value = serde_json::from_str(&read).expect("JSON");
            prop_assert_eq!(read.as_str().map_or(read.to_string(), str::to_owned), found);
            if !said.is_empty() {
                prop_assert_eq!(found, said);
            }
        }
    }

    #[test]
    fn what_is_suggested_would_do(value in payloads(), evidence in evidence()) {
        let known = leaves(&value);
        let text = value.to_string();
        let told = answer(&evidence.of(&known), &text);
        if let Some(nearest) = told["items"][0]["nearest"]["text"].as_str() {
            // A leaf of white space alone is not valid evidence.
            prop_assert!(is_grounded(nearest, &known), "{:?} in {}", nearest, text);
        }
    }

    #[test]
    fn order_of_members_and_escapes_do_not_matter(value in payloads(), evidence in evidence()) {
        let known = leaves(&value);
        let evidence = evidence.of(&known);
        let spellings = [value.to_string(), other_spelling(&value)];
        let told = spellings.each_ref().map(|payload| {
            let told = answer(&evidence, payload);
            let item = &told["items"][0];
            let parts = ["grounded", "count", "kind", "differences"];
            let values = [
                &told["grounded"],
                &item["found"]["count"],
                &item["reason"]["kind"],
                &item["reason"]["differences"],
            ];
            let told: Map<_, _> = parts.map(str::to_owned).into_iter().zip(values.map(Value::clone)).collect();
            Value::from(told)
        });
        prop_assert_eq!(&told[0], &told[1], "{:?} in {:?}", evidence, spellings);
    }
}
