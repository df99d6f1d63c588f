//! Policies from outside: the examples, the answers of policies, and hostile policies.
use agent_decide::{PolicyDecision, PolicyEngine};
use agent_diagnostic::{Code, Diagnostic};
use agent_rego::{
    Policy, TestVerdict, Vocabulary, candidate_decisions, dead_rules, input_values, never_allows,
    read, rule_values, rules_with_body, test, unused_rules, with_value,
};
use agent_tests::processor_time::ProcessorTime;
use agent_text::Place;
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

/// Returns the decision of a policy with some rules.
fn ask(rules: &str, input: &str) -> PolicyDecision {
    policy(format!("package switchboard\n{rules}")).ask(input)
}

/// Returns the name of the policy's error, or the allowed ids.
fn verdict(policy_decision: &PolicyDecision) -> String {
    match &policy_decision.answer {
        Ok(allowed) => allowed.tools.iter().cloned().collect::<Vec<_>>().join(" "),
        Err(error) => error.kind.name().to_owned(),
    }
}

#[test]
fn an_example_allows_and_gives_reasons() {
    let policy = policy(example("no-external-network.rego"));
    let policy_decision = policy.ask(
        r#"{"candidate_tools": [{"id": "a", "capabilities": [{"resource": "internet"}]},
            {"id": "b", "capabilities": [{"resource": "aws"}]}]}"#,
    );
    let allowed = policy_decision.answer.expect("an answer");
    assert_eq!(allowed.tools.into_iter().collect::<Vec<_>>(), ["b"]);
    let reasons: Vec<_> = allowed.reasons.into_iter().collect();
    let reason = "a reaches the internet, which this tenant forbids";
    assert_eq!(reasons, [("a".to_owned(), reason.to_owned())]);
    assert_eq!(
        policy_decision.lines,
        [4, 5, 6, 7, 9, 10, 11, 12, 13, 15, 16, 17, 18]
    );
}

/// Returns each rule of a policy with its value on one line, or the reason why it has no value.
fn values(rules: &str, input: &str) -> Vec<(String, String)> {
    let policy = policy(format!("package switchboard\n{rules}"));
    let (_, values) = rule_values(&policy, input).expect("an input");
    let values = values.into_iter().map(|rule| {
        let value = match rule.value {
            Ok(value) => value.map_or("undefined".to_owned(), |it| {
                it.split_whitespace().collect::<String>()
            }),
            Err(error) => error.kind.name().to_owned(),
        };
        (format!("{} {}", rule.place.start.line, rule.name), value)
    });
    values.collect()
}

#[test]
fn each_rule_has_its_value() {
    let rules = "\
allowed_tools contains x if some x in input.ids
allowed_tools contains \"z\"
limit := 3
gold if input.tier == \"gold\"
reasons[id] := \"no\" if some id in input.ids
double(x) := 2 * x
broken := to_number(\"x\")
default open := false";
    let input = r#"{"ids": ["b", "a"], "tier": "free"}"#;
    let expected = [
        ("2 allowed_tools", r#"["a","b","z"]"#),
        ("4 limit", "3"),
        ("5 gold", "undefined"),
        ("6 reasons", r#"{"a":"no","b":"no"}"#),
        ("8 broken", "runtime"),
        ("9 open", "false"),
    ];
    let found = values(rules, input);
    let found: Vec<_> = found.iter().map(|(a, b)| (&**a, &**b)).collect();
    assert_eq!(found, expected);
    assert!(rule_values(&policy("package p"), "{").is_none());
}

#[test]
fn no_rule_is_evaluated_behind_one_that_used_up_its_budget() {
    let endless = "endless contains [a, b, c, d] if {
	some a in numbers.range(1, 1000)
	some b in numbers.range(1, 1000)
	some c in numbers.range(1, 1000)
	some d in numbers.range(1, 1000)
}";
    let found = values(&format!("first := 1\n{endless}\nlast := 2"), "{}");
    let names: Vec<_> = found
        .iter()
        .map(|(name, value)| (&**name, &**value))
        .collect();
    assert_eq!(names, [("2 first", "1"), ("3 endless", "budget")]);
    let many: String = (0..60).map(|number| format!("r{number} := 1\n")).collect();
    assert_eq!(values(&many, "{}").len(), 50);
}

/// Returns for each candidate the rules that held, and the one that decided.
fn parts(rules: &str, input: &str) -> Vec<String> {
    let policy = policy(format!("package switchboard\n{rules}"));
    let names = rules_with_body(&policy);
    let name = |number: usize| format!("{}:{}", names[number].name, names[number].place.start.line);
    let decision = policy.ask(input);
    let (all, decisions) = candidate_decisions(&policy, input, &decision, 3);
    let decisions = decisions.into_iter().map(|it| {
        let held: Vec<_> = it.held.into_iter().map(name).collect();
        let decided = it.decided.map_or("no rule".to_owned(), name);
        let result = if it.allowed { "allowed" } else { "denied" };
        format!("{} {result} by {decided} of {}", it.tool, held.join(" "))
    });
    let mut found: Vec<_> = decisions.collect();
    found.push(format!("{all} in all"));
    found
}

#[test]
fn each_candidate_has_the_rules_that_took_part() {
    let rules = "\
allowed_tools contains tool.id if {
	some tool in input.candidate_tools
	not paid(tool)
}
allowed_tools contains tool.id if {
	some tool in input.candidate_tools
	input.user_tier == \"gold\"
}
deny_reasons[tool.id] := \"it is paid\" if {
	some tool in input.candidate_tools
	paid(tool)
}
paid(tool) if tool.class == \"paid\"";
    let input = r#"{"candidate_tools": [{"id": "a", "class": "free"}, {"id": "b", "class": "paid"}],
        "user_tier": "free"}"#;
    assert_eq!(
        parts(rules, input),
        [
            "a allowed by allowed_tools:2 of allowed_tools:2",
            "b denied by deny_reasons:10 of deny_reasons:10 paid:14",
            "2 in all"
        ]
    );
    let none = parts("allowed_tools := set()", input);
    assert_eq!(none[0], "a denied by no rule of ");
    // One that fails denies everything, and no rule has decided.
    let failing = parts("allowed_tools contains 1 / 0 if true", input);
    assert_eq!(failing[0], "a denied by no rule of allowed_tools:2");
    assert_eq!(parts(rules, "{}"), ["0 in all"]);
}

#[test]
fn a_policy_that_compares_candidates_is_not_asked_about_one_alone() {
    let rules = "allowed_tools contains tool.id if {
	count(input.candidate_tools) > 1
	some tool in input.candidate_tools
}";
    let many = r#"{"candidate_tools": [{"id": "a"}, {"id": "b"}, {"id": "c"}, {"id": "d"}]}"#;
    let found = parts(rules, many);
    assert_eq!(found[0], "a allowed by allowed_tools:2 of allowed_tools:2");
    // Of many, only the first are asked about.
    assert_eq!(found[3..], ["4 in all"]);
}

#[test]
fn one_value_of_an_input_can_be_another() {
    let input = r#"{"list": [{"a/b": "x"}, 2], "tier": "free", "context": null, "empty": {}}"#;
    let values = |limit| {
        let values = input_values(input, limit).into_iter();
        let values = values.map(|it| format!("{} {}", it.pointer, it.text));
        values.collect::<Vec<_>>()
    };
    let all = ["/tier free", "/context null", "/list/1 2", "/list/0/a~1b x"];
    assert_eq!(values(9), all);
    assert_eq!(values(3), all[..3]);
    for (pointer, text, expected) in [
        ("/tier", "7", input.replace("\"free\"", "\"7\"")),
        ("/tier", "a\"b", input.replace("\"free\"", r#""a\"b""#)),
        ("/list/1", "{\"c\": 3}", input.replace('2', "{\"c\": 3}")),
        ("/context", "eu", input.replace("null", "\"eu\"")),
        ("/list/0/a~1b", "y", input.replace("\"x\"", "\"y\"")),
    ] {
        assert_eq!(
            with_value(input, pointer, text),
            Some(expected),
            "{pointer}"
        );
    }
    assert_eq!(with_value(input, "/list/2", "1"), None);
    assert_eq!(with_value(input, "/tier/0", "1"), None);
}

#[test]
fn the_starter_of_the_page_denies_what_deletes() {
    let policy = policy(include_str!("../../../playground/src/starter.rego"));
    let policy_decision = policy.ask(
        r#"{"candidate_tools": [{"id": "a", "capabilities": [{"verb": "delete", "resource": "aws"}]},
            {"id": "b", "capabilities": [{"verb": "list", "resource": "aws"}]}]}"#,
    );
    assert_eq!(verdict(&policy_decision), "b");
    let allowed = policy_decision.answer.expect("an answer");
    assert_eq!(allowed.reasons.keys().collect::<Vec<_>>(), ["a"]);
    assert_eq!(dead_rules(&policy, &Vocabulary::default()), []);
}

/// Found by fuzzing: the evaluator's error is a place without a message.
#[test]
fn what_does_not_compile_is_said_in_words() {
    let text = "package switchboard_test\n\nimport data# No tool.switch tb";
    let problems = read(text.into()).expect_err("it does not compile");
    assert!(!problems.is_empty());
    for problem in problems {
        assert!(!problem.message.is_empty(), "{problem:#?}");
    }
}

#[test]
fn every_broken_rule_is_named_in_one_run() {
    let text = "package switchbord\n\n\
        allow if {\n\tinput.a ==\n}\n\n\
        b contains x if some x in [1, 2] if\n\n\
        c if startwith(\"a\", \"b\")\n\n\
        d if e(1)\n\n\
        e(x) :=\n";
    let problems = read(text.into()).expect_err("a broken policy");
    assert_eq!(
        rendered(&problems),
        [
            "1:9 no decision reads the package `switchbord` (write `package switchboard`)",
            "1:9 there is no rule `allowed_tools` (name what is allowed: `allowed_tools contains \
             tool.id if { some tool in input.candidate_tools }`)",
            "5:1 expected a value, found `}`",
            "7:34 expected a name, found `if`",
            "9:6 there is no function `startwith` (did you mean `startswith`?)",
            "14:1 expected a value, found the end of the policy",
        ]
    );
    let unclosed = "package switchboard\n\na if +\n\nb if {\n\ttrue\n\nc if +\n";
    let problems = read(unclosed.into()).expect_err("a broken policy");
    let problems = rendered(&problems);
    assert_eq!(
        problems,
        [
            "3:6 expected a value, found `+`",
            "5:6 `{` is not closed (close it with `}`)",
        ]
    );
}

/// A limit must not be passed by a greater number that is rounded to it.
#[test]
fn numbers_are_compared_exactly_or_not_at_all() {
    let rules = "allowed_tools contains \"over\" if input.n > 9007199254740992\n\
                 allowed_tools contains \"some\" if input.n > 0";
    for (number, expected) in [
        ("9007199254740991.0", "some"),
        ("9007199254740992", "some"),
        ("9007199254740993", "over some"),
        ("1e300", "over some"),
        ("0.1", "some"),
        ("-1e-300", ""),
        ("9007199254740992.5", "runtime"),
        ("9.007199254740993e15", "runtime"),
        ("1e-400", "runtime"),
        ("1e400", "runtime"),
    ] {
        let input = format!(r#"{{"text": "1e400", "n": {number}}}"#);
        assert_eq!(verdict(&ask(rules, &input)), expected, "{number}");
    }
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
        (0..24).fold("p0[1] := 1\n".to_owned(), |rules, i| {
            rules + &format!("p{}[[k, k]] := 1 if some k, _ in p{i}\n", i + 1)
        }) + "allowed_tools := {\"a\"} if p24",
        "y if { x = [1]; z = [x, x]; w = [z, z]; w == w }\nallowed_tools := {\"a\"} if { some i in numbers.range(1, 1000000); y }".to_owned(),
        "allowed_tools := {\"a\" | some i in numbers.range(1, 5000); regex.match(sprintf(\"(\\\\w{20}){2}%d\", [i]), \"aaa\")}".to_owned(),
        format!("allowed_tools := {{\"a\"}} if {{ some i in numbers.range(1, 5000); regex.match(\"(a*)*b{{500}}\", \"{}\") }}", "a".repeat(10_000)),
        "s := split(concat(\"\", [\"a\" | some _ in numbers.range(1, 500000)]), \"\")\nallowed_tools := {\"a\" | some x in s; some y in s; x != y}".to_owned(),
        "allowed_tools := {\"a\" | every x in numbers.range(1, 900000) { every y in numbers.range(1, 900) { y > 0 } }}".to_owned(),
    ] {
        let started = ProcessorTime::now();
        let policy_decision = ask(&rules, "{}");
        let taken = started.elapsed();
        let head: String = rules.chars().take(150).collect();
        assert_eq!(verdict(&policy_decision), "budget", "{head}: {policy_decision:?}");
        assert!(taken.as_secs() < 10, "{head}: {taken:?}");
    }
}

#[test]
fn the_tests_of_the_examples_pass() {
    for (name, expected) in [
        ("no-external-network", 3),
        ("tier", 3),
        ("business-hours", 4),
    ] {
        let policy = example(&format!("{name}.rego"));
        let tests = example(&format!("{name}_test.rego"));
        let tested = test(policy, tests).unwrap_or_else(|problems| panic!("{problems:#?}"));
        let outcomes = tested.outcomes;
        assert_eq!(outcomes.len(), expected, "{name}");
        for outcome in outcomes {
            assert_eq!(outcome.verdict, TestVerdict::Passed, "{name}: {outcome:#?}");
        }
    }
}

/// A rule of the value of `with` is evaluated again in what it modifies, and a rule that denies holds there.
#[test]
fn a_rule_in_the_value_of_with_is_known_in_what_it_modifies() {
    let rules = "banned_servers := {\"s\"}\n\
        allowed_tools contains tool.id if {\n\tsome tool in input.candidate_tools\n\
        \tnot banned with input as {\"server\": tool.server, \"list\": banned_servers}\n}\n\
        banned if input.server in banned_servers\n";
    let input =
        r#"{ "candidate_tools": [{ "id": "a", "server": "s" }, { "id": "b", "server": "t" }] }"#;
    let allowed = values(rules, input).into_iter();
    let allowed = allowed.filter(|(rule, _)| rule.ends_with("allowed_tools"));
    let allowed: Vec<_> = allowed.map(|(_, value)| value).collect();
    assert_eq!(allowed, [r#"["b"]"#]);

    let policy = b"package switchboard\nallowed_tools := {input.x}\n";
    let tests = r#"package switchboard_test
import data.switchboard
b := {"id": "b", "list": [1, 2]}
f(x) := x
g(x) := [x, b.id]
test_unified if { y := input.x with input as {"x": b.id}; y == b.id }
test_compared if b.id == input.x with input as {"x": b.id}
test_name if input.id == b.id with input as b
test_elsewhere if switchboard.allowed_tools == {b.id} with input as {"x": b.id}
test_not if not b.id != input.x with input as {"x": b.id}
test_comprehension if [z | z := input.x with input as {"x": b.id}; z == b.id] == ["b"]
test_every if { every z in b.list { [z, b.id] == input.x with input as {"x": [z, b.id]} } }
test_some if { some z in input.x with input as {"x": b.list}; z == b.list[1] }
test_lines if {
	b.id == input.x with input as {
		"x": b.id, # a comment
		"y": `a
b`,
	}
	true
}
test_member if [b.id, b.id] == [input.x, input.y] with input.x as b.id with input.y as b.id
test_literal if [b.id, 3, b.id] == [input.x, input.y, input.z] with input.x as b.id with input.y as 3 with input.z as b.id
test_function if [input.x, b.id] == f(b.id) with input as {"x": b.id} with f as g
test_value_of_a_function if f(1) == b with f as b
test_builtin if count(b.list) == "b" with count as b.id
test_nested if { y := [z | z := input.x with input as {"x": input.y}] with input as {"y": b.id}; y == [b.id] }
test_undefined if not b.id == 1 with input as {"x": b.none}
"#;
    let tested = test(policy.to_vec(), tests.as_bytes().to_vec());
    let outcomes = tested.expect("outcomes").outcomes;
    assert_eq!(outcomes.len(), 16);
    for outcome in outcomes {
        let verdict = outcome.verdict;
        // An undefined value makes the statement undefined, as it did.
        let expected = match &*outcome.name {
            "test_undefined" => TestVerdict::Failed,
            _ => TestVerdict::Passed,
        };
        assert_eq!(verdict, expected, "{outcome:#?}");
    }
}

#[test]
fn lines_that_no_test_reaches_are_named() {
    let policy = "package switchboard\n\
        default limit := 5\n\
        allowed_tools contains tool.id if {\n\tsome tool in input.candidate_tools\n\tsmall(tool)\n}\n\
        small(tool) if tool.n < limit\n\
        small(tool) if tool.n == 100\n\
        kind(tool) := \"a\" if tool.n == 1 else := \"b\"\n";
    let unreached = |tests: &str| -> Vec<_> {
        let tests = format!("package switchboard_test\nimport data.switchboard\n{tests}");
        let tested = test(policy.into(), tests.into()).expect("outcomes");
        let notes = tested.unreached.into_iter();
        notes
            .map(|it| {
                assert_eq!(
                    (it.code.name(), it.severity.name()),
                    ("POLICY_RULE_UNUSED", "note")
                );
                (it.labels[0].place.start.line, it.message)
            })
            .collect()
    };
    let note = |line: u32, rule: &str| {
        (
            line,
            format!("line {line} of the rule `{rule}` held in no test"),
        )
    };
    let one = "test_one if switchboard.allowed_tools == {\"a\"} with input as \
        {\"candidate_tools\": [{\"id\": \"a\", \"n\": 1}]}\n";
    assert_eq!(unreached(one), [note(8, "small"), note(9, "kind")]);
    // A rule of the tests is none of the policy, and a test that fails reaches what it evaluates.
    let other = "small(tool) if tool.n == 100\n\
        test_two if switchboard.kind({\"n\": 1}) == \"c\"\n\
        test_three if small({\"n\": 100})\n";
    assert_eq!(
        unreached(other),
        [
            (
                4,
                "lines 4 to 5 of the rule `allowed_tools` held in no test".to_owned()
            ),
            note(7, "small"),
            note(8, "small")
        ]
    );
    let all = "test_four if switchboard.small({\"n\": 100})\n".to_owned() + one + other;
    assert_eq!(unreached(&all), []);
    assert_eq!(unreached("todo_test_none if true\n").len(), 4);
}

#[test]
fn a_test_fails_is_skipped_or_can_not_be_evaluated() {
    let policy = b"package switchboard\nallowed_tools := {input.x}\n";
    let tests = b"package switchboard_test\nimport data.switchboard\n\
        test_good if switchboard.allowed_tools == {1} with input as {\"x\": 1}\n\
        test_bad if switchboard.allowed_tools == {1} with input as {\"x\": 2}\n\
        test_undefined if switchboard.allowed_tools == {1}\n\
        todo_test_later if false\n\
        test_error if to_number(\"x\") == 1\n\
        test_endless if { some x in numbers.range(1, 100000); some y in numbers.range(1, 100000); x > y + 100000 }\n";
    let tested = test(policy.to_vec(), tests.to_vec()).expect("outcomes");
    let outcomes = tested.outcomes;
    let found: Vec<_> = outcomes
        .iter()
        .map(|outcome| (&*outcome.name, outcome.verdict.name(), &*outcome.detail))
        .collect();
    let expected = [
        ("test_good", "passed", ""),
        ("test_bad", "failed", "it does not hold"),
        ("test_undefined", "failed", "it does not hold"),
        ("todo_test_later", "skipped", "it is still to do"),
        (
            "test_error",
            "failed",
            "it can't be evaluated (runtime): `to_number` takes a string with a number, and this is not a number",
        ),
        (
            "test_endless",
            "failed",
            "it can't be evaluated (budget): it takes too many steps",
        ),
    ];
    assert_eq!(found, expected);
    let cause = outcomes[4].cause.expect("a place");
    assert_eq!((cause.start.line, cause.start.column), (7, 15));
    let problem = outcomes[1].problem.as_ref().expect("a problem");
    assert_eq!(problem.code.name(), "POLICY_TEST_FAILED");
    assert_eq!(problem.labels[0].place.start.line, 4);
}

/// Returns the places and messages of diagnostics.
fn rendered(problems: &[Diagnostic]) -> Vec<String> {
    problems
        .iter()
        .map(|problem| {
            let start = problem.labels[0].place.start;
            let help = problem.fixes.first().map(|fix| format!(" ({})", fix.title));
            let help = help.unwrap_or_default();
            format!("{}:{} {}{help}", start.line, start.column, problem.message)
        })
        .collect()
}

#[test]
fn paths_that_no_input_has_are_found_through_names() {
    let known = agent_rego::vocabulary(None, None);
    for (rules, expected) in [
        (
            "a contains t.id if { some t in input.tools; t.class == \"premium\" }",
            &["2:38 the input has no `input.tools` (did you mean `input.candidate_tools`?)"][..],
        ),
        (
            "a if input[\"usertier\"] == \"gold\"",
            &["2:12 the input has no `input.usertier` (did you mean `input.user_tier`?)"],
        ),
        (
            "import input.requirment as r\na if r.verb == \"read\"",
            &["3:6 the input has no `input.requirment` (did you mean `input.requirement`?)"],
        ),
        (
            "a contains t.name if { some t in input.candidate_tools; t.publsher == \"acme\" }",
            &[
                "2:14 the input has no `input.candidate_tools[_].name` (use one of \
                 `input.candidate_tools[_].capabilities`, `input.candidate_tools[_].class`, \
                 `input.candidate_tools[_].description`, `input.candidate_tools[_].id`, \
                 `input.candidate_tools[_].maxSensitivity`, `input.candidate_tools[_].publisher`, \
                 `input.candidate_tools[_].residency`, `input.candidate_tools[_].server`, \
                 `input.candidate_tools[_].signed`, `input.candidate_tools[_].tool`, \
                 `input.candidate_tools[_].version`)",
                "2:59 the input has no `input.candidate_tools[_].publsher` \
                 (did you mean `input.candidate_tools[_].publisher`?)",
            ],
        ),
        // What a tenant or the context holds is theirs.
        (
            "a if input.context.hour > 8\nb if input.tenant_policy.own.key",
            &[],
        ),
        ("a if input.tools with input as {\"tools\": true}", &[]),
    ] {
        let policy = policy(format!("package switchboard\n{rules}\n"));
        let problems = dead_rules(&policy, &known);
        assert_eq!(rendered(&problems), expected, "{rules}");
        assert!(
            problems
                .iter()
                .flat_map(|it| &it.fixes)
                .all(|fix| fix.edits.is_empty())
        );
    }
}

/// The paths that are reported as absent are those that no question has.
#[test]
fn the_example_policies_read_only_what_the_input_has() {
    for example_file in
        fs::read_dir(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../examples/policies"))
            .expect("the examples")
    {
        let path = example_file.expect("a file").path();
        let name = path
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        if !name.ends_with(".rego") || name.ends_with("_test.rego") {
            continue;
        }
        let problems = dead_rules(&policy(example(&name)), &agent_rego::vocabulary(None, None));
        let absent = problems
            .iter()
            .filter(|it| it.message.starts_with("the input has no"));
        assert_eq!(absent.count(), 0, "{name}: {problems:#?}");
    }
}

/// Inputs of every phase, in which everything that a question may have is there.
fn full_inputs() -> [(&'static str, String); 3] {
    let capability = r#"{"verb": "search", "resource": "internet", "constraints": ["readonly"], "load": "essential"}"#;
    let category =
        r#"{"category": "tickets", "permissions": ["read:tickets"], "load": "essential"}"#;
    let subject = r#"{"id": "ada", "type": "user", "properties": {"team": "a"}}"#;
    [
        ("resolve", capability, "null", "null"),
        ("expand", category, subject, "null"),
        ("call", category, subject, r#"{"path": "/a"}"#),
    ]
    .map(|(phase, requirement, subject, arguments)| {
        let input = format!(
            r#"{{"phase": "{phase}", "requirement": {requirement}, "subject": {subject},
                "arguments": {arguments}, "user_tier": "gold", "tenant_policy": null, "task": null,
                "context": {{"hour": 10}}, "candidate_tools": [{{"id": "a@1/t", "server": "a",
                "version": "1", "tool": "t", "description": null, "class": "paid", "publisher": "acme",
                "signed": true, "residency": ["any"], "maxSensitivity": "public",
                "capabilities": [{{"verb": "search", "resource": "internet", "constraints": []}}]}}]}}"#
        );
        (phase, input)
    })
}

/// A policy that is refused allows nothing in the phases that the message names, and one that may allow a tool does.
#[test]
fn a_policy_that_never_allows_is_found_without_an_index() {
    let each = "{ some t in input.candidate_tools";
    let add = "allowed_tools contains t.id if";
    let cases: &[(String, &[&str])] = &[
        // Packages and names.
        (
            format!("package tools\n{add} {each} }}"),
            &["1:9 no decision reads the package `tools` (write `package switchboard`)"],
        ),
        (
            format!("package tools\nallow contains t.id if {each} }}"),
            &[
                "1:9 no decision reads the package `tools` (write `package switchboard`)",
                "2:1 no decision reads `allow`, and there is no rule `allowed_tools`",
            ],
        ),
        (
            format!("package switchboard\nallowed_tool contains t.id if {each} }}"),
            &["2:1 no decision reads `allowed_tool`, and there is no rule `allowed_tools`"],
        ),
        (
            format!("package switchboard\ndeny contains t.id if {each}; t.class == \"paid\" }}"),
            &["2:1 no decision reads `deny`, and there is no rule `allowed_tools`"],
        ),
        (
            "package switchboard\nx := 1".to_owned(),
            &["1:9 there is no rule `allowed_tools`"],
        ),
        // Kinds.
        (
            format!("package switchboard\nallowed_tools := [t.id | {} ]", &each[1..]),
            &["2:18 `allowed_tools` must be a set, and is an array (write `{…}` for `[…]`: braces make a set)"],
        ),
        (
            "package switchboard\nallowed_tools := ids\nids := [\"a@1/t\"]".to_owned(),
            &["2:18 `allowed_tools` must be a set, and is an array"],
        ),
        (
            format!("package switchboard\ndefault allowed_tools := false\nallowed_tools if {each} }}"),
            &[
                "2:26 `allowed_tools` must be a set, and is a boolean",
                "3:1 `allowed_tools` must be a set, and is a boolean",
            ],
        ),
        (
            format!("package switchboard\nallowed_tools[t.id] := true if {each} }}"),
            &["2:1 `allowed_tools` must be a set, and is an object"],
        ),
        (
            "package switchboard\nallowed_tools(x) := {x}".to_owned(),
            &["2:1 `allowed_tools` must be a set, and is a function"],
        ),
        (
            "package switchboard\nallowed_tools := {\"a@1/t\"} if input.user_tier == \"x\" else := []".to_owned(),
            &["2:62 `allowed_tools` must be a set, and is an array"],
        ),
        // Members that are not ids.
        (
            format!("package switchboard\nallowed_tools contains t.tool if {each} }}"),
            &["2:24 the policy allows nothing: the id of a candidate is its member `id`"],
        ),
        (
            "package switchboard\nallowed_tools := {\"github\", \"slack\"}".to_owned(),
            &["2:19 the policy allows nothing: an id has the form `server@version/tool`"],
        ),
        (
            "package switchboard\ndefault allowed_tools := set()".to_owned(),
            &["2:26 the policy allows nothing: the set is empty"],
        ),
        // Conditions that never hold.
        (
            format!("package switchboard\n{add} {each}; false }}"),
            &["2:67 the policy allows nothing: this condition never holds"],
        ),
        (
            format!("package switchboard\n{add} {each}; input.usertier == \"gold\" }}"),
            &["2:67 the policy allows nothing: the input has no `input.usertier`"],
        ),
        (
            format!("package switchboard\n{add} {each}; input.requirement.verb in {{\"find\", \"look\"}} }}"),
            &["2:67 the policy allows nothing: this condition never holds"],
        ),
        (
            format!("package switchboard\n{add} {each}; permitted(t) }}\npermitted(t) if t.cost == 1\npermitted(t) if t.price == 1"),
            &["3:17 the policy allows nothing: the input has no `input.candidate_tools[_].cost`"],
        ),
        // In some phases.
        (
            format!("package switchboard\n{add} {each}; input.phase == \"call\" }}"),
            &["2:67 the policy allows nothing in the phase `resolve`: this condition never holds"],
        ),
        (
            format!("package switchboard\n{add} {each}; input.phase in {{\"resolve\", \"expand\"}} }}"),
            &["2:67 the policy allows nothing in the phase `call`: this condition never holds"],
        ),
        (
            format!("package switchboard\n{add} {each}; startswith(input.arguments.path, \"/\") }}"),
            &["2:78 the policy allows nothing in the phases `resolve` and `expand`: `input.arguments` is null"],
        ),
        (
            format!("package switchboard\nimport input.subject as who\n{add} {each}; known }}\nknown if who.type == \"user\""),
            &["4:10 the policy allows nothing in the phase `resolve`: `input.subject` is null"],
        ),
        (
            format!("package switchboard\n{add} {each}; data.switchboard.fits }}\nfits if input.requirement.category == \"tickets\""),
            &["3:9 the policy allows nothing in the phase `resolve`: the requirement has no `category`"],
        ),
        (
            format!("package switchboard\nallowed_tools := ids if input.user_tier\nids contains t.id if {each}; input.subject.id }}"),
            &["3:57 the policy allows nothing in the phase `resolve`: `input.subject` is null"],
        ),
        // What may allow a tool is no cause.
        (format!("package switchboard\n{add} {each} }}"), &[]),
        (
            format!("package switchboard\n{add} {each}; input.phase != \"call\" }}\n{add} {each}; input.arguments.path == \"/a\" }}"),
            &[],
        ),
        (
            format!("package switchboard\n{add} {each}; not input.arguments.secret }}"),
            &[],
        ),
        (
            format!("package switchboard\n{add} {each}; count([x | x := input.arguments[_]]) < 9 }}"),
            &[],
        ),
        (
            format!("package switchboard\n{add} {each}; ok }}\ndefault ok := true\nok := false if input.arguments.path == \"/b\""),
            &[],
        ),
        (
            format!("package switchboard\n{add} {each}; ok(t) }}\nok(t) if input.subject.id\nok(t) if input.phase in [\"resolve\", \"call\", \"expand\"]"),
            &[],
        ),
        (
            format!("package switchboard\nallowed_tools := {{t.id | {}; t.signed }}", &each[1..]),
            &[],
        ),
        (
            "package switchboard\nids := {\"b\"}\nallowed_tools := {x | x := input.candidate_tools[_].id} - ids".to_owned(),
            &[],
        ),
        (
            "package switchboard\nallowed_tools contains \"a@1/t\"".to_owned(),
            &[],
        ),
        (
            format!("package switchboard\n{add} {each}; x := input.arguments; x == null }}\n{add} {each}; input.phase == \"call\" }}"),
            &[],
        ),
    ];
    for (text, expected) in cases {
        let policy = policy(text.clone());
        let problems = never_allows(&policy);
        let found = rendered(&problems);
        assert_eq!(found.len(), expected.len(), "{text}: {found:#?}");
        for (found, expected) in found.iter().zip(*expected) {
            assert!(found.starts_with(expected), "{text}: {found}");
        }
        for (phase, input) in full_inputs() {
            let answer = policy.ask(&input).answer;
            let allows = answer.is_ok_and(|allowed| allowed.tools.contains("a@1/t"));
            let denied = problems.iter().any(|problem| {
                let some = problem.message.contains(" in the phase");
                !some || problem.message.contains(&format!("`{phase}`"))
            });
            assert!(!(allows && denied), "{phase}: {text}");
            assert!(allows || !expected.is_empty(), "{phase}: {text}");
        }
    }
}

#[test]
fn comparisons_with_what_never_occurs_are_found_through_names() {
    let known: Vocabulary = [
        ("input.user_tier", vec!["free", "gold"]),
        ("input.requirement.verb", vec!["read", "write"]),
        ("input.candidate_tools[_].publisher", vec!["acme", "other"]),
        ("input.candidate_tools[_].class", vec![]),
        (
            "input.candidate_tools[_].capabilities[_].constraints[_]",
            vec!["pii_safe"],
        ),
    ]
    .into_iter()
    .map(|(path, values)| {
        let values = values.into_iter().map(str::to_owned).collect();
        (path.to_owned(), values)
    })
    .collect();
    let dead = |rules: &str| {
        let policy = policy(format!("package switchboard\n{rules}\n"));
        rendered(&dead_rules(&policy, &known))
    };
    let publisher =
        "`input.candidate_tools[_].publisher` is never \"acne\" (did you mean \"acme\"?)";
    for (rules, expected) in [
        (
            "a if input.user_tier == \"golt\"",
            "2:25 `input.user_tier` is never \"golt\" (did you mean \"gold\"?)",
        ),
        (
            "a if \"golt\" != input[\"user_tier\"]",
            "2:6 `input.user_tier` is never \"golt\" (did you mean \"gold\"?)",
        ),
        (
            "a if input.user_tier = \"golt\"",
            "2:24 `input.user_tier` is never \"golt\" (did you mean \"gold\"?)",
        ),
        (
            "a if input.requirement.verb in {\"write\", \"wriet\"}",
            "2:42 `input.requirement.verb` is never \"wriet\" (did you mean \"write\"?)",
        ),
        (
            "a contains t if { some t in input.candidate_tools; t.publisher == \"acne\" }",
            &format!("2:67 {publisher}"),
        ),
        (
            "a if { t := input.candidate_tools[_]; t.publisher == \"acne\" }",
            &format!("2:54 {publisher}"),
        ),
        (
            "a if { some i; t := input.candidate_tools[i]; p := t.publisher; p == \"acne\" }",
            &format!("2:70 {publisher}"),
        ),
        (
            "a if { ts := input.candidate_tools; every t in ts { t.publisher == \"acne\" } }",
            &format!("2:68 {publisher}"),
        ),
        (
            "a := [t | some t in input.candidate_tools; t.publisher == \"acne\"]",
            &format!("2:59 {publisher}"),
        ),
        (
            "f(t) if t.publisher == \"acne\"\na contains t if { some t in input.candidate_tools; f(t) }",
            &format!("2:24 {publisher}"),
        ),
        (
            "ts := input.candidate_tools\na if ts[0].publisher == \"acne\"",
            &format!("3:25 {publisher}"),
        ),
        (
            "a if { some t in input.candidate_tools; some c in t.capabilities; \"pii_save\" in c.constraints }",
            "2:67 `input.candidate_tools[_].capabilities[_].constraints[_]` is never \"pii_save\" (did you mean \"pii_safe\"?)",
        ),
    ] {
        assert_eq!(dead(rules), [expected], "{rules}");
    }
    for silent in [
        "a if input.user_tier == \"gold\"",
        "a if input.user_tier == input.context",
        "a if input.context.other == \"golt\"",
        // It holds for every value that occurs.
        "a if input.user_tier != \"platinum\"",
        "a if { some t in input.candidate_tools; t.class == \"golt\" }",
        "a if { some t in input.candidate_tools; t.version == \"acne\" }",
        "a if { some t in input.context.others; t.publisher == \"acne\" }",
        // A name with two meanings.
        "a if { x := [t | some t in input.candidate_tools]; y := [t | some t in [{\"publisher\": \"acne\"}]; t.publisher == \"acne\"]; x == y }",
        "f(t) if t.publisher == \"acne\"\na if f({\"publisher\": \"acne\"})\nb contains t if { some t in input.candidate_tools; f(t) }",
        "a if { input.user_tier == \"golt\" } \nb if a with input as {\"user_tier\": \"golt\"}",
        "a if startswith(input.user_tier, \"golt\")",
        "a := \"golt\" if input.user_tier",
    ] {
        assert_eq!(dead(silent), [""; 0], "{silent}");
    }
}

#[test]
fn rules_that_held_for_nothing_are_named_with_what_they_read() {
    let policy = policy(example("tier.rego"));
    let input = |tier: &str, class: &str| {
        format!(
            r#"{{"user_tier": "{tier}", "candidate_tools": [{{"id": "a", "class": "{class}"}}]}}"#
        )
    };
    let gold = policy.ask(&input("gold", "paid"));
    assert_eq!(
        rendered(&unused_rules(&policy, [&gold])),
        [
            "9:1 the rule `deny_reasons` never applied; it reads `input.candidate_tools[_].id`",
            "14:1 the rule `too_expensive` never applied; it reads `input.candidate_tools[_].class`, `input.user_tier`",
        ]
    );
    let free = policy.ask(&input("free", "paid"));
    assert_eq!(rendered(&unused_rules(&policy, [&gold, &free])), [""; 0]);
    assert_eq!(
        rendered(&unused_rules(&policy, [&free])),
        ["4:1 the rule `allowed_tools` never applied; it reads `input.candidate_tools[_].id`"]
    );
    let failed = policy.ask("{");
    assert_eq!(rendered(&unused_rules(&policy, [&failed])), [""; 0]);
}

/// Runs a function on a thread with a small stack, like that of a wasm module.
fn on_a_small_stack<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> T {
    let thread = std::thread::Builder::new().stack_size(256 << 10).spawn(run);
    thread.expect("a thread").join().expect("no overflow")
}

#[test]
fn what_is_nested_too_deeply_is_refused_and_overflows_no_stack() {
    let deep = |open: &str, close: &str, times: usize| {
        format!(
            "package switchboard\na := {}1{}\n",
            open.repeat(times),
            close.repeat(times)
        )
    };
    for text in [
        deep("(", ")", 100_000),
        deep("[", "]", 100_000),
        deep("{", "}", 100_000),
        deep("{\"a\": ", "}", 100_000),
        deep("[1 | x := ", "]", 50_000),
        deep("[", "", 100_000),
        deep("-", "", 100_000),
        deep("1 + ", "", 100_000),
        deep("1 - ", "", 100_000),
        deep("1 * ", "", 100_000),
        deep("1 == ", "", 100_000),
        deep("1 in ", "", 100_000),
        deep("f(", ")", 100_000),
        deep("", ".a", 100_000),
        deep("input", "[0]", 50_000),
        deep("(1, ", "", 100_000),
        deep("[{\"a\": (", ")}]", 13),
        format!(
            "package switchboard\na if {{ {} }}",
            "every x in [1] {".repeat(50_000)
        ),
        format!(
            "package switchboard\na if not {}true",
            "not ".repeat(100_000)
        ),
        format!("package a{}\n", ".a".repeat(100_000)),
        format!(
            "package switchboard\na := [{}]",
            "[[[[[[[[1]]]]]]]], ".repeat(20_000)
        ),
        format!(
            "package switchboard\na if {{ {} }}",
            "true; ".repeat(100_000)
        ),
        // The evaluator would take minutes to order these statements.
        format!(
            "package switchboard\na := [1 | {}]",
            (1..16_000)
                .map(|i| format!("y{i} := y{}; ", i - 1))
                .collect::<String>()
                + "true"
        ),
        format!(
            "package switchboard\na if {{ every x in [1] {{ {} }} }}",
            (1..16_000)
                .map(|i| format!("y{i} := y{}; ", i - 1))
                .collect::<String>()
                + "true"
        ),
    ] {
        let head: String = text.chars().take(60).collect();
        let started = ProcessorTime::now();
        let problems =
            on_a_small_stack(move || read(text.into_bytes()).map(|_| ())).expect_err(&head);
        assert!(started.elapsed().as_secs() < 10, "{head}");
        assert_eq!(problems[0].code.name(), "POLICY_SYNTAX", "{head}");
    }
}

#[test]
fn what_is_just_not_too_deep_is_evaluated_on_a_small_stack() {
    let nested = |open: &str, close: &str, times: usize| {
        format!("{}1{}", open.repeat(times), close.repeat(times))
    };
    let mut chain = "x0 := 1\n".to_owned();
    let mut functions = "f0(x) := x\n".to_owned();
    let mut loops = "x0 := {1}\n".to_owned();
    for i in 1..=80 {
        chain += &format!("x{i} := x{}\n", i - 1);
        functions += &format!("f{i}(x) := f{}(x)\n", i - 1);
        loops += &format!("x{i} := {{x | some x in x{}}}\n", i - 1);
    }
    let some: String = (0..120).map(|i| format!("some x{i} in [1]; ")).collect();
    let every = |times: usize| {
        format!(
            "{}true{}",
            "every x in [1] { ".repeat(times),
            " }".repeat(times)
        )
    };
    let compr = |times: usize| format!("{}1{}", "[x | x := ".repeat(times), "]".repeat(times));
    let sum = format!("1{}", " + 1".repeat(62));
    let first = |text: &str, count: usize| -> String {
        text.lines().take(count + 1).collect::<Vec<_>>().join("\n")
    };
    let mut cases = vec![
        format!("y := {}", nested("[", "]", 12)),
        format!("y := {}", nested("(", ")", 12)),
        format!("y := {}", nested("{\"a\": ", "}", 11)),
        format!("y := {}", compr(11)),
        format!("y := {sum}"),
        format!("y if {{ {} }}", every(10)),
        format!("y if {{ {some} true }}"),
    ];
    for (text, last) in [(&chain, "x"), (&functions, "f"), (&loops, "x")] {
        let accepted = (1..=80)
            .rev()
            .find(|count| read(format!("package a\n{}", first(text, *count)).into_bytes()).is_ok())
            .expect("some");
        assert!(accepted > 20, "{last}: {accepted} levels");
        let call = if last == "f" { "(1)" } else { "" };
        cases.push(format!(
            "{}\ny := {last}{}{call}",
            first(text, accepted - 3),
            accepted - 3
        ));
    }
    for rules in cases {
        let head: String = rules.chars().take(60).collect();
        let text = format!("{rules}\nallowed_tools := {{\"a\"}} if y\n");
        let policy_decision = on_a_small_stack(move || ask(&text, "{}"));
        assert_eq!(
            verdict(&policy_decision),
            "a",
            "{head}: {policy_decision:?}"
        );
    }
}

#[test]
fn a_decision_depends_on_neither_threads_nor_earlier_decisions() {
    let heavy = policy(
        "package switchboard\nallowed_tools := {x | some x in numbers.range(1, 100000); x < input.least}\n",
    );
    let policy = policy(example("tier.rego"));
    let input = r#"{"user_tier": "free", "candidate_tools": [{"id": "a", "class": "paid"}, {"id": "b", "class": null}]}"#;
    let first = policy.ask(input);
    assert_eq!(verdict(&first), "b");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..20 {
                    assert_eq!(policy.ask(input), first);
                    assert_eq!(verdict(&heavy.ask("{\"least\": 0}")), "");
                }
            });
        }
    });
    // An evaluation within the budget is within it on every thread.
    let counting = self::policy(
        "package switchboard\nallowed_tools := {\"a\"} if { every x in numbers.range(1, input.n) { x > 0 } }\n",
    );
    let fits = |n: u64| verdict(&counting.ask(&format!("{{\"n\": {n}}}"))) == "a";
    let (mut low, mut high) = (1, 4_000_000);
    while high - low > 100_000 {
        let middle = (low + high) / 2;
        if fits(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    assert!(low > 1, "something fits");
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| assert!(fits(low) && !fits(high)));
        }
    });
}

mod at_length {
    #[test]
    fn a_large_policy_is_read_soon() {
        super::is_read_soon(1, 20);
    }
}

/// Reads policies of a part of the size that is accepted, each within some seconds.
fn is_read_soon(part: usize, seconds: u64) {
    let rules = |rule: &str, times: usize| -> String {
        let rules = (0..times).map(|i| rule.replace("NUMBER", &i.to_string()) + "\n");
        format!("package switchboard\n{}", rules.collect::<String>())
    };
    let long = "true; ".repeat(490) + "true";
    for text in [
        rules(
            "allowed_tools contains \"NUMBER\" if input.x == NUMBER",
            18_000 / part,
        ),
        rules("xNUMBER := NUMBER", 40_000 / part),
        rules("f(NUMBER) := NUMBER", 40_000 / part),
        rules(&format!("xNUMBER if {{ {long} }}"), 300 / part),
        rules(
            &format!(
                "xNUMBER if {{ {} }}",
                (0..240)
                    .map(|i| format!("z{i} := 1; y{i} := z{i}\n"))
                    .collect::<String>()
            ),
            100 / part,
        ),
        rules("xNUMBER if data.switchboard.a[_]", 30_000 / part),
        format!(
            "package switchboard\nx := [{}]",
            "1, ".repeat(80_000 / part)
        ),
        format!(
            "package switchboard\nx := {{{}}}",
            "[1], ".repeat(80_000 / part)
        ),
        format!(
            "package switchboard\nx := \"{}\"",
            "a".repeat(1_000_000 / part)
        ),
        format!(
            "package switchboard\n{}",
            "# comment\n".repeat(90_000 / part)
        ),
        format!("package switchboard\n{}", "\n".repeat(1_000_000 / part)),
    ] {
        let head: String = text.chars().take(80).collect();
        let started = ProcessorTime::now();
        let read = read(text.into_bytes());
        let taken = started.elapsed();
        assert!(read.is_ok(), "{head}");
        assert!(taken.as_secs() < seconds, "{head}: {taken:?}");
    }
}

#[test]
fn a_large_policy_is_read_soon_or_refused() {
    is_read_soon(4, 5);
    let rules = "x if true\n".repeat(agent_rego::TOKEN_LIMIT / 3);
    let many = read(format!("package switchboard\n{rules}").into_bytes()).expect_err("too many");
    assert!(many[0].message.contains("400,000"), "{many:?}");
    let large = read(vec![b'#'; (16 << 20) + 1]).expect_err("too large");
    assert_eq!(large[0].code.name(), "INPUT_TOO_LARGE");
    let bytes = read(b"package a\xff".to_vec()).expect_err("not UTF-8");
    assert_eq!(bytes[0].code.name(), "INVALID_UTF8");
}

#[test]
fn errors_say_what_and_where() {
    for (rules, expected) in [
        (
            "allowed_tools := {x | y := 1}",
            "runtime 2:19..20 var x is unsafe",
        ),
        (
            "allowed_tools := {\"a\"} if\tstartswith(null, \"é\")",
            "runtime 2:38..42 `startswith` expects string argument",
        ),
        (
            "allowed_tools := {\"a\"}\nallowed_tools := {\"b\"}",
            "runtime 3:1..1 rule conflicts with rule at policy.rego:2:1",
        ),
        (
            "a := \"é\" if { [1] == [input]; true }\nallowed_tools := {[input] == [2], 1 + null}",
            "runtime 3:39..43 `add` expects numeric argument",
        ),
        (
            "f(x) := x\nf(x) := x + 1\nallowed_tools := {f(1)}",
            "runtime 4:19..23 functions must not produce multiple outputs for same inputs",
        ),
        (
            "allowed_tools := {\"a\"}\nallowed_tools contains \"b\"",
            "3:1..14 the rule `allowed_tools` is defined in two ways",
        ),
        (
            "allowed_tools contains x if y == 1",
            "2:29..30 use of undefined variable `y` is unsafe",
        ),
        (
            "a := time.now_ns()",
            "2:6..17 there is no function `time.now_ns` (there is no clock: take the time from `input.context`)",
        ),
        (
            "a := startwith(1, 2)",
            "2:6..15 there is no function `startwith` (did you mean `startswith`?)",
        ),
        (
            "a := startswith(1)",
            "2:6..16 `startswith` takes 2 arguments",
        ),
        (
            "f(x) := x\na := g(1)",
            "3:6..7 there is no function `g` (did you mean `f`?)",
        ),
        (
            "a if input.n > 9007199254740992.5",
            "2:16..34 the number 9007199254740992.5 can't be compared exactly: a double does not hold it (write fewer digits, or compare strings)",
        ),
        (
            "allowed_tools := {\"a\"} if to_number(\"1e-400\") > 0",
            "runtime 2:27..46 the number 1e-400 can't be compared exactly: a double does not hold it",
        ),
        (
            "f(x) := g(x)\ng(x) := f(x)",
            "3:1..2 the rule `g` depends on itself (remove the recursion; a path with a variable in it refers to all rules below)",
        ),
        (
            "a := data.switchboard[x]",
            "2:1..2 the rule `a` depends on itself (remove the recursion; a path with a variable in it refers to all rules below)",
        ),
        (
            "a := b\nb := 1 if true with input as a",
            "3:1..2 the rule `b` depends on itself (remove the recursion; a path with a variable in it refers to all rules below)",
        ),
        (
            "a := __pay(1)",
            "2:6..11 names that start with `__` are reserved for the engine",
        ),
        (
            "a := sprintf(input.x, [1])",
            "2:14..21 the format of `sprintf` must be a string literal (use `concat` to join values that are known only in an evaluation)",
        ),
        (
            "a := sprintf(\"%-1000000d\", [1])",
            "2:14..26 `sprintf` pads to at most 64 characters",
        ),
        (
            "a { true }\nb if true",
            "2:3..4 expected `if`, found `{` (write `if` before the body)",
        ),
        (
            "a",
            "3:1..1 expected `if` or `:=`, found the end of the policy (write `name if { … }` or `name := value`, as Rego v1 requires)",
        ),
        (
            "a := 1 +",
            "3:1..1 expected a value, found the end of the policy",
        ),
        ("a := \"x", "2:6..7 missing closing quote on this line"),
    ] {
        let text = format!("package switchboard\n{rules}\n");
        let at = |place: Place| {
            let (start, end) = (place.start, place.end);
            format!("{}:{}..{}", start.line, start.column, end.column)
        };
        let found = match read(text.into_bytes()) {
            Ok(policy) => {
                let error = policy.value.ask("{\"long\": 1}").answer.expect_err(rules);
                let place = error.place.expect(rules);
                format!("{} {} {}", error.kind.name(), at(place), error.detail)
            }
            Err(problems) => {
                // Behind a broken rule, a sound one that no decision reads is named too.
                let mut found = problems.iter();
                let problem = found
                    .find(|it| it.code != Code::PolicyNeverAllows)
                    .expect(rules);
                let is_v0 = problem.message.contains("Rego v0");
                let code = if is_v0 { "POLICY_V0" } else { "POLICY_SYNTAX" };
                assert_eq!(problem.code.name(), code);
                let help = problem.fixes.first().map(|fix| &fix.title);
                let help = help.map(|help| format!(" ({help})")).unwrap_or_default();
                format!("{} {}{help}", at(problem.labels[0].place), problem.message)
            }
        };
        assert_eq!(found, expected, "{rules}");
    }
}

#[test]
fn many_candidates_are_within_the_budget() {
    let tool = |i: usize| {
        format!(
            r#"{{"id": "server-{i}@1.0.0/search", "server": "server-{i}", "version": "1.0.0", "tool": "search",
                "description": "Searches", "capabilities": [{{"verb": "search", "resource": "internet", "constraints": []}}],
                "class": "paid", "publisher": "acme", "signed": true, "residency": ["eu"], "maxSensitivity": "internal"}}"#
        )
    };
    let tools: Vec<_> = (0..50_000).map(tool).collect();
    let input = format!(
        r#"{{"user_tier": "gold", "candidate_tools": [{}]}}"#,
        tools.join(",")
    );
    for (name, allowed) in [("no-external-network", 0), ("tier", 50_000)] {
        let policy_decision = policy(example(&format!("{name}.rego"))).ask(&input);
        let found = policy_decision.answer.expect(name);
        assert_eq!(found.tools.len(), allowed, "{name}");
    }
    let large = " ".repeat((32 << 20) + 1);
    let policy_decision = policy(example("tier.rego")).ask(&large);
    assert_eq!(verdict(&policy_decision), "budget");
}

#[test]
fn a_policy_in_rego_v0_is_one_problem_at_its_first_body() {
    for (rules, place) in [
        ("default a = false\na { input.x }\nb { true }", "3:3..4"),
        ("a[x] { x := 1 }", "2:6..7"),
        ("a = x { x := 1 }", "2:7..8"),
        ("f(x) = y { y := x }", "2:10..11"),
    ] {
        let text = format!("package switchboard\n{rules}\n");
        let problems = read(text.into_bytes()).map(|_| ()).expect_err(rules);
        let [problem] = &problems[..] else {
            panic!("{rules}: {problems:?}");
        };
        assert_eq!(problem.code.name(), "POLICY_V0", "{rules}");
        let found = problem.labels[0].place;
        let found = format!(
            "{}:{}..{}",
            found.start.line, found.start.column, found.end.column
        );
        assert_eq!(found, place, "{rules}");
        assert!(problem.fixes.iter().all(|fix| fix.edits.is_empty()));
    }
}

/// An editor of another system must not change a decision or a digest.
#[test]
fn the_text_of_a_policy_that_counts_has_line_feeds() {
    let text = "package switchboard\nallowed_tools contains `a\nb`\n# the end\n";
    let [lf, crlf] = [text.to_owned(), text.replace('\n', "\r\n")].map(policy);
    assert_eq!(lf.digest(), crlf.digest());
    for policy in [&lf, &crlf] {
        assert_eq!(verdict(&policy.ask("{}")), "a\nb");
    }
    // A lock from before has the digest of the bytes.
    let of_bytes = agent_lower::digest(&text.replace('\n', "\r\n"));
    assert_ne!(of_bytes, crlf.digest());
    assert_eq!(crlf.digest_for(Some(&of_bytes)), of_bytes);
    assert_eq!(crlf.digest_for(None), crlf.digest());
    assert_eq!(lf.digest_for(Some(&of_bytes)), lf.digest());
    // An editor shows the rule behind a CR in a line of its own, and the evaluator reads a comment.
    let hidden = "package switchboard\n# harmless\rallowed_tools contains \"a\"\n";
    let problems = read(hidden.into()).unwrap_err();
    let [problem] = &problems[..] else {
        panic!("{problems:#?}")
    };
    assert!(problem.message.contains("carriage return"), "{problem:#?}");
    let place = problem.labels[0].place;
    assert_eq!(place.span.of(hidden), "\r");
}
