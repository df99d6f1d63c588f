//! Grounding \[1\], a test for each rule.

use agent_decide as decide;
use agent_decide::{Difference, Grounding, Reason, Verdict};
use agent_diagnostic::{Code, Diagnostic};
use agent_explain::{apply, cite, requote, ungrounded};
use agent_lower::{ITEM_LIMIT, PAYLOAD_LIMIT, SUMMARY_LIMIT, payload, summarised, summary};
use agent_render::{grounding, grounding_json};
use agent_text::DocumentKind;

/// The verdict on some evidence.
#[derive(Debug, PartialEq, Eq)]
enum Said {
    /// The place, the first and the last code point, and the number of occurrences.
    Grounded(String, usize, usize, usize),
    /// The reason, and the nearest text.
    Not(String, Option<String>),
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out + "\""
}

fn summary_of(evidence: &str) -> Vec<u8> {
    format!(r#"[{{"claim": "c", "evidence": {}}}]"#, quoted(evidence)).into_bytes()
}

fn with<T>(evidence: &str, payload: &str, then: impl FnOnce(&Grounding<'_>) -> T) -> T {
    let read = summarised(summary_of(evidence), payload.as_bytes().to_vec());
    let (summary, payload) = read.expect("both are valid").value;
    then(&decide::ground(&summary, &payload))
}

fn said(evidence: &str, payload: &str) -> Said {
    with(evidence, payload, |grounding| {
        match &grounding.verdicts[0] {
            Verdict::Grounded { first, count } => {
                let found = cite(grounding, first);
                assert_eq!(found.text, evidence);
                Said::Grounded(
                    found.pointer,
                    found.characters.start,
                    found.characters.end,
                    *count,
                )
            }
            Verdict::Ungrounded { reason, nearest } => {
                let nearest = nearest.as_ref().map(|quote| {
                    let near = cite(grounding, quote).text.to_owned();
                    // The suggestion is valid evidence.
                    if near != evidence {
                        let claim = &grounding.summary.items.as_slice()[0];
                        let edit = requote(grounding, claim, quote);
                        let changed = apply(grounding.summary.text.as_str(), &[edit]);
                        let read = summarised(changed.into_bytes(), payload.as_bytes().to_vec());
                        let (summary, payload) = read.expect("both are valid").value;
                        assert_eq!(summary.items.as_slice()[0].evidence.value, near);
                        assert!(decide::ground(&summary, &payload).grounded(), "{near:?}");
                    }
                    near
                });
                let name = match reason {
                    Reason::Altered(differences) => {
                        let names: Vec<_> = differences.iter().map(|one| one.name()).collect();
                        names.join(" ")
                    }
                    Reason::TooShort { code_points } => format!("too short: {code_points}"),
                    other => other.name().to_owned(),
                };
                Said::Not(name, nearest)
            }
        }
    })
}

fn grounded(evidence: &str, payload: &str) -> bool {
    with(evidence, payload, |grounding| grounding.grounded())
}

fn at(pointer: &str, start: usize, end: usize, count: usize) -> Said {
    Said::Grounded(pointer.to_owned(), start, end, count)
}

fn not(reason: &str, nearest: &str) -> Said {
    let nearest = (!nearest.is_empty()).then(|| nearest.to_owned());
    Said::Not(reason.to_owned(), nearest)
}

#[test]
fn a_part_of_a_text_is_evidence_from_eight_code_points_on() {
    let payload = r#"["an invoice of 42 EUR"]"#;
    assert_eq!(said("invoice ", payload), not("too short: 7", "invoice of"));
    assert_eq!(said("invoice o", payload), at("/0", 3, 12, 1));
    assert_eq!(
        said(" sent  ", r#"["it was  sent  on Monday"]"#),
        not("too short: 4", " sent  on")
    );
    // By code points and not by bytes.
    assert_eq!(said("éééééééé", r#"["xéééééééé"]"#), at("/0", 1, 9, 1));
    assert_eq!(
        said("ééééééé", r#"["x-ééééééé-y"]"#),
        not("too short: 7", "ééééééé-")
    );
}

#[test]
fn a_whole_leaf_is_evidence_however_short() {
    let payload = &structured(r#"{"a": "EUR", "b": [42, 1.50, -0, 1E3, 7], "c": true, "d": null}"#);
    let part = "/structuredContent";
    assert_eq!(said("EUR", payload), at(&format!("{part}/a"), 0, 3, 1));
    assert_eq!(said("42", payload), at(&format!("{part}/b/0"), 0, 2, 1));
    assert_eq!(said("1.50", payload), at(&format!("{part}/b/1"), 0, 4, 1));
    assert_eq!(said("1E3", payload), at(&format!("{part}/b/3"), 0, 3, 1));
    assert_eq!(said("7", payload), at(&format!("{part}/b/4"), 0, 1, 1));
    // By the source text, and not by the value.
    assert_eq!(said("1.5", payload), not("too short: 3", "1.50"));
    // Booleans and `null` say nothing.
    assert_eq!(said("true", payload), not("no-text", ""));
    assert_eq!(said("null", payload), not("too short: 4", ""));
    assert_eq!(said("EU", payload), not("too short: 2", "EUR"));
    // A text of one character could be anything.
    assert_eq!(said("x", r#"["x"]"#), not("too short: 1", ""));
    assert_eq!(said("xy", r#"["xy"]"#), at("/0", 0, 2, 1));
}

/// A result of `tools/call` without texts, with some structured content.
fn structured(content: &str) -> String {
    format!(r#"{{"content": [], "structuredContent": {content}}}"#)
}

#[test]
fn the_envelope_of_a_result_is_no_evidence() {
    let payload = r#"{
        "content": [
            {"type": "text", "text": "It rains in Bern.", "annotations": {"audience": ["user"]}},
            {"text": "It is Monday.", "type": "text"},
            {"type": "resource_link", "uri": "https://bern.example/rain", "name": "rain report"},
            {"type": "resource", "resource": {"uri": "file:///notes.txt", "text": "Bring a coat."}}
        ],
        "isError": false,
        "_meta": {"note": "Nothing happened at all."},
        "structuredContent": {"place": "Bern", "text": 12, "wet": true}
    }"#;
    assert_eq!(
        said("It rains in", payload),
        at("/content/0/text", 0, 11, 1)
    );
    assert_eq!(
        said("It is Monday.", payload),
        at("/content/1/text", 0, 13, 1)
    );
    assert_eq!(
        said("Bring a coat.", payload),
        at("/content/3/resource/text", 0, 13, 1)
    );
    assert_eq!(
        said("Bern", payload),
        at("/structuredContent/place", 0, 4, 1)
    );
    assert_eq!(said("12", payload), at("/structuredContent/text", 0, 2, 1));
    for flag in [
        "text",
        "resource_link",
        "user",
        "false",
        "true",
        "rain report",
        "file:///notes.txt",
        "https://bern.example/rain",
        "Nothing happened at all.",
    ] {
        let Said::Not(reason, _) = said(flag, payload) else {
            panic!("{flag} is evidence");
        };
        assert_eq!(reason, "no-text", "{flag}");
    }
    // A payload that is not a result counts with all its strings, and nothing else.
    let payload = r#"{"content": [{"type": "text"}], "isError": false, "total": 42}"#;
    assert_eq!(said("text", payload), at("/content/0/type", 0, 4, 1));
    assert_eq!(said("42", payload), not("no-text", ""));
}

#[test]
fn numbers_count_only_whole() {
    let payload = &structured(r#"[1234567890, "1234567890 pieces"]"#);
    let part = "/structuredContent";
    assert_eq!(
        said("1234567890", payload),
        at(&format!("{part}/0"), 0, 10, 2)
    );
    assert_eq!(
        said("123456789", &structured("[1234567890]")),
        not("part-of-value", "1234567890")
    );
    assert_eq!(
        said("123456789", payload),
        at(&format!("{part}/1"), 0, 9, 1)
    );
}

#[test]
fn matches_are_counted_and_the_first_is_told() {
    let payload = r#"{"x": ["abababababab", "no", "abababab abababab"], "y": "abababab"}"#;
    assert_eq!(said("abababab", payload), at("/x/0", 0, 8, 4));
}

#[test]
fn the_whole_may_be_a_leaf_and_pointers_are_escaped() {
    assert_eq!(said("fine", "\"fine\""), at("", 0, 4, 1));
    assert_eq!(
        said("fine", r#"{"a/b": {"~": ["fine"]}}"#),
        at("/a~1b/~0/0", 0, 4, 1)
    );
}

#[test]
fn names_are_no_texts() {
    let payload = r#"{"total_amount": 42}"#;
    assert_eq!(said("total_amount", payload), not("name", ""));
    assert!(!grounded("total_am", payload));
}

#[test]
fn evidence_is_compared_with_the_text_and_not_with_its_escapes() {
    let payload = r#"["he said \"no\" \u00e9\ud834\udd1e\nthen left"]"#;
    assert_eq!(said("said \"no\" é𝄞\nthen", payload), at("/0", 3, 20, 1));
    assert_eq!(
        said(r#"said \"no\" é"#, payload),
        not("escaping", "said \"no\" é")
    );
    with("é𝄞\nthen left", payload, |grounding| {
        let Verdict::Grounded { first, .. } = &grounding.verdicts[0] else {
            panic!("{grounding:?}");
        };
        let found = cite(grounding, first);
        assert_eq!(found.bytes, 13..29);
        let span = found.place.span;
        assert_eq!(
            &payload[span.start as usize..span.end as usize],
            r"\u00e9\ud834\udd1e\nthen left"
        );
    });
}

#[test]
fn what_differs_only_to_machines_is_named() {
    let payload = r#"["The invoice “4711” was sent to Zoë"]"#;
    assert_eq!(said("the Invoice", payload), not("case", "The invoice"));
    assert_eq!(
        said("invoice  “4711”", payload),
        not("white-space", "invoice “4711”")
    );
    assert_eq!(
        said("invoice \"4711\"", payload),
        not("lookalikes", "invoice “4711”")
    );
    assert_eq!(
        said("sent to Zoe\u{308}", payload),
        not("lookalikes", "sent to Zoë")
    );
    assert_eq!(
        said("invo\u{456}ce", "[\"the invoice\"]"),
        not("too short: 7", "the invoice")
    );
    assert_eq!(
        said("the \u{456}nvoice", "[\"the invoice\"]"),
        not("lookalikes", "the invoice")
    );
    assert_eq!(
        said("WAS  SENT", payload),
        not("case white-space", "was sent")
    );
    assert_eq!(Difference::Case.name(), "case");
}

#[test]
fn a_misquote_is_led_to_what_is_nearest() {
    let payload = &structured(
        r#"{"rows": [
        "The delivery was late by three days because of the storm.",
        "The delivery was early by two days because of nothing.",
        "Nothing else happened."
    ], "number": 1234567}"#,
    );
    assert_eq!(
        said("delivery was late by four days", payload),
        not("absent", "delivery was late by three days")
    );
    assert_eq!(
        said("delivery was early by two days owing to nothing", payload),
        not(
            "absent",
            "delivery was early by two days because of nothing"
        )
    );
    assert_eq!(said("1,234,567", payload), not("absent", "1234567"));
    assert_eq!(
        said("unlike whatever is written there", payload),
        not("absent", "")
    );
}

#[test]
fn evidence_from_two_leaves_is_none() {
    let payload = r#"{"content": [
        {"type": "text", "text": "The delivery was late"},
        {"type": "text", "text": "by three days."}
    ], "structuredContent": {"total": 42}}"#;
    assert_eq!(
        said("delivery was late by three days", payload),
        not("across-leaves", "delivery was late")
    );
    assert_eq!(
        said("was late\nby three", payload),
        not("across-leaves", "was late")
    );
    assert_eq!(
        said("by three days. 42", payload),
        not("across-leaves", "by three days.")
    );
    // One leaf twice is not two.
    assert_ne!(
        said("days. by three", payload),
        not("across-leaves", "by three")
    );
    // In the other order too: names have no order.
    let turned = r#"{"b": "by three days.", "a": "The delivery was late"}"#;
    assert_eq!(
        said("delivery was late by three days", turned),
        not("across-leaves", "delivery was late")
    );
}

#[test]
fn long_evidence_is_led_to_where_it_stops_being_verbatim() {
    let words: Vec<_> = (0..2_000).map(|n| format!("word{n}")).collect();
    let text = words.join(" ");
    let payload = format!("[\"{text}\"]");
    assert!(grounded(&text[..9_000], &payload));
    let wrong = text[..9_000].replace("word700 ", "word7oo ");
    let Said::Not(reason, Some(nearest)) = said(&wrong, &payload) else {
        panic!("nothing is near");
    };
    assert_eq!(reason, "absent");
    assert!(nearest.contains("word700 word701"), "{nearest}");
    assert!(nearest.len() < 1_200, "{nearest}");
}

#[test]
fn hostile_texts_come_to_an_end() {
    let a = "a".repeat(PAYLOAD_LIMIT / 4);
    let payloads = [
        format!("[\"{a}\"]"),
        format!("[\"{}\"]", "a ".repeat(a.len() / 2)),
        format!("[\"aaaaaaa{}a\"]", " ".repeat(a.len() - 8)),
        format!("[{}1]", "1,".repeat(a.len() / 2)),
        format!("[\"{}\"]", "\u{fdfa}".repeat(a.len() / 3)),
    ];
    let evidence = [
        "a".repeat(1 << 20) + "b",
        "a ".repeat(500) + "b",
        "aaaaaaa b".to_owned(),
    ];
    for payload in &payloads {
        let items = evidence
            .each_ref()
            .map(|it| format!(r#"{{"claim":"c","evidence":"{it}"}}"#));
        let summary = format!("[{}]", items.join(","));
        let read = summarised(summary.into_bytes(), payload.clone().into_bytes());
        let (summary, payload) = read.expect("both are valid").value;
        let grounding = decide::ground(&summary, &payload);
        assert_eq!(grounding.failed(), 3);
        assert!(grounding_json(&grounding).len() < 3 << 20);
        assert_eq!(ungrounded(&grounding).len(), 3);
    }
}

fn codes(found: &[Diagnostic]) -> Vec<&'static str> {
    found.iter().map(|it| it.code.name()).collect()
}

fn refused(summary: &str) -> Vec<&'static str> {
    let found = agent_lower::summary(summary.as_bytes().to_vec());
    codes(&found.expect_err("it is refused"))
}

#[test]
fn a_summary_is_a_list_of_claims_with_evidence() {
    let item = r#"{"claim": "c", "evidence": "e"}"#;
    for text in [format!("[{item}]"), format!(r#"{{"items": [{item}]}}"#)] {
        let read = summary(text.into_bytes()).expect("a summary");
        assert_eq!(read.value.items.as_slice().len(), 1);
        assert!(read.warnings.is_empty());
    }
    assert_eq!(refused("[]"), ["EMPTY_VALUE"]);
    assert_eq!(refused(r#"{"items": []}"#), ["EMPTY_VALUE"]);
    assert_eq!(refused("{}"), ["MISSING_FIELD"]);
    assert_eq!(refused("1"), ["WRONG_TYPE"]);
    assert_eq!(refused("[1]"), ["WRONG_TYPE"]);
    assert_eq!(refused("[{}]"), ["MISSING_FIELD", "MISSING_FIELD"]);
    assert_eq!(
        refused(r#"[{"claim": " ", "evidence": ""}]"#),
        ["EMPTY_VALUE", "EMPTY_VALUE"]
    );
    assert_eq!(
        refused(r#"[{"claim": 1, "evidence": []}]"#),
        ["WRONG_TYPE", "WRONG_TYPE"]
    );
    assert_eq!(
        refused("[{}"),
        ["MISSING_FIELD", "MISSING_FIELD", "JSON_SYNTAX"]
    );
    assert_eq!(
        refused(r#"[{"claim": "c", "evidence": "e"}] []"#),
        ["JSON_SYNTAX"]
    );
    let typo = r#"{"item": 1, "items": [{"claim": "c", "evidence": "e", "evidense": 1}]}"#;
    let read = summary(typo.as_bytes().to_vec()).expect("it is accepted");
    assert_eq!(codes(&read.warnings), ["UNKNOWN_KEY", "UNKNOWN_KEY"]);
    assert_eq!(read.warnings[0].fixes[0].title, "did you mean `items`?");
    assert_eq!(read.warnings[1].fixes[0].title, "did you mean `evidence`?");
}

#[test]
fn limits_hold_at_their_edges() {
    let items = |count: usize| {
        let items = vec![r#"{"claim":"c","evidence":"e"}"#; count];
        format!("[{}]", items.join(",")).into_bytes()
    };
    assert!(summary(items(ITEM_LIMIT)).is_ok());
    let found = summary(items(ITEM_LIMIT + 1)).expect_err("too many");
    assert_eq!(codes(&found), ["INPUT_TOO_LARGE"]);
    let spaces = |count: usize, text: &str| {
        let mut bytes = text.as_bytes().to_vec();
        bytes.resize(count, b' ');
        bytes
    };
    let one = r#"[{"claim":"c","evidence":"e"}]"#;
    assert!(summary(spaces(SUMMARY_LIMIT, one)).is_ok());
    let found = summary(spaces(SUMMARY_LIMIT + 1, one)).expect_err("too large");
    assert_eq!(codes(&found), ["INPUT_TOO_LARGE"]);
    assert!(payload(spaces(PAYLOAD_LIMIT, "1")).is_ok());
    let found = payload(spaces(PAYLOAD_LIMIT + 1, "1")).expect_err("too large");
    assert_eq!(codes(&found), ["INPUT_TOO_LARGE"]);
    assert_eq!(found[0].labels[0].place.source, DocumentKind::Payload);
}

#[test]
fn problems_of_both_texts_are_told_together() {
    let found = summarised(
        b"[]".to_vec(),
        br#"{"a": 1, "a": "\ud800", "b": 1e999} x"#.to_vec(),
    );
    let found = found.expect_err("both are invalid");
    let expected = [
        "EMPTY_VALUE",
        "DUPLICATE_KEY",
        "LONE_SURROGATE",
        "NUMBER_OUT_OF_RANGE",
        "JSON_SYNTAX",
    ];
    assert_eq!(codes(&found), expected);
}

#[test]
fn a_failure_points_into_both_texts() {
    let payload = "{\n  \"text\": \"The delivery was late.\"\n}";
    with("delivery was  late", payload, |grounding| {
        let found = ungrounded(grounding);
        let [one] = found.as_slice() else {
            panic!("{found:?}");
        };
        assert_eq!(one.code, Code::Ungrounded);
        let [evidence, nearest] = one.labels.as_slice() else {
            panic!("{one:?}");
        };
        assert_eq!(evidence.place.source, DocumentKind::Summary);
        assert_eq!(
            (evidence.place.start.line, evidence.place.start.column),
            (1, 29)
        );
        assert_eq!(nearest.place.source, DocumentKind::Payload);
        assert_eq!(
            (nearest.place.start.line, nearest.place.start.column),
            (2, 16)
        );
        assert_eq!((nearest.place.end.line, nearest.place.end.column), (2, 33));
        let [fix] = &one.fixes[..] else {
            panic!("{one:?}");
        };
        let snippet = "quote the nearest text, at `/text`:\n\"evidence\": \"delivery was late\"";
        assert_eq!(fix.title, snippet);
        assert_eq!(fix.edits[0].replacement, "\"delivery was late\"");
    });
    with("deliv\u{435}ry was late", payload, |grounding| {
        let found = ungrounded(grounding);
        assert_eq!(
            found[0].notes[0],
            "the evidence has U+0435 first where the payload has U+0065"
        );
    });
    with("delivery was  late", payload, |grounding| {
        let text = grounding_text(grounding);
        assert!(
            text.starts_with("✗ not grounded: 1 of 1 claim without evidence\n"),
            "{text}"
        );
    });
}

fn grounding_text(decided: &Grounding<'_>) -> String {
    grounding(decided).iter().map(|part| &*part.text).collect()
}

#[test]
fn the_fewest_differences_are_told_wherever_they_stand() {
    let evidence = r"ice  \n  invoice";
    let payloads = [
        r#"{"a": "was invoice \\n invoice", "b": "invoice invoice"}"#,
        r#"{"b": "invoice invoice", "a": "was invoice \\n invoice"}"#,
    ];
    for payload in payloads {
        let nearest = r"ice \n invoice";
        assert_eq!(
            said(evidence, payload),
            not("white-space", nearest),
            "{payload}"
        );
    }
}
