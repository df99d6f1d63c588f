//! Policies from outside: the examples, what a ruling is, and policies that mean harm.
#![cfg(feature = "policy")]

use agent_engine::decide::{PolicyEngine, Ruling};
use agent_engine::policy::{Policy, read};
use std::fs;
use std::path::PathBuf;

fn example(name: &str) -> Vec<u8> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("../examples/policies").join(name);
    fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn policy(text: impl Into<Vec<u8>>) -> Policy {
    match read(text.into()) {
        Ok(checked) => checked.value,
        Err(problems) => panic!("{problems:#?}"),
    }
}

/// A policy with a package, asked.
fn ask(rules: &str, input: &str) -> Ruling {
    policy(format!("package switchboard\n{rules}")).ask(input)
}

/// The name of the error of a policy, or the ids it allows.
fn verdict(ruling: &Ruling) -> String {
    match &ruling.answer {
        Ok(allowed) => allowed.tools.iter().cloned().collect::<Vec<_>>().join(" "),
        Err(error) => error.kind.name().to_owned(),
    }
}

#[test]
fn an_example_allows_and_gives_reasons() {
    let policy = policy(example("no-external-network.rego"));
    let ruling = policy.ask(
        r#"{"candidate_tools": [{"id": "a", "capabilities": [{"resource": "internet"}]},
            {"id": "b", "capabilities": [{"resource": "aws"}]}]}"#,
    );
    let allowed = ruling.answer.expect("an answer");
    assert_eq!(allowed.tools.into_iter().collect::<Vec<_>>(), ["b"]);
    let reasons: Vec<_> = allowed.reasons.into_iter().collect();
    let reason = "a reaches the internet, which this tenant forbids";
    assert_eq!(reasons, [("a".to_owned(), reason.to_owned())]);
    assert_eq!(
        ruling.lines,
        [4, 5, 6, 7, 9, 10, 11, 12, 13, 15, 16, 17, 18]
    );
}

#[test]
fn an_answer_is_a_set_of_strings() {
    for (rules, expected) in [
        ("allowed_tools := {\"a\", \"b\"}", "a b"),
        ("allowed_tools contains \"a\" if input.x == 1", ""),
        ("allowed_tools := {\"a\"} if input.x == 1", "undefined"),
        ("allowed := {\"a\"}", "undefined"),
        ("allowed_tools := [\"a\"]", "type"),
        ("allowed_tools := {\"a\", 1}", "type"),
        ("allowed_tools := true", "type"),
        ("allowed_tools(x) := {x}", "undefined"),
        ("allowed_tools := {x | x := to_number(\"x\")}", "runtime"),
        (
            "allowed_tools := {1} if input.x\nallowed_tools := {2}",
            "type",
        ),
        (
            "allowed_tools := {\"1\"}\nallowed_tools := {\"2\"}",
            "runtime",
        ),
    ] {
        assert_eq!(verdict(&ask(rules, "{}")), expected, "{rules}");
    }
    assert_eq!(verdict(&ask("allowed_tools := {\"a\"}", "{")), "runtime");
}

#[test]
fn what_harms_ends_by_the_budget() {
    let doubling = |first: &str, next: &str| {
        let mut rules = format!("x0 := {first}\n");
        for i in 0..24 {
            rules += &format!("x{} := {}\n", i + 1, next.replace('x', &format!("x{i}")));
        }
        rules + "allowed_tools := {\"a\"} if x24 == x23\n"
    };
    let functions = |first: &str, body: &str| {
        let mut rules = format!("f0(x) := {body}\n");
        for i in 0..24 {
            rules += &format!("f{}(x) := f{i}(f{i}(x))\n", i + 1);
        }
        rules + &format!("allowed_tools := {{\"a\"}} if f24({first}) == f24({first})\n")
    };
    let range = "xs := numbers.range(1, 100000)\n";
    for rules in [
        "allowed_tools := {x | some x in numbers.range(1, 100000000)}".to_owned(),
        format!("{range}allowed_tools := {{z | some x in xs; some y in xs; z := [x, y]}}"),
        format!("{range}allowed_tools := {{\"a\"}} if {{ some x in xs; some y in xs; x + y < 0 }}"),
        format!("{range}allowed_tools := {{\"a\" | some x in xs; xs == numbers.range(1, 100000)}}"),
        format!("{range}allowed_tools := {{\"a\" | some x in xs; x + 1000000 in xs}}"),
        format!("{range}allowed_tools := {{\"a\" | some x in xs; count({{y | some y in xs}} | {{x}}) == 0}}"),
        doubling("\"aaaaaaaaaaaaaaaa\"", "concat(\"\", [x, x])"),
        doubling("\"aaaaaaaaaaaaaaaa\"", "replace(x, \"a\", x)"),
        doubling("\"aaaaaaaaaaaaaaaa\"", "sprintf(\"%s%s\", [x, x])"),
        doubling("[1]", "array.concat(x, x)"),
        doubling("[1]", "[x, x]"),
        doubling("{1}", "{x, [x]}"),
        doubling("[1]", "[x | some _ in [1, 2, 3, 4]]"),
        doubling("{\"a\": 1}", "{\"a\": x, \"b\": x}"),
        doubling("9", "x * x"),
        doubling("\"a\"", "json.marshal([x, x])"),
        functions("1", "[x, x]"),
        functions("1", "[x]"),
        functions("9", "x * x"),
        functions("9", "x + 1"),
        functions("\"ab\"", "concat(x, [x, x])"),
        "y if { x = [1]; z = [x, x]; w = [z, z]; w == w }\nallowed_tools := {\"a\"} if { some i in numbers.range(1, 1000000); y }".to_owned(),
        "allowed_tools := {\"a\" | some i in numbers.range(1, 5000); regex.match(sprintf(\"(\\\\w{20}){2}%d\", [i]), \"aaa\")}".to_owned(),
        format!("allowed_tools := {{\"a\"}} if {{ some i in numbers.range(1, 5000); regex.match(\"(a*)*b{{500}}\", \"{}\") }}", "a".repeat(10_000)),
        "s := split(concat(\"\", [\"a\" | some _ in numbers.range(1, 500000)]), \"\")\nallowed_tools := {\"a\" | some x in s; some y in s; x != y}".to_owned(),
        "allowed_tools := {\"a\" | every x in numbers.range(1, 900000) { every y in numbers.range(1, 900) { y > 0 } }}".to_owned(),
    ] {
        let started = std::time::Instant::now();
        let ruling = ask(&rules, "{}");
        let taken = started.elapsed();
        let head: String = rules.chars().take(150).collect();
        assert_eq!(verdict(&ruling), "budget", "{head}: {ruling:?}");
        println!("{:>6} ms {}", taken.as_millis(), head.replace('\n', " / "));
    }
}
