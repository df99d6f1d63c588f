//! JSONTestSuite through the project's own readers, from bytes on.
//!
//! The reader of the index reads tokens, that of locks builds a tree. These texts are neither, so
//! only the errors of JSON count, and both readers must agree. `build.rs` finds the data.

use agent_diagnostic::{Code, Diagnostic};
use agent_lower as lower;
use agent_tests::corpus::Failures;
use agent_tests::world::{styles, worlds};
use agent_text::Span;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::Config;
use std::fs;
use std::path::Path;

/// Where the suite is.
const SUITE: Option<&str> = option_env!("AGENT_JSON_TEST_SUITE");

/// The codes of a text that is refused as JSON, whatever it was meant to be.
const OF_JSON: [Code; 10] = [
    Code::BinaryDocument,
    Code::DuplicateKey,
    Code::EmptyDocument,
    Code::InvalidUtf8,
    Code::JsonSyntax,
    Code::LoneSurrogate,
    Code::NestingTooDeep,
    Code::NumberOutOfRange,
    Code::TextAroundDocument,
    Code::WrongEncoding,
];

/// What the suite wants accepted and this project refuses, with the reason.
const STRICTER: [(&str, Code); 2] = [
    // RFC 8259 leaves it open what duplicate keys mean; a lock must not depend on it.
    ("y_object_duplicated_key.json", Code::DuplicateKey),
    ("y_object_duplicated_key_and_value.json", Code::DuplicateKey),
];

/// What the suite leaves open: the code, or none for what is accepted.
const LEFT_OPEN: [(&str, Option<Code>); 35] = [
    // Too large for a double.
    ("i_number_huge_exp.json", Some(Code::NumberOutOfRange)),
    (
        "i_number_neg_int_huge_exp.json",
        Some(Code::NumberOutOfRange),
    ),
    (
        "i_number_pos_double_huge_exp.json",
        Some(Code::NumberOutOfRange),
    ),
    (
        "i_number_real_neg_overflow.json",
        Some(Code::NumberOutOfRange),
    ),
    (
        "i_number_real_pos_overflow.json",
        Some(Code::NumberOutOfRange),
    ),
    // Rounded to a double only where a digest is taken.
    ("i_number_double_huge_neg_exp.json", None),
    ("i_number_real_underflow.json", None),
    ("i_number_too_big_neg_int.json", None),
    ("i_number_too_big_pos_int.json", None),
    ("i_number_very_big_negative_int.json", None),
    // Half of a surrogate pair is not a character.
    (
        "i_object_key_lone_2nd_surrogate.json",
        Some(Code::LoneSurrogate),
    ),
    (
        "i_string_1st_surrogate_but_2nd_missing.json",
        Some(Code::LoneSurrogate),
    ),
    (
        "i_string_1st_valid_surrogate_2nd_invalid.json",
        Some(Code::LoneSurrogate),
    ),
    (
        "i_string_incomplete_surrogate_and_escape_valid.json",
        Some(Code::LoneSurrogate),
    ),
    (
        "i_string_incomplete_surrogate_pair.json",
        Some(Code::LoneSurrogate),
    ),
    (
        "i_string_incomplete_surrogates_escape_valid.json",
        Some(Code::LoneSurrogate),
    ),
    (
        "i_string_invalid_lonely_surrogate.json",
        Some(Code::LoneSurrogate),
    ),
    ("i_string_invalid_surrogate.json", Some(Code::LoneSurrogate)),
    (
        "i_string_inverted_surrogates_U+1D11E.json",
        Some(Code::LoneSurrogate),
    ),
    (
        "i_string_lone_second_surrogate.json",
        Some(Code::LoneSurrogate),
    ),
    // No UTF-8.
    ("i_string_UTF-16LE_with_BOM.json", Some(Code::WrongEncoding)),
    (
        "i_string_UTF-8_invalid_sequence.json",
        Some(Code::InvalidUtf8),
    ),
    (
        "i_string_UTF8_surrogate_U+D800.json",
        Some(Code::InvalidUtf8),
    ),
    ("i_string_invalid_utf-8.json", Some(Code::InvalidUtf8)),
    ("i_string_iso_latin_1.json", Some(Code::InvalidUtf8)),
    (
        "i_string_lone_utf8_continuation_byte.json",
        Some(Code::InvalidUtf8),
    ),
    (
        "i_string_not_in_unicode_range.json",
        Some(Code::InvalidUtf8),
    ),
    (
        "i_string_overlong_sequence_2_bytes.json",
        Some(Code::InvalidUtf8),
    ),
    (
        "i_string_overlong_sequence_6_bytes.json",
        Some(Code::InvalidUtf8),
    ),
    (
        "i_string_overlong_sequence_6_bytes_null.json",
        Some(Code::InvalidUtf8),
    ),
    ("i_string_truncated-utf-8.json", Some(Code::InvalidUtf8)),
    ("i_string_utf16BE_no_BOM.json", Some(Code::WrongEncoding)),
    ("i_string_utf16LE_no_BOM.json", Some(Code::WrongEncoding)),
    // Deeper than 128.
    (
        "i_structure_500_nested_arrays.json",
        Some(Code::NestingTooDeep),
    ),
    // A byte order mark is passed over in every file.
    ("i_structure_UTF-8_BOM_empty_object.json", None),
];

/// The code for which a text is refused as JSON. None if it is JSON.
fn refused(bytes: &[u8]) -> Result<Option<Code>, String> {
    fn code<T>(lowered: lower::Lowered<T>) -> Option<Code> {
        let found: Vec<Diagnostic> = lowered.map_or_else(|found| found, |checked| checked.warnings);
        found
            .iter()
            .map(|diagnostic| diagnostic.code)
            .find(|code| OF_JSON.contains(code))
    }
    let (tokens, tree) = (
        code(lower::index(bytes.to_vec())),
        code(lower::lock(bytes.to_vec())),
    );
    if tokens == tree {
        Ok(tokens)
    } else {
        Err(format!("one reader says {tokens:?}, the other {tree:?}"))
    }
}

#[test]
#[cfg_attr(
    not(json_test_suite),
    ignore = "JSONTestSuite is not here: set AGENT_REFERENCE, see tests/README.md"
)]
fn json_test_suite_is_read_as_it_says() {
    let suite = SUITE.expect("the folder that build.rs found");
    let mut failures = Failures::default();
    let mut counts = [0; 3];
    let mut entries: Vec<_> = fs::read_dir(Path::new(suite))
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    entries.sort();
    for path in entries {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let bytes = fs::read(&path).expect("a file");
        let found = match refused(&bytes) {
            Ok(found) => found,
            Err(error) => {
                failures.add(&name, error);
                continue;
            }
        };
        let stricter = STRICTER.iter().find(|(listed, _)| *listed == name);
        let (kind, fits, expected) = match name.split('_').next() {
            Some("y") => {
                let expected = stricter.map(|(_, code)| *code);
                (0, found == expected, format!("{expected:?}"))
            }
            Some("n") => (1, found.is_some(), "a refusal".to_owned()),
            _ => {
                let listed = LEFT_OPEN.iter().find(|(listed, _)| *listed == name);
                let fits = listed.is_some_and(|(_, expected)| *expected == found);
                (2, fits, format!("{listed:?}"))
            }
        };
        counts[kind] += 1;
        if !fits {
            failures.add(&name, format!("expected {expected}, found {found:?}"));
        }
    }
    failures.finish();
    assert!(
        counts[0] >= 95 && counts[1] >= 188 && counts[2] == LEFT_OPEN.len(),
        "the suite is not whole: {counts:?} files that must, must not and may be accepted"
    );
}

/// What a text is refused for as JSON, and where: the one problem that stops a reader, or else all
/// of those that don't.
fn problems<T>(lowered: lower::Lowered<T>) -> Vec<(Code, Span)> {
    let found: Vec<Diagnostic> = lowered.map_or_else(|found| found, |checked| checked.warnings);
    let found = found.iter().filter(|it| OF_JSON.contains(&it.code));
    let found: Vec<_> = found.map(|it| (it.code, it.labels[0].place.span)).collect();
    let stops = [Code::InvalidUtf8, Code::JsonSyntax, Code::NestingTooDeep];
    match found.iter().find(|(code, _)| stops.contains(code)) {
        Some(stop) => vec![*stop],
        None => found,
    }
}

/// A policy would get a number that its own reader refuses.
#[test]
fn a_number_that_no_double_holds_is_refused_in_every_notation() {
    for (text, at) in [
        ("1e999", vec!["1e999"]),
        ("{\"limit\": 1e999}", vec!["1e999"]),
        ("limit: 1e5551", vec!["1e5551"]),
        ("limits: [1, -2e400, {a: 3E+309}]", vec!["-2e400", "3E+309"]),
    ] {
        let found = lower::context(text.into(), lower::Notation::ByContent);
        let found = found.expect_err(text);
        let places = found
            .iter()
            .map(|it| it.place().expect("a place").span.of(text));
        assert_eq!(places.collect::<Vec<_>>(), at, "{text}");
        assert!(
            found.iter().all(|it| it.code == Code::NumberOutOfRange),
            "{text}"
        );
    }
    for (text, json) in [
        ("limit: 1e308", "{\"limit\":1e308}"),
        ("limit: '1e5551'", "{\"limit\":\"1e5551\"}"),
        ("limit: 1e5551x", "{\"limit\":\"1e5551x\"}"),
        ("1e-999", "1e-999"),
    ] {
        let context = lower::context(text.into(), lower::Notation::ByContent);
        assert_eq!(context.expect(text).value.json, json);
    }
}

proptest! {
    #![proptest_config(Config { failure_persistence: None, ..Config::default() })]

    #[test]
    fn both_readers_say_the_same_of_a_damaged_text(
        world in worlds(), style in styles(), edits in vec((any::<Index>(), 0..DAMAGE.len()), 1..4),
    ) {
        let mut bytes = world.index(style);
        for (place, damage) in edits {
            // A piece replaces a byte, or follows the last: three pieces without bytes leave nothing of `[]`.
            let place = place.index(bytes.len() + 1);
            let replaced = place..bytes.len().min(place + 1);
            bytes.splice(replaced, DAMAGE[damage].iter().copied());
        }
        let tokens = problems(lower::index(bytes.clone()));
        let tree = problems(lower::context(bytes.clone(), lower::Notation::Json));
        prop_assert_eq!(tokens, tree, "{}", String::from_utf8_lossy(&bytes));
    }
}

/// The replacement of a byte in a damaged text.
const DAMAGE: [&[u8]; 18] = [
    b"",
    b"\"",
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"1e999",
    b"-",
    b"\\ud800",
    b"\x00",
    b"\xff",
    b"\xc3\xa9",
    b"null",
    b"\"id\": 1,",
    b" ",
];

#[test]
fn json_that_rfc_8259_gives_as_examples_is_read() {
    for text in [
        r#"{"Image": {"Width": 800, "Title": "View from 15th Floor", "IDs": [116, 943, 234, 38793]}}"#,
        r#""Hello world!""#,
        "42",
        "true",
    ] {
        assert_eq!(refused(text.as_bytes()), Ok(None), "{text}");
    }
}
